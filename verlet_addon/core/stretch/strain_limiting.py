"""Strain limiting: single edges that are stretched too far, or too short, one after the other."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ..arrays import (
    SHORTEST,
    Booleans,
    Floats,
    Integers,
    inverse,
    magnitudes,
    ranges,
    unique_in_order,
)
from ..kernel import Struct, kernel
from .strip_batches import MIN_LENGTH_SHARE
from .strip_paths import Strips

STRAIN_TOLERANCE = 4e-3
"""Strain up to which edges are left as they are; the 99th percentile then stays under 0.5 % on real
meshes. With half, elastic cloth that is keyed stiff again is 20 % longer at its worst edge in place
of 25 %; with twice, 34 %."""
MAX_STRAIN = 0.012
"""Sweeps stop once no edge is stretched by more than this after strain limiting: with 1.5 % a dress
is stretched by 0.55 % at the 99th percentile."""
STRAIN_ACCELERATION_TOLERANCE = 300.0
"""Tolerance of strain over h² in short steps [1/s²]: the remaining strain acts as a force there,
and would make the cloth jitter. With half, a beach ball lies 2.4 mm elsewhere; twice as much gives
the same bakes, and without, short steps leave 0.18 % of stretch in place of 0.1 %."""


@dataclass(frozen=True, eq=False)
class StripLinks:
    """Links and gaps of strips, along their path."""

    multipliers: Floats
    """(k,) multipliers of all links; the batches hold views of them."""
    first: Integers
    """(k,) first particle of each link."""
    second: Integers
    """(k,) second particle of each link."""
    inverse_masses: Floats
    """(2, k) inverse masses of both particles [1/kg]."""
    rest_lengths: Floats
    """(k,) ∞ in gaps, and where nothing can move [m]."""
    min_lengths: Floats
    """(k,) least lengths in compression [m]; 0 in gaps, and where nothing can move."""
    scaled_compliances: Floats
    """(k,) compliance / h² [1/kg]."""
    gains: Floats
    """(k,) 1 / (sum of inverse masses + scaled compliance) [kg]; 0 where nothing can move."""
    order: Integers
    """(2k,) links sorted by particle, first by their beginnings and then by their ends."""
    starts: Integers
    """(n + 1,) start of the links of each particle in `order`."""
    tolerance: float
    """Strain up to which links are left as they are."""

    def at(self, particles: Integers) -> Integers:
        """The links at some particles, each once, ordered by the first particle that has it."""
        starts = self.starts[particles]
        return unique_in_order(self.order[ranges(starts, self.starts[particles + 1] - starts)])


def make_strip_links(
    strips: Strips,
    bones: Booleans,
    multipliers: Floats,
    inverse_masses: Floats,
    h_squared: float,
) -> StripLinks:
    """The links of strips for one h² [s²] and inverse masses (n,).

    Links that are `bones` (k,) bool may shorten as little as they may stretch.
    """
    tolerance = min(STRAIN_TOLERANCE, STRAIN_ACCELERATION_TOLERANCE * h_squared)
    least = np.where(bones[:-1], 1.0 - tolerance, MIN_LENGTH_SHARE) * strips.rest_lengths[:-1]
    first, second = strips.path[:-1], strips.path[1:]
    masses = np.stack([inverse_masses[first], inverse_masses[second]])
    mobility = masses.sum(axis=0)
    movable = strips.linked[:-1] & (mobility > 0.0)
    scaled = strips.compliances[:-1] / h_squared
    ends = np.concatenate([first, second])
    order = np.argsort(ends, kind="stable")
    return StripLinks(
        multipliers=multipliers[:-1],
        first=first,
        second=second,
        inverse_masses=masses,
        rest_lengths=np.where(movable, strips.rest_lengths[:-1], np.inf),
        min_lengths=np.where(movable, least, 0.0),
        scaled_compliances=scaled,
        gains=inverse(mobility + scaled, mobility),
        order=order % max(len(first), 1),
        starts=np.searchsorted(ends[order], np.arange(len(inverse_masses) + 1)),
        tolerance=tolerance,
    )


def find_stretched_particles(positions: Floats, links: StripLinks, strain: float) -> Integers:
    """The particles of links stretched by this share beyond their elastic length."""
    lengths = magnitudes(positions[:, links.second] - positions[:, links.first])
    excess = lengths - links.rest_lengths + links.scaled_compliances * links.multipliers
    stretched = np.flatnonzero(excess > strain * links.rest_lengths)
    return np.concatenate([links.first[stretched], links.second[stretched]])


STRAIN_LIMITING_ROUNDS = 160
"""Rounds of strain limiting at most, each over fewer edges than the one before. With 40, a dress
needs three times as many sweeps, a sheet of 10,201 vertices on two corners takes a fifth longer,
and one of 90,601 stretches by 12 % instead of 6 %."""
OVER_RELAXATION = 1.5
"""Factor on the correction of each edge in strain limiting, because its neighbours pull it back.
With 1, a dress takes a fifth more sweeps, and an irregular sheet of 22,500 vertices stretches by
2.7 % instead of 1.2 %; with 1.7, that sheet takes a sixth longer."""

LINK = np.dtype([("ends", "2i4"), ("sides", "2i4"), ("values", "6f8")])
"""A link in C, with all that is read together."""


@dataclass(frozen=True, eq=False)
class LinkSides:
    """Links, and the sides of each particle's, as C reads them.

    A side is one of a link's two ends. A particle has an even number, since two are tested at a
    time; padding is never stretched.
    """

    links: NDArray[np.void]
    """(k,) of type LINK."""
    side_links: NDArray[np.int32]
    """(s,) the link of each side, sorted by particle."""
    others: NDArray[np.int32]
    """(s,) the particle at the other end."""
    max_squares: Floats
    """(s,) squared length above which a link is too long; changed by the kernel [m²]."""
    min_squares: Floats
    """(s,) squared length below which a link is too short [m²]."""
    starts: Integers
    """(n + 1,) start of each particle's sides."""


