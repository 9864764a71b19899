"""Bend stencils, sorted by colour, and their batches, projected one after the other."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, inverse
from ..coloring import color_constraints


@dataclass(frozen=True, eq=False)
class Stencils:
    """Bends: vectors g = Σ coefficient · x of length 2 sin(turn / 2), with rest lengths."""

    members: Integers
    """(m, k) particles, sorted by colour; lines have 3, hinges 4 (p, q, a, b)."""
    starts: Integers
    """(colours + 1,) start of each colour."""
    coefficients: Floats
    """(m, k) [1/m]; each row sums to 0."""
    rests: Floats
    """(m,) rest lengths of g; of hinges, negative on the side opposite to their normals."""
    compliances: Floats
    """(m,) |g| per moment [1/(N m)]; 0 = rigid."""

    def select(self, which: Booleans) -> "Stencils":
        """The bends for which a mask (m,) is True, in the same order."""
        before = np.concatenate([[0], np.cumsum(which)])
        return Stencils(
            self.members[which],
            before[self.starts],
            self.coefficients[which],
            self.rests[which],
            self.compliances[which],
        )

    def masked(self, left_out: Booleans) -> "Stencils":
        """The bends with coefficients of 0 for those `left_out`, (m,) bool."""
        return replace(self, coefficients=self.coefficients * ~left_out[:, None])


@dataclass(frozen=True, eq=False)
class Springs:
    """Energies ½ (|g| − rest)²/compliance of springs with vectors g = Σ coefficient · x."""

    members: Integers
    """(c, 4) particles, of hinges (p, q, a, b); springs of fewer repeat one with coefficient 0."""
    coefficients: Floats
    """(c, 4) coefficients, whose sum is 0 in each row [1/m]."""
    rests: Floats
    """(c,) |g| at rest; of hinges signed as in `Stencils`."""
    compliances: Floats
    """(c,) [1/J]; 0 = rigid."""

    def select(self, which: Booleans) -> "Springs":
        """The chosen springs, (c,) bool."""
        return Springs(*(rows[which] for rows in vars(self).values()))


@dataclass(frozen=True, eq=False)
class StencilBatch:
    """The bends of one colour, prepared for steps of one length."""

    particles: Integers
    """(k · c,) all first members, then all second members…"""
    inverse_masses: Floats
    """(k, c) [1/kg]"""
    coefficients: Floats
    """(k, c) [1/m]"""
    responses: Floats
    """(k, c) inverse mass × coefficient."""
    rests: Floats
    """(c,) rest lengths of g."""
    scaled_compliances: Floats
    """(c,) compliance / h²."""
    gains: Floats
    """(c,) 1 / (mobility + scaled compliance), with Σ w c² as mobility; 0 where nothing can
    move."""
    multipliers: Floats
    """(3, c) XPBD multipliers by axis, of ropes in the first row alone; changed by the kernels."""


def build_stencils(
    members: Integers, coefficients: Floats, rests: Floats, compliances: Floats
) -> Stencils:
    """Sorts bends by colour."""
    order, starts = color_constraints(members)
    return Stencils(members[order], starts, coefficients[order], rests[order], compliances[order])


def stencil_batches(
    stencils: Stencils, inverse_masses: Floats, h_squared: float
) -> list[StencilBatch]:
    """One batch per colour for one h² [s²] and inverse masses (n,)."""
    batches = []
    for start, stop in zip(stencils.starts[:-1], stencils.starts[1:], strict=True):
        if not stencils.coefficients[start:stop].any():
            continue
        members = stencils.members[start:stop].T
        coefficients = np.ascontiguousarray(stencils.coefficients[start:stop].T)
        masses = inverse_masses[members]
        responses = masses * coefficients
        mobility = (responses * coefficients).sum(axis=0)
        scaled = stencils.compliances[start:stop] / h_squared
        batches.append(
            StencilBatch(
                particles=members.ravel(),
                inverse_masses=masses,
                coefficients=coefficients,
                responses=responses,
                rests=stencils.rests[start:stop],
                scaled_compliances=scaled,
                gains=inverse(mobility + scaled, mobility),
                multipliers=np.zeros((3, stop - start)),
            )
        )
    return batches


def surface_stencil_batches(
    stencils: Stencils, inverse_masses: Floats, h_squared: float, stiffening: float
) -> list[StencilBatch]:
    """Batches of the bends of surfaces, with compensated compliances, divided by `stiffening`.

    The gain of a single bend is 1 / (mobility + α̃). Neighbours that bend alike reverse each
    other's
    corrections and would be softer than α̃ by the share mobility / α̃; together they need the gain
    1 / √(mobility² + α̃²). The compliance is therefore reduced to √(mobility² + α̃²) − mobility.
    Without, the drape coefficient of silk is one to two points lower.
    """
    mobility = (inverse_masses[stencils.members] * stencils.coefficients**2).sum(axis=1)
    compensated = np.hypot(mobility, stencils.compliances / h_squared) - mobility
    softened = replace(stencils, compliances=compensated * h_squared / stiffening)
    return stencil_batches(softened, inverse_masses, h_squared)
