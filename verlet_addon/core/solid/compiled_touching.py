"""The stress within a solid and what it touches in C, and where that leads it."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, instead_of, members, once, pack, shared
from . import numpy_landing, numpy_touching
from .compiled_kernels import pack_embedding, pack_lattice, pack_shapes
from .numpy_touching import Precision, Stops, System

PIECE = 56
"""Numbers in a solid_piece of as_one.h."""
ROLLING = 50
"""Numbers in a rolling of landing.c."""
_press = declare("press_solid", "pppdddi")
_land = declare("land_solid", "ppppp")
_settle = declare("settle_solid", "ppp")


@once
def _stops(stops: Stops) -> Packed:
    """The solid_stops of touching.h."""
    return pack(
        len(stops.levels),
        *shared(stops, "normals levels frictions stiffnesses start anchors grips loads"),
    )


def _parts(system: System) -> Packed:
    """The solid_part of touching.h, one after the other."""
    return pack(
        *(
            member
            for part in system.parts
            for member in (pack_lattice(part.lattice), pack_shapes(part.shapes), part.stiffness)
        )
    )


@once
def pack_system(system: System) -> Packed:
    """The solid_system of touching.h."""
    holds, work = system.holds, np.empty((10, len(system.masses), 4))
    count = int(system.components.max(initial=-1)) + 1
    return pack(
        *(len(system.masses), len(system.parts), _parts(system)),
        pack_embedding(system.embedding),
        *members(system, "masses diagonal"),
        *shared(system, "arrival"),
        len(holds.points),
        *members(holds, "points stiffnesses"),
        *shared(holds, "targets"),
        _stops(system.stops),
        count,
        system.components,
        system.places,
        np.empty((count, PIECE)),
        *(work[:3], *work[3:]),
        1.0 / system.masses,
        np.empty((count, ROLLING)),
    )


@instead_of(numpy_touching.press)
def press(system: System, right: Floats, moves: Floats, precision: Precision) -> None:
    its = precision.share, precision.enough, precision.least, precision.fewest
    _press(pack_system(system), right, moves, *its)


@instead_of(numpy_landing.land)
def land(system: System, start: Floats, moves: Floats) -> tuple[Floats, Floats]:
    nodes, previous = np.empty_like(moves), np.empty_like(moves)
    _land(pack_system(system), start, moves, nodes, previous)
    return nodes, previous


@instead_of(numpy_touching.settle)
def settle(system: System, nodes: Floats) -> Floats:
    points = np.empty_like(system.stops.normals)
    _settle(pack_system(system), nodes, points)
    return points
