"""Contact rows: a constraint with friction per contact, solved with the other constraints.

In C rows go one by one. Rows of a batch share no movable particle, so that solving batch after
batch gives the same bits as solving row after row (Gauss-Seidel).
"""

from dataclasses import dataclass

import numpy as np

from ...arrays import NONZERO, Booleans, Floats, Integers, concatenated, dot, magnitudes, sum_rows
from ...coloring import sequential_batches
from ...kernel import Sized, SizedIntegers, Struct, kernel
from .contacts import Contacts

PUSH_OUT_TIME = 0.1
"""Time constant of the correction of contacts that start a step violated: a third of the violation
is left after it [s]. With half, a sheet that a ball is in stretches by 1.3 % in place of 1 %; with
twice, a sheet held in a box is in it after a second."""
MIN_PUSH_OUT_SPEED = 0.2
"""Smallest speed at which a contact that starts a step violated is corrected [m/s]. With half, a
balloon between plates stretches by 18 % in place of 2 %; with twice, cloth that is knocked over by
37 % in place of 10 %."""


@dataclass(frozen=True, eq=False)
class ContactRows(Contacts):
    """Contacts of one step: normal · Σ weights positions ≥ targets, with friction."""

    impulse_responses: Floats
    """(4, k) weight × inverse mass [1/kg]."""
    mobilities: Floats
    """(k,) Σ weight² × inverse mass, above 0 [1/kg]."""
    targets: Floats
    """(k,) smallest distances along normals at the end of this step [m]."""
    rebounds: Floats
    """(k,) separation per step that sets the speed after contact, 0 without a bounce [m]."""
    anchors: Floats
    """(3, k) Σ weights positions at the start of the step, the anchor of friction [m]."""
    friction: Floats
    """(k,) Coulomb coefficients; set to 0 where friction overstretches edges."""
    on_ropes: Booleans
    """(k,) bool, rows with particles of ropes, which are solved in `ropes.rope_contacts`."""
    normal_multipliers: Floats
    """(k,) multipliers of normals, 0 or more; changed by the kernels [kg m]."""
    friction_multipliers: Floats
    """(3, k) multipliers of friction; changed by the kernels [kg m]."""

    def heights(self, positions: Floats) -> Floats:
        """(k,) distances along normals, at positions (3, N) [m]."""
        return row_heights(positions, self.particles, self.weights, self.normals)


Struct(
    "contact_rows",
    ContactRows,
    reads="particles weights impulse_responses mobilities normals gaps targets rebounds anchors",
    shares="friction on_ropes normal_multipliers friction_multipliers",
    count=(int, lambda rows: len(rows.targets)),
)


@kernel(result=lambda _, particles, __: np.empty((3, particles.shape[1])))
def sum_weighted(positions: Sized, particles: Integers, weights: Sized) -> Floats:
    """(3, k) Σ weights (4, k) × positions (3, N) of particles (4, k), added sequentially."""
    total = weights[0] * positions[:, particles[0]]
    for corner in (1, 2, 3):
        total += weights[corner] * positions[:, particles[corner]]
    return np.asarray(total)


@kernel(result=lambda _, particles, *__: np.empty(particles.shape[1]))
def row_heights(
    positions: Sized, particles: SizedIntegers, weights: Floats, normals: Floats
) -> Floats:
    """(k,) normals (3, k) · Σ weights (4, k) × positions (3, N) of particles (4, k)."""
    return dot(normals, sum_weighted.reference(positions, particles, weights))


@kernel()
def project_rows(positions: Sized, rows: ContactRows) -> None:
    """Projects C = n · Σ w x − target ≥ 0, and Coulomb friction, |friction| ≤ coefficient × normal.

    Multipliers accumulate over all rounds of a step, so that a round can reduce an excess of the
    one before. Rows on ropes are skipped. `positions` (3, N) are those of all bodies and colliders.
    """
    for batch in sequential_batches(rows.particles, rows.impulse_responses != 0.0):
        own = rows.chosen(batch := batch[~rows.on_ropes[batch]])
        apart = sum_weighted(positions, own.particles, own.weights)
        add_impulses(
            positions, own, solve_rows(rows, batch, own, apart, own.mobilities, own.mobilities)
        )


