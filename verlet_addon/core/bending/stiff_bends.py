"""Bends so stiff that all of them are solved for at once.

Relaxed one after the other, or strip by strip, bends reach a few cells a step, and stiff cloth
would hang as if limp; hinges that have an angle at rest would swing to and fro, further than that
angle, in every step. But bends that are straight at rest are linear in the positions, and so are
the others if they turn but little, so that M + Σ c cᵀ/α̃, the matrix of an implicit step, stays
what it is as long as h does, and is factorized once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, inverse, sum_by
from ..geometry.graph import edge_keys
from ..linear.nested_dissection import Factors, factorize
from .bend_strips import BEND_REGULARIZATION, BendStrips, line_indices
from .stencil_batches import Stencils

HINGE_PARTICLES = 4
"""Particles of a hinge."""


@dataclass(frozen=True, eq=False)
class Bends:
    """Bends g = Σ coefficient · x of four particles each; of three, where one of them counts 0."""

    members: Integers
    """(c, 4) hinges (p, q, a, b)."""
    coefficients: Floats
    """(c, 4) [1/m]"""
    compliances: Floats
    """(c,) |g| per moment [1/(N m)]; 0 = rigid."""

    def select(self, which: Booleans) -> "Bends":
        """Those of which (c,) is true."""
        return Bends(self.members[which], self.coefficients[which], self.compliances[which])


@dataclass(frozen=True, eq=False)
class StiffBendBatch:
    """Bends that are solved for at once, ready for one h²."""

    particles: Integers
    """(4 c,) all first members, then all second members…"""
    coefficients: Floats
    """(4, c) [1/m]"""
    stiffnesses: Floats
    """(c,) 1 / scaled compliance."""
    free: Integers
    """(f,) those of their particles that can move."""
    masses: Floats
    """(f,) [kg]"""
    system: Factors
    """The matrix M + Σ c cᵀ/α̃ for those."""
    rests: Floats
    """(c,) rest length of g, signed as in `Stencils`; only hinges may have one."""
    multipliers: Floats
    """(3, f) mass × how far bends have moved particles in this step; changed by the kernel."""


def hinges_as_bends(hinges: Stencils) -> Bends:
    """Hinges as they are solved for at once."""
    return Bends(hinges.members, hinges.coefficients, hinges.compliances)


def straight_bends(along: BendStrips, straight: Sequence[Stencils]) -> Bends:
    """All that is straight at rest: lines along strips, and then the stencils."""
    middle = line_indices(along)
    lines = along.strips.path[middle[:, None] + [-1, 0, 1]]
    parts = [(lines, along.coefficients[:, middle].T, along.compliances[middle])]
    parts += [(some.members, some.coefficients, some.compliances) for some in straight]
    width = np.arange(HINGE_PARTICLES)
    members = [some[:, np.minimum(width, some.shape[1] - 1)] for some, _, _ in parts]
    coefficients = np.zeros((sum(map(len, members)), HINGE_PARTICLES))
    begin = 0
    for _, some, _ in parts:
        coefficients[begin : begin + len(some), : some.shape[1]] = some
        begin += len(some)
    return Bends(
        np.concatenate(members),
        coefficients,
        np.concatenate([compliances for _, _, compliances in parts]),
    )


def stiffness_ratios(bends: Bends, inverse_masses: Floats, h_squared: float) -> Floats:
    """(c,) mobility of a bend's particles over its scaled compliance; 0 where nothing can move.

    Far below 1, a bend hardly moves its particles in a step; far above, it decides where they are.
    """
    mobility, scaled = _mobility(bends, inverse_masses), _scaled(bends, h_squared)
    return mobility * inverse(np.maximum(scaled, BEND_REGULARIZATION * mobility), mobility)


def _mobility(bends: Bends, inverse_masses: Floats) -> Floats:
    """(c,) Σ w c²: how much each bend gives way to a moment."""
    return np.asarray((inverse_masses[bends.members] * bends.coefficients**2).sum(axis=1))


def _scaled(bends: Bends, h_squared: float) -> Floats:
    """(c,) compliance / h²."""
    return np.asarray(bends.compliances / h_squared)


def stiff_bend_batches(
    bends: Bends,
    positions: Floats,
    inverse_masses: Floats,
    h_squared: float,
    rests: Floats,
    stiffening: float = 1.0,
) -> list[StiffBendBatch]:
    """One batch for one h² [s²], or none, that resists so many times as much.

    Parameters
    ----------
    positions : (n, 3) at rest, to take the mesh apart by [m].
    rests : (c,) of g; where they change, the batch is to have this very array.
    """
    if not len(bends.members):
        return []
    mobility = _mobility(bends, inverse_masses)
    softness = _scaled(bends, h_squared) + BEND_REGULARIZATION * mobility
    stiffnesses = inverse(softness / stiffening, mobility)
    free = np.unique(bends.members[inverse_masses[bends.members] > 0.0])
    masses = 1.0 / inverse_masses[free]
    pairs, couplings, diagonal = _matrix(bends, stiffnesses, free, len(inverse_masses))
    batch = StiffBendBatch(
        particles=bends.members.T.ravel(),
        coefficients=np.ascontiguousarray(bends.coefficients.T),
        stiffnesses=stiffnesses,
        free=free,
        masses=masses,
        system=factorize(positions[free], pairs, couplings, masses + diagonal),
        rests=rests,
        multipliers=np.zeros((3, len(free))),
    )
    return [batch]


def _matrix(
    bends: Bends, stiffnesses: Floats, free: Integers, particle_count: int
) -> tuple[Integers, Floats, Floats]:
    """Σ c cᵀ/α̃ among free particles: (m, 2) pairs that are coupled, (m,) how, (f,) diagonal."""
    number = np.full(particle_count, -1)
    number[free] = np.arange(len(free))
    first, second = np.triu_indices(HINGE_PARTICLES)
    ends = number[bends.members]
    rows, columns = ends[:, first].ravel(), ends[:, second].ravel()
    elements = bends.coefficients[:, first] * bends.coefficients[:, second] * stiffnesses[:, None]
    kept = (rows >= 0) & (columns >= 0)
    rows, columns, values = rows[kept], columns[kept], elements.ravel()[kept]
    off_diagonal = rows != columns
    # A particle named twice, to fill up a line, counts 0 there.
    diagonal = sum_by(rows[~off_diagonal], values[~off_diagonal], len(free))
    pairs = edge_keys((rows[off_diagonal], columns[off_diagonal]), len(free))
    keys, place = np.unique(pairs, return_inverse=True)
    couplings = sum_by(place.reshape(-1), values[off_diagonal], len(keys))
    return np.stack(np.divmod(keys, max(len(free), 1)), axis=1), couplings, diagonal
