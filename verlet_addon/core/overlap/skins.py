"""Cloth without room between colliders, and the places on their skins that it goes along with."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, joined, picked


@dataclass(frozen=True, eq=False)
class Pinched:
    """Particles that have no room, over the skins of colliders."""

    particles: Integers
    """(k,)"""
    corners: Integers
    """(3, k) of triangles, counter-clockwise seen from where particles came from."""
    weights: Floats
    """(3, k) of places on them."""
    ages: Floats
    """(k,) for how long they have had room again [s]; they change."""

    def chosen(self, which: Booleans | Integers) -> "Pinched":
        """Some of them."""
        return picked(self, which)

    def with_more(self, more: "Pinched") -> "Pinched":
        """These, and after them others."""
        return joined(self, more, axis=-1)

    def places(self, positions: Floats) -> Floats:
        """(3, k) those on the skins, of positions (3, N) [m]."""
        return np.asarray(np.einsum("ck,xck->xk", self.weights, positions[:, self.corners]))


NONE = Pinched(np.empty(0, np.int64), np.empty((3, 0), np.int64), np.empty((3, 0)), np.empty(0))
"""Nothing is pinched."""
