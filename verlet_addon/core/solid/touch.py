"""What holds a solid, and what it touches, as springs at points of its surface."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..contact.plane import PlaneContact
from .numpy_kernels import Springs

STEADY = 0.05
"""Friction that changes by less than this share is found."""


@dataclass(frozen=True, eq=False)
class Holds:
    """Points that are drawn to places of their own."""

    points: Integers
    """(g,)"""
    stiffnesses: Floats
    """(g,) times h² [kg]."""
    targets: Floats
    """(3, g) [m]"""


class Touch:
    """What of a solid touches the ground in a step."""

    def __init__(
        self,
        contacts: Sequence[PlaneContact],
        arrival: Floats,
        anchors: Floats,
        stiffness: Floats,
    ) -> None:
        self.contacts, self.arrival, self.anchors = contacts, arrival, anchors
        self.stiffness = stiffness
        self.points = np.zeros(0, dtype=np.int64)
        self.grip = np.zeros(0)
        self.loads = np.zeros(0)
        self.fresh = True

    def look(self, points: Floats) -> bool:
        """Finds what touches at these places; whether that is news."""
        fresh, self.fresh = self.fresh, False
        if not self.contacts:
            return fresh
        contact = self.contacts[0]
        depths = contact.floors[1] - contact.heights(points)
        touching = np.flatnonzero(depths > 0.0)
        unheld = touching[np.isnan(self.anchors[0, touching])]
        self.anchors[:, unheld] = contact.start[:, unheld]
        slid = self._along(points[:, touching] - self.anchors[:, touching])
        length = np.sqrt((slid * slid).sum(axis=0))
        push = self.stiffness[touching] * depths[touching]
        grip = np.minimum(
            self.stiffness[touching], contact.friction * push / np.maximum(length, 1e-300)
        )
        same = len(touching) == len(self.points) and np.array_equal(touching, self.points)
        steady = same and bool((np.abs(grip - self.grip) <= STEADY * self.grip).all())
        self.points, self.grip = touching, grip
        return fresh or not steady

    def springs(self, holds: Holds) -> tuple[Springs, Floats]:
        """Everything that pulls at points, and the pulls (k, 3) where free motion led them."""
        pinned = holds.stiffnesses[:, None, None] * np.eye(3)
        pulls = holds.stiffnesses * (holds.targets - self.arrival[:, holds.points])
        if not len(self.points):
            return Springs(holds.points, pinned), np.ascontiguousarray(pulls.T)
        contact, touching = self.contacts[0], self.points
        normal = contact.plane.normal
        across = np.outer(normal, normal)
        push = self.stiffness[touching]
        ground = push[:, None, None] * across + self.grip[:, None, None] * (np.eye(3) - across)
        arrival = self.arrival[:, touching]
        depths = contact.floors[1, touching] - contact.heights(arrival)
        slid = self._along(arrival - self.anchors[:, touching])
        pushes = push * depths * normal[:, None] - self.grip * slid
        return (
            Springs(np.concatenate([holds.points, touching]), np.concatenate([pinned, ground])),
            np.concatenate([pulls.T, pushes.T]),
        )

    def settle(self, points: Floats) -> Floats:
        """Moves anchors on with what slides, and lets none of the points show below the ground."""
        if not self.contacts:
            self.anchors.fill(np.nan)
            return points
        contact = self.contacts[0]
        depths = contact.floors[1] - contact.heights(points)
        touching = np.flatnonzero(depths > 0.0)
        anchors = self.anchors[:, touching]
        slid = self._along(points[:, touching] - anchors)
        length = np.sqrt((slid * slid).sum(axis=0))
        most = contact.friction * depths[touching]
        loose = np.maximum(0.0, 1.0 - most / np.maximum(length, 1e-300))
        self.anchors.fill(np.nan)
        self.anchors[:, touching] = anchors + slid * loose
        points[:, touching] += contact.plane.normal[:, None] * depths[touching]
        return points

    def along_normal(self, pulls: Floats) -> Floats:
        """(k,) of the pulls (k, 3) of what touches, that which is out of the ground."""
        if not len(pulls):
            return np.zeros(0)
        return np.asarray((pulls * self.contacts[0].plane.normal).sum(axis=1))

    def _along(self, vectors: Floats) -> Floats:
        """(3, k) the part of vectors along the ground."""
        normal = self.contacts[0].plane.normal
        return np.asarray(vectors - normal[:, None] * np.einsum("x,xk->k", normal, vectors))
