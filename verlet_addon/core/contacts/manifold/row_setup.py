"""Setup of the contact rows of a step, with multipliers of the step before as a start."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Booleans, Floats, Integers, dot
from ...integrators import start_displacement
from ...kernel import SizedIntegers, Struct, kernel
from ...mesh import MeshData
from ...scene import Collider
from ...settings import BodySettings
from .contact_rows import (
    ContactRows,
    max_push_out,
    push_rows,
    sum_weighted,
)
from .contacts import Contacts
from .plane import bounce

WARM_START_SHARE = 0.5
"""Share of the multipliers that contacts keep where they hold. With all of them taut cloth in
contact oscillates for ever, as it would with all of its strip multipliers; with more than half,
sheets of triangles tremble beside poles of balls."""
LEAST_CREEP, MOST_CREEP = 0.1, 0.2
"""Violations, as shares of the gap, between which the share that is kept grows to 1. So deep lies
what is pulled against a surface in every step by more than half of the multipliers hold; it would
creep on: a hem in a jump at 240 steps a second stretches by 21 % in place of 1.3 %. If the share
grows from the gap itself on, sheets over balls tremble."""


@dataclass(frozen=True, eq=False)
class PairProperties:
    """Contact properties of each pair of owners, (owners, owners)."""

    friction: Floats
    """Coulomb coefficients, the smaller of both."""
    restitution: Floats
    """Restitution, the larger of two bodies; the product with a collider's."""
    damping: Floats
    """Rates of drag, the larger of both [1/s]."""

    @cached_property
    def any_bounces(self) -> bool:
        """Whether any pair has restitution."""
        return bool(self.restitution.any())


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
        collides[body, body] = settings.use_self_collision and settings.body_type != "HAIR"
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


Struct(
    "pair_properties",
    PairProperties,
    reads="friction",
    owner_count=(int, lambda pairs: len(pairs.friction)),
)
Struct(
    "predicted_motion",
    PredictedMotion,
    reads="inverse_masses start on_ropes dt",
    particle_count=(int, lambda motion: len(motion.inverse_masses)),
)


def make_rows(contacts: Contacts, pairs: PairProperties, motion: PredictedMotion) -> ContactRows:
    """The rows of contacts, without those that hardly any motion of particles opens."""
    responses, mobilities, targets, anchors, friction, on_ropes, movable = set_up_rows(
        contacts.particles,
        contacts.weights,
        contacts.normals,
        contacts.gaps,
        contacts.owners,
        pairs,
        motion,
    )
    if not movable.all():
        return make_rows(contacts.chosen(np.flatnonzero(movable)), pairs, motion)
    rows = ContactRows(
        **vars(contacts),
        impulse_responses=responses,
        mobilities=mobilities,
        targets=targets,
        rebounds=np.zeros_like(targets),
        anchors=anchors,
        friction=friction,
        on_ropes=on_ropes,
        normal_multipliers=np.zeros_like(mobilities),
        friction_multipliers=np.zeros_like(anchors),
    )
    if pairs.any_bounces and pairs.restitution[tuple(contacts.owners)].any():
        _add_bounces(rows, pairs, motion)
    return rows


def _room_for_rows(particles: Integers, *_: Any) -> tuple[NDArray[Any], ...]:
    """The arrays that `set_up_rows` fills."""
    k = particles.shape[1]
    numbers = np.empty((4, k)), np.empty(k), np.empty(k), np.empty((3, k)), np.empty(k)
    return *numbers, np.empty(k, dtype=bool), np.empty(k, dtype=bool)


@kernel(result=_room_for_rows)
def set_up_rows(
    particles: SizedIntegers,
    weights: Floats,
    normals: Floats,
    gaps: Floats,
    owners: Integers,
    pairs: PairProperties,
    motion: PredictedMotion,
) -> tuple[Floats, Floats, Floats, Floats, Floats, Booleans, Booleans]:
    """Arrays of the rows of contacts, without bounces.

    Parameters
    ----------
    particles, weights, normals, gaps, owners : of `Contacts`.

    Returns
    -------
    Impulse responses (4, k), mobilities, targets (k,), anchors (3, k), friction and on_ropes (k,)
    as in `ContactRows`; and (k,) bool, rows that the motion of particles opens.
    """
    responses = weights * motion.inverse_masses.take(particles)
    mobilities = (weights * responses).sum(axis=0)
    # Beside pins, a particle would be thrown a hundred times as far as the contact point moves.
    movable = mobilities * 100.0 > np.abs(responses).max(axis=0, initial=0.0)
    anchors = sum_weighted.reference(motion.start, particles, weights)
    began = dot(normals, anchors)
    targets = np.minimum(gaps, began + max_push_out(gaps - began, motion.dt))
    on_ropes = (motion.on_ropes.take(particles) & (responses != 0.0)).any(axis=0)
    friction = pairs.friction[tuple(owners)]
    return responses, mobilities, targets, anchors, friction, on_ropes, movable


def _add_bounces(rows: ContactRows, pairs: PairProperties, motion: PredictedMotion) -> None:
    """Raises targets by the way that bouncing adds, and sets the separation per step after it."""
    restitution, damping = (
        table[tuple(rows.owners)] for table in (pairs.restitution, pairs.damping)
    )
    fall, pull = (
        dot(rows.normals, sum_weighted(vectors, rows.particles, rows.weights))
        for vectors in (motion.predicted - motion.start, motion.accelerations)
    )
    overshoot = np.maximum(dot(rows.normals, rows.anchors) - rows.gaps, 0.0) + fall
    rise, speed = bounce(restitution, fall, overshoot, pull, motion.dt)
    rows.targets[:] += rise
    rows.rebounds[:] = start_displacement(speed, pull, motion.dt, damping) * (speed > 0.0)


@dataclass(frozen=True, eq=False)
class ContactCache:
    """Rows of the step before, with multipliers for the warm start."""

    rows: ContactRows
    """Rows sorted by keys; multipliers are the share to keep of the smaller of the last two."""
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
    rows: ContactRows, cacheable: Booleans, stretched: Booleans, cache: ContactCache | None
) -> ContactCache:
    """Caches the multipliers of `cacheable` rows (k,); particles (N,) are at `stretched` edges.

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
    share = _kept_shares(rows, stretched) * np.minimum(before / normal_multipliers, 1.0)
    rows.normal_multipliers[:] *= share
    rows.friction_multipliers[:] *= share
    return ContactCache(rows, normal_multipliers, len(stretched))


def _kept_shares(rows: ContactRows, stretched: Booleans) -> Floats:
    """(k,) shares of their multipliers that rows keep, by their violation as the step began.

    Where particles are at `stretched` edges (N,), contacts cannot hold, and would stretch them on.
    """
    violations = 1.0 - dot(rows.normals, rows.anchors) / rows.gaps
    creep = np.clip((violations - LEAST_CREEP) / (MOST_CREEP - LEAST_CREEP), 0.0, 1.0)
    creep[(stretched[rows.particles] & (rows.impulse_responses != 0.0)).any(axis=0)] = 0.0
    return np.asarray(WARM_START_SHARE + (1.0 - WARM_START_SHARE) * creep)


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
