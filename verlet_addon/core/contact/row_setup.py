"""Setup of the contact rows of a step, with multipliers of the step before as a start."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Booleans, Floats, Integers, dot
from ..detection.contacts import Contacts
from ..integrators import start_displacement
from ..mesh import MeshData
from ..scene import Collider
from ..settings import BodySettings
from .contact_rows import ContactRows, max_push_out, push_rows, sum_weighted
from .plane import bounce

WARM_START_SHARE = 0.5
"""Share of the multipliers that is kept. With all of them taut cloth in contact oscillates for
ever, as it would with all of its strip multipliers; with more than half, sheets of triangles
tremble beside poles of balls."""


@dataclass(frozen=True, eq=False)
class PairProperties:
    """Contact properties of each pair of owners, (owners, owners)."""

    friction: Floats
    """Coulomb coefficients, the smaller of both."""
    restitution: Floats
    """Restitution, the larger of two bodies; the product with a collider's."""
    damping: Floats
    """Rates of drag, the larger of both [1/s]."""


def combine_pair_properties(
    bodies: Sequence[BodySettings], colliders: Sequence[Collider]
) -> PairProperties:
    """Friction, restitution and damping of each pair; bodies come first."""
    friction = np.array([b.friction for b in bodies] + [c.friction for c in colliders])
    damping = np.array([b.damping for b in bodies] + [0.0] * len(colliders))
    return PairProperties(
        friction=np.minimum.outer(friction, friction),
        restitution=_restitutions(bodies, colliders),
        damping=np.maximum.outer(damping, damping),
    )


def _restitutions(bodies: Sequence[BodySettings], colliders: Sequence[Collider]) -> Floats:
    """(owners, owners) coefficient of restitution of each pair; bodies come first."""
    count = len(bodies)
    own = np.array([body.restitution for body in bodies] + [c.restitution for c in colliders])
    both = np.maximum.outer(own, own)
    # Solids rebound by their elasticity.
    added = np.where([body.body_type == "SOFT" for body in bodies], 0.0, own[:count])
    both[:count, count:] = np.outer(added, own[count:])
    both[count:, :count] = both[:count, count:].T
    return np.asarray(both)


def pair_gaps(bodies: Sequence[BodySettings], colliders: Sequence[Collider]) -> Floats:
    """(owners, owners) gap of each pair [m]."""
    # Half of a body's thickness counts towards other bodies, all of it towards colliders.
    bodies_own = np.array([body.thickness for body in bodies]) / 2
    own = np.concatenate([bodies_own, [collider.outer for collider in colliders]])
    gaps = own[:, None] + own
    count = len(bodies)
    gaps[:count, count:] += bodies_own[:, None]
    gaps[count:, :count] += bodies_own
    return np.asarray(gaps)


def build_collision_matrix(
    bodies: Sequence[BodySettings], meshes: Sequence[MeshData], colliders: int
) -> Booleans:
    """(owners, owners) bool, symmetric: pairs that collide; self-collision on the diagonal."""
    count = len(bodies)
    collides = np.zeros((count + colliders,) * 2, dtype=bool)
    collides[:count, :count] = ~np.eye(count, dtype=bool)
    for body, (settings, mesh) in enumerate(zip(bodies, meshes, strict=True)):
        collides[body, body] = settings.use_self_collision
        met = count + np.array(mesh.colliders, dtype=np.int64)
        collides[body, met] = collides[met, body] = True
        if settings.body_type == "WATER":  # bodies dip into it
            collides[body] = collides[:, body] = False
    return collides


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
    """The rows of contacts, without those that hardly any motion of particles opens."""
    particles, weights, normals = contacts.particles, contacts.weights, contacts.normals
    impulse_responses = weights * motion.inverse_masses.take(particles)
    mobilities = (weights * impulse_responses).sum(axis=0)
    # Beside pins, a particle would be thrown a hundred times as far as the contact point moves.
    movable = mobilities * 100.0 > np.abs(impulse_responses).max(axis=0, initial=0.0)
    if not movable.all():
        return make_rows(contacts.chosen(np.flatnonzero(movable)), pairs, motion)
    anchors = sum_weighted(motion.start, particles, weights)
    began = dot(normals, anchors)
    first, second = contacts.owners
    rise, rebounds = _bounces(contacts, pairs, motion, began)
    return ContactRows(
        **vars(contacts),
        impulse_responses=impulse_responses,
        mobilities=mobilities,
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
    restitution, damping = (
        table[tuple(contacts.owners)] for table in (pairs.restitution, pairs.damping)
    )
    if not restitution.any():  # the usual case
        return np.zeros_like(began), np.zeros_like(began)
    fall, pull = (
        dot(contacts.normals, sum_weighted(vectors, contacts.particles, contacts.weights))
        for vectors in (motion.predicted - motion.start, motion.accelerations)
    )
    overshoot = np.maximum(began - contacts.gaps, 0.0) + fall
    rise, speed = bounce(restitution, fall, overshoot, pull, motion.dt)
    return rise, start_displacement(speed, pull, motion.dt, damping) * (speed > 0.0)


@dataclass(frozen=True, eq=False)
class ContactCache:
    """Rows of the step before, with multipliers for the warm start."""

    rows: ContactRows
    """Rows sorted by keys; multipliers are WARM_START_SHARE of the smaller of the last two."""
    normal_multipliers: Floats
    """(k,) multipliers of the last step, unscaled [kg m]."""
    count: int
    """Number of particles in the world."""

    @cached_property
    def displacements(self) -> Floats:
        """(3, count) displacement of each particle by the rows [m]."""
        return row_displacements(self.rows, self.count)


def warm_start_rows(rows: ContactRows, cache: ContactCache) -> None:
    """Sets multipliers of rows to the cached ones of the same keys."""
    place, known = _find_cached(cache, rows)
    rows.normal_multipliers[known] = cache.rows.normal_multipliers[place]
    rows.friction_multipliers[:, known] = cache.rows.friction_multipliers[:, place]


def cache_rows(
    rows: ContactRows, cacheable: Booleans, count: int, cache: ContactCache | None
) -> ContactCache:
    """Caches the multipliers of `cacheable` rows (k,) between `count` particles.

    The multiplier of an impact lasts one step. So the smaller of the last two steps is kept.
    """
    kept = np.flatnonzero(
        cacheable & (rows.normal_multipliers > 0.0) & (rows.keys >= 0) & (rows.rebounds == 0.0)
    )
    rows = rows.chosen(kept[np.argsort(rows.keys[kept], kind="stable")])
    normal_multipliers, before = rows.normal_multipliers.copy(), np.zeros(len(kept))
    if cache is not None:
        place, known = _find_cached(cache, rows)
        before[known] = cache.normal_multipliers[place]
    share = WARM_START_SHARE * np.minimum(before / normal_multipliers, 1.0)
    rows.normal_multipliers[:] *= share
    rows.friction_multipliers[:] *= share
    return ContactCache(rows, normal_multipliers, count)


def row_displacements(rows: ContactRows, count: int) -> Floats:
    """(3, count) total displacement of each particle by rows [m]."""
    displacements = np.zeros((3, count))
    push_rows(displacements, rows)
    return displacements


def _find_cached(cache: ContactCache, rows: ContactRows) -> tuple[Integers, Booleans]:
    """Places of rows in the cache, and which rows (k,) are in it."""
    keys = cache.rows.keys
    if not len(keys):
        return np.empty(0, dtype=np.int64), np.zeros(len(rows.keys), dtype=bool)
    place = np.searchsorted(keys, rows.keys).clip(max=len(keys) - 1)
    known = keys[place] == rows.keys
    return place[known], known
