"""Constraint sets as structures of arrays, sorted by graph colour.

A set is constant. `batches` makes what a time step needs from it, one batch per colour, for one
h² (the factor of acceleration in the step, which differs between bodies by their drag), so that
compliance and gravity see the same h².
"""

from dataclasses import dataclass

import numpy as np

from .coloring import Copies, color_constraints, count_copies, find_hubs, gather_copies
from .mesh import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class Distances:
    """Pairs of particles that must not be further apart than at rest."""

    pairs: Integers
    """(m, 2) sorted by colour."""
    starts: Integers
    """(colours + 1,) where each colour begins."""
    rest_lengths: Floats
    """(m,) [m]."""
    compliances: Floats
    """(m,) elongation per force [m/N]; 0 = rigid."""


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


@dataclass(frozen=True, eq=False)
class DistanceBatch:
    """The distances of one colour, ready for one h²."""

    particles: Integers
    """(2c,) all first ends, then all second ends."""
    rest_lengths: Floats
    first_masses: Floats
    """(c,) inverse masses of the first ends; those of hubs are shared out over their copies."""
    second_masses: Floats
    """(c,) inverse masses of the second ends."""
    scaled_compliances: Floats
    """(c,) compliance / h²."""
    gains: Floats
    """(c,) 1 / (sum of inverse masses + scaled compliance); 0 where nothing can move."""
    multipliers: Floats
    """(c,) XPBD's multipliers; changed by the kernels, zeroed every substep."""
    copies: Copies | None
    """Of hubs among the particles."""


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
    copies: Copies | None
    """Of hubs among the particles."""


def build_distances(
    pairs: Integers, rest_lengths: Floats, compliances: Floats, particle_count: int
) -> Distances:
    """Sorts distances by colour."""
    order, starts = color_constraints(pairs, find_hubs(pairs, particle_count))
    return Distances(pairs[order], starts, rest_lengths[order], compliances[order])


def build_stencils(
    members: Integers, coefficients: Floats, rests: Floats, compliances: Floats, hubs: Booleans
) -> Stencils:
    """Sorts bends by colour; those of one colour may share `hubs`, (n,) bool."""
    order, starts = color_constraints(members, hubs)
    return Stencils(members[order], starts, coefficients[order], rests[order], compliances[order])


def inverse(resistance: Floats, mobility: Floats) -> Floats:
    """(c,) 1 / resistance, and 0 where nothing can move."""
    movable = mobility > 0.0
    return np.where(movable, 1.0 / np.where(movable, resistance, 1.0), 0.0)


def bend_gains(mobility: Floats, scaled_compliances: Floats) -> Floats:
    """(c,) 1 / √(mobility² + α̃²), and 0 where nothing can move: −Δλ for each C + α̃ λ.

    Alone, a bend would need 1 / (mobility + α̃). But where its neighbours bend alike, each moves
    what they move back, and together they would be softer than asked for by mobility / α̃.
    """
    return inverse(np.hypot(mobility, scaled_compliances), mobility)


def distance_batches(
    distances: Distances, inverse_masses: Floats, h_squared: Floats
) -> list[DistanceBatch]:
    """One batch per colour for one h² (n,) [s²]."""
    batches = []
    copies = count_copies(distances.pairs, distances.starts)
    for start, stop in zip(distances.starts[:-1], distances.starts[1:], strict=True):
        first, second = distances.pairs[start:stop].T
        scaled = distances.compliances[start:stop] / h_squared[first]
        masses = inverse_masses[distances.pairs[start:stop]] * copies[start:stop]
        first_masses, second_masses = masses.T
        mobility = first_masses + second_masses
        particles = np.concatenate([first, second])
        often = copies[start:stop].T.ravel()
        batches.append(
            DistanceBatch(
                particles=particles,
                rest_lengths=distances.rest_lengths[start:stop],
                first_masses=first_masses,
                second_masses=second_masses,
                scaled_compliances=scaled,
                gains=inverse(mobility + scaled, mobility),
                multipliers=np.zeros(stop - start),
                copies=gather_copies(particles, often, masses.T.ravel()),
            )
        )
    return batches


def stencil_batches(
    stencils: Stencils, inverse_masses: Floats, h_squared: Floats
) -> list[StencilBatch]:
    """One batch per colour for one h² (n,) [s²]."""
    batches = []
    copies = count_copies(stencils.members, stencils.starts)
    for start, stop in zip(stencils.starts[:-1], stencils.starts[1:], strict=True):
        members = stencils.members[start:stop].T
        coefficients = np.ascontiguousarray(stencils.coefficients[start:stop].T)
        often = copies[start:stop].T
        masses = inverse_masses[members] * often
        responses = masses * coefficients
        scaled = stencils.compliances[start:stop] / h_squared[members[1]]
        batches.append(
            StencilBatch(
                particles=members.ravel(),
                inverse_masses=masses,
                coefficients=coefficients,
                responses=responses,
                rests=stencils.rests[start:stop],
                scaled_compliances=scaled,
                gains=bend_gains((responses * coefficients).sum(axis=0), scaled),
                multipliers=np.zeros((3, stop - start)),
                copies=gather_copies(members.ravel(), often.ravel(), masses.ravel()),
            )
        )
    return batches
