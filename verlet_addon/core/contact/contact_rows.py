"""What touches, as rows that are solved together with everything else: one row for each contact."""

from dataclasses import dataclass, fields

import numpy as np

from ..arrays import Booleans, Floats, Integers, concatenated, dot
from ..detection.compiled_kernels import compute_row_terms, sum_weighted
from ..detection.contacts import Contacts
from ..integrators import start_displacement
from .plane import bounce

PUSH_OUT_TIME = 0.1
"""What starts a step too near is pushed away so fast that a third of that is left after this time
[s]."""
MIN_PUSH_OUT_SPEED = 0.2
"""Yet it is pushed away no slower than this [m/s]."""

MAX_LEVERAGE = 100.0
"""Where a particle would have to go so many times as far as what touches, beside pins, it stays."""


@dataclass(frozen=True, eq=False)
class ContactRows:
    """Contacts of one step: normal · Σ weights positions ≥ targets, with friction."""

    particles: Integers
    """(4, k) of all bodies and colliders in one array."""
    weights: Floats
    """(4, k) positive for what is on the side that the normal points to; their sum is 0."""
    impulse_responses: Floats
    """(4, k) weight × inverse mass [1/kg]."""
    mobilities: Floats
    """(k,) Σ weight² × inverse mass, above 0 [1/kg]."""
    normals: Floats
    """(3, k) unit vectors."""
    gaps: Floats
    """(k,) how far apart they are to be kept [m]."""
    keys: Integers
    """(k,) of the two features that they are between, the same from step to step; −1 for none."""
    targets: Floats
    """(k,) how far apart they have to be at the end of this step [m]."""
    rebounds: Floats
    """(k,) how far they part during the step that sets their speed, 0 but where they bounce [m]."""
    anchors: Floats
    """(3, k) Σ weights positions when the step began: what friction holds on to [m]."""
    friction: Floats
    """(k,) Coulomb coefficients; changes where what is held would be stretched."""
    on_ropes: Booleans
    """(k,) bool, in which ropes take part: these are solved in `ropes.rope_contacts`."""
    normal_multipliers: Floats
    """(k,) multipliers of normals, 0 or more; changed by the kernels [kg m]."""
    friction_multipliers: Floats
    """(3, k) those of friction; changed by the kernels [kg m]."""

    def select(self, which: Integers) -> "ContactRows":
        """Some of them, in arrays without gaps, for kernels write to them."""
        parts = (getattr(self, each.name) for each in fields(self))
        return ContactRows(*(part.take(which, axis=-1) for part in parts))

    def heights(self, positions: Floats) -> Floats:
        """(k,) how far apart they are along their normals, of positions (3, N) [m]."""
        return dot(self.normals, sum_weighted(positions, self.particles, self.weights))


@dataclass(frozen=True, eq=False)
class PairProperties:
    """What two owners are to each other, (owners, owners)."""

    friction: Floats
    """The slipperier of two decides."""
    restitution: Floats
    """The bouncier of two bodies decides; colliders leave a share of a body's."""
    damping: Floats
    """Rate of drag of what is slowed more [1/s]."""


@dataclass(frozen=True, eq=False)
class PredictedMotion:
    """How the particles of all bodies and colliders set out on a step."""

    inverse_masses: Floats
    """(N,) 0 for pins and colliders [1/kg]."""
    start: Floats
    """(3, N) where they began [m]."""
    predicted: Floats
    """(3, N) where free motion led them to, or animation [m]."""
    accelerations: Floats
    """(3, N) what pulled at them [m/s²]."""
    on_ropes: Booleans
    """(N,) bool, which are strung on ropes without rings."""
    dt: float
    """Length of the step [s]."""


def make_rows(contacts: Contacts, pairs: PairProperties, motion: PredictedMotion) -> ContactRows:
    """The rows of contacts, but for those in which nothing can give way, or as good as nothing."""
    particles, weights, normals = contacts.particles, contacts.weights, contacts.normals
    impulse_responses, most, mobilities, anchors, began = compute_row_terms(
        motion.start, motion.inverse_masses, particles, weights, normals
    )
    movable = mobilities * MAX_LEVERAGE > most
    if not movable.all():
        return make_rows(contacts.chosen(np.flatnonzero(movable)), pairs, motion)
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
    """(k,) in which rows any of such particles (N,) gives way."""
    if not on_ropes.any():
        return np.zeros(particles.shape[1], dtype=bool)
    return np.asarray((on_ropes.take(particles) & (impulse_responses != 0.0)).any(axis=0))


def _bounces(
    contacts: Contacts, pairs: PairProperties, motion: PredictedMotion, began: Floats
) -> tuple[Floats, Floats]:
    """(k,) how much farther apart contacts end by bouncing, and how far they part in a step [m].

    They begin so far (k,) apart along their normals [m]. Most bounce off nothing.
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
    """Rows, and after them those of `more` between other particles."""
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
    """(k,) how much of what they lack to their distance they may be pushed apart in a step [m]."""
    return np.maximum(lacks * min(dt / PUSH_OUT_TIME, 1.0), MIN_PUSH_OUT_SPEED * dt)
