"""The stress within a solid and what it touches in C: what `numpy_touching` does."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, address, declare, pack
from .compiled_kernels import pack_embedding, pack_lattice, pack_shape
from .numpy_touching import Stops, System

_press = declare("press_solid", "pppddp")
_settle = declare("settle_solid", "pp")


def press(system: System, right: Floats, moves: Floats, tolerance: float, least: float) -> Floats:
    """See `numpy_touching`."""
    m, holds = moves.shape[1], system.holds
    outside, work = np.empty_like(moves), np.empty((11, 3, m))
    packed = pack(
        pack_lattice(system.lattice),
        pack_embedding(system.embedding),
        system.masses,
        pack_shape(system.shape),
        system.stiffness,
        system.arrival,
        len(holds.points),
        holds.points,
        holds.stiffnesses,
        holds.targets,
        _stops(system.stops),
        *(work[:3], work[3:6], *work[6:]),
    )
    _press(packed.address, address(right), address(moves), tolerance, least, address(outside))
    return outside


def settle(stops: Stops, points: Floats) -> None:
    """See `numpy_touching`."""
    packed = _stops(stops)
    _settle(packed.address, address(points))


def _stops(stops: Stops) -> Packed:
    """The solid_stops of touching.c."""
    return pack(
        len(stops.levels),
        stops.normal,
        stops.levels,
        stops.friction,
        stops.stiffnesses,
        stops.start,
        stops.anchors,
        stops.grips,
        stops.loads,
    )
