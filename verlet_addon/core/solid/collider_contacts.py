"""Contacts of a solid with colliders, which are solved as one system with its stress."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, concatenated, dot
from ..contacts.manifold.contact_rows import ContactRows, max_push_out
from .lattice import Embedding
from .linear_system import PointContacts, SolidSystem

SEPARATION_ROUNDS = 4
"""Rounds in which points are projected out of contacts; more than one is needed in corners."""
SEPARATION_MARGIN = 1e-9
"""Rounding: distance beyond the contact gap, so that the general contact solver does not push again
[m]."""


@dataclass(frozen=True, eq=False)
class ColliderContacts:
    """k contacts of points on a solid's surface with planes: linearized colliders."""

    points: Integers
    """(4, k) the solid's surface points from which each contact point is interpolated."""
    shares: Floats
    """(4, k) weights of these, with sum 1; 0 for corners on the collider."""
    normals: Floats
    """(3, k) unit normals from the collider towards the solid."""
    levels: Floats
    """(k,) smallest coordinate along the normal: that of the collider plus the gap, or less if the
    point would move farther than `max_push_out` [m]."""
    frictions: Floats
    """(k,) Coulomb coefficients."""
    starts: Floats
    """(3, k) contact points at the start of the step, plus the motion of the colliders [m]."""
    shifts: Floats
    """(3, k) motion of the colliders in this step [m]."""

    def interpolate(self, points: Floats) -> Floats:
        """(3, k) contact points, interpolated from points (3, p) [m]."""
        return np.asarray(np.einsum("jk,ajk->ak", self.shares, points[:, self.points]))


def find_collider_contacts(
    rows: ContactRows, own: slice, fixed: int, start: Floats, end: Floats, dt: float
) -> ColliderContacts:
    """Selects the contact rows between one solid and colliders, and expresses them as planes.

    Parameters
    ----------
    own : the solid's particles in the world.
    fixed : number of the first collider particle in the world.
    start, end : (3, N) world positions at the start and the end of the step [m].
    dt : length of the step [s].
    """
    own_corners = (rows.particles >= own.start) & (rows.particles < own.stop)
    others = rows.particles >= fixed
    chosen = np.flatnonzero(
        (own_corners | others).all(axis=0) & own_corners.any(axis=0) & others.any(axis=0)
    )
    particles, own_corners = rows.particles[:, chosen], own_corners[:, chosen]
    sides = np.sign((rows.weights[:, chosen] * own_corners).sum(axis=0))
    weights = rows.weights[:, chosen] * sides
    shares, others = np.where(own_corners, weights, 0.0), np.where(own_corners, 0.0, -weights)

    def on_colliders(positions: Floats) -> Floats:
        return np.asarray(np.einsum("jk,ajk->ak", others, positions[:, particles]))

    normals, before, now = rows.normals[:, chosen] * sides, on_colliders(start), on_colliders(end)
    points = np.where(own_corners, particles - own.start, 0)
    start_points = np.einsum("jk,ajk->ak", shares, start[:, np.where(own_corners, particles, 0)])
    heights, gaps = dot(normals, start_points - before), rows.gaps[chosen]
    return ColliderContacts(
        points=points,
        shares=shares,
        normals=normals,
        levels=np.minimum(gaps, heights + max_push_out(gaps - heights, dt)) + dot(normals, now),
        frictions=rows.friction[chosen],
        starts=start_points + now - before,
        shifts=now - before,
    )


