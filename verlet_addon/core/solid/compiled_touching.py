"""The stress within a solid and what it touches in C: what `numpy_touching` and `rolling` do."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, instead_of, once, pack
from . import numpy_touching, rolling
from .compiled_kernels import pack_embedding, pack_lattice, pack_shapes
from .numpy_touching import Stops, System

PIECE = 52
"""Numbers in a solid_piece of as_one.h."""
_press = declare("press_solid", "pppdd")
_roll = declare("roll_solid", "ppppip")
_settle = declare("settle_solid", "pp")


@once
def _stops(stops: Stops) -> Packed:
    """The solid_stops of touching.c."""
    return pack(
        len(stops.levels),
        stops.normals,
        stops.levels,
        stops.frictions,
        stops.stiffnesses,
        stops.start,
        stops.anchors,
        stops.grips,
        stops.loads,
    )


@once
def _system(system: System) -> Packed:
    """The solid_system of touching.c."""
    holds, work = system.holds, np.empty((8, 3, len(system.masses)))
    count = int(system.components.max(initial=-1)) + 1
    return pack(
        pack_lattice(system.lattice),
        pack_embedding(system.embedding),
        system.masses,
        pack_shapes(system.shapes),
        system.stiffness,
        system.diagonal,
        system.arrival,
        len(holds.points),
        holds.points,
        holds.stiffnesses,
        holds.targets,
        _stops(system.stops),
        count,
        system.components,
        system.places,
        np.empty((count, PIECE)),
        *(work[:3], *work[3:]),
    )


@instead_of(numpy_touching.press)
def press(system: System, right: Floats, moves: Floats, tolerance: float, least: float) -> None:
    _press(_system(system), right, moves, tolerance, least)


@instead_of(rolling.resist_rolling)
def resist_rolling(system: System, start: Floats, nodes: Floats) -> None:
    count = int(system.components.max(initial=-1)) + 1
    if count:
        work = np.empty((count, 33))
        _roll(_system(system), system.components, start, nodes, count, work)


@instead_of(numpy_touching.settle)
def settle(stops: Stops, points: Floats) -> None:
    _settle(_stops(stops), points)
