"""What acts between bodies, and between them and colliders, in a step."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..contact.memory import begin, displacements, remember
from ..contact.response import ContactRows, Motion
from ..phases.jelly import stop_solid, stop_together
from ..phases.step_data import Mover, Surroundings
from ..phases.within_bodies import keep_lengths, project_contacts
from ..ropes.trees import TreeBatches
from ..solid.barriers import find_barriers
from ..solid.joined import find_meets
from ..stretch.compiled_kernels import strain_range
from ..stretch.links import stretched_ends
from ..stretch.sweep import draw_in
from .encounter import Encounter, bodies_in, meet, meet_more, part, stop_passing
from .islands import bodies_around, companies, islands
from .keeping_apart import keep_apart
from .pinching import find_pinched
from .settling import settle_in_turn, settle_pieces
from .world import Meeting

ROUNDS = 8
"""How often contacts and lengths are solved in turn where bodies touch. Lengths come last: what a
millimetre of contact lacks is hardly seen, but what it stretches an edge of two centimetres is.
Until then each round sweeps over them once, this way and that in turn: solved to the last, they
would answer pushes that the next round takes back."""
SEARCHES = 2
"""How often contacts are looked for in a step, at most, as pushes lead bodies elsewhere. What
else they lead to is left to the guard."""

CAUGHT = 0.05
"""Tension that answers contacts is forgotten: the next step begins while nothing presses yet, and
taut cloth would throw up what lies on it, higher than it fell from. Walls around gas, which presses
from the start of a step, remember it, and so does a body where an edge is stretched by more than
this share: else what a fast ball has wound around itself does not come off."""
SLIPS = 0.02
"""Nor does friction hold particles of such a body at edges that are stretched by more than this
share: with 5 % some edges are stretched three times as much."""


def meet_each_other(movers: Sequence[Mover], meeting: Meeting, given: Surroundings) -> Encounter:
    """Finds what bodies touch on the way to where they would be by themselves."""
    world = meeting.gathered
    masses = [_inverse_masses(mover) for mover in movers]
    still = [np.zeros_like(rows) for rows in given.collider_ends]
    motion = Motion(
        inverse_masses=np.concatenate([*masses, *(rows[:, 0] for rows in still)]),
        start=world([mover.start for mover in movers], given.collider_starts),
        arrival=world([mover.arrival for mover in movers], given.collider_ends),
        accelerations=world([mover.accelerations for mover in movers], still),
        strung=meeting.strung,
        dt=given.dt,
    )
    ends = world([mover.state.positions for mover in movers], given.collider_ends)
    for mover in movers:
        mover.free_tension = mover.batches.lengths.net.multipliers.copy()
    encounter = meet(meeting, motion, ends)
    if meeting.memory is not None:
        begin(encounter.rows, meeting.memory)
        now = displacements(encounter.rows, meeting.memory.count)
        both = encounter.rows, meeting.memory.rows
        _move(movers, meeting, now - meeting.memory.moved, *both)
    return encounter


def _inverse_masses(mover: Mover) -> Floats:
    """(v,) of what touches others, as these feel it [1/kg]."""
    solid = mover.state.solid
    alone = solid is None or solid.led_out
    return mover.model.touching if alone else mover.model.carried_along


def push_again(movers: Sequence[Mover], meeting: Meeting | None) -> None:
    """Pushes what the step before pushed apart as much as then, before lengths are solved for.

    Else tension, which does not know of contacts yet, would draw cloth into what it lies on.
    """
    if meeting is not None and meeting.memory is not None:
        _move(movers, meeting, meeting.memory.moved, meeting.memory.rows)


def _move(movers: Sequence[Mover], meeting: Meeting, moved: Floats, *rows: ContactRows) -> None:
    """Moves bodies that have a part in rows as their particles in the world (3, N) [m]."""
    for body, own in {k: v for its in rows for k, v in bodies_in(its, meeting).items()}.items():
        movers[body].state.positions[:, : own.stop - own.start] += moved[:, own]


def _remember(movers: Sequence[Mover], encounter: Encounter) -> None:
    """Keeps what contacts have pushed, for the next step.

    Only what colliders push: taut cloth would throw up a heavy sheet that lies on it. Solids and
    rigid parts take pushes in their own way; those of ropes are solved to the last digit. What is
    caught would not come off, and what starts inside of something is pushed by how far it still has
    to come.
    """
    meeting, rows = encounter.meeting, encounter.rows
    surfaces = meeting.surfaces
    lasting = np.ones(len(surfaces.meets), dtype=bool)
    for body in encounter.touched:
        model = movers[body].model
        parts = model.solid, model.shell, model.pieces
        lasting[body] = all(part is None for part in parts) and not movers[body].caught
    lasting[surfaces.owners[meeting.being_led_out]] = False
    owners = surfaces.owners[rows.particles[[0, 3]]]
    both = lasting[owners].all(axis=0) & (owners >= meeting.bodies).any(axis=0) & ~rows.strung
    meeting.memory = remember(rows, both, len(surfaces.owners), meeting.memory)


def settle(movers: Sequence[Mover], encounter: Encounter, dt: float) -> None:
    """Solves contacts and lengths in turn, until both hold and nothing else is touched."""
    if not len(encounter.rows.gaps) and all(mover.leap is None for mover in movers):
        return
    trees = [mover.batches.ropes.trees for mover in movers]
    concerned = set(range(len(movers)))
    for search in range(SEARCHES):
        stop_solids(movers, concerned, encounter, dt)
        positions = [mover.state.positions for mover in movers]
        for island in islands(encounter, concerned):
            settle_island(movers, island, positions, trees)
            if let_slip(movers, island):
                settle_island(movers, island, positions, trees)
        known = len(encounter.rows.gaps)
        if search + 1 == SEARCHES or not meet_more(encounter, positions):
            break
        concerned = bodies_around(encounter, known)


def settle_island(
    movers: Sequence[Mover],
    island: Encounter,
    positions: Sequence[Floats],
    trees: Sequence[TreeBatches],
) -> None:
    """Solves contacts and lengths in turn, in place; those of all bodies."""
    touched = {body: movers[body] for body in island.touched}
    often = settle_in_turn(island, positions, trees, most=ROUNDS, movers=touched)
    for mover in touched.values() if often else ():
        keep_lengths(mover, backwards=min(often, ROUNDS - 1) % 2 == 1)
        project_contacts(mover)
    if all(mover.state.rigid is None for mover in touched.values()):
        keep_apart(island, positions, trees)
    elif often:
        settle_pieces(island, positions, trees, touched)
    for mover in touched.values():
        mover.caught = _is_caught(mover)


def let_slip(movers: Sequence[Mover], island: Encounter) -> bool:
    """Lets what friction has stretched slip on what it touches; whether anything does.

    An arm that swings through a cape would drag some of its edges to ten times their length.
    """
    caught = [body for body in island.touched if movers[body].caught]
    if not caught:  # as mostly
        return False
    rows, stretched = island.rows, np.zeros(island.end.shape[1], dtype=bool)
    for body in caught:
        positions, links = movers[body].state.positions, movers[body].batches.lengths.links
        stretched[island.touched[body].start + stretched_ends(positions, links, SLIPS)] = True
    slips = (stretched[rows.particles] & (rows.pulls != 0.0)).any(axis=0)
    slips &= (rows.pushed > 0.0) & (rows.friction > 0.0)
    rows.friction[slips] = 0.0
    return bool(slips.any())


def _is_caught(mover: Mover) -> bool:
    """Whether any edge of a surface is stretched as it is only where something holds it fast."""
    return strain_range(mover.state.positions, mover.batches.lengths.edges)[1] > CAUGHT


def stop_solids(
    movers: Sequence[Mover], concerned: set[int], encounter: Encounter, dt: float
) -> None:
    """Solves for the stress of solids together with the push of the colliders that they touch.

    Those that touch each other are solved for as one, but not what had to be led out of another:
    its corners may still cross, and would stay so.
    """
    meeting, motion, rows = encounter.meeting, encounter.motion, encounter.rows
    surfaces, fixed = meeting.surfaces, meeting.first_fixed
    leaps = [(body, movers[body].leap) for body in sorted(concerned)]
    solids = {body: leap.state for body, leap in leaps if leap is not None}
    if not solids:
        return
    # What starts inside is led out by rows of its own.
    leaving = {
        body
        for body in solids
        if surfaces.leaving[meeting.own[body]].any() or surfaces.leaving[:, body].any()
    }
    for body in leaving:
        stop_solid(movers[body], None)
        solids[body].led_out = True
    others = [body for body, state in solids.items() if not state.led_out]
    alone = [[body] for body, state in solids.items() if state.led_out and body not in leaving]
    for group in companies(encounter, others) + alone:
        own = [meeting.own[body] for body in group]
        its = [movers[body] for body in group]
        ways = motion.start, motion.arrival
        barriers = [find_barriers(rows, each, fixed, *ways, dt) for each in own]
        meets = find_meets(rows, own, dt)
        if len(meets.levels):
            stop_together(its, barriers, meets)
        else:
            stop_solid(its[0], barriers[0])


def part_from_each_other(movers: Sequence[Mover], encounter: Encounter) -> None:
    """Sets the speed of what has been pushed apart, and forgets what tension answered."""
    states = [mover.state for mover in movers]
    positions = [state.positions for state in states]

    def keep(changed: Sequence[int]) -> None:
        for mover in (movers[body] for body in changed):
            if not mover.caught:
                draw_in(mover.state.positions, mover.batches.lengths.links)
            project_contacts(mover)

    stop_passing(encounter, positions, keep)
    for mover in (movers[body] for body in encounter.touched):
        if not mover.caught and mover.state.gas is None:
            mover.batches.lengths.net.multipliers[...] = mover.free_tension
    part(encounter, [state.previous_positions for state in states], positions)
    find_pinched(encounter)
    _remember(movers, encounter)
    for body, state in enumerate(states):
        state.touched = state.touched + 1 if body in encounter.touched else 0
