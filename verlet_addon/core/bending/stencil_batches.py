"""Bends that are relaxed one after the other, sorted by colour."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, inverse
from ..coloring import color_constraints


@dataclass(frozen=True, eq=False)
class Stencils:
    """Bends: vectors g = Σ coefficient · x, as long as 2 sin(turn / 2), kept at rest length."""

    members: Integers
    """(m, k) particles, sorted by colour; lines have 3, hinges 4 (p, q, a, b)."""
    starts: Integers
    """(colours + 1,) where each colour begins."""
    coefficients: Floats
    """(m, k) [1/m]; each row sums to 0."""
    rests: Floats
    """(m,) rest length of g, signed by the side of the normal for signed hinges."""
    compliances: Floats
    """(m,) |g| per moment [1/(N m)]; 0 = rigid."""

    def select(self, which: Booleans) -> "Stencils":
        """Those of which (m,) is true."""
        before = np.concatenate([[0], np.cumsum(which)])
        return Stencils(
            self.members[which],
            before[self.starts],
            self.coefficients[which],
            self.rests[which],
            self.compliances[which],
        )

    def masked(self, left_out: Booleans) -> "Stencils":
        """The same but for some (m,), which count 0."""
        return replace(self, coefficients=self.coefficients * ~left_out[:, None])


@dataclass(frozen=True, eq=False)
class StencilBatch:
    """The bends of one colour, ready for one h²."""

    particles: Integers
    """(k · c,) all first members, then all second members…"""
    inverse_masses: Floats
    """(k, c)"""
    coefficients: Floats
    """(k, c)"""
    responses: Floats
    """(k, c) inverse mass × coefficient."""
    rests: Floats
    scaled_compliances: Floats
    gains: Floats
    multipliers: Floats
    """(3, c)"""


def build_stencils(
    members: Integers, coefficients: Floats, rests: Floats, compliances: Floats
) -> Stencils:
    """Sorts bends by colour."""
    order, starts = color_constraints(members)
    return Stencils(members[order], starts, coefficients[order], rests[order], compliances[order])


def stencil_batches(
    stencils: Stencils, inverse_masses: Floats, h_squared: float
) -> list[StencilBatch]:
    """One batch per colour for one h² [s²]."""
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
    """The same of surfaces' bends, that resist so many times as much.

    Alone, a bend would need −Δλ = 1 / (mobility + α̃) for each C + α̃ λ. But where its neighbours
    bend alike, each moves what they move back, and together they would be softer than asked for by
    mobility / α̃: they need 1 / √(mobility² + α̃²). So they have less compliance, by which the first
    is the second, in the long run too. Without, silk drapes more limply by one to two points.
    """
    mobility = (inverse_masses[stencils.members] * stencils.coefficients**2).sum(axis=1)
    compensated = np.hypot(mobility, stencils.compliances / h_squared) - mobility
    softened = replace(stencils, compliances=compensated * h_squared / stiffening)
    return stencil_batches(softened, inverse_masses, h_squared)