def sort_sides(links: StripLinks) -> LinkSides:
    """The links and their sides."""
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
    every = np.zeros(count, dtype=LINK)
    every["ends"] = ends
    slots = at[np.argsort(links.order, kind="stable")].reshape(count, 2)
    every["sides"] = np.where(ends[:, :1] > ends[:, 1:], slots[:, ::-1], slots)
    columns = links.rest_lengths, links.min_lengths, links.scaled_compliances, links.gains
    every["values"] = np.stack([*links.inverse_masses, *columns], axis=1)
    return LinkSides(every, numbers[0], numbers[1], squares[0], squares[1], starts)


Struct(
    "link_sides",
    LinkSides,
    reads="side_links others min_squares starts",
    shares="max_squares",
    links=("struct strip_link", lambda sides: sides.links),
    overstretched=(Integers, lambda sides: np.zeros(len(sides.others) + 1, dtype=np.int64)),
)
Struct(
    "strip_links",
    StripLinks,
    reads="tolerance",
    shares="rest_lengths multipliers",
    count=(int, lambda links: len(links.first)),
    particles=(int, lambda links: len(links.starts) - 1),
    sides=(LinkSides, sort_sides),
    moved=(Integers, lambda links: np.zeros(len(links.starts), dtype=np.int64)),
    marked=(Booleans, lambda links: np.zeros(len(links.first), dtype=np.bool_)),
    seen=(Booleans, lambda links: np.zeros(len(links.starts), dtype=np.bool_)),
    scratch={"points": lambda links: (len(links.starts) - 1, 4)},
)


@kernel()
def limit_strain(positions: Floats, links: StripLinks, *, max_strain: float) -> bool:
    """Strain limiting: shortens overstretched edges one after the other, by Gauss–Seidel.

    Each correction stretches the neighbouring edges a little, which spreads strain peaks that
    sweeps over whole strips would move to and fro (successive over-relaxation; D. Young, *Iterative
    Methods for Solving Partial Difference Equations of Elliptic Type*, 1954). Edges shorter than
    their least length are lengthened likewise.

    Returns whether any edge is still stretched by more than `max_strain`.
    """
    candidates = np.arange(len(links.first))
    for _ in range(STRAIN_LIMITING_ROUNDS):
        overstretched = _overstretched_links(positions, links, links.tolerance, candidates)
        if not len(overstretched):
            return False
        candidates = links.at(_project_links(positions, links, overstretched))
    return len(_overstretched_links(positions, links, max_strain, candidates)) > 0


def _overstretched_links(
    positions: Floats, links: StripLinks, tolerance: float, candidates: Integers
) -> Integers:
    """The candidate links stretched by more than this share, or too short."""
    first, second = links.first[candidates], links.second[candidates]
    squares = np.zeros(len(first))
    for row in positions:
        across = row.take(second, mode="clip")
        across -= row.take(first, mode="clip")
        across *= across
        squares += across
    limits = (1.0 + tolerance) * links.rest_lengths[candidates]
    limits -= links.scaled_compliances[candidates] * links.multipliers[candidates]
    min_lengths = links.min_lengths[candidates]
    return candidates[(squares > limits * limits) | (squares < min_lengths * min_lengths)]


def _project_links(positions: Floats, links: StripLinks, overstretched: Integers) -> Integers:
    """Projects the links found, one after the other; returns their particles in that order.

    Each needs what those before it have moved, so that arrays would hold three at a time: plain
    numbers take less time.
    """
    ends = np.stack([links.first[overstretched], links.second[overstretched]], axis=1)
    touched = unique_in_order(ends.ravel())
    moved: list[list[float]] = positions[:, touched].T.tolist()
    points = dict(zip(touched.tolist(), moved, strict=True))
    columns = links.rest_lengths, links.min_lengths, links.scaled_compliances, links.gains
    values = [
        column[overstretched].tolist()
        for column in (*links.inverse_masses, *columns, links.multipliers)
    ]
    links.multipliers[overstretched] = [
        _project_link(points[first], points[second], *numbers)
        for (first, second), *numbers in zip(ends.tolist(), *values, strict=True)
    ]
    positions[:, touched] = np.array(moved).T
    return touched


def _project_link(
    first: list[float],
    second: list[float],
    to: float,
    fro: float,
    rest_length: float,
    min_length: float,
    compliance: float,
    gain: float,
    multiplier: float,
) -> float:
    """Projects a link between two points, of inverse masses `to` and `fro`, which it moves.

    Returns its multiplier.
    """
    x, y, z = second[0] - first[0], second[1] - first[1], second[2] - first[2]
    length = max(sqrt(x * x + y * y + z * z), SHORTEST)
    excess = length - rest_length + compliance * multiplier
    shortfall = min(length - min_length, 0.0)
    # Elastic links are not over-relaxed: no later correction would undo it.
    relaxation = 1.0 if compliance > 0.0 else OVER_RELAXATION
    step = relaxation * (max(excess, 0.0) + shortfall) * gain
    pull = step / length
    if to > 0.0:
        share = to * pull
        first[:] = first[0] + share * x, first[1] + share * y, first[2] + share * z
    if fro > 0.0:
        share = fro * pull
        second[:] = second[0] - share * x, second[1] - share * y, second[2] - share * z
    return multiplier - step
