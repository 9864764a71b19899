"""Collision matrix, gaps and contact properties of each pair of bodies and colliders."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Booleans, Floats
from ..contact.contact_rows import PairProperties
from ..mesh import MeshData
from ..scene import Collider
from ..settings import BodySettings


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
