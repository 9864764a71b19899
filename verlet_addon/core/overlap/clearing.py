"""What starts inside of a solid comes out of it little by little, and without speed."""

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Booleans, Floats, Integers, joined, magnitudes
from ..detection.contacts import Contacts
from ..detection.surfaces import Surfaces
from ..geometry.graph import find_components
from ..geometry.rays import closed_shells
from .burial import OUT_AFTER
from .exits import NOWHERE, Exits, ways_out
from .overlaps import BURIED, EMERGING, PINCHED, held_outside
from .pierced import LET_GO, find_pierced, near_solids
from .solids import Solids, inside, turned_outwards

SPEED, SOONEST = 0.5, 0.1
"""Vertices come out at about this speed [m/s], in no less than this time and no more than OUT_AFTER
[s]."""


TETHERED = 0.02
"""What would be torn from a pin deep within the same solid stays inside: its way out would lead it
farther from the pin than it is at rest, by more than this share."""
ALONG = np.stack([np.linspace(0.0, 1.0, 7), np.linspace(1.0, 0.0, 7)])
"""(2, s) places along edges, by the shares of their ends."""
AT_ONCE = 4000
"""So many vertices are measured from all pins at once."""


@dataclass(eq=False)
class Clearing:
    """What is on its way out."""

    solids: Solids
    exits: Exits = NOWHERE
    waiting: Booleans = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """(k,) the exits of vertices that pins hold inside for now."""
    pierced: list[Contacts] = field(default_factory=list)
    """Rows of triangles that pass through a solid although their corners are out."""
    begun: list[tuple[int, int]] = field(default_factory=list)
    """Owners and the solids that they start in, until they should be out; changes."""
    age: float = 0.0
    """For how long that has gone on [s]; changes."""
    turned: Integers = field(default_factory=lambda: NOWHERE.vertices)
    """Particles of contacts whose normals looked into the solid in this step, and were turned."""

    @property
    def surfaces(self) -> Surfaces:
        """Of all bodies and colliders."""
        return self.solids.surfaces

    def floors(self, later: float = 0.0) -> Floats:
        """(k,) how far out vertices are held after some more time [m]."""
        times = np.clip(self.exits.depths / SPEED, SOONEST, OUT_AFTER)
        share = np.minimum((self.exits.ages + later) / times, 1.0)
        gaps = self.surfaces.gaps[tuple(self.owners())]
        left = (1.0 + 2.0 * share) * (1.0 - share) ** 2
        return np.asarray(gaps - (self.exits.depths + gaps) * left)

    def sorted_out(self, contacts: Contacts, start: Floats) -> Contacts:
        """The contacts of a step from `start` (3, N) [m], without those of what is still inside."""
        if not self.surfaces.any_leaving:
            return contacts
        triangles = np.concatenate(self.solids.triangles, axis=1)
        contacts, turned = held_outside(self.surfaces, contacts, start, triangles)
        self.turned = np.union1d(self.turned, turned)
        return contacts

    def contacts(self, places: Floats) -> Contacts:
        """Rows that hold vertices where their floors are, for positions (3, N) [m]."""
        exits = self.exits
        rows = Contacts(
            particles=np.concatenate([exits.vertices[None], exits.corners]),
            weights=np.concatenate([np.ones((1, len(exits.ages))), -exits.weights]),
            normals=exits.ways(places),
            gaps=self.floors(),
            owners=self.owners(),
            keys=np.full(len(exits.ages), -1),
        )
        return rows.chosen(~self.waiting & np.isfinite(rows.normals[0]))

    def owners(self) -> Integers:
        """(2, k) of vertices and of the triangles where they come out."""
        pairs = self.surfaces.owners[np.stack([self.exits.vertices, self.exits.corners[0]])]
        return np.asarray(pairs)


