"""Straight bends along strips; each strip is solved as one pentadiagonal system.

A line is the bend of three consecutive particles, straight at rest. It is linear in the positions,
so that the matrix of a strip is constant for one h².
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..linear.pentadiagonal import Bands
from ..stretch.strip_paths import Strips

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


@dataclass(frozen=True, eq=False)
class BendStripBatch:
    """The lines of one colour, prepared for steps of one length.

    Line k has the entries k to k + 2 of the path.
    """

    path: Integers
    """(c,) particles."""
    coefficients: Floats
    """(3, c − 2) [1/m]; 0 without a line."""
    responses: Floats
    """(3, c − 2) inverse mass × coefficient."""
    scaled_compliances: Floats
    """(c − 2,) compliance / h²."""
    bands: Bands
    """The matrix of all lines, C M⁻¹ Cᵀ + α̃."""
    multipliers: Floats
    """(3, c − 2) XPBD multipliers by axis; changed by the kernel."""


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
) -> list[BendStripBatch]:
    """One batch per colour with lines, for one h² [s²]; `stiffening` divides their compliances."""
    strips, batches = bends.strips, []
    for (start, stop), longest in zip(pairwise(strips.starts), strips.longest_paths, strict=True):
        inner = slice(start + 1, stop - 1)
        coefficients = bends.coefficients[:, inner]
        if not coefficients.any():
            continue
        path = strips.path[start:stop]
        masses = inverse_masses[path]
        responses = np.stack([masses[:-2], masses[1:-1], masses[2:]]) * coefficients
        scaled = bends.compliances[inner] / (h_squared * stiffening)
        batches.append(
            BendStripBatch(
                path=path,
                coefficients=coefficients,
                responses=responses,
                scaled_compliances=scaled,
                bands=Bands(bend_matrix(coefficients, responses, scaled), int(longest)),
                multipliers=np.zeros((3, stop - start - 2)),
            )
        )
    return batches


def bend_matrix(coefficients: Floats, responses: Floats, scaled_compliances: Floats) -> Floats:
    """C M⁻¹ Cᵀ + α̃ of lines (3, m), as the (3, m) rows of `Bands`.

    A line shares two particles with the next, and one with the next but one.
    """
    mobility = (responses * coefficients).sum(axis=0)
    rows = np.zeros((3, len(mobility)))
    diagonal = mobility * (1.0 + BEND_REGULARIZATION) + scaled_compliances
    rows[0] = np.where(diagonal > 0.0, diagonal, 1.0)
    rows[1, 1:] = (responses[1:, :-1] * coefficients[:-1, 1:]).sum(axis=0)
    rows[2, 2:] = responses[2, :-2] * coefficients[0, 2:]
    return rows
