"""Pinched particles, and the points on collider surfaces that they move with."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, concatenated, selected


@dataclass(frozen=True, eq=False)
class PinchedParticles:
    """Particles without room, each above a point on a collider's surface."""

    particles: Integers
    """(k,) numbers of the particles."""
    corners: Integers
    """(3, k) of triangles, counter-clockwise seen from the side that particles came from."""
    weights: Floats
    """(3, k) barycentric coordinates of points on the triangles."""
    ages: Floats
    """(k,) time since there is room again [s]; changes."""

    def chosen(self, which: Booleans | Integers) -> "PinchedParticles":
        """The chosen particles."""
        return selected(self, which)

    def with_more(self, more: "PinchedParticles") -> "PinchedParticles":
        """The particles of both, `self` first."""
        return concatenated(self, more, axis=-1)

    def surface_points(self, positions: Floats) -> Floats:
        """(3, k) points on the surfaces, from positions (3, N) [m]."""
        return np.asarray(np.einsum("ck,xck->xk", self.weights, positions[:, self.corners]))


NO_PINCHED = PinchedParticles(
    np.empty(0, np.int64), np.empty((3, 0), np.int64), np.empty((3, 0)), np.empty(0)
)
"""No pinched particles."""