def start_clearing(surfaces: Surfaces, soft: Booleans, bodies: int, held: Booleans) -> Clearing:
    """Finds what is inside of colliders and soft bodies (o,) at rest, and its ways out.

    A piece that lies wholly inside of a body, or of a collider whose normals look inwards as those
    of a room do, is meant to be there. The first owners are bodies; `held` (N,) are pinned.
    """
    owners, places = surfaces.owners[surfaces.triangles[0]], surfaces.rest
    triangles = []
    for owner, is_soft in enumerate(soft.tolist()):
        own = surfaces.triangles[:, owners == owner]
        triangles.append(own[:, closed_shells(own) if is_soft or owner >= bodies else []])
    solids = Solids(surfaces, triangles, list(triangles), soft, bodies)
    for owner in range(len(triangles)):
        for other in solids.met(owner):
            _bury(solids, owner, other, places)
    solids.triangles[:] = [turned_outwards(places, own) for own in triangles]
    buried = np.flatnonzero((surfaces.leaving == BURIED).any(axis=1))
    _leave_all(solids, buried)
    clearing = Clearing(solids, ways_out(solids, buried, places))
    clearing.waiting = _held_inside(clearing, places, held)
    near = near_solids(solids, places)
    clearing.pierced = find_pierced(solids, near, held, places)
    begun = [clearing.owners()[:, ~clearing.waiting], *(rows.owners for rows in clearing.pierced)]
    clearing.begun = sorted(set(zip(*np.concatenate(begun, axis=1).tolist(), strict=True)))
    return clearing


def not_out(clearing: Clearing, places: Floats, free: Booleans) -> list[tuple[int, int]]:
    """What has begun inside of what, where edges between free particles (N,) are not out."""
    surfaces, solids, found = clearing.surfaces, clearing.solids, []
    free = free & ~surfaces.exempt[0] & (surfaces.leaving < PINCHED).all(axis=1)
    free[clearing.exits.vertices[clearing.waiting]] = False
    edges = surfaces.edges[:, free[surfaces.edges].all(axis=0)]
    for owner, solid in clearing.begun:
        ends = places[:, edges[:, surfaces.owners[edges[0]] == owner]]
        points = np.einsum("es,xek->xks", ALONG, ends).reshape(3, -1)
        if inside(points, places, solids.triangles[solid]).any():
            found.append((owner, solid))
    return found


def _held_inside(clearing: Clearing, places: Floats, held: Booleans) -> Booleans:
    """(k,) the exits of vertices nearer at rest to a pin (N,) than that is to the way out."""
    surfaces, exits = clearing.surfaces, clearing.exits
    own, other = clearing.owners()
    waiting, pins = np.zeros(len(own), dtype=bool), held[exits.vertices]
    depths = surfaces.gaps[own, other] - exits.heights(places)
    for body, solid in np.unique(clearing.owners(), axis=1).T.tolist():
        its = (own == body) & (other == solid)
        deep, asked = np.flatnonzero(its & pins), np.flatnonzero(its & ~pins)
        if clearing.solids.rigid[body] or not len(deep):
            continue
        for some in np.split(asked, range(AT_ONCE, len(asked), AT_ONCE)):
            rest = surfaces.rest[:, exits.vertices]
            apart = _apart(rest[:, some], rest[:, deep])
            waiting[some] = (depths[deep] > (1.0 + TETHERED) * apart).any(axis=1)
    return waiting


def _apart(points: Floats, others: Floats) -> Floats:
    """(k, p) how far points (3, k) are from others (3, p) [m]."""
    return magnitudes(points[:, :, None] - others[:, None])


def _bury(solids: Solids, owner: int, other: int, places: Floats) -> None:
    """Marks what of an owner is inside of a solid."""
    surfaces = solids.surfaces
    first, last = surfaces.starts[owner : owner + 2].tolist()
    turns = inside(places[:, first:last], places, solids.triangles[other])
    if not turns.any():
        return
    edges = surfaces.edges[:, surfaces.owners[surfaces.edges[0]] == owner]
    pieces = find_components(last - first, edges.T - first)
    outside = np.zeros(pieces.max(initial=-1) + 1, dtype=bool)
    outside[pieces[turns == 0]] = True
    may_stay = ~outside[pieces] & ((turns < 0) | (other < solids.bodies))
    buried = (turns != 0) & ~may_stay & ~surfaces.exempt[0, first:last]
    surfaces.leaving[first:last, other][buried] = BURIED


def _leave_all(solids: Solids, buried: Integers) -> None:
    """Has what is inside of a solid leave all colliders that it meets, for these may overlap."""
    surfaces = solids.surfaces
    whole = [other >= solids.bodies and own.size > 0 for other, own in enumerate(solids.triangles)]
    inside_of = (surfaces.leaving[buried] == BURIED).any(axis=1)
    met = surfaces.meets[surfaces.owners[buried]] & whole & inside_of[:, None]
    surfaces.leaving[buried] = np.where(met, BURIED, surfaces.leaving[buried])


