"""Straight bends strung together along strips, each of which is bent as one piece.

Each line joins three particles in a row; those of a strip form a pentadiagonal system that never
changes, since they are linear in the positions.
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
    """Lines g = Σ coefficient · x along strips."""

    strips: Strips
    """Of edges; k entries."""
    coefficients: Floats
    """(3, k) of the particle before, this one and the one after [1/m]; 0 where no line is."""
    compliances: Floats
    """(k,) |g| per moment [1/(N m)]."""

    def without_lines(self, left_out: Booleans) -> "BendStrips":
        """The strips but for some of their lines (l,)."""
        coefficients = self.coefficients.copy()
        coefficients[:, line_indices(self)[left_out]] = 0.0
        return replace(self, coefficients=coefficients)


@dataclass(frozen=True, eq=False)
class BendStripBatch:
    """The lines of one colour, ready for one h²; the line k has the entries k to k + 2."""

    path: Integers
    """(c,)"""
    coefficients: Floats
    """(3, c − 2)"""
    responses: Floats
    """(3, c − 2) inverse mass × coefficient."""
    scaled_compliances: Floats
    """(c − 2,)"""
    bands: Bands
    """The whole system."""
    multipliers: Floats
    """(3, c − 2) XPBD's multipliers; changed by the kernel."""


def find_strip_lines(
    members: Integers, coefficients: Floats, compliances: Floats, strips: Strips
) -> tuple[BendStrips, Integers]:
    """Finds lines along strips.

    Parameters
    ----------
    members : (m, 3) the first particle of each before the last.
    coefficients : (m, 3)
    compliances : (m,)
    strips : of the edges that the lines consist of.

    Returns
    -------
    on_strips : those that lie along a strip.
    others : (s,) the others.
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
    """(l,) where in the path the middles of lines are."""
    return np.flatnonzero(bends.coefficients[1])


def line_runs(bends: BendStrips) -> Integers:
    """(l,) label for each line, equal where one bends the next."""
    return np.cumsum(np.diff(line_indices(bends), prepend=-2) > 1) - 1


def _match_rows(members: Integers, wanted: Integers) -> tuple[Integers, Integers]:
    """Where among the members (m, 3) those are that are wanted (k, 3), and where among these."""
    n = int(max(members.max(initial=0), wanted.max(initial=0))) + 1
    keys, sought = (
        (triples[:, 0] * n + triples[:, 1]) * n + triples[:, 2] for triples in (members, wanted)
    )
    _, rows, place = np.intersect1d(keys, sought, assume_unique=True, return_indices=True)
    return rows, place


def bend_strip_batches(
    bends: BendStrips, inverse_masses: Floats, h_squared: float, stiffening: float = 1.0
) -> list[BendStripBatch]:
    """One batch per colour that has lines, for one h² [s²], that resist so many times as much."""
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
