"""Near pairs: those that may tunnel along other ways than the one that was searched."""

import numpy as np

from ...arrays import Booleans, Floats, Integers
from ...kernel import kernel
from ..broad_phase.searches import DetectedRows, NearPairs, SearchCriteria
from ..broad_phase.surfaces import Surfaces
from .kernels import pair_particles, pair_sums, rows_of_pairs


@kernel(result=lambda _, near, __: np.empty(near.capacity))
def pair_deviations(surfaces: Surfaces, near: NearPairs, deviations: Floats) -> Floats:
    """(k,) upper bounds of the deviations of near pairs, from those of particles (N,) [m]."""
    found = np.empty(near.capacity)
    for kind in (0, 1):
        of_kind = near.features[0] == kind
        particles = pair_particles(surfaces, kind, near.features[1:, of_kind])
        found[of_kind] = pair_sums(kind, deviations[particles])
    return found


@kernel(result=lambda _, near, __: np.empty(near.capacity, dtype=bool))
def are_active(surfaces: Surfaces, near: NearPairs, active: Booleans) -> Booleans:
    """(k,) bool, near pairs with an active particle (N,)."""
    found = np.empty(near.capacity, dtype=bool)
    for kind in (0, 1):
        of_kind = near.features[0] == kind
        particles = pair_particles(surfaces, kind, near.features[1:, of_kind])
        found[of_kind] = active[particles].any(axis=0)
    return found


@kernel()
def find_rows_of_near(
    surfaces: Surfaces,
    near: NearPairs,
    criteria: SearchCriteria,
    deviations: Floats,
    found: DetectedRows,
    tests: Integers,
) -> int:
    """Finds rows of near pairs along other paths of their particles; returns their number.

    Rows beyond the capacity of `found` are only counted. Pairs without an active particle are not
    tested.

    Parameters
    ----------
    criteria : those of a search without skins.
    deviations : (N,) upper bounds of the distances of paths from those that were searched [m].
    tests : (1,) the number of pairs tested, which is raised.
    """
    count, (start, end) = 0, np.ascontiguousarray(surfaces.paths.transpose(1, 2, 0))
    tested = near.clearances <= pair_deviations.reference(surfaces, near, deviations)
    tested &= are_active.reference(surfaces, near, surfaces.active)
    tests[0] += np.count_nonzero(tested)
    for kind in (0, 1):
        features = near.features[1:, tested & (near.features[0] == kind)]
        owners = surfaces.owners[pair_particles(surfaces, kind, features)[[0, 3]]]
        for first, second in np.unique(owners, axis=1).T.tolist():
            of_pair = criteria.for_pair(float(surfaces.gaps[first, second]), 0.0)
            own = (owners == [[first], [second]]).all(axis=0)
            rows = rows_of_pairs(surfaces, kind, features[:, own], start, end, of_pair)
            count = found.write(count, rows)
    return count
