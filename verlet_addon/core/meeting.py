"""All bodies and colliders in one world: what touches there, and how it gives way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from .arrays import Booleans, Floats, magnitudes, ranges
from .contact.compiled_kernels import project_rows, rebound_rows
from .contact.guard import find_passing, guard
from .contact.memory import Memory
from .contact.response import ContactRows, Motion, Pairs, joined, make_rows
from .detection.contacts import Contacts, find_contacts
from .detection.surfaces import Surface, Surfaces, join_surfaces
from .mesh import MeshData
from .model import SoftBodyModel
from .overlap.clearing import Clearing, start_clearing
from .overlap.overlaps import leaving
from .pairings import distances, laws, who_meets
from .ropes.touching import push_ropes
from .ropes.trees import TreeBatches
from .scene import Collider
from .tally import Tally, count_step, start_tally

NO_EDGES = np.empty((2, 0), np.int64)
"""Of surfaces that are all triangles."""
REACH = 1.0
"""Contacts are looked for as far beyond their gap as this share of the body's thickness."""
THINNEST = 0.05
"""Share of their distance that bodies keep, however thin they are painted; at 0 they tremble."""
NOTICEABLE = 1e-3
"""Rounds end once none moves anything by more than this share of the reach."""
SAFE = 0.25
"""What keeps at least this share of its gap at the end of a step has not passed through."""


@dataclass(eq=False)
class Meeting:
    """What may touch during a simulation: particles of all bodies, then vertices of colliders."""

    surfaces: Surfaces
    strung: Booleans
    """(N,) bool, which particles are strung on ropes without rings."""
    bodies: int
    """How many of the owners are bodies."""
    own: dict[int, slice]
    """Where in the world each of them has its own."""
    shortest: Floats
    """(N,) each particle's shortest edge [m]; infinite where pushing it alone stretches none."""
    thinner: Floats
    """(N,) how much less each keeps than others of its body, where that is painted [m]."""
    pairs: Pairs
    reaches: Floats
    """(owners,) how far beyond gaps contacts of each are looked for [m]."""
    clearing: Clearing
    """What starts inside of something, on its way out."""
    tally: Tally
    """What users may be told of it."""
    colliders: Sequence[Collider]
    absent: Booleans
    """(colliders,) which are a point or a line for now, and so touch nothing; changes."""
    memory: Memory | None = None
    """What contacts start from; changes."""

    def gathered(self, bodies: Sequence[Floats], colliders: Sequence[Floats]) -> Floats:
        """(3, N) of bodies (3, n), whose first particles are vertices, and colliders (v, 3)."""
        counts = np.diff(self.surfaces.starts)
        vertices = [rows[:, :count] for rows, count in zip(bodies, counts, strict=False)]
        places = [
            np.full_like(rows.T, np.nan) if gone else rows.T
            for rows, gone in zip(colliders, self.absent, strict=True)
        ]
        return np.concatenate([*vertices, *places], axis=1)

    def look_at_colliders(self, starts: Sequence[Floats], ends: Sequence[Floats]) -> None:
        """Leaves out those that are a point or a line at either end (v, 3) of their way [m]."""
        for number, ways in enumerate(zip(starts, ends, strict=True)):
            self.absent[number] = not all(map(self.colliders[number].has_area, ways))


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

    def parts(self, *, everyone: bool = False) -> dict[int, slice]:
        """Where in the world each body that has a part, or everyone, has its own."""
        return self.meeting.own if everyone else self.touched


def prepare(
    models: Sequence[SoftBodyModel],
    meshes: Sequence[MeshData],
    colliders: Sequence[Collider],
    places: Sequence[Floats],
) -> Meeting | None:
    """What may touch, and nothing where nothing may.

    Parameters
    ----------
    places : per collider (v, 3), where its vertices are at the start [m].
    """
    bodies = [model.settings for model in models]
    meets = who_meets(bodies, meshes, len(colliders))
    if not meets.any():
        return None
    surfaces = [_surface(*body) for body in zip(models, meshes, strict=True)]
    surfaces += [
        Surface(rows.T, collider.triangles.T, NO_EDGES, collider.single_sided, is_collider=True)
        for collider, rows in zip(colliders, places, strict=True)
    ]
    parts = [np.zeros(surface.rest.shape[1], dtype=bool) for surface in surfaces]
    for its, model in zip(parts, models, strict=False):
        its[model.ropes.trees.strips.path] = True
    still = [np.zeros(len(rows)) for rows in places]
    held = [model.touching == 0.0 for model in models] + [rows == 0.0 for rows in still]
    strung = np.concatenate(parts)
    joined = join_surfaces(surfaces, meets, distances(bodies, colliders))
    soft = np.array([body.body_type == "SOFT" for body in bodies] + [False] * len(colliders))
    return Meeting(
        surfaces=joined,
        clearing=start_clearing(joined, soft, len(bodies), np.concatenate(held)),
        strung=strung,
        shortest=_shortest(joined, models, strung),
        thinner=np.concatenate([_thinner(model) for model in models] + still),
        pairs=laws(bodies, colliders),
        bodies=len(bodies),
        own={body: slice(*joined.starts[body : body + 2].tolist()) for body in range(len(bodies))},
        tally=start_tally(len(surfaces)),
        reaches=REACH * np.array([*(body.thickness for body in bodies), *(0.0 for _ in colliders)]),
        colliders=colliders,
        absent=np.zeros(len(colliders), dtype=bool),
    )


