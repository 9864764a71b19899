"""Lengths in C: what `numpy_kernels` does."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import Packed, declare, for_all, instead_of, members, once, pack, row_of, shared
from . import numpy_kernels as reference
from .diagonals import Diagonals
from .distances import DistanceBatch
from .levels import PARENTS, Level
from .links import Links
from .numpy_kernels import CRUMPLED, OVERDONE, SHARINGS
from .strips import StripBatch
from .tethers import Tethers

_project_strips = declare("project_strips", "pipi", "d")
_follow_faces = declare("follow_faces", "pipd")
_strain_range = declare("strain_range", "pipip")
_project_levels = declare("project_levels", "pipi")
_project_tethers = declare("project_tethers", "piippp")
_share_stretch = declare("share_stretch", "ppdddi", "i")
TOGETHER = 128
"""Entries of short paths that are measured and moved at a time, as in kernels.c."""


def pack_strips(batch: StripBatch) -> Packed:
    """The strip_batch of strips.h."""
    ends = np.append(np.flatnonzero(np.diff(batch.labels)) + 1, len(batch.path))
    longest = int(np.diff(ends, prepend=0).max())
    return pack(
        len(ends),
        ends,
        *members(batch, "path inverse_masses"),
        *shared(batch, "rest_lengths"),
        *members(batch, "measures scaled_compliances"),
        batch.scaled_yielding if len(batch.scaled_yielding) else None,
        batch.diagonal,
        batch.start_gains if len(batch.start_gains) else None,
        batch.multipliers,
        np.empty(9 * (longest + TOGETHER)),
    )


strip_struct = once(pack_strips)


def _strip_row(batches: Iterable[StripBatch]) -> Integers:
    """The addresses of batches, whose order may be another in every step."""
    return np.fromiter(map(strip_struct, batches), dtype=np.int64)


@instead_of(reference.project_strips)
def project_strips(positions: Floats, batches: Iterable[StripBatch]) -> float:
    return for_all(_project_strips, positions, _strip_row(batches)) or 0.0


def pack_diagonals(diagonals: Diagonals) -> Packed:
    """The face_diagonals of kernels.c."""
    return pack(
        len(diagonals.faces),
        *members(diagonals, "pairs faces rests weights places"),
        *shared(diagonals, "drawn"),
    )


_diagonals_struct = once(pack_diagonals)


@instead_of(reference.follow_faces)
def follow_faces(positions: Floats, diagonals: Diagonals) -> None:
    if len(diagonals.faces):
        _follow_faces(positions, positions.shape[1], _diagonals_struct(diagonals), CRUMPLED)


@instead_of(reference.strain_range)
def strain_range(positions: Floats, batches: Iterable[StripBatch]) -> tuple[float, float]:
    found = np.zeros(2)
    for_all(_strain_range, positions, _strip_row(batches), found)
    lowest, highest = found.tolist()
    return lowest, highest


def _pack_distances(batch: DistanceBatch) -> Packed:
    """The distance_batch of limits.c."""
    return pack(
        len(batch.rest_lengths),
        *members(batch, "particles rest_lengths first_masses second_masses gains"),
    )


def pack_level(level: Level) -> Packed:
    """The coarse_level of limits.c."""
    assert level.parents.shape[1] == PARENTS
    count = len(level.particles)
    return pack(
        count,
        level.particles,
        len(level.limits),
        pack(*map(_pack_distances, level.limits)),
        len(level.children),
        *members(level, "children parents weights"),
        np.empty((3, count)),
        np.empty((3, count)),
    )


_level_struct = once(pack_level)

_level_row = row_of(_level_struct)


@instead_of(reference.project_levels)
def project_levels(positions: Floats, levels: Iterable[Level]) -> None:
    for_all(_project_levels, positions, _level_row(levels))


@instead_of(reference.project_tethers)
def project_tethers(positions: Floats, tethers: Tethers) -> None:
    count = len(tethers.particles)
    if count:
        n, lengths = positions.shape[1], tethers.lengths
        _project_tethers(positions, n, count, tethers.particles, tethers.pins, lengths)


LINK = np.dtype([("ends", "2i4"), ("sides", "2i4"), ("values", "6f8")])
"""The strip_link of sharing.c."""


def pack_links(links: Links) -> Packed:
    """The strip_links of sharing.c."""
    count, n = len(links.first), len(links.starts) - 1
    ends = np.stack([links.first, links.second], axis=1)
    counts = np.diff(links.starts)
    starts = np.concatenate([[0], np.cumsum(counts + counts % 2)])
    at = np.arange(2 * count) + np.repeat(starts[:-1] - links.starts[:-1], counts)
    numbers, squares = np.zeros((2, starts[-1]), dtype=np.int32), np.zeros((2, starts[-1]))
    numbers[:, at] = links.order, ends[links.order].sum(axis=1) - np.repeat(range(n), counts)
    squares[0] = np.inf
    bounds = np.stack([(1.0 + links.tolerance) * links.rest_lengths, links.shortest])
    squares[:, at] = bounds[:, links.order] ** 2
    every = np.zeros(count, dtype=LINK)
    every["ends"] = ends
    places = at[np.argsort(links.order, kind="stable")].reshape(count, 2)
    every["sides"] = np.where(ends[:, :1] > ends[:, 1:], places[:, ::-1], places)
    columns = members(links, "rest_lengths shortest scaled_compliances gains")
    every["values"] = np.stack([*links.inverse_masses, *columns], axis=1)
    return pack(
        count,
        n,
        every,
        *shared(links, "rest_lengths"),
        *numbers,
        *squares,
        starts,
        *shared(links, "multipliers"),
        np.empty(starts[-1] + 1, dtype=np.int64),
        np.empty(n + 1, dtype=np.int64),
        np.zeros(count, dtype=np.bool_),
        np.zeros(n, dtype=np.bool_),
        np.empty((n, 4)),
    )


_links_struct = once(pack_links)


@instead_of(reference.share_stretch)
def share_stretch(positions: Floats, links: Links, *, most: float) -> bool:
    struct = _links_struct(links)
    return bool(_share_stretch(positions, struct, links.tolerance, most, OVERDONE, SHARINGS))