def appear(clearing: Clearing, solid: int, places: Floats) -> None:
    """Has what is inside of a solid that comes to be, at places (3, N) [m], look for a way out."""
    solids, surfaces = clearing.solids, clearing.surfaces
    solids.triangles[solid] = solids.given[solid]
    near = near_solids(solids, places) & surfaces.meets[surfaces.owners, solid]
    surfaces.leaving[near, solid] = EMERGING
    for owner in range(solids.bodies):
        if solid in solids.met(owner):
            _bury(solids, owner, solid, places)
    buried = surfaces.leaving[:, solid] == BURIED
    surfaces.leaving[buried, solid] = EMERGING  # until its way is found
    solids.triangles[solid] = turned_outwards(places, solids.triangles[solid])


def go_on(clearing: Clearing, places: Floats, held: Booleans, dt: float) -> None:
    """Lets go of what is out at places (3, N) [m], before a step of length dt [s].

    What is out of one place and within another looks for another way, and so does what no pin
    (N,) holds inside any more.
    """
    surfaces, exits = clearing.surfaces, clearing.exits
    near_out = (surfaces.leaving == EMERGING).any(axis=1)
    # What is squashed flat, or a point, has no inside, and ways out of it are no numbers.
    high = ~(exits.heights(places) < LET_GO * surfaces.gaps[tuple(clearing.owners())])
    waiting = clearing.waiting & _held_inside(clearing, places, held)
    near_out[exits.vertices[high | clearing.waiting]] = True
    vertices = np.flatnonzero(near_out)
    within = _within(clearing, vertices, places)
    settled = (surfaces.leaving[vertices] == EMERGING) & ~within
    settled[np.isin(vertices, clearing.turned)] = False
    clearing.turned = NOWHERE.vertices
    out = np.where(within, BURIED, np.minimum(surfaces.leaving[vertices], EMERGING))
    surfaces.leaving[vertices] = np.where(settled, 0, out)
    inner = vertices[within.any(axis=1)]
    _leave_all(clearing.solids, inner)
    kept = ~np.isin(exits.vertices, vertices) | (waiting & np.isin(exits.vertices, inner))
    again = np.setdiff1d(inner, exits.vertices[kept])
    found = ways_out(clearing.solids, again, places)
    clearing.exits = joined(exits.chosen(kept), found, axis=-1)
    # What is on its way is not stopped because it swings a little.
    fresh = np.arange(len(clearing.exits.ages)) >= kept.sum()
    clearing.waiting = _held_inside(clearing, places, held) & fresh
    clearing.waiting[: kept.sum()] = waiting[kept]
    clearing.exits.ages[~clearing.waiting] += dt
    clearing.pierced = find_pierced(clearing.solids, near_out, held, places, clearing.pierced)


def _within(clearing: Clearing, vertices: Integers, places: Floats) -> Booleans:
    """(k, o) whether vertices are inside of what they have been inside of."""
    leaving = clearing.surfaces.leaving[vertices] > 0
    for owner, solid in enumerate(clearing.solids.triangles):
        asked = np.flatnonzero(leaving[:, owner])
        if len(asked):
            turns = inside(places[:, vertices[asked]], places, solid)
            leaving[asked, owner] = turns != 0
    return np.asarray(leaving)


def lifts(clearing: Clearing, places: Floats, pieces: Integers, dt: float) -> Floats:
    """(3, p + 1) how far p pieces that keep their shape go out in the next step [m]; 0 at last.

    They are put where their vertices are held to be: a push would become speed, and squash them.
    The step begins at `places` (3, N) [m]; `pieces` (N,) tell the free piece of particles, −1 of
    all else.
    """
    exits, shifts = clearing.exits, np.zeros((3, pieces.max(initial=-1) + 2))
    floors, ways, heights = clearing.floors(), exits.ways(places), exits.heights(places)
    rise = np.clip(np.minimum(floors - clearing.floors(-dt), floors - heights), 0.0, None)
    of_vertices, of_triangles = pieces[exits.vertices], pieces[exits.corners[0]]
    first = of_vertices >= 0
    movers, ways = np.where(first, of_vertices, of_triangles), np.where(first, ways, -ways)
    for mover in np.unique(movers[movers >= 0]):
        rows = np.flatnonzero(movers == mover)
        most = rows[rise[rows].argmax()]
        shifts[:, mover] = rise[most] * ways[:, most]
    return shifts
