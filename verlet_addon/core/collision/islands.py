"""Islands: groups of bodies connected by contacts, each solved by itself.

Convergence is checked for each island, so that a body bakes to the same result whether or not other
bodies, out of contact, are in the scene.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Integers
from ..geometry.graph import find_components
from .contact_step import ContactStep


def islands(contact_step: ContactStep, bodies: set[int]) -> Iterator[ContactStep]:
    """Yields each island with any of these bodies; its multipliers are written back afterwards."""
    rows = contact_step.rows
    if len(contact_step.touching_bodies) <= 1:
        if not bodies.isdisjoint(contact_step.touching_bodies):
            yield contact_step
        return
    labels, of_rows = _labels(contact_step)
    labels_of_rows = np.unique(of_rows).tolist()
    if len(labels_of_rows) == 1 and not bodies.isdisjoint(contact_step.touching_bodies):
        yield contact_step
        return
    for label in labels_of_rows:
        entries = contact_step.touching_bodies.items()
        touching_bodies = {body: own for body, own in entries if labels[body] == label}
        if bodies.isdisjoint(touching_bodies):
            continue
        members = np.flatnonzero(of_rows == label)
        island = replace(contact_step, rows=rows.select(members), touching_bodies=touching_bodies)
        yield island
        rows.normal_multipliers[members] = island.rows.normal_multipliers
        rows.friction_multipliers[:, members] = island.rows.friction_multipliers


def coupled_groups(contact_step: ContactStep, bodies: Sequence[int]) -> list[list[int]]:
    """Groups of these bodies, connected by contacts between them."""
    rows, count = contact_step.rows, contact_step.world.bodies
    own = np.append(np.isin(np.arange(count), bodies), False)
    first, second = contact_step.world.surfaces.owners.take(rows.particles[[0, 3]]).clip(max=count)
    met = own[first] & own[second]
    labels = find_components(count, np.stack([first[met], second[met]], axis=1))
    groups: dict[int, list[int]] = {}
    for body in bodies:
        groups.setdefault(int(labels[body]), []).append(body)
    return list(groups.values())


def bodies_of_rows(contact_step: ContactStep, first: int) -> set[int]:
    """The bodies of islands with any row from number `first` on."""
    if len(contact_step.touching_bodies) <= 1:
        return set(contact_step.touching_bodies if first < len(contact_step.rows.gaps) else ())
    labels, of_rows = _labels(contact_step)
    found = set(of_rows[first:].tolist())
    return {body for body in contact_step.touching_bodies if labels[body] in found}


def _labels(contact_step: ContactStep) -> tuple[Integers, Integers]:
    """Island labels of all bodies, and of all rows."""
    count = contact_step.world.bodies
    owners = contact_step.world.surfaces.owners.take(contact_step.rows.particles[[0, 3]])
    first, second = owners.min(axis=0), owners.max(axis=0)  # colliders' numbers are higher
    met = np.flatnonzero((second < count) & (first != second))
    labels = find_components(count, np.stack([first[met], second[met]], axis=1))
    return labels, labels[first]
