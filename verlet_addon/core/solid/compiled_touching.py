"""The stress within a solid and what it touches in C: what `numpy_touching` and `rolling` do."""

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import Packed, address, declare, once, pack
from .compiled_kernels import pack_embedding, pack_lattice, pack_shapes
from .numpy_touching import Stops, System

_press = declare("press_solid", "pppddp")
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
        *(work[:3], *work[3:]),
    )


def press(system: System, right: Floats, moves: Floats, tolerance: float, least: float) -> Floats:
    """See `numpy_touching`."""
    outside = np.empty_like(moves)
    given = address(right), address(moves)
    _press(_system(system), *given, tolerance, least, address(outside))
    return outside


def resist_rolling(system: System, components: Integers, start: Floats, nodes: Floats) -> None:
    """See `rolling`."""
    count = int(components.max(initial=-1)) + 1
    if count:
        work = np.empty((count, 33))
        rows = [address(array) for array in (components, start, nodes)]
        _roll(_system(system), *rows, count, address(work))


def settle(stops: Stops, points: Floats) -> None:
    """See `numpy_touching`."""
    _settle(_stops(stops), address(points))
