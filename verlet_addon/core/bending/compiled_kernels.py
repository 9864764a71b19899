"""Bends in C: the functions of `numpy_kernels`, compiled."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats
from ..compiled import (
    Packed,
    cached_row,
    cached_struct,
    declare,
    falls_back_to,
    for_all,
    members,
    pack,
)
from ..linear.compiled_nested_dissection import pack_factors
from . import numpy_kernels as reference
from .bend_strips import BendStripBatch
from .face_loops import FaceLoopBatch
from .stencil_batches import StencilBatch
from .stiff_bends import StiffBendBatch

_factorize_pentadiagonal = declare("factorize_pentadiagonal", "ip")
_project_bend_strips = declare("project_bend_strips", "pipi")
_project_face_loops = declare("project_face_loops", "pipi")
_project_surface_bends = declare("project_surface_bends", "pipi")
_project_rope_bends = declare("project_rope_bends", "pipi")
_project_stiff_bends = declare("project_stiff_bends", "pip")


def pack_bend_strips(batch: BendStripBatch) -> Packed:
    """The `bend_strip_batch` struct of kernels.c."""
    size = len(batch.path)
    bent = batch.coefficients[1] != 0.0
    linked = np.append(bent, False) | np.append(False, bent)  # each entry to the next
    ends = np.append(np.flatnonzero(~linked) + 1, size)
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


_strip_struct = cached_struct(pack_bend_strips)


def _factors(rows: Floats) -> Floats:
    """(3, n) factors of the rows (3, n) of `Bands`, as solve_pentadiagonal takes them."""
    factors = rows.copy()
    _factorize_pentadiagonal(factors.shape[1], factors)
    return factors


_strip_row = cached_row(_strip_struct)


@falls_back_to(reference.project_bend_strips)
def project_bend_strips(positions: Floats, batches: Iterable[BendStripBatch]) -> None:
    for_all(_project_bend_strips, positions, _strip_row(batches))


def pack_face_loops(batch: FaceLoopBatch) -> Packed:
    """The `face_loop_batch` struct of face_loops.c."""
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


_loop_struct = cached_struct(pack_face_loops)

_loop_row = cached_row(_loop_struct)


@falls_back_to(reference.project_face_loops)
def project_face_loops(positions: Floats, batches: Iterable[FaceLoopBatch]) -> None:
    for_all(_project_face_loops, positions, _loop_row(batches))


def pack_stencils(batch: StencilBatch) -> Packed:
    """The `stencil_batch` struct of kernels.c."""
    return pack(
        *batch.coefficients.shape,
        *members(
            batch,
            "particles inverse_masses coefficients responses rests scaled_compliances gains "
            "multipliers",
        ),
    )


_stencil_row = cached_row(cached_struct(pack_stencils))


@falls_back_to(reference.project_surface_bends)
def project_surface_bends(positions: Floats, batches: Iterable[StencilBatch]) -> None:
    for_all(_project_surface_bends, positions, _stencil_row(batches))


@falls_back_to(reference.project_rope_bends)
def project_rope_bends(positions: Floats, batches: Iterable[StencilBatch]) -> None:
    for_all(_project_rope_bends, positions, _stencil_row(batches))


def pack_stiff_bends(batch: StiffBendBatch) -> Packed:
    """The `stiff_bend_batch` struct of stiff_bends.c."""
    count = len(batch.free)
    values = np.zeros((3, count + 1))
    # Pinned particles have the number of the extra column of `values`, which is not used.
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


_stiff_struct = cached_struct(pack_stiff_bends)


@falls_back_to(reference.project_stiff_bends)
def project_stiff_bends(positions: Floats, batches: Iterable[StiffBendBatch]) -> None:
    for batch in batches:
        _project_stiff_bends(positions, positions.shape[1], _stiff_struct(batch))
