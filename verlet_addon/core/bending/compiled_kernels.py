"""Angles in C: what `numpy_kernels` does."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, for_all, instead_of, members, once, pack, row_of
from ..linear.compiled_dissection import pack_factors
from . import numpy_kernels as reference
from .all_at_once import StiffBendBatch
from .along_face_loops import FaceLoopBatch
from .along_strips import BendStripBatch
from .one_by_one import StencilBatch

_factorize_pentadiagonal = declare("factorize_pentadiagonal", "ip")
_project_bend_strips = declare("project_bend_strips", "pipi")
_project_face_loops = declare("project_face_loops", "pipi")
_project_surface_bends = declare("project_surface_bends", "pipi")
_project_rope_bends = declare("project_rope_bends", "pipi")
_project_stiff_bends = declare("project_stiff_bends", "pip")


def pack_bend_strips(batch: BendStripBatch) -> Packed:
    """The bend_strip_batch of kernels.c."""
    size = len(batch.path)
    bent = batch.coefficients[1] != 0.0
    joined = np.append(bent, False) | np.append(False, bent)  # whether an entry is to the next
    ends = np.append(np.flatnonzero(~joined) + 1, size)
    longest = int(np.diff(ends, prepend=0).max())
    return pack(
        size,
        len(ends),
        ends,
        *members(batch, "path coefficients responses scaled_compliances"),
        _factors(batch.bands.rows),
        batch.multipliers,
        np.empty((longest, 3)),
        np.empty((longest, 3)),
    )


_strip_struct = once(pack_bend_strips)


def _factors(rows: Floats) -> Floats:
    """Those of `Bands`, as solve_pentadiagonal takes them."""
    found = rows.copy()
    _factorize_pentadiagonal(found.shape[1], found)
    return found


_strip_row = row_of(_strip_struct)


@instead_of(reference.project_bend_strips)
def project_bend_strips(positions: Floats, batches: Iterable[BendStripBatch]) -> None:
    for_all(_project_bend_strips, positions, _strip_row(batches))


def pack_loops(batch: FaceLoopBatch) -> Packed:
    """The face_loop_batch of face_loops.c."""
    ends = np.flatnonzero(np.append(batch.twists == batch.multipliers.shape[1] - 1, True)) + 1
    longest = int(np.diff(ends, prepend=0).max())
    return pack(
        batch.rungs.shape[1],
        len(ends),
        batch.multipliers.shape[1],
        ends,
        batch.rungs.T,
        batch.coefficients.T,
        batch.responses.T,
        *members(batch, "scaled_compliances twists"),
        _factors(batch.bands.rows),
        batch.multipliers,
        np.empty((longest, 2, 3)),
        np.empty((longest, 3)),
    )


_loop_struct = once(pack_loops)

_loop_row = row_of(_loop_struct)


@instead_of(reference.project_face_loops)
def project_face_loops(positions: Floats, batches: Iterable[FaceLoopBatch]) -> None:
    for_all(_project_face_loops, positions, _loop_row(batches))


def pack_stencils(batch: StencilBatch) -> Packed:
    """The stencil_batch of kernels.c."""
    return pack(
        *batch.coefficients.shape,
        *members(
            batch,
            "particles inverse_masses coefficients responses rests scaled_compliances gains "
            "multipliers",
        ),
    )


_stencil_row = row_of(once(pack_stencils))


@instead_of(reference.project_surface_bends)
def project_surface_bends(positions: Floats, batches: Iterable[StencilBatch]) -> None:
    for_all(_project_surface_bends, positions, _stencil_row(batches))


@instead_of(reference.project_rope_bends)
def project_rope_bends(positions: Floats, batches: Iterable[StencilBatch]) -> None:
    for_all(_project_rope_bends, positions, _stencil_row(batches))


def pack_stiff(batch: StiffBendBatch) -> Packed:
    """The stiff_batch of stiff.c."""
    count = len(batch.free)
    values = np.zeros((3, count + 1))
    # Particles that cannot move count as the filling of parts, which stands for nothing.
    number = np.full(int(batch.particles.max()) + 1, count)
    number[batch.free] = np.arange(count)
    return pack(
        len(batch.stiffnesses),
        *members(batch, "particles coefficients stiffnesses rests"),
        count,
        batch.free,
        number,
        batch.masses,
        pack_factors(batch.system, values),
        values,
        batch.multipliers,
    )


_stiff_struct = once(pack_stiff)


@instead_of(reference.project_stiff_bends)
def project_stiff_bends(positions: Floats, batches: Iterable[StiffBendBatch]) -> None:
    for batch in batches:
        _project_stiff_bends(positions, positions.shape[1], _stiff_struct(batch))