def solve_rows(
    rows: ContactRows,
    batch: Integers,
    own: ContactRows,
    apart: Floats,
    mobilities: Floats,
    slips: Floats,
) -> Floats:
    """(3, k) impulses of the rows of one batch, the features of which are `apart` (3, k) [m].

    `slips` are the largest mobilities across normals. Multipliers are updated.
    """
    before, friction = own.normal_multipliers, own.friction_multipliers
    pushed = np.maximum(before + (own.targets - dot(own.normals, apart)) / mobilities, 0.0)
    slid = apart - own.anchors + friction * slips
    slid -= own.normals * dot(own.normals, slid)
    limits = own.friction * pushed / np.maximum(magnitudes(slid), NONZERO)
    held = slid * np.minimum(1.0 / slips, limits)
    touching = (pushed > 0.0) | (before > 0.0)
    held = np.where(touching, held, friction)
    rows.normal_multipliers[batch], rows.friction_multipliers[:, batch] = pushed, held
    return np.asarray(own.normals * (pushed - before) - (held - friction))


@kernel()
def move_back(body: Sized, positions: Sized, first: int, last: int) -> float:
    """Copies positions of the world (3, N) to those of a body (3, n), whose vertices come first.

    Returns the largest change of a coordinate [m]. The body's are `first` to `last` − 1 there.
    """
    there, here = positions[:, first:last], body[:, : last - first]
    farthest = float(np.abs(there - here).max(initial=0.0))
    here[...] = there
    return farthest


@kernel()
def push_rows(positions: Sized, rows: ContactRows) -> None:
    """Applies the accumulated multipliers of rows, with friction, to positions (3, N)."""
    impulses = rows.normals * rows.normal_multipliers - rows.friction_multipliers
    for corner in range(4):
        moves = rows.impulse_responses[corner] * impulses
        positions += sum_rows(rows.particles[corner], moves, positions.shape[1])


@kernel()
def rebound_rows(previous_positions: Floats, positions: Sized, rows: ContactRows) -> None:
    """Velocity update of contacts: sets the normal speed to 0, or to the speed of a bounce.

    Parameters
    ----------
    previous_positions, positions : (3, N) of all bodies and colliders [m]; previous
        positions change.
    """
    for batch in sequential_batches(rows.particles, rows.impulse_responses != 0.0):
        hit = rows.chosen(batch[rows.normal_multipliers[batch] > 0.0])
        apart, former = (
            sum_weighted(each, hit.particles, hit.weights)
            for each in (positions, previous_positions)
        )
        moved = dot(hit.normals, apart - former)
        add_impulses(
            previous_positions, hit, hit.normals * ((moved - hit.rebounds) / hit.mobilities)
        )


def add_impulses(positions: Floats, rows: ContactRows, impulses: Floats) -> None:
    """Adds impulses (3, k) of a batch of rows to their particles [kg m]."""
    for particles, responses in zip(rows.particles, rows.impulse_responses, strict=True):
        moved = np.flatnonzero(responses)
        positions[:, particles[moved]] += responses[moved] * impulses[:, moved]


def with_more(rows: ContactRows, more: ContactRows) -> ContactRows:
    """Rows, followed by rows of `more` between other particles."""
    if not len(more.gaps):
        return rows
    fresh = np.flatnonzero(are_fresh(rows.particles, more.particles))
    return concatenated(rows, more.chosen(fresh), axis=-1) if len(fresh) else rows


@kernel(
    result=lambda _, more: np.empty(more.shape[1], dtype=bool),
    work=lambda _, more: np.zeros(int(more[0].max()) + 1 + more.shape[1]),
)
def are_fresh(known: SizedIntegers, more: SizedIntegers) -> Booleans:
    """(k,) bool, which columns of particles `more` (4, k) are not among the `known` (4, j)."""
    among = {tuple(column) for column in known.T.tolist()}
    return np.array([tuple(column) not in among for column in more.T.tolist()], dtype=bool)


def max_push_out(lacks: Floats, dt: float) -> Floats:
    """(k,) correction per step of initial violations (k,) [m]."""
    return np.maximum(lacks * min(dt / PUSH_OUT_TIME, 1.0), MIN_PUSH_OUT_SPEED * dt)
