"""Pinched particles, and the faces of their cloth on which they touch no colliders."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class PinchedParticles:
    """Particles without room, each of which touches colliders on one face of its cloth alone."""

    particles: Integers
    """(k,) numbers of the particles."""
    sides: Floats
    """(k,) 1 if the face that vertex normals point out of touches colliders; −1 for the other."""
    corners: Integers
    """(3, k) of triangles of colliders beneath, which the particles keep off."""
    weights: Floats
    """(3, k) barycentric coordinates of the points on the triangles."""
    ages: Floats
    """(k,) time since there is room again [s]; changes."""

    def surface_points(self, positions: Floats) -> Floats:
        """(3, k) points on the surfaces beneath, from positions (3, N) [m]."""
        return np.asarray(np.einsum("ck,xck->xk", self.weights, positions[:, self.corners]))


NO_PINCHED = PinchedParticles(
    np.empty(0, np.int64),
    np.empty(0),
    np.empty((3, 0), np.int64),
    np.empty((3, 0)),
    np.empty(0),
)
"""No pinched particles."""
