"""Cloth without room between colliders, and the places on their skins that it goes along with."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, concatenated, selected


@dataclass(frozen=True, eq=False)
class PinchedParticles:
    """Particles that have no room, over the skins of colliders."""

    particles: Integers
    """(k,)"""
    corners: Integers
    """(3, k) of triangles, counter-clockwise seen from where particles came from."""
    weights: Floats
    """(3, k) of places on them."""
    ages: Floats
    """(k,) for how long they have had room again [s]; they change."""

    def chosen(self, which: Booleans | Integers) -> "PinchedParticles":
        """Some of them."""
        return selected(self, which)

    def with_more(self, more: "PinchedParticles") -> "PinchedParticles":
        """These, and after them others."""
        return concatenated(self, more, axis=-1)

    def surface_points(self, positions: Floats) -> Floats:
        """(3, k) those on the skins, of positions (3, N) [m]."""
        return np.asarray(np.einsum("ck,xck->xk", self.weights, positions[:, self.corners]))


NO_PINCHED = PinchedParticles(
    np.empty(0, np.int64), np.empty((3, 0), np.int64), np.empty((3, 0)), np.empty(0)
)
"""Nothing is pinched."""
