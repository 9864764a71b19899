"""Length constraints in C: the functions of `numpy_kernels`, compiled."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import (
    Packed,
    cached_row,
    cached_struct,
    declare,
    falls_back_to,
    for_all,
    members,
    pack,
    shared_arrays,
)
from . import numpy_kernels as reference
from .coarse_levels import MAX_PARENTS, Level
from .distance_limits import DistanceLimitBatch
from .numpy_kernels import MIN_FACE_SCALE, OVER_RELAXATION, STRAIN_LIMITING_ROUNDS
from .shear_diagonals import Diagonals
from .strip_batches import StripBatch
from .strip_links import StripLinks
from .tethers import Tethers

_project_strips = declare("project_strips", "pipi", "d")
_update_diagonal_rests = declare("update_diagonal_rests", "pipd")
_strain_range = declare("strain_range", "pipip")
_project_levels = declare("project_levels", "pipi")
_project_tethers = declare("project_tethers", "piippp")
_limit_strain = declare("limit_strain", "ppdddi", "i")
MIN_CHUNK = 128
"""Entries of short paths that are measured and moved at a time, as in kernels.c."""


def pack_strips(batch: StripBatch) -> Packed:
    """The strip_batch of strips.h."""
    ends = np.append(np.flatnonzero(np.diff(batch.labels)) + 1, len(batch.path))
    longest = int(np.diff(ends, prepend=0).max())
    return pack(
        len(ends),
        ends,
        *members(batch, "path inverse_masses"),
        *shared_arrays(batch, "rest_lengths"),
        *members(batch, "reference_lengths scaled_compliances"),
        batch.scaled_compression if len(batch.scaled_compression) else None,
        batch.diagonal,
        batch.start_stiffnesses if len(batch.start_stiffnesses) else None,
        batch.multipliers,
        np.empty(9 * (longest + MIN_CHUNK)),
    )


strip_struct = cached_struct(pack_strips)


def _strip_row(batches: Iterable[StripBatch]) -> Integers:
    """Addresses of batches, whose order may change from step to step."""
    return np.fromiter(map(strip_struct, batches), dtype=np.int64)


@falls_back_to(reference.project_strips)
def project_strips(positions: Floats, batches: Iterable[StripBatch]) -> float:
    return for_all(_project_strips, positions, _strip_row(batches)) or 0.0


def pack_diagonals(diagonals: Diagonals) -> Packed:
    """The face_diagonals of kernels.c."""
    return pack(
        len(diagonals.faces),
        *members(diagonals, "pairs faces rests weights link_indices"),
        *shared_arrays(diagonals, "rest_lengths"),
    )


_diagonals_struct = cached_struct(pack_diagonals)


@falls_back_to(reference.update_diagonal_rests)
def update_diagonal_rests(positions: Floats, diagonals: Diagonals) -> None:
    if len(diagonals.faces):
        _update_diagonal_rests(
            positions, positions.shape[1], _diagonals_struct(diagonals), MIN_FACE_SCALE
        )


@falls_back_to(reference.strain_range)
def strain_range(positions: Floats, batches: Iterable[StripBatch]) -> tuple[float, float]:
    extremes = np.zeros(2)
    for_all(_strain_range, positions, _strip_row(batches), extremes)
    lowest, highest = extremes.tolist()
    return lowest, highest


def _pack_distance_limits(batch: DistanceLimitBatch) -> Packed:
    """The `distance_limit_batch` struct of distance_limits.c."""
    return pack(
        len(batch.rest_lengths),
        *members(batch, "particles rest_lengths first_masses second_masses gains"),
    )


def pack_level(level: Level) -> Packed:
    """The coarse_level of distance_limits.c."""
    assert level.parents.shape[1] == MAX_PARENTS
    count = len(level.particles)
    return pack(
        count,
        level.particles,
        len(level.limits),
        pack(*map(_pack_distance_limits, level.limits)),
        len(level.children),
        *members(level, "children parents weights"),
        np.empty((3, count)),
        np.empty((3, count)),
    )


_level_struct = cached_struct(pack_level)

_level_row = cached_row(_level_struct)


@falls_back_to(reference.project_levels)
def project_levels(positions: Floats, levels: Iterable[Level]) -> None:
    for_all(_project_levels, positions, _level_row(levels))


@falls_back_to(reference.project_tethers)
def project_tethers(positions: Floats, tethers: Tethers) -> None:
    count = len(tethers.particles)
    if count:
        n, lengths = positions.shape[1], tethers.lengths
        _project_tethers(positions, n, count, tethers.particles, tethers.pins, lengths)


LINK_DTYPE = np.dtype([("ends", "2i4"), ("sides", "2i4"), ("values", "6f8")])
"""The strip_link of strain_limiting.c."""


def pack_links(links: StripLinks) -> Packed:
    """The strip_links of strain_limiting.c."""
    count, n = len(links.first), len(links.starts) - 1
    ends = np.stack([links.first, links.second], axis=1)
    counts = np.diff(links.starts)
    starts = np.concatenate([[0], np.cumsum(counts + counts % 2)])
    at = np.arange(2 * count) + np.repeat(starts[:-1] - links.starts[:-1], counts)
    numbers, squares = np.zeros((2, starts[-1]), dtype=np.int32), np.zeros((2, starts[-1]))
    numbers[:, at] = links.order, ends[links.order].sum(axis=1) - np.repeat(range(n), counts)
    squares[0] = np.inf
    bounds = np.stack([(1.0 + links.tolerance) * links.rest_lengths, links.min_lengths])
    squares[:, at] = bounds[:, links.order] ** 2
    every = np.zeros(count, dtype=LINK_DTYPE)
    every["ends"] = ends
    slots = at[np.argsort(links.order, kind="stable")].reshape(count, 2)
    every["sides"] = np.where(ends[:, :1] > ends[:, 1:], slots[:, ::-1], slots)
    columns = members(links, "rest_lengths min_lengths scaled_compliances gains")
    every["values"] = np.stack([*links.inverse_masses, *columns], axis=1)
    return pack(
        count,
        n,
        every,
        *shared_arrays(links, "rest_lengths"),
        *numbers,
        *squares,
        starts,
        *shared_arrays(links, "multipliers"),
        np.empty(starts[-1] + 1, dtype=np.int64),
        np.empty(n + 1, dtype=np.int64),
        np.zeros(count, dtype=np.bool_),
        np.zeros(n, dtype=np.bool_),
        np.empty((n, 4)),
    )


_links_struct = cached_struct(pack_links)


@falls_back_to(reference.limit_strain)
def limit_strain(positions: Floats, links: StripLinks, *, max_strain: float) -> bool:
    struct = _links_struct(links)
    return bool(
        _limit_strain(
            positions, struct, links.tolerance, max_strain, OVER_RELAXATION, STRAIN_LIMITING_ROUNDS
        )
    )
