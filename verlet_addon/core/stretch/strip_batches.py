"""Strips: paths of edges, ready for one h², each of which is solved directly.

The edges of a row or column of a grid, or of a whole rope, form a tridiagonal system, so that a
pull on one end reaches the other at once. Strips of one colour share no particle and are solved
together; between colours it is Gauss–Seidel.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..arrays import Floats, Integers
from ..linear.tridiagonal import short_runs
from .strip_paths import Strips

MIN_LENGTH_SHARE = 0.5
"""Edges that yield to being pushed together keep at least this share of their length."""


@dataclass(frozen=True, eq=False)
class StripBatch:
    """The strips of one colour, ready for one h²; a path of c particles has c − 1 edges or gaps."""

    path: Integers
    """(c,)"""
    labels: Integers
    """(c,) number of the path that each entry belongs to."""
    inverse_masses: Floats
    """(c,) [1/kg]"""
    shared_inverse_masses: Floats
    """(c − 2,) of the particle between an edge and the next [1/kg]; 0 beside gaps."""
    rest_lengths: Floats
    """(c − 1,) [m]; 0 in gaps."""
    reference_lengths: Floats
    """(c − 1,) rest lengths to measure violations by; 1 in gaps [m]."""
    scaled_compliances: Floats
    """(c − 1,) compliance / h² [1/kg]."""
    scaled_compression: Floats
    """(c − 1,) compliance added where pushed together / h² [1/kg]; empty if no edge yields."""
    mobilities: Floats
    """(c − 1,) sum of the inverse masses of both ends [1/kg]; 0 in gaps."""
    movable: Floats
    """(c − 1,) 1 where an end can move, 0 elsewhere and in gaps."""
    diagonal: Floats
    """(c − 1,) of the system: mobility + scaled compliance [1/kg]; 1 where nothing can move."""
    reduction_rounds: int
    """Rounds of cyclic reduction that part every edge from the next."""
    runs: list[Integers]
    """Where its edges are, (l, p) for p paths of l; none where any is long."""
    multipliers: Floats
    """(c − 1,) XPBD's: −tension × h²; changed by the kernels [kg m]."""
    start_stiffnesses: Floats
    """(c − 1,) pull of soft links per metre of stretch when a step begins; those of ropes alone."""


def strip_batches(
    strips: Strips,
    inverse_masses: Floats,
    h_squared: float,
    *,
    regularization: float,
    multipliers: Floats | None = None,
) -> list[StripBatch]:
    """One batch per colour for one h² [s²].

    Parameters
    ----------
    regularization : share of the mobility added to the diagonal, so that a taut strip between two
        pins, or one that can only buckle, has a solution; more of it is safer and less exact.
    multipliers : (k,) where batches are to have theirs, as long as the strips' path.
    """
    multipliers = np.zeros(len(strips.path)) if multipliers is None else multipliers
    batches = []
    for (start, stop), longest in zip(pairwise(strips.starts), strips.longest_paths, strict=True):
        links = slice(start, stop - 1)
        path = strips.path[start:stop]
        linked, lengths = strips.linked[links], strips.rest_lengths[links]
        masses = inverse_masses[path]
        both_linked = linked[:-1] & linked[1:]
        mobilities = np.where(linked, masses[:-1] + masses[1:], 0.0)
        scaled, compression = (
            strips.compliances[links] / h_squared,
            strips.compression_compliances[links] / h_squared,
        )
        batches.append(
            StripBatch(
                path=path,
                labels=np.concatenate([[0], np.cumsum(~linked)]),
                inverse_masses=masses,
                shared_inverse_masses=np.where(both_linked, masses[1:-1], 0.0),
                rest_lengths=lengths,
                reference_lengths=np.where(linked, lengths, 1.0),
                scaled_compliances=scaled,
                scaled_compression=compression if compression.any() else np.empty(0),
                mobilities=mobilities,
                movable=(mobilities > 0.0).astype(np.float64),
                diagonal=np.where(
                    mobilities > 0.0, mobilities * (1.0 + regularization) + scaled, 1.0
                ),
                reduction_rounds=int(longest).bit_length(),
                runs=short_runs(both_linked),
                multipliers=multipliers[links],
                start_stiffnesses=np.empty(0),
            )
        )
    return batches
