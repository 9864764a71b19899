"""Kernels for contact rows and the plane in C; the same as `numpy_kernels` and `numpy_plane`."""

import numpy as np

from ..arrays import Booleans, Floats
from ..compiled import Packed, cached_struct, declare, falls_back_to, members, pack, shared_arrays
from . import numpy_kernels, numpy_plane
from .contact_rows import ContactRows
from .plane import PlaneContact

_project_rows = declare("project_rows", "pip")
_push_rows = declare("push_rows", "pip")
_rebound_rows = declare("rebound_rows", "ppip")
_find_unsafe = declare("find_unsafe", "pppippidppp")
_project_plane = declare("project_plane", "pippdppdpp")
_rebound_plane = declare("rebound_plane", "ppippdppdprdddd")


@cached_struct
def rows_struct(rows: ContactRows) -> Packed:
    """The `contact_rows` struct of kernels.c."""
    return pack(
        len(rows.targets),
        *members(
            rows,
            "particles weights impulse_responses mobilities normals gaps targets rebounds anchors",
        ),
        *shared_arrays(rows, "friction on_ropes normal_multipliers friction_multipliers"),
    )


@falls_back_to(numpy_kernels.project_rows)
def project_rows(positions: Floats, rows: ContactRows) -> None:
    _project_rows(positions, positions.shape[1], rows_struct(rows))


@falls_back_to(numpy_kernels.push_rows)
def push_rows(positions: Floats, rows: ContactRows) -> None:
    _push_rows(positions, positions.shape[1], rows_struct(rows))


@falls_back_to(numpy_kernels.rebound_rows)
def rebound_rows(previous_positions: Floats, positions: Floats, rows: ContactRows) -> None:
    _rebound_rows(previous_positions, positions, positions.shape[1], rows_struct(rows))


@falls_back_to(numpy_kernels.find_unsafe)
def find_unsafe(
    start: Floats, positions: Floats, end: Floats, rows: ContactRows, allowed: Floats, safe: float
) -> tuple[Booleans, Booleans]:
    n = positions.shape[1]
    displaced, fast = np.zeros((2, n), dtype=bool)
    limits = allowed, len(allowed), safe
    work = np.empty(n)
    _find_unsafe(start, positions, end, n, rows_struct(rows), *limits, displaced, fast, work)
    return displaced, fast


@falls_back_to(numpy_plane.project_plane)
def project_plane(positions: Floats, contact: PlaneContact, inverse_masses: Floats) -> None:
    _project_plane(
        positions,
        positions.shape[1],
        inverse_masses,
        contact.plane.normal,
        contact.plane.level,
        contact.start,
        contact.floors[1],
        contact.friction,
        contact.normal_corrections,
        contact.friction_corrections,
    )


@falls_back_to(numpy_plane.rebound_plane)
def rebound_plane(positions: Floats, previous_positions: Floats, contact: PlaneContact) -> None:
    if not contact.normal_corrections.max(initial=0.0) > 0.0:
        return
    _rebound_plane(
        positions,
        previous_positions,
        positions.shape[1],
        contact.normal_corrections,
        contact.plane.normal,
        contact.plane.level,
        contact.start,
        contact.floors[0],
        contact.restitution,
        contact.predicted,
        contact.accelerations,
        contact.dt,
        *contact.start_gains,
        contact.climb,
    )