def _surface(model: SoftBodyModel, mesh: MeshData) -> Surface:
    """What a body touches others with: its mesh, or the finer skin of a solid of large faces."""
    if model.solid is None or not model.solid.surface.cut:
        return Surface(mesh.positions.T, model.triangles, mesh.edges.T, exempt=mesh.exempt)
    skin = model.solid.surface
    return Surface(skin.spread(mesh.positions).T, skin.triangles, NO_EDGES)


def _shortest(surfaces: Surfaces, models: Sequence[SoftBodyModel], strung: Booleans) -> Floats:
    """(N,) each particle's shortest edge [m]; solids, shells and ropes give way as a whole."""
    shortest = np.full(surfaces.rest.shape[1], np.inf)
    lengths = magnitudes(np.diff(surfaces.rest[:, surfaces.edges], axis=1)[:, 0])
    for ends in surfaces.edges:
        np.minimum.at(shortest, ends, lengths)
    for model, (start, stop) in zip(models, pairwise(surfaces.starts), strict=False):
        if model.solid is not None or model.shell is not None:
            shortest[start:stop] = np.inf
    shortest[strung] = np.inf
    return shortest


def _thinner(model: SoftBodyModel) -> Floats:
    """(v,) how much less than half of the body's thickness its vertices keep [m]."""
    own = model.thicknesses[: len(model.touching)]
    return np.asarray((model.settings.thickness - own) / 2)


def _thinned(meeting: Meeting, contacts: Contacts) -> Contacts:
    """Contacts with the gaps that are left where bodies are painted thinner."""
    if not meeting.thinner.any():
        return contacts
    less = (np.abs(contacts.weights) * meeting.thinner[contacts.particles]).sum(axis=0)
    less *= np.where((contacts.owners < meeting.bodies).all(axis=0), 1.0, 2.0)
    return replace(contacts, gaps=np.maximum(contacts.gaps - less, THINNEST * contacts.gaps))


def meet(meeting: Meeting, motion: Motion, end: Floats) -> Encounter:
    """Finds what touches on the way to `end` (3, N), where everyone would be by themselves [m]."""
    rows = _find_rows(meeting, motion, end)
    if meeting.surfaces.leaving.any():
        eased = make_rows(meeting.clearing.contacts(end), meeting.pairs, motion)
        rows = joined(rows, replace(eased, targets=eased.gaps, climbs=np.zeros_like(eased.gaps)))
        for pierced in meeting.clearing.pierced:
            rows = joined(rows, make_rows(pierced, meeting.pairs, motion))
    touched = _bodies_in(rows, meeting)
    return Encounter(meeting, motion, end, end.copy(), motion.start.copy(), rows, touched)


def meet_more(encounter: Encounter, bodies: Sequence[Floats]) -> bool:
    """Finds what else touches on the way to where bodies (3, n) are now; whether there is any."""
    gather(encounter, bodies, encounter.positions, everyone=True)
    meeting, motion, positions = encounter.meeting, encounter.motion, encounter.positions
    known, astray = len(encounter.rows.gaps), _astray(encounter)
    doubtful = astray | _fast(encounter)
    encounter.clear = None
    if astray.any():
        encounter.end[:, astray] = positions[:, astray]
        encounter.rows = joined(encounter.rows, _find_rows(meeting, motion, positions, astray))
    if doubtful.any():
        way = motion.start, positions, motion.inverse_masses
        passing = find_passing(meeting.surfaces, *way, doubtful)
        if len(passing.gaps):
            more = make_rows(_thinned(meeting, passing), meeting.pairs, motion)
            encounter.rows = joined(encounter.rows, more)
        else:
            encounter.clear = positions.copy()
    encounter.touched = _bodies_in(encounter.rows, meeting)
    return len(encounter.rows.gaps) > known


def _bodies_in(rows: ContactRows, meeting: Meeting) -> dict[int, slice]:
    """The bodies that have a part in rows, and where they have their own."""
    owners = meeting.surfaces.owners.take(rows.particles[[0, 3]]).ravel()
    bodies = np.flatnonzero(np.bincount(owners)[: meeting.bodies]).tolist()
    return {body: meeting.own[body] for body in bodies}


def _find_rows(
    meeting: Meeting, motion: Motion, end: Floats, active: Booleans | None = None
) -> ContactRows:
    """The rows of what touches on the way to `end` (3, N), near active particles (N,) alone."""
    reaches = np.maximum.outer(meeting.reaches, meeting.reaches)
    found = _thinned(meeting, find_contacts(meeting.surfaces, motion.start, end, reaches, active))
    return make_rows(meeting.clearing.sorted_out(found, motion.start), meeting.pairs, motion)