def with_colliders(
    system: SolidSystem, colliders: ColliderContacts, area_factors: Floats, collider_anchors: Floats
) -> SolidSystem:
    """The system of a solid, with collider contacts in addition to ground contacts.

    Contact points are appended to the points of the embedding.

    Parameters
    ----------
    area_factors : (p,) `SurfacePoints.area_factors`.
    collider_anchors : (3, p) friction anchors at colliders in the step before, else nan [m].
    """
    count = len(colliders.levels)
    stiffnesses = colliders.interpolate((system.contacts.stiffnesses * area_factors)[None])
    vertices, single = _single_points(colliders)
    more = PointContacts(
        normals=colliders.normals,
        levels=colliders.levels,
        frictions=colliders.frictions,
        stiffnesses=stiffnesses[0],
        start=colliders.starts,
        anchors=np.where(single, collider_anchors[:, vertices] + colliders.shifts, np.nan),
        friction_stiffnesses=np.full(count, -1.0),
        normal_forces=np.zeros(count),
    )
    return replace(
        system,
        embedding=_with_contact_points(system.embedding, colliders),
        predicted=np.concatenate(
            [system.predicted, colliders.interpolate(system.predicted)], axis=1
        ),
        contacts=concatenated(system.contacts, more, axis=-1),
    )


def _single_points(colliders: ColliderContacts) -> tuple[Integers, Booleans]:
    """(k,) surface point with the largest weight, and (k,) bool, contacts of that point alone."""
    rows = colliders.shares.argmax(axis=0)
    columns = np.arange(len(rows))
    return colliders.points[rows, columns], colliders.shares[rows, columns] > 1.0 - 1e-9


def _with_contact_points(embedding: Embedding, colliders: ColliderContacts) -> Embedding:
    """The embedding of surface points, followed by contact points, combined from up to three."""
    order = np.argsort(-colliders.shares, axis=0, kind="stable")
    most = max(1, int((colliders.shares > 0.0).sum(axis=0).max(initial=1)))
    points = np.take_along_axis(colliders.points, order, axis=0)[:most].T
    shares = np.take_along_axis(colliders.shares, order, axis=0)[:most].T
    width = most * embedding.nodes.shape[1]
    nodes = embedding.nodes[points].reshape(-1, width)
    weights = (embedding.weights[points] * shares[:, :, None]).reshape(-1, width)
    more = ((0, 0), (0, nodes.shape[1] - embedding.nodes.shape[1]))
    return Embedding(
        np.concatenate([np.pad(embedding.nodes, more), nodes]),
        np.concatenate([np.pad(embedding.weights, more), weights]),
    )


def push_out_of_colliders(colliders: ColliderContacts, points: Floats) -> None:
    """Projects points (3, p) out of contacts [m]."""

    def depths() -> Floats:
        return colliders.levels - dot(colliders.normals, colliders.interpolate(points))

    separate(depths, colliders.normals, 1.0, [(points, colliders.points, colliders.shares)])


def separate(
    depths: Callable[[], Floats],
    normals: Floats,
    share: float,
    sides: Sequence[tuple[Floats, Integers, Floats]],
) -> None:
    """Projects points out of k contacts; a point in several is moved by the deepest.

    Parameters
    ----------
    depths : (k,) depths of contacts at the points [m].
    normals : (3, k) unit normals.
    share : share of its depth by which each side of a contact is moved.
    sides : of each solid, points (3, p), which are written to [m], and (4, k) those of contacts and
        their weights: above 0 for the side that normals point to, below 0 for the other.
    """
    for _ in range(SEPARATION_ROUNDS):
        violations = depths()
        order = np.argsort(violations, kind="stable")
        order = order[violations[order] > 0.0]
        displacements = normals[:, order] * (share * violations[order] + SEPARATION_MARGIN)
        for places, corners, weights in sides:
            moves = np.zeros_like(places)
            for own, signs in zip(corners[:, order], np.sign(weights[:, order]), strict=True):
                moved = np.flatnonzero(signs)
                moves[:, own[moved]] = displacements[:, moved] * signs[moved]
            places[...] += moves


def find_collider_anchors(
    contacts: PointContacts, colliders: ColliderContacts, count: int
) -> Floats:
    """(3, p) friction anchors at colliders after a solution, for p = `count`, else nan [m]."""
    vertices, single = _single_points(colliders)
    anchors, collider_anchors = contacts.anchors[:, count:], np.full((3, count), np.nan)
    kept = single & ~np.isnan(anchors[0])
    collider_anchors[:, vertices[kept]] = anchors[:, kept]
    return collider_anchors
