"""Which bodies and colliders keep off each other, how far, and by which laws."""

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
    """Friction, bounce and drag of each pair; bodies come first."""
    friction = np.array([b.friction for b in bodies] + [c.friction for c in colliders])
    damping = np.array([b.damping for b in bodies] + [0.0] * len(colliders))
    return PairProperties(
        friction=np.minimum.outer(friction, friction),
        restitution=_restitutions(bodies, colliders),
        damping=np.maximum.outer(damping, damping),
    )


def _restitutions(bodies: Sequence[BodySettings], colliders: Sequence[Collider]) -> Floats:
    """(owners, owners) share of speed that each pair keeps in a bounce; bodies come first."""
    count = len(bodies)
    own = np.array([body.restitution for body in bodies] + [c.restitution for c in colliders])
    both = np.maximum.outer(own, own)
    # Jelly bounces as its elasticity lets it.
    added = np.where([body.body_type == "SOFT" for body in bodies], 0.0, own[:count])
    both[:count, count:] = np.outer(added, own[count:])
    both[count:, :count] = both[:count, count:].T
    return np.asarray(both)


def pair_gaps(bodies: Sequence[BodySettings], colliders: Sequence[Collider]) -> Floats:
    """(owners, owners) how far apart each pair is kept [m]."""
    # Bodies keep half their thickness off each other, and all of it off colliders.
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
    """(owners, owners) bool, who keeps off whom; on the diagonal, who keeps off itself."""
    count = len(bodies)
    collides = np.zeros((count + colliders,) * 2, dtype=bool)
    collides[:count, :count] = ~np.eye(count, dtype=bool)
    for body, (settings, mesh) in enumerate(zip(bodies, meshes, strict=True)):
        collides[body, body] = settings.use_self_collision
        met = count + np.array(mesh.colliders, dtype=np.int64)
        collides[body, met] = collides[met, body] = True
        if settings.body_type == "WATER":  # things dip into it
            collides[body] = collides[:, body] = False
    return collides
