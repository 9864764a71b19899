"""Contact rows: a constraint with friction per contact, solved with the other constraints."""

from dataclasses import dataclass, fields

import numpy as np

from ..arrays import Booleans, Floats, Integers, concatenated, dot
from ..detection.contacts import Contacts
from ..integrators import start_displacement
from .plane import bounce
from .row_terms import sum_weighted

PUSH_OUT_TIME = 0.1
"""Time constant of the correction of contacts that start a step violated: a third of the violation
is left after it [s]."""
MIN_PUSH_OUT_SPEED = 0.2
"""Smallest speed at which a contact that starts a step violated is corrected [m/s]."""

MAX_LEVERAGE = 100.0
"""Rows are left out if a particle, beside pins, would move at least this many times as far as the
contact point."""


@dataclass(frozen=True, eq=False)
class ContactRows:
    """Contacts of one step: normal · Σ weights positions ≥ targets, with friction."""

    particles: Integers
    """(4, k) numbers of particles in the world."""
    weights: Floats
    """(4, k) positive for the feature on the side that the normal points to; their sum is 0."""
    impulse_responses: Floats
    """(4, k) weight × inverse mass [1/kg]."""
    mobilities: Floats
    """(k,) Σ weight² × inverse mass, above 0 [1/kg]."""
    normals: Floats
    """(3, k) unit vectors."""
    gaps: Floats
    """(k,) rest distances between the features [m]."""
    keys: Integers
    """(k,) identifiers of the two features, the same from step to step; −1 for none."""
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

    def select(self, which: Integers) -> "ContactRows":
        """The chosen rows, in contiguous arrays, for kernels write to them."""
        parts = (getattr(self, each.name) for each in fields(self))
        return ContactRows(*(part.take(which, axis=-1) for part in parts))

    def heights(self, positions: Floats) -> Floats:
        """(k,) distances along normals, at positions (3, N) [m]."""
        return dot(self.normals, sum_weighted(positions, self.particles, self.weights))


@dataclass(frozen=True, eq=False)
class PairProperties:
    """Contact properties of each pair of owners, (owners, owners)."""

    friction: Floats
    """Coulomb coefficients, the smaller of both."""
    restitution: Floats
    """Restitution, the larger of two bodies; the product with a collider's."""
    damping: Floats
    """Rates of drag, the larger of both [1/s]."""


@dataclass(frozen=True, eq=False)
class PredictedMotion:
    """Free motion of the particles of all bodies and colliders in one step."""

    inverse_masses: Floats
    """(N,) 0 for pins and colliders [1/kg]."""
    start: Floats
    """(3, N) positions at the start of the step [m]."""
    predicted: Floats
    """(3, N) positions after free motion, or of the animation [m]."""
    accelerations: Floats
    """(3, N) of free motion [m/s²]."""
    on_ropes: Booleans
    """(N,) bool, particles of ropes without closed loops."""
    dt: float
    """Length of the step [s]."""


def make_rows(contacts: Contacts, pairs: PairProperties, motion: PredictedMotion) -> ContactRows:
    """The rows of contacts, without those that no particle can move, or hardly (MAX_LEVERAGE)."""
    particles, weights, normals = contacts.particles, contacts.weights, contacts.normals
    impulse_responses = weights * motion.inverse_masses.take(particles)
    mobilities = (weights * impulse_responses).sum(axis=0)
    movable = mobilities * MAX_LEVERAGE > np.abs(impulse_responses).max(axis=0, initial=0.0)
    if not movable.all():
        return make_rows(contacts.chosen(np.flatnonzero(movable)), pairs, motion)
    anchors = sum_weighted(motion.start, particles, weights)
    began = dot(normals, anchors)
    first, second = contacts.owners
    rise, rebounds = _bounces(contacts, pairs, motion, began)
    return ContactRows(
        particles=particles,
        weights=weights,
        impulse_responses=impulse_responses,
        mobilities=mobilities,
        normals=normals,
        gaps=contacts.gaps,
        keys=contacts.keys,
        targets=np.minimum(contacts.gaps, began + max_push_out(contacts.gaps - began, motion.dt))
        + rise,
        rebounds=rebounds,
        anchors=anchors,
        friction=pairs.friction[first, second],
        on_ropes=_any_on_ropes(motion.on_ropes, particles, impulse_responses),
        normal_multipliers=np.zeros_like(mobilities),
        friction_multipliers=np.zeros_like(anchors),
    )


def _any_on_ropes(on_ropes: Booleans, particles: Integers, impulse_responses: Floats) -> Booleans:
    """(k,) rows with any movable particle on a rope (N,)."""
    if not on_ropes.any():
        return np.zeros(particles.shape[1], dtype=bool)
    return np.asarray((on_ropes.take(particles) & (impulse_responses != 0.0)).any(axis=0))


def _bounces(
    contacts: Contacts, pairs: PairProperties, motion: PredictedMotion, began: Floats
) -> tuple[Floats, Floats]:
    """(k,) added distance at the end of the step by bouncing, and separation per step after it [m].

    `began` (k,) are distances along normals at the start of the step [m].
    """
    rise, rebounds = np.zeros((2, len(began)))
    if not pairs.restitution.any():
        return rise, rebounds
    first, second = contacts.owners
    bouncy = np.flatnonzero(pairs.restitution[first, second] > 0.0)
    if len(bouncy):
        bouncing, dt = contacts.chosen(bouncy), motion.dt

        def along(vectors: Floats) -> Floats:
            return dot(
                bouncing.normals, sum_weighted(vectors, bouncing.particles, bouncing.weights)
            )

        fall, pull = along(motion.predicted - motion.start), along(motion.accelerations)
        restitution, damping = (
            table[first[bouncy], second[bouncy]] for table in (pairs.restitution, pairs.damping)
        )
        overshoot = np.maximum(began[bouncy] - bouncing.gaps, 0.0) + fall
        rise[bouncy], speed = bounce(restitution, fall, overshoot, pull, dt)
        rebounds[bouncy] = start_displacement(speed, pull, dt, damping) * (speed > 0.0)
    return rise, rebounds


def with_more(rows: ContactRows, more: ContactRows) -> ContactRows:
    """Rows, followed by rows of `more` between other particles."""
    if not len(more.gaps):
        return rows
    perhaps = np.flatnonzero(np.isin(rows.particles[0], more.particles[0]))
    particles = np.concatenate([rows.particles[:, perhaps], more.particles], axis=1)
    count, known = particles.max(initial=0) + 1, len(perhaps)
    pairs = np.unique(particles[0] * count + particles[1], return_inverse=True)[1].reshape(-1)
    keys = (pairs * count + particles[2]) * count + particles[3]
    fresh = np.flatnonzero(~np.isin(keys[known:], keys[:known]))
    return concatenated(rows, more.select(fresh), axis=-1) if len(fresh) else rows


def max_push_out(lacks: Floats, dt: float) -> Floats:
    """(k,) correction per step of initial violations (k,) [m]."""
    return np.maximum(lacks * min(dt / PUSH_OUT_TIME, 1.0), MIN_PUSH_OUT_SPEED * dt)
