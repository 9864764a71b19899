"""What acts between bodies, and between them and colliders, in a step."""

from collections.abc import Sequence

import numpy as np

from .arrays import Floats
from .contact.response import Motion
from .islands import bodies_around, islands
from .jelly import stop_solid
from .keeping_apart import keep_apart
from .meeting import Encounter, Meeting, meet, meet_more, part, stop_passing, touch
from .rigid.motion import hand_on_contacts
from .ropes.trees import TreeBatches
from .solid.barriers import find_barriers
from .stride import Stride, Surroundings
from .within import CONTACT_ROUNDS, keep_lengths, project_contacts

ROUNDS = 8
"""How often contacts and lengths are solved in turn where bodies touch. Lengths come last: what a
millimetre of contact lacks is hardly seen, but what it stretches an edge of two centimetres is."""
SEARCHES = 2
"""How often contacts are looked for in a step, at most, as pushes lead bodies elsewhere. What
else they lead to is left to the guard."""


def meet_each_other(strides: Sequence[Stride], meeting: Meeting, given: Surroundings) -> Encounter:
    """Finds what bodies touch on the way to where they would be by themselves."""
    world = meeting.gathered
    masses = [stride.model.touching for stride in strides]
    still = [np.zeros_like(rows) for rows in given.collider_ends]
    motion = Motion(
        inverse_masses=np.concatenate([*masses, *(rows[:, 0] for rows in still)]),
        start=world([stride.start for stride in strides], given.collider_starts),
        arrival=world([stride.arrival for stride in strides], given.collider_ends),
        accelerations=world([stride.accelerations for stride in strides], still),
        strung=meeting.strung,
        dt=given.dt,
    )
    ends = world([stride.state.positions for stride in strides], given.collider_ends)
    return meet(meeting, motion, ends)


def settle(strides: Sequence[Stride], encounter: Encounter, dt: float) -> None:
    """Solves contacts and lengths in turn, until both hold and nothing else is touched."""
    trees = [stride.batches.ropes.trees for stride in strides]
    concerned = set(range(len(strides)))
    for search in range(SEARCHES):
        stop_solids(strides, concerned, encounter, dt)
        positions = [stride.state.positions for stride in strides]
        for island in islands(encounter, concerned):
            settle_island(strides, island, positions, trees, dt)
        known = len(encounter.rows.gaps)
        if search + 1 == SEARCHES or not meet_more(encounter, positions):
            break
        concerned = bodies_around(encounter, known)


def settle_island(
    strides: Sequence[Stride],
    island: Encounter,
    positions: Sequence[Floats],
    trees: Sequence[TreeBatches],
    dt: float,
) -> None:
    """Solves contacts and lengths in turn, until both hold, in place; those of all bodies."""
    touched = [strides[body] for body in island.touched]
    rigid = any(stride.state.rigid is not None for stride in touched)
    for number in range(ROUNDS + CONTACT_ROUNDS * rigid):
        if not touch(island, positions, trees):
            break
        for stride in touched:
            hand_on_contacts(stride.state.rigid, stride.state.positions)
            if number < ROUNDS:
                keep_lengths(stride, dt)
            project_contacts(stride)
    if not rigid:
        keep_apart(island, positions, trees)


def stop_solids(
    strides: Sequence[Stride], concerned: set[int], encounter: Encounter, dt: float
) -> None:
    """Solves for the stress of solids together with the push of the colliders that they touch."""
    surfaces, motion = encounter.meeting.surfaces, encounter.motion
    fixed = int(surfaces.starts[encounter.meeting.bodies])
    for body in sorted(concerned):
        stride = strides[body]
        if stride.leap is None:
            continue
        own, barriers = slice(*surfaces.starts[body : body + 2].tolist()), None
        # What starts inside is led out by rows of its own.
        if not surfaces.leaving[own].any() and not surfaces.leaving[:, body].any():
            ways = motion.start, motion.arrival
            barriers = find_barriers(encounter.rows, own, fixed, *ways, dt)
        stop_solid(stride.model, stride.state, stride.leap, stride.targets, barriers)


def part_from_each_other(strides: Sequence[Stride], encounter: Encounter) -> None:
    """Sets the speed of what has been pushed apart."""
    states = [stride.state for stride in strides]
    positions = [state.positions for state in states]

    def keep(changed: Sequence[int]) -> None:
        for body in changed:
            project_contacts(strides[body])

    stop_passing(encounter, positions, keep)
    part(encounter, [state.previous_positions for state in states], positions)
    for body, state in enumerate(states):
        state.touched = state.touched + 1 if body in encounter.touched else 0
