"""Turbulence and air on faces in C: the functions of `numpy_kernels`, compiled."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, cached_struct, declare, falls_back_to, members, pack
from . import numpy_kernels as reference
from .exposed_surface import ExposedSurface
from .numpy_kernels import SLOPES, TABLE

_find_eddies = declare("find_eddies", "pipd")
_plate_forces = declare("plate_forces", "rippp")
_noise = pack(TABLE, SLOPES)


@falls_back_to(reference.turbulence)
def turbulence(points: Floats, size: float) -> Floats:
    vectors = np.array(points, order="C")
    _find_eddies(vectors, vectors.shape[1], _noise.address, size)
    return vectors


@cached_struct
def _exposed_surface_struct(exposed_surface: ExposedSurface) -> Packed:
    """The `exposed_surface` struct of kernels.c."""
    corners = members(exposed_surface.corners, "face vertex following")
    return pack(len(exposed_surface.corners.face), *corners, exposed_surface.plate_factors)


@falls_back_to(reference.plate_forces)
def plate_forces(exposed_surface: ExposedSurface, positions: Floats, rows: Floats) -> Floats:
    forces = np.zeros_like(rows)
    _plate_forces(
        positions, positions.shape[1], _exposed_surface_struct(exposed_surface), rows, forces
    )
    return forces