def touch(encounter: Encounter, bodies: Sequence[Floats], trees: Sequence[TreeBatches]) -> bool:
    """Pushes bodies (3, n) apart where they touch, and rubs; whether anything moved noticeably.

    Their ropes are such trees.
    """
    world, parts = encounter.positions, encounter.parts()
    gather(encounter, bodies, world)
    project_rows(world, encounter.rows)
    if encounter.rows.strung.any():
        ropes = [(own, trees[body]) for body, own in parts.items() if trees[body].generations]
        push_ropes(world, encounter.rows, ropes)
    moved = max(
        np.abs(world[:, own] - bodies[body][:, : own.stop - own.start]).max()
        for body, own in parts.items()
    )
    hand_back(encounter, bodies, world)
    return bool(moved > NOTICEABLE * encounter.meeting.reaches[list(parts)].max())


def stop_passing(
    encounter: Encounter, bodies: Sequence[Floats], keep: Callable[[Sequence[int]], None]
) -> None:
    """Holds back what would pass through something, where `keep` puts right what else holds."""
    meeting, motion = encounter.meeting, encounter.motion
    gather(encounter, bodies, encounter.positions, everyone=True)
    if encounter.clear is not None and np.array_equal(encounter.positions, encounter.clear):
        return
    doubtful = _astray(encounter) | _fast(encounter)
    if not doubtful.any():
        return

    def keep_all(world: Floats) -> None:
        changed = [
            body
            for body, own in meeting.own.items()
            if (bodies[body][:, : own.stop - own.start] != world[:, own]).any()
        ]
        hand_back(encounter, bodies, world, everyone=True)
        keep(changed)
        gather(encounter, bodies, world, everyone=True)

    encounter.positions[...] = guard(
        meeting.surfaces,
        motion.start,
        encounter.positions,
        motion.inverse_masses,
        doubtful,
        keep_all,
    )
    hand_back(encounter, bodies, encounter.positions, everyone=True)


def _astray(encounter: Encounter) -> Booleans:
    """(N,) bool, particles that ended far enough from where they were looked for to have passed.

    Pairs without a row keep their gap and the reach of either more where free motion leads. So they
    cannot have passed while both ended within half of that of where free motion led.
    """
    meeting, rows = encounter.meeting, encounter.rows
    allowed = meeting.reaches[meeting.surfaces.owners] * (1.0 + SAFE / REACH) / 2.0
    astray = magnitudes(encounter.positions - encounter.end) > allowed
    astray[rows.particles[:, rows.heights(encounter.positions) <= SAFE * rows.gaps]] = True
    astray[meeting.surfaces.starts[meeting.bodies] :] = False  # or other bodies would be searched
    return astray


def _fast(encounter: Encounter) -> Booleans:
    """(N,) bool, particles in contact, and their neighbours, fast enough to have passed beside it.

    A row stands for the nearest of several pairs. The others cannot have passed where everyone
    moved, beside the row as a whole, by less than a share of the distance.
    """
    rows, start = encounter.rows, encounter.motion.start
    ways = (encounter.positions - start).take(rows.particles, axis=1)
    ways -= ways.mean(axis=1, keepdims=True)
    far = magnitudes(ways).max(axis=0, initial=0.0) > SAFE * np.minimum(
        rows.gaps, rows.heights(start)
    )
    fast = np.zeros(start.shape[1], dtype=bool)
    if far.any():
        fast[rows.particles[:, far]] = True
        surfaces, its = encounter.meeting.surfaces, np.flatnonzero(fast)
        counts = surfaces.fan_starts[its + 1] - surfaces.fan_starts[its]
        around = surfaces.fans[ranges(surfaces.fan_starts[its], counts)]
        fast[surfaces.triangles[:, around]] = True
    return fast


def part(encounter: Encounter, former: Sequence[Floats], bodies: Sequence[Floats]) -> None:
    """Sets the speed of what was pushed apart, through where bodies (3, n) were a step before."""
    gather(encounter, bodies, encounter.positions)
    gather(encounter, former, encounter.former)
    rows, meeting = encounter.rows, encounter.meeting
    rebound_rows(encounter.former, encounter.positions, rows)
    depths = rows.gaps - rows.heights(encounter.positions)
    depths[leaving(meeting.surfaces, rows.particles, rows.weights) > 0] = 0.0
    count_step(meeting.tally, meeting.surfaces, rows, depths, encounter.positions)
    hand_back(encounter, former, encounter.former)


def gather(
    encounter: Encounter, bodies: Sequence[Floats], world: Floats, *, everyone: bool = False
) -> None:
    """Writes bodies (3, n) into the world (3, N): those that have a part, or everyone."""
    for body, own in encounter.parts(everyone=everyone).items():
        world[:, own] = bodies[body][:, : own.stop - own.start]


def hand_back(
    encounter: Encounter, bodies: Sequence[Floats], world: Floats, *, everyone: bool = False
) -> None:
    """Writes the world (3, N) back into bodies (3, n), likewise."""
    for body, own in encounter.parts(everyone=everyone).items():
        bodies[body][:, : own.stop - own.start] = world[:, own]
