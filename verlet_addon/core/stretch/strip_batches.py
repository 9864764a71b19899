"""Strips: paths of edges, prepared for steps of one length and each solved directly.

The edges of a row or column of a grid, or of a whole rope, form a tridiagonal system: one solve
carries a correction along the whole strip. Strips of one colour share no particle and are solved
together; between colours it is Gauss–Seidel.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..arrays import Booleans, Floats, Integers, inverse, longest_run, run_ends
from ..linear.tridiagonal import MAX_SHORT_RUN, find_runs
from .strip_paths import Strips

MIN_LENGTH_SHARE = 0.5
"""Least length of edges that yield in compression, as a share of their rest length. With half, a
balloon between plates comes 3.5 mm too near in place of 2 mm; with 0.99, it stretches by 15 % in
place of 1.5 %."""


@dataclass(frozen=True, eq=False)
class StripBatch:
    """The strips of one colour, prepared for steps of one length.

    A path of c particles has c − 1 edges or gaps.
    """

    path: Integers
    """(c,)"""
    labels: Integers
    """(c,) path number of each entry."""
    inverse_masses: Floats
    """(c,) [1/kg]"""
    rest_lengths: Floats
    """(c − 1,) [m]; 0 in gaps."""
    reference_lengths: Floats
    """(c − 1,) rest lengths that violations are relative to; 1 in gaps [m]."""
    scaled_compliances: Floats
    """(c − 1,) compliance / h² [1/kg]."""
    scaled_compression: Floats
    """(c − 1,) extra compliance in compression / h² [1/kg]; empty if no edge yields."""
    mobilities: Floats
    """(c − 1,) sum of the inverse masses of both ends [1/kg]; 0 in gaps."""
    diagonal: Floats
    """(c − 1,) diagonal of the system: mobility + scaled compliance [1/kg]; 1 where nothing can
    move."""
    multipliers: Floats
    """(c − 1,) XPBD multipliers: −tension × h²; changed by the kernels [kg m]."""
    start_stiffnesses: Floats
    """(c − 1,) force of soft rope links per metre of stretch at a step's start; empty for
    surfaces."""

    @cached_property
    def _both_linked(self) -> Booleans:
        """(c − 2,) bool, edges that are followed by another one."""
        return np.asarray(self.labels[:-2] == self.labels[2:])

    @cached_property
    def shared_inverse_masses(self) -> Floats:
        """(c − 2,) inverse mass shared by an edge and the next [1/kg]; 0 beside gaps."""
        return np.where(self._both_linked, self.inverse_masses[1:-1], 0.0)

    @cached_property
    def movable(self) -> Floats:
        """(c − 1,) 1 where an end can move, 0 elsewhere and in gaps."""
        return (self.mobilities > 0.0).astype(np.float64)

    @cached_property
    def reduction_rounds(self) -> int:
        """Rounds of cyclic reduction needed to decouple all edges."""
        return (longest_run(run_ends(self.labels)) - 1).bit_length()

    @cached_property
    def runs(self) -> list[Integers]:
        """Edge indices (l, p) of p paths of l edges each; empty where any path is long."""
        runs = find_runs(self._both_linked)
        return runs if max(map(len, runs)) <= MAX_SHORT_RUN else []


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
        pins, or one that can only buckle, has a solution; more of it is more robust and less exact.
    multipliers : (k,) storage of the batches' multipliers, as long as the strips' path.
    """
    multipliers = np.zeros(len(strips.path)) if multipliers is None else multipliers
    batches = []
    for start, stop in pairwise(strips.starts):
        links = slice(start, stop - 1)
        path = strips.path[start:stop]
        linked, lengths = strips.linked[links], strips.rest_lengths[links]
        masses = inverse_masses[path]
        mobilities = np.where(linked, masses[:-1] + masses[1:], 0.0)
        scaled = strips.compliances[links] / h_squared
        compression = strips.compression_compliances[links] / h_squared
        regularized = mobilities * (1.0 + regularization) + scaled
        batches.append(
            StripBatch(
                path=path,
                labels=np.concatenate([[0], np.cumsum(~linked)]),
                inverse_masses=masses,
                rest_lengths=lengths,
                reference_lengths=np.where(linked, lengths, 1.0),
                scaled_compliances=scaled,
                scaled_compression=compression if compression.any() else np.empty(0),
                mobilities=mobilities,
                diagonal=np.where(mobilities > 0.0, regularized, 1.0),
                multipliers=multipliers[links],
                start_stiffnesses=np.empty(0),
            )
        )
    return batches


@dataclass(frozen=True, eq=False)
class Diagonals:
    """Links of shear strips, sorted by face."""

    pairs: Integers
    """(d, 2) particles."""
    faces: Integers
    """(d,) face numbers, counted from 0."""
    rests: Floats
    """(d,) lengths at rest [m]."""
    weights: Floats
    """(d,) 1 / rest, divided by the number of diagonals of the face [1/m]."""
    link_indices: Integers
    """(d,) indices of the diagonals in `rest_lengths`."""
    rest_lengths: Floats
    """(k,) the strips' rest lengths; changed by the kernel [m]."""


def make_diagonals(strips: Strips, faces: Integers) -> Diagonals:
    """Sorts the links of strips by the faces (m,) of their pairs, sharing their rest lengths."""
    link_indices = np.flatnonzero(strips.linked)
    link_indices = link_indices[np.argsort(faces[strips.pairs[link_indices]], kind="stable")]
    labels = np.unique(faces[strips.pairs[link_indices]], return_inverse=True)[1].reshape(-1)
    rests = strips.rest_lengths[link_indices]
    return Diagonals(
        pairs=np.stack([strips.path[link_indices], strips.path[link_indices + 1]], axis=1),
        faces=labels,
        rests=rests,
        weights=inverse(rests * np.bincount(labels)[labels], rests),
        link_indices=link_indices,
        rest_lengths=strips.rest_lengths,
    )
