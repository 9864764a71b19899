"""What touches during one step, and how it gives way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, dot, ranges
from ..contact.compiled_kernels import find_doubtful, project_rows, rebound_rows
from ..contact.guard import find_passing, guard
from ..contact.response import ContactRows, Motion, make_rows, with_more
from ..detection.contacts import Contacts, find_contacts
from ..overlap.overlaps import leaving
from ..ropes.touching import push_ropes
from ..ropes.trees import TreeBatches
from .tally import count_step
from .world import REACH, Meeting

THINNEST = 0.05
"""Share of their distance that bodies keep, however thin they are painted; at 0 they tremble."""
NOTICEABLE = 1e-3
"""Rounds end once none moves anything by more than this share of the reach."""
SAFE = 0.25
"""What keeps at least this share of its gap at the end of a step has not passed through."""
NEAR, FEW = 0.75, 8
"""A particle has no room if it starts a step in more than a few contacts that are nearer than this
share of their gap. Ropes in a tight knot have two such contacts, and three in one place have 10."""


@dataclass(eq=False)
class Encounter:
    """What touches during one step."""

    meeting: Meeting
    motion: Motion
    end: Floats
    """(3, N) where it would have ended by itself [m]."""
    positions: Floats
    """(3, N) colliders at the end of the step [m]; bodies to work in."""
    former: Floats
    """(3, N) colliders at its beginning [m]; bodies to work in."""
    rows: ContactRows
    touched: dict[int, slice]
    """Bodies that have a part in it, and where in the world they have their own."""
    clear: Floats | None = None
    """(3, N) where everyone was when nothing was found to pass on the way there [m]."""


def _thinned(meeting: Meeting, contacts: Contacts) -> Contacts:
    """Contacts with the gaps that are left where bodies are painted thinner."""
    if not meeting.thinner.any():
        return contacts
    less = (np.abs(contacts.weights) * meeting.thinner[contacts.particles]).sum(axis=0)
    less *= np.where((contacts.owners < meeting.bodies).all(axis=0), 1.0, 2.0)
    return replace(contacts, gaps=np.maximum(contacts.gaps - less, THINNEST * contacts.gaps))


def _rows(meeting: Meeting, contacts: Contacts, motion: Motion) -> ContactRows:
    """The rows of contacts, those of ropes solved as one but where colliders push between pins.

    A rope cannot give way there as a whole: solving for what has no room would fling it about. Nor
    are those of many ropes in one place, which would take hours.
    """
    rows = make_rows(contacts, meeting.pairs, motion)
    if rows.strung.any():
        hard = (rows.particles >= meeting.first_fixed).any(axis=0)
        rows.strung[hard & meeting.spanned[rows.particles].any(axis=0)] = False
        rows.strung[_without_room(rows, len(motion.strung))] = False
    return rows


def _without_room(rows: ContactRows, count: int) -> Booleans:
    """(k,) rows in which nothing that moves has room, of so many particles."""
    moves = rows.pulls != 0.0
    deep = dot(rows.normals, rows.anchors) < NEAR * rows.gaps
    crowded = np.bincount(rows.particles[moves & deep], minlength=count) > FEW
    return np.asarray((crowded[rows.particles] | ~moves).all(axis=0))


def meet(meeting: Meeting, motion: Motion, end: Floats) -> Encounter:
    """Finds what touches on the way to `end` (3, N), where everyone would be by themselves [m]."""
    rows = _find_rows(meeting, motion, end)
    if meeting.surfaces.any_leaving:
        eased = _rows(meeting, meeting.clearing.contacts(end), motion)
        rows = with_more(rows, replace(eased, targets=eased.gaps, climbs=np.zeros_like(eased.gaps)))
        for pierced in meeting.clearing.pierced:
            rows = with_more(rows, _rows(meeting, pierced, motion))
    touched = bodies_in(rows, meeting)
    return Encounter(meeting, motion, end, end.copy(), motion.start.copy(), rows, touched)


def meet_more(encounter: Encounter, bodies: Sequence[Floats]) -> bool:
    """Finds what else touches on the way to where bodies (3, n) are now; whether that matters.

    It does where any of it ends too near, or anything passes: what a fast ball has wound around
    itself would not come off.
    """
    gather(encounter.meeting.own, bodies, encounter.positions)
    meeting, motion, positions = encounter.meeting, encounter.motion, encounter.positions
    known, (astray, fast) = len(encounter.rows.gaps), _doubtful(encounter)
    doubtful = astray | fast
    encounter.clear = None
    if astray.any():
        encounter.end[:, astray] = positions[:, astray]
        encounter.rows = with_more(encounter.rows, _find_rows(meeting, motion, positions, astray))
    if doubtful.any():
        way = motion.start, positions, motion.inverse_masses
        passing = find_passing(meeting.surfaces, *way, doubtful)
        if len(passing.gaps):
            more = _rows(meeting, _thinned(meeting, passing), motion)
            encounter.rows = with_more(encounter.rows, more)
        else:
            encounter.clear = positions.copy()
    encounter.touched = bodies_in(encounter.rows, meeting)
    lacks = (encounter.rows.targets - encounter.rows.heights(positions))[known:]
    passes = doubtful.any() and encounter.clear is None
    return len(lacks) > 0 and bool(passes or lacks.max() > 0.0)


def bodies_in(rows: ContactRows, meeting: Meeting) -> dict[int, slice]:
    """The bodies that have a part in rows, and where they have their own."""
    if meeting.bodies == 1:
        return meeting.own if len(rows.gaps) else {}
    owners = meeting.surfaces.owners.take(rows.particles[[0, 3]]).ravel()
    bodies = np.flatnonzero(np.bincount(owners)[: meeting.bodies]).tolist()
    return {body: meeting.own[body] for body in bodies}


def _find_rows(
    meeting: Meeting, motion: Motion, end: Floats, active: Booleans | None = None
) -> ContactRows:
    """The rows of what touches on the way to `end` (3, N), near active particles (N,) alone."""
    way = motion.start, end, meeting.pair_reaches
    found = _thinned(meeting, find_contacts(meeting.surfaces, *way, active))
    return _rows(meeting, meeting.clearing.sorted_out(found, motion.start), motion)


def touch(encounter: Encounter, bodies: Sequence[Floats], trees: Sequence[TreeBatches]) -> bool:
    """Pushes bodies (3, n) apart where they touch, and rubs; whether anything moved noticeably.

    Their ropes are such trees.
    """
    world, parts = encounter.positions, encounter.touched
    gather(parts, bodies, world)
    project_rows(world, encounter.rows)
    if encounter.rows.strung.any():
        ropes = [(own, trees[body]) for body, own in parts.items() if trees[body].generations]
        push_ropes(world, encounter.rows, ropes)
    noticed = NOTICEABLE * encounter.meeting.reaches[list(parts)].max()
    moved = False
    for body, own in parts.items():
        here, there = world[:, own], bodies[body][:, : own.stop - own.start]
        moved = moved or bool(np.abs(here - there).max() > noticed)
        there[...] = here
    return moved


def stop_passing(
    encounter: Encounter, bodies: Sequence[Floats], keep: Callable[[Sequence[int]], None]
) -> None:
    """Holds back what would pass through something, where `keep` puts right what else holds."""
    meeting, motion = encounter.meeting, encounter.motion
    gather(encounter.meeting.own, bodies, encounter.positions)
    if encounter.clear is not None and np.array_equal(encounter.positions, encounter.clear):
        return
    doubtful = np.logical_or(*_doubtful(encounter))
    if not doubtful.any():
        return

    def keep_all(world: Floats) -> None:
        changed = [
            body
            for body, own in meeting.own.items()
            if (bodies[body][:, : own.stop - own.start] != world[:, own]).any()
        ]
        hand_back(meeting.own, bodies, world)
        keep(changed)
        gather(meeting.own, bodies, world)

    encounter.positions[...] = guard(
        meeting.surfaces,
        motion.start,
        encounter.positions,
        motion.inverse_masses,
        doubtful,
        keep_all,
    )
    hand_back(meeting.own, bodies, encounter.positions)


def _doubtful(encounter: Encounter) -> tuple[Booleans, Booleans]:
    """(N,) bool, particles that went astray far enough to have passed, and fast ones in contact.

    Pairs without a row keep their gap and the reach of either more where free motion leads. So they
    cannot have passed while both ended within half of that of where free motion led. A row stands
    for the nearest of several pairs. The others cannot have passed where everyone moved, beside the
    row as a whole, by less than a share of the distance; where not, neighbours count as fast too.
    """
    meeting, start = encounter.meeting, encounter.motion.start
    surfaces = meeting.surfaces
    # But for colliders, or other bodies would be searched.
    owners = surfaces.owners[: meeting.first_fixed]
    allowed = meeting.reaches[owners] * (1.0 + SAFE / REACH) / 2.0
    ways = start, encounter.positions, encounter.end
    astray, fast = find_doubtful(*ways, encounter.rows, allowed, SAFE)
    its = np.flatnonzero(fast)
    if len(its):
        counts = surfaces.fan_starts[its + 1] - surfaces.fan_starts[its]
        around = surfaces.fans[ranges(surfaces.fan_starts[its], counts)]
        fast[surfaces.triangles[:, around]] = True
    return astray, fast


def part(encounter: Encounter, former: Sequence[Floats], bodies: Sequence[Floats]) -> None:
    """Sets the speed of what was pushed apart, through where bodies (3, n) were a step before."""
    gather(encounter.touched, bodies, encounter.positions)
    gather(encounter.touched, former, encounter.former)
    rows, meeting = encounter.rows, encounter.meeting
    rebound_rows(encounter.former, encounter.positions, rows)
    depths = rows.gaps - rows.heights(encounter.positions)
    depths[leaving(meeting.surfaces, rows.particles, rows.weights) > 0] = 0.0
    count_step(meeting.tally, meeting.surfaces, rows, depths, encounter.positions)
    hand_back(encounter.touched, former, encounter.former)


def gather(own: dict[int, slice], bodies: Sequence[Floats], world: Floats) -> None:
    """Writes bodies (3, n), those that have their own there, into the world (3, N)."""
    for body, its in own.items():
        world[:, its] = bodies[body][:, : its.stop - its.start]


def hand_back(own: dict[int, slice], bodies: Sequence[Floats], world: Floats) -> None:
    """Writes the world (3, N) back into bodies (3, n), likewise."""
    for body, its in own.items():
        bodies[body][:, : its.stop - its.start] = world[:, its]
