"""Statistics of contacts, counted step by step, for the diagnostics that users read."""

from dataclasses import dataclass, field

import numpy as np

from ...arrays import Booleans, Floats, Integers, magnitudes, sum_by, sum_rows
from ...kernel import SizedIntegers, kernel
from ...scene import SolverWork
from ..broad_phase.searches import SearchWork
from ..broad_phase.surfaces import Surfaces
from ..manifold.contact_rows import ContactRows
from ..narrow_phase.proximity import nearest_on_edges, nearest_on_triangle

CROWDED_SHARE = 0.5
"""Pairs that end a step nearer than their gap by this share of it count as crowded. With half,
cloth that is pinched for a moment is reported too; with twice, sheets that cross are not."""
ONE_SIDED_SHARE = 0.5
"""A particle whose contact impulses sum to at least this share of the sum of their magnitudes is
pushed from one side, and has room on the other: as cloth on a sharp tip. With half, the same bakes
are reported; with twice, a rope that lies freely on cloth is too."""
CONTACTS_PER_VERTEX, NEGLIGIBLE_CONTACTS = 4, 2000
"""More contacts than this per touching vertex, and more than the second in all, count as excess,
for they slow the bake: layers that lie on each other have two or three per vertex."""


@dataclass(eq=False)
class ContactWork:
    """Work of the contact solver since the start of the frame."""

    contact_passes: int = 0
    """Number of passes over the rows of an island."""
    island_solutions: int = 0
    """Number of solutions for the contacts of an island."""
    guarded_steps: int = 0
    """Number of steps in which the tunnelling guard moved particles."""


@dataclass(eq=False)
class ContactStatistics:
    """Counts since the start of the frame, and diagnostics that were already reported."""

    deepest: Floats
    """(owners,) largest amount by which each came nearer than its gap [m]."""
    crowded_steps: Integers
    """(owners, owners) number of steps in which a pair of owners was crowded."""
    excess_steps: Integers
    """(owners, owners) number of steps in which a pair of owners had excess contacts."""
    steps: int
    """Number of steps with contacts."""
    without_room: Booleans
    """(owners,) bool, owners with so many contacts that they have no room."""
    crowding_reported: Booleans
    """(owners,) bool, owners whose lack of room has been reported."""
    excess_reported: Booleans
    """(owners, owners) bool, pairs whose excess contacts have been reported."""
    folds_reported: Booleans
    """(owners,) bool, owners of which folds in their pose have been reported."""
    work: ContactWork = field(default_factory=ContactWork)


def empty_statistics(owners: int) -> ContactStatistics:
    """Statistics with all counts at 0."""
    both = (owners, owners)
    return ContactStatistics(
        deepest=np.zeros(owners),
        crowded_steps=np.zeros(both, dtype=np.int64),
        excess_steps=np.zeros(both, dtype=np.int64),
        steps=0,
        without_room=np.zeros(owners, dtype=bool),
        crowding_reported=np.zeros(owners, dtype=bool),
        excess_reported=np.zeros(both, dtype=bool),
        folds_reported=np.zeros(owners, dtype=bool),
    )


def take_work(work: ContactWork, searches: SearchWork) -> SolverWork:
    """Work on contacts since this was last called, with that of the searches for them."""
    return SolverWork(**take_counts(work), **take_counts(searches))


def take_counts(work: ContactWork | SearchWork) -> dict[str, int]:
    """The counts of some work by their names, which are set back to 0."""
    counts = vars(work).copy()
    vars(work).update(dict.fromkeys(counts, 0))
    return counts


def record_step(
    statistics: ContactStatistics,
    surfaces: Surfaces,
    rows: ContactRows,
    depths: Floats,
    positions: Floats,
) -> None:
    """Counts the rows of one step, which end nearer than their gaps by `depths` (k,) [m].

    Depths are along normals. Features that have moved past each other along the surface, at
    positions (3, N), are farther apart than that: the actual distance limits the depth.
    """
    statistics.steps += 1
    for pair in surfaces.given_up:
        statistics.without_room[list(pair)] = True
    if not len(depths):
        return  # the usual case, with colliders far away
    deep = np.flatnonzero(depths > CROWDED_SHARE * rows.gaps)
    depths[deep] = np.minimum(
        depths[deep], rows.gaps[deep] - _feature_distances(rows, deep, positions)
    )
    (first, second), owners = rows.owners, len(statistics.deepest)
    deeper = np.flatnonzero(depths > statistics.deepest.min())
    for side in rows.owners:
        np.maximum.at(statistics.deepest, side[deeper], depths[deeper])
    near = np.flatnonzero(depths > np.maximum(CROWDED_SHARE * rows.gaps, 0.0))
    if len(near):
        near = near[are_squeezed(rows, near, len(surfaces.owners))]
        statistics.crowded_steps += _pair_counts(first[near], second[near], owners) > 0
    if len(depths) <= NEGLIGIBLE_CONTACTS:
        return
    counts = _pair_counts(first, second, owners)
    own = np.zeros(len(surfaces.owners), dtype=bool)
    own[rows.particles] = True
    touching = np.bincount(surfaces.owners[own], minlength=owners)
    touching[surfaces.colliders] = 0
    both = touching[:, None] + touching
    np.fill_diagonal(both, touching)
    statistics.excess_steps += counts > np.maximum(CONTACTS_PER_VERTEX * both, NEGLIGIBLE_CONTACTS)


@kernel(
    result=lambda _, which, __: np.empty(len(which), dtype=bool),
    work=lambda _, __, count: np.zeros(4 * count),
)
def are_squeezed(rows: ContactRows, which: SizedIntegers, count: int) -> Booleans:
    """(k,) bool, chosen rows with movable particles pushed from opposite sides, of `count`."""
    touching, pushes = rows.particles.ravel(), rows.weights * rows.normal_multipliers
    sums = sum_rows(touching, (rows.normals[:, None] * pushes).reshape(3, -1), count)
    sizes = sum_by(touching, np.abs(pushes).ravel(), count)
    own, moves = rows.particles[:, which], rows.impulse_responses[:, which] != 0.0
    squeezed = np.zeros(len(which), dtype=bool)
    for side in (rows.weights[:, which] > 0.0, rows.weights[:, which] < 0.0):
        together = magnitudes((sums[:, own] * (side & moves)).sum(axis=1))
        one_by_one = (sizes[own] * (side & moves)).sum(axis=0)
        squeezed |= together < ONE_SIDED_SHARE * one_by_one
    return squeezed


def _feature_distances(rows: ContactRows, which: Integers, positions: Floats) -> Floats:
    """(k,) distances between the features of the chosen rows [m]."""
    apart = np.empty(len(which))
    by_vertex = np.signbit(rows.weights[1, which])
    for of_kind, nearest in ((by_vertex, nearest_on_triangle), (~by_vertex, nearest_on_edges)):
        if of_kind.any():
            apart[of_kind] = nearest(positions[:, rows.particles[:, which[of_kind]]])[2]
    return apart


def reset_frame_counts(statistics: ContactStatistics) -> None:
    """Sets the counts of a frame back to 0."""
    statistics.crowded_steps.fill(0)
    statistics.excess_steps.fill(0)
    statistics.without_room.fill(False)
    statistics.steps = 0


def _pair_counts(first: Integers, second: Integers, owners: int) -> Integers:
    """(owners, owners) symmetric number of rows of each pair."""
    keys = np.minimum(first, second) * owners + np.maximum(first, second)
    counts = np.bincount(keys, minlength=owners * owners).reshape(owners, owners)
    return np.asarray(np.maximum(counts, counts.T))
