"""Bodies that touch each other, or things alone: each island of them is solved by itself.

So a body's rounds end by what moves in its own island: it bakes alike alone and in company.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Integers
from ..geometry.graph import find_components
from .encounter import Encounter


def islands(encounter: Encounter, bodies: set[int]) -> Iterator[Encounter]:
    """Each island that one of these bodies is in; what its rows have pushed is written back."""
    rows = encounter.rows
    if len(encounter.touched) <= 1:
        if not bodies.isdisjoint(encounter.touched):
            yield encounter
        return
    labels, of_rows = _labels(encounter)
    found = np.unique(of_rows).tolist()
    if len(found) == 1 and not bodies.isdisjoint(encounter.touched):
        yield encounter
        return
    for label in found:
        its = encounter.touched.items()
        touched = {body: own for body, own in its if labels[body] == label}
        if bodies.isdisjoint(touched):
            continue
        members = np.flatnonzero(of_rows == label)
        island = replace(encounter, rows=rows.taken(members), touched=touched)
        yield island
        rows.pushed[members] = island.rows.pushed
        rows.rubbed[:, members] = island.rows.rubbed


def companies(encounter: Encounter, bodies: Sequence[int]) -> list[list[int]]:
    """Such bodies, those that touch each other together."""
    rows, count = encounter.rows, encounter.meeting.bodies
    own = np.append(np.isin(np.arange(count), bodies), False)
    first, second = encounter.meeting.surfaces.owners.take(rows.particles[[0, 3]]).clip(max=count)
    met = own[first] & own[second]
    labels = find_components(count, np.stack([first[met], second[met]], axis=1))
    groups: dict[int, list[int]] = {}
    for body in bodies:
        groups.setdefault(int(labels[body]), []).append(body)
    return list(groups.values())


def bodies_around(encounter: Encounter, first: int) -> set[int]:
    """The bodies of islands that have a part in rows from the first on."""
    if len(encounter.touched) <= 1:
        return set(encounter.touched if first < len(encounter.rows.gaps) else ())
    labels, of_rows = _labels(encounter)
    found = set(of_rows[first:].tolist())
    return {body for body in encounter.touched if labels[body] in found}


def _labels(encounter: Encounter) -> tuple[Integers, Integers]:
    """The islands of all bodies, and of all rows."""
    count = encounter.meeting.bodies
    owners = encounter.meeting.surfaces.owners.take(encounter.rows.particles[[0, 3]])
    first, second = owners.min(axis=0), owners.max(axis=0)  # colliders' numbers are higher
    met = np.flatnonzero((second < count) & (first != second))
    labels = find_components(count, np.stack([first[met], second[met]], axis=1))
    return labels, labels[first]
