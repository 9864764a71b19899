"""Lines along strips: bends of three consecutive particles that are straight at rest."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..stretch.strip_paths import Strips
from .bend_paths import BendPathBatch, make_bend_paths

BEND_REGULARIZATION = 1e-9
"""Share of the mobility added to the compliance, so that rigid bends have a solution. With ten
times as much, rigid sheets droop by more than a micrometre; a tenth of it changes nothing."""


@dataclass(frozen=True, eq=False)
class BendStrips:
    """Lines along strips: bends g = Σ coefficient · x of three consecutive particles."""

    strips: Strips
    """Strips of edges, with a path of k entries."""
    coefficients: Floats
    """(3, k) of the particle before an entry, its own, and the one after [1/m]; 0 without a
    line."""
    compliances: Floats
    """(k,) |g| per moment [1/(N m)]."""

    def without_lines(self, left_out: Booleans) -> "BendStrips":
        """The strips without the lines `left_out`, (l,) bool."""
        coefficients = self.coefficients.copy()
        coefficients[:, line_indices(self)[left_out]] = 0.0
        return replace(self, coefficients=coefficients)


def find_strip_lines(
    members: Integers, coefficients: Floats, compliances: Floats, strips: Strips
) -> tuple[BendStrips, Integers]:
    """Divides lines into those along strips and others.

    Parameters
    ----------
    members : (m, 3) particles of each line; the first has a lower number than the last.
    coefficients : (m, 3) [1/m].
    compliances : (m,) |g| per moment [1/(N m)].
    strips : strips of the edges of the mesh.

    Returns
    -------
    on_strips : lines whose particles are consecutive on a strip.
    others : (s,) indices of the other lines.
    """
    path = strips.path
    before, after = path[:-2], path[2:]
    along = np.stack([np.minimum(before, after), path[1:-1], np.maximum(before, after)], axis=1)
    linked = np.flatnonzero(strips.linked[:-2] & strips.linked[1:-1])
    rows, place = _match_rows(members, along[linked])
    place = linked[place]
    line_coefficients = coefficients[rows]
    turned = before[place] > after[place]
    line_coefficients[turned] = line_coefficients[turned][:, ::-1]
    placed = np.zeros((3, len(path)))
    placed[:, place + 1] = line_coefficients.T
    placed_compliances = np.zeros(len(path))
    placed_compliances[place + 1] = compliances[rows]
    on_strips = BendStrips(strips, placed, placed_compliances)
    return on_strips, np.setdiff1d(np.arange(len(members)), rows)


def line_indices(bends: BendStrips) -> Integers:
    """(l,) entries of the path that are the middle of a line."""
    return np.flatnonzero(bends.coefficients[1])


def line_runs(bends: BendStrips) -> Integers:
    """(l,) run number of each line; consecutive lines of a strip form a run."""
    return np.cumsum(np.diff(line_indices(bends), prepend=-2) > 1) - 1


def _match_rows(members: Integers, wanted: Integers) -> tuple[Integers, Integers]:
    """Indices of the rows common to `members` (m, 3) and `wanted` (k, 3), in each of the two."""
    n = int(max(members.max(initial=0), wanted.max(initial=0))) + 1
    keys, sought = (
        (triples[:, 0] * n + triples[:, 1]) * n + triples[:, 2] for triples in (members, wanted)
    )
    _, rows, place = np.intersect1d(keys, sought, assume_unique=True, return_indices=True)
    return rows, place


def bend_strip_batches(
    bends: BendStrips, inverse_masses: Floats, h_squared: float, stiffening: float = 1.0
) -> list[BendPathBatch]:
    """One batch per colour with lines, for one h² [s²]; `stiffening` divides their compliances."""
    strips, batches = bends.strips, []
    for start, stop in pairwise(strips.starts):
        inner = slice(start + 1, stop - 1)
        coefficients = bends.coefficients[:, inner]
        if coefficients.any():
            scaled = bends.compliances[inner] / (h_squared * stiffening)
            batches.append(
                make_bend_paths(
                    strips.path[None, start:stop],
                    coefficients,
                    scaled,
                    np.arange(len(scaled)),
                    np.zeros((3, len(scaled))),
                    inverse_masses=inverse_masses,
                    regularization=BEND_REGULARIZATION,
                )
            )
    return batches
