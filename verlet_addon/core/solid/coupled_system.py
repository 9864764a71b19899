"""Solids in contact as one system of equations, in which contact forces act on both solids."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Integers, concatenated, dot
from ..contacts.manifold.contact_rows import ContactRows, max_push_out
from .collider_contacts import ColliderContacts, separate
from .lattice import Embedding
from .linear_system import PinSprings, PointContacts, SolidSystem

MAX_CONTACTS_PER_POINT, NEAREST_CONTACTS = 4, 2
"""Contacts for each touching point, on average, beyond which solids have no room, and are solved
with the nearest so many of any of its points. Solids that lie on each other have two."""


@dataclass(frozen=True, eq=False)
class SolidContacts:
    """k contacts between solids, each with four corners: vertex and triangle, or two edges."""

    solids: Integers
    """(4, k) number of the solid of each corner."""
    points: Integers
    """(4, k) number of each corner among the points of its solid."""
    weights: Floats
    """(4, k) weights with sum 0, above 0 for the solid to which the normal points."""
    normals: Floats
    """(3, k) unit normals."""
    levels: Floats
    """(k,) smallest distance along the normal: the gap, or less, see `max_push_out` [m]."""
    frictions: Floats
    """(k,) Coulomb coefficients."""
    keys: Integers
    """(k,) keys that identify a pair of primitives in each step; −1 = none."""

    def points_of(self, number: int) -> tuple[Integers, Floats]:
        """(4, k) points of one solid, and (4, k) weights, 0 for corners of other solids."""
        own_corners = self.solids == number
        return np.where(own_corners, self.points, 0), np.where(own_corners, self.weights, 0.0)

    def offsets(self, points: Sequence[Floats]) -> Floats:
        """(3, k) offsets Σ weight × point of contacts, for points (3, p) of each solid."""
        differences = np.zeros_like(self.normals)
        for number, points_of_solid in enumerate(points):
            own, weights = self.points_of(number)
            for each, share in zip(own, weights, strict=True):
                differences += share * points_of_solid[:, each]
        return differences

    def as_collider_contacts(self, number: int, chosen: Integers) -> ColliderContacts:
        """Chosen contacts of one solid with others, as contacts with colliders at rest."""
        points, weights = self.points_of(number)
        weights = weights[:, chosen]
        sides = np.sign(weights.sum(axis=0))
        return ColliderContacts(
            points=points[:, chosen],
            shares=weights * sides,
            normals=self.normals[:, chosen] * sides,
            levels=np.zeros(len(chosen)),
            frictions=self.frictions[chosen],
            starts=np.zeros((3, len(chosen))),
            shifts=np.zeros((3, len(chosen))),
        )


def find_solid_contacts(rows: ContactRows, own: Sequence[slice], dt: float) -> SolidContacts:
    """Selects the contact rows between some solids; `own` are the world particles of each.

    Where there are too many, only the nearest are selected.
    """
    solids, points = np.full_like(rows.particles, -1), np.zeros_like(rows.particles)
    for number, own_slice in enumerate(own):
        own_corners = (rows.particles >= own_slice.start) & (rows.particles < own_slice.stop)
        solids[own_corners], points[own_corners] = (
            number,
            rows.particles[own_corners] - own_slice.start,
        )
    chosen = np.flatnonzero((solids >= 0).all(axis=0))
    chosen = _nearest(rows, chosen)
    normals, gaps = rows.normals[:, chosen], rows.gaps[chosen]
    heights = dot(normals, rows.anchors[:, chosen])
    return SolidContacts(
        solids=solids[:, chosen],
        points=points[:, chosen],
        weights=rows.weights[:, chosen],
        normals=normals,
        levels=np.minimum(gaps, heights + max_push_out(gaps - heights, dt)),
        frictions=rows.friction[chosen],
        keys=rows.keys[chosen],
    )


def _nearest(rows: ContactRows, chosen: Integers) -> Integers:
    """The chosen rows, or the nearest of them at the start of the step if there are too many."""
    points, count = rows.particles[:, chosen].ravel(), len(chosen)
    if count <= MAX_CONTACTS_PER_POINT * np.count_nonzero(np.bincount(points)):
        return chosen  # the usual case
    distances = dot(rows.normals[:, chosen], rows.anchors[:, chosen]) - rows.gaps[chosen]
    numbers = np.tile(np.arange(count), 4)
    order = np.lexsort((distances[numbers], points))
    ranks = np.arange(len(order)) - np.searchsorted(points[order], points[order])
    return np.asarray(chosen[np.unique(numbers[order[ranks < NEAREST_CONTACTS]])])


def couple_systems(
    systems: Sequence[SolidSystem],
    solid_contacts: SolidContacts,
    stiffnesses: Sequence[Floats],
    anchors: Floats,
) -> SolidSystem:
    """One system of all solids, with the contacts between them.

    Parameters
    ----------
    stiffnesses : (p,) stiffness × h² of points in contacts with others, for each solid [kg].
    anchors : (3, k) friction anchors: offsets without tangential deflection [m].
    """
    points = slices(len(each.contacts.levels) for each in systems)
    nodes = slices(len(each.masses) for each in systems)
    labels = slices(int(each.components.max(initial=-1)) + 1 for each in systems)
    offsets = solid_contacts.offsets([each.predicted for each in systems])
    contacts = [
        *(each.contacts for each in systems),
        _contacts_between(solid_contacts, stiffnesses, anchors),
    ]
    return SolidSystem(
        parts=[part for each in systems for part in each.parts],
        embedding=_embedding(systems, nodes, points, solid_contacts),
        masses=stack_solids(each.masses for each in systems),
        diagonal=stack_solids(each.diagonal for each in systems),
        predicted=stack_solids([*(each.predicted for each in systems), offsets]),
        components=stack_solids(
            np.where(each.components < 0, -1, each.components + own_slice.start)
            for each, own_slice in zip(systems, labels, strict=True)
        ),
        predicted_nodes=stack_solids(each.predicted_nodes for each in systems),
        pin_springs=PinSprings(
            points=stack_solids(
                each.pin_springs.points + own_slice.start
                for each, own_slice in zip(systems, points, strict=True)
            ),
            stiffnesses=stack_solids(each.pin_springs.stiffnesses for each in systems),
            targets=stack_solids(each.pin_springs.targets for each in systems),
        ),
        contacts=concatenated(*contacts, axis=-1),
    )


def _contacts_between(
    solid_contacts: SolidContacts, stiffnesses: Sequence[Floats], anchors: Floats
) -> PointContacts:
    """Contacts between solids, with the contact springs of both in series."""
    side_stiffnesses = np.zeros((2, len(solid_contacts.levels)))
    for number, own_stiffness in enumerate(stiffnesses):
        points, weights = solid_contacts.points_of(number)
        for side, shares in enumerate((weights, -weights)):
            side_stiffnesses[side] += (np.maximum(shares, 0.0) * own_stiffness[points]).sum(axis=0)
    return PointContacts(
        normals=solid_contacts.normals,
        levels=solid_contacts.levels,
        frictions=solid_contacts.frictions,
        stiffnesses=1.0 / (1.0 / side_stiffnesses).sum(axis=0),
        start=anchors,
        anchors=anchors,
        friction_stiffnesses=np.full_like(solid_contacts.levels, -1.0),
        normal_forces=np.zeros_like(solid_contacts.levels),
    )


def _embedding(
    systems: Sequence[SolidSystem],
    nodes: Sequence[slice],
    points: Sequence[slice],
    solid_contacts: SolidContacts,
) -> Embedding:
    """The embedding of all points, followed by offsets between solids with Σ w = 0."""
    count = len(solid_contacts.levels)
    own = [each.embedding for each in systems]
    # Contact points with colliders have more nodes than surface points.
    used = [int(np.flatnonzero((each.weights != 0.0).any(axis=0)).max()) + 1 for each in own]
    width = max(*used, 4 * max(used)) if count else max(used)
    embedding = Embedding(
        np.zeros((points[-1].stop + count, width), dtype=np.int64),
        np.zeros((points[-1].stop + count, width)),
    )
    for each, many, columns, carriers in zip(own, used, points, nodes, strict=True):
        embedding.nodes[columns] = carriers.start
        embedding.nodes[columns, :many] = each.nodes[:, :many] + carriers.start
        embedding.weights[columns, :many] = each.weights[:, :many]
    most, firsts = max(used), np.array([columns.start for columns in points])
    for corner in range(4):
        where = firsts[solid_contacts.solids[corner]] + solid_contacts.points[corner]
        columns = slice(corner * most, (corner + 1) * most)
        embedding.nodes[-count:, columns] = embedding.nodes[where, :most]
        embedding.weights[-count:, columns] = (
            embedding.weights[where, :most] * solid_contacts.weights[corner, :, None]
        )
    return embedding


def separate_solids(solid_contacts: SolidContacts, points: Sequence[Floats]) -> None:
    """Projects points (3, p) of solids out of each other, each by half [m]."""

    def depths() -> Floats:
        return solid_contacts.levels - dot(solid_contacts.normals, solid_contacts.offsets(points))

    sides = [(each, *solid_contacts.points_of(number)) for number, each in enumerate(points)]
    separate(depths, solid_contacts.normals, 0.5, sides)


def stack_solids(parts: Iterable[NDArray[Any]]) -> Any:
    """Concatenates arrays (…, k) of all solids along their last axis."""
    return np.ascontiguousarray(np.concatenate(list(parts), axis=-1))


def slices(counts: Iterable[int]) -> list[slice]:
    """Slices of solids with these counts in concatenated arrays."""
    return [slice(*ends) for ends in pairwise(accumulate(counts, initial=0))]
