"""Eddies and the air on faces in C: what `numpy_kernels` does."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, instead_of, members, once, pack
from . import numpy_kernels as reference
from .numpy_kernels import SLOPES, TABLE
from .windage import Windage

_find_eddies = declare("find_eddies", "pipd")
_press_plates = declare("press_plates", "rippp")
_noise = pack(TABLE, SLOPES)


@instead_of(reference.turbulence)
def turbulence(places: Floats, size: float) -> Floats:
    found = np.array(places, order="C")
    _find_eddies(found, found.shape[1], _noise.address, size)
    return found


@once
def _windage_struct(windage: Windage) -> Packed:
    """The windage of kernels.c."""
    corners = members(windage.corners, "face vertex following")
    return pack(len(windage.corners.face), *corners, windage.plate_factors)


@instead_of(reference.press_plates)
def press_plates(windage: Windage, positions: Floats, rows: Floats) -> Floats:
    forces = np.zeros_like(rows)
    _press_plates(positions, positions.shape[1], _windage_struct(windage), rows, forces)
    return forces
