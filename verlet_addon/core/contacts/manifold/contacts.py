"""Contacts: the pairs of features that a search has found, in the order of their keys."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...arrays import Booleans, Floats, Integers, concatenated, selected
from ...kernel import kernel
from ..broad_phase.searches import DetectedRows
from ..broad_phase.surfaces import Surfaces


@dataclass(frozen=True, eq=False)
class Contacts:
    """k contacts: normal · Σ weights x ≥ gap over the four particles of each; Σ weights = 0."""

    particles: Integers
    """(4, k) a vertex and the corners of a triangle, or the ends of two edges."""
    weights: Floats
    """(4, k) positive for the first feature (vertex or edge), negative for the second."""
    normals: Floats
    """(3, k) unit vectors from the second feature to the first, on the side where the first was as
    the step began."""
    gaps: Floats
    """(k,) distances that the features are kept apart [m]."""
    owners: Integers
    """(2, k) owners of the first and of the second feature."""
    keys: Integers
    """(k,) keys of the two features, the same from step to step; −1 for none."""

    def chosen(self, which: Booleans | Integers) -> Self:
        """The contacts at these indices, or in this mask."""
        return selected(self, which)


def _room_for_contacts(count: int) -> tuple[NDArray[Any], ...]:
    """The arrays of so many contacts."""
    particles, owners = (np.empty((rows, count), dtype=np.int64) for rows in (4, 2))
    floats = np.empty((4, count)), np.empty((3, count)), np.empty(count)
    return particles, *floats, owners, np.empty(count, dtype=np.int64)


NO_CONTACTS = Contacts(*_room_for_contacts(0))
"""No contacts."""


def sorted_contacts(surfaces: Surfaces, rows: DetectedRows) -> Contacts:
    """Contacts of rows in the order of their keys: those of vertices, then those of edges."""
    if not rows.capacity:  # most searches after the first of a step
        return NO_CONTACTS
    kind, first, second = rows.features
    keys = (kind * surfaces.features + first) * surfaces.features + second
    return Contacts(*gather_contacts(surfaces, rows, np.argsort(keys), keys))


ContactArrays = tuple[Integers, Floats, Floats, Floats, Integers, Integers]
"""The arrays of `Contacts` in their order."""


@kernel(result=lambda _, rows, *__: _room_for_contacts(rows.capacity))
def gather_contacts(
    surfaces: Surfaces, rows: DetectedRows, order: Integers, keys: Integers
) -> ContactArrays:
    """The arrays of the contacts of rows, in this order (k,), with their `keys` (k,)."""
    kind, first, second = rows.features[:, order]
    particles = np.empty((4, len(order)), dtype=np.int64)
    vertices, edges = kind == 0, kind == 1
    particles[0, vertices] = first[vertices]
    particles[1:, vertices] = surfaces.triangles[:, second[vertices]]
    particles[:2, edges] = surfaces.edges[:, first[edges]]
    particles[2:, edges] = surfaces.edges[:, second[edges]]
    found = rows.weights[:, order], rows.normals[:, order], rows.gaps[order]
    return particles, *found, surfaces.owners[particles[[0, 3]]], keys[order]


def merged(kept: Contacts, others: Contacts) -> Contacts:
    """Contacts of two lists without a common key, in the order of their keys."""
    if not len(kept.gaps) or not len(others.gaps):
        return others if len(others.gaps) else kept
    both = concatenated(kept, others, axis=-1)
    return selected(both, np.argsort(both.keys, kind="stable"))
