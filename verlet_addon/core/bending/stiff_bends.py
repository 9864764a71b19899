"""Stiff bends, solved as one system whose matrix is factorized once.

Projected one after the other, or strip by strip, corrections of bends reach a few cells per step,
so that stiff cloth would hang limply; hinges with a rest angle would overshoot it to and fro in
every step. Bends that are straight at rest are linear in the positions, and others nearly are for
small rotations, so that the matrix of an implicit step, M + Σ c cᵀ/α̃, is constant for one h.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, inverse, sum_by
from ..geometry.graph import edge_keys
from ..linear.nested_dissection import Factors, factorize
from .bend_paths import BEND_REGULARIZATION, BendStrips, line_indices
from .stencil_batches import Springs, Stencils

HINGE_PARTICLES = 4
"""Number of particles of a hinge, also in C."""


@dataclass(frozen=True, eq=False)
class StiffBendBatch:
    """Bends solved as one system, prepared for steps of one length."""

    particles: Integers
    """(4 c,) all first members, then all second members…"""
    coefficients: Floats
    """(4, c) [1/m]"""
    stiffnesses: Floats
    """(c,) 1 / scaled compliance."""
    free: Integers
    """(f,) particles of bends that can move."""
    masses: Floats
    """(f,) [kg]"""
    system: Factors
    """The factorized matrix M + Σ c cᵀ/α̃ of free particles."""
    rests: Floats
    """(c,) rest length of g, signed as in `Stencils`; 0 for lines."""
    multipliers: Floats
    """(3, f) mass × displacement of particles by bends in this step; changed by the kernel
    [kg m]."""


def hinge_springs(hinges: Stencils) -> Springs:
    """Hinges as springs, which share their rests with them."""
    return Springs(hinges.members, hinges.coefficients, hinges.rests, hinges.compliances)


def straight_bends(along: BendStrips, straight: Sequence[Stencils]) -> Springs:
    """Bends that are straight at rest: first bends along strips, then bends of stencils."""
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
    compliances = np.concatenate([some for _, _, some in parts])
    none = np.zeros(len(compliances))
    return Springs(np.concatenate(members), coefficients, none, compliances)


def stiffness_ratios(bends: Springs, inverse_masses: Floats, h_squared: float) -> Floats:
    """(c,) mobility Σ w c² of a bend over its scaled compliance; 0 where nothing can move.

    Far below 1, a bend hardly moves its particles in a step; far above, it determines where they
    are.
    """
    mobility, scaled = _mobility(bends, inverse_masses), _scaled(bends, h_squared)
    return mobility * inverse(np.maximum(scaled, BEND_REGULARIZATION * mobility), mobility)


def _mobility(bends: Springs, inverse_masses: Floats) -> Floats:
    """(c,) mobilities Σ w c², of inverse masses w and coefficients c."""
    return np.asarray((inverse_masses[bends.members] * bends.coefficients**2).sum(axis=1))


def _scaled(bends: Springs, h_squared: float) -> Floats:
    """(c,) scaled compliances, compliance / h²."""
    return np.asarray(bends.compliances / h_squared)


def stiff_bend_batches(
    bends: Springs,
    positions: Floats,
    inverse_masses: Floats,
    h_squared: float,
    stiffening: float = 1.0,
) -> list[StiffBendBatch]:
    """One batch for one h² [s²], or none without bends; it holds their rests.

    Parameters
    ----------
    positions : (n, 3) at rest, for nested dissection [m].
    stiffening : factor on the stiffness.
    """
    if not len(bends.members):
        return []
    mobility = _mobility(bends, inverse_masses)
    softness = _scaled(bends, h_squared) + BEND_REGULARIZATION * mobility
    stiffnesses = inverse(softness / stiffening, mobility)
    free = np.unique(bends.members[inverse_masses[bends.members] > 0.0])
    masses = 1.0 / inverse_masses[free]
    first, second = np.triu_indices(HINGE_PARTICLES)
    number = np.full(len(inverse_masses), -1)
    number[free] = np.arange(len(free))
    ends = number[bends.members]
    elements = bends.coefficients[:, first] * bends.coefficients[:, second] * stiffnesses[:, None]
    keys = ends[:, first].ravel(), ends[:, second].ravel()
    pairs, couplings, diagonal = assemble_symmetric(len(free), *keys, elements.ravel())
    batch = StiffBendBatch(
        particles=bends.members.T.ravel(),
        coefficients=np.ascontiguousarray(bends.coefficients.T),
        stiffnesses=stiffnesses,
        free=free,
        masses=masses,
        system=factorize(positions[free], pairs, couplings, masses + diagonal),
        rests=bends.rests,
        multipliers=np.zeros((3, len(free))),
    )
    return [batch]


def assemble_symmetric(
    size: int, rows: Integers, columns: Integers, elements: Floats
) -> tuple[Integers, Floats, Floats]:
    """A symmetric matrix: (m, 2) coupled pairs, (m,) their elements, and the diagonal (size,).

    Elements (k,) in one place are summed, of which either is given: (row, column) or (column, row).
    Those of negative rows or columns are left out.
    """
    kept = (rows >= 0) & (columns >= 0)
    keys, place = np.unique(edge_keys((rows[kept], columns[kept]), size), return_inverse=True)
    sums = sum_by(place.reshape(-1), elements[kept], len(keys))
    pairs = np.stack(np.divmod(keys, max(size, 1)), axis=1)
    same, diagonal = pairs[:, 0] == pairs[:, 1], np.zeros(size)
    diagonal[pairs[same, 0]] = sums[same]
    return pairs[~same], sums[~same], diagonal
