"""Sides: what is outside of closed surfaces, inside of them, comes out, or has no room between."""

from dataclasses import dataclass, field

import numpy as np

from ...arrays import Booleans, Floats, Integers, concatenated, magnitudes, selected
from ...geometry.graph import find_components
from ...geometry.ray_casting import closed_shells
from ..broad_phase.surfaces import Surfaces
from ..manifold.contacts import Contacts
from .closed_surfaces import (
    EMERGING,
    INSIDE,
    PINCHED,
    ClosedSurfaces,
    orient_outwards,
    winding_numbers,
)
from .contact_filter import filter_by_sides
from .depenetration import piece_shifts
from .intersections import RELEASE_SHARE, find_intersections, near_closed_surfaces
from .penetrations import NO_PENETRATIONS, Penetrations, find_penetrations
from .pinched_cloth import NO_PINCHED, PinchedParticles, SolvedContacts, update_pinched

EDGE_SAMPLES = np.stack([np.linspace(0.0, 1.0, 7), np.linspace(1.0, 0.0, 7)])
"""(2, s) sample points along edges, as weights of both ends."""
CHUNK = 4000
"""Size: vertices for which distances to all pins are computed at once, to bound the memory."""


@dataclass(eq=False)
class Sides:
    """States of particles at closed surfaces; `penetration_states` has a number for each pair."""

    closed_surfaces: ClosedSurfaces
    pinchable: Booleans
    """(N,) bool, particles of cloth that may be pinched between colliders."""
    penetrations: Penetrations = NO_PENETRATIONS
    held_by_pins: Booleans = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """(k,) bool, penetrations of vertices that pins hold inside for now."""
    intersections: list[Contacts] = field(default_factory=list)
    """Rows of triangles that pass through a solid with their corners outside."""
    initial_pairs: list[tuple[int, int]] = field(default_factory=list)
    """Owners and the solids that they start in, until the deadline; changes."""
    age: float = 0.0
    """Time since the start [s]; changes."""
    pinched: PinchedParticles = NO_PINCHED
    """Particles without room between colliders; changes."""
    flipped: Integers = field(default_factory=lambda: NO_PENETRATIONS.vertices)
    """Particles of contacts with normals that pointed into the solid, and were reversed."""

    @property
    def surfaces(self) -> Surfaces:
        """The surfaces of all bodies and colliders."""
        return self.closed_surfaces.surfaces

    def held_heights(self, later: float = 0.0) -> Floats:
        """(k,) prescribed heights of vertices, at a time `later` [s] than now [m]."""
        gaps = self.surfaces.gaps[tuple(self.owners())]
        return self.penetrations.prescribed_heights(gaps, later)

    @property
    def depenetrating(self) -> Booleans:
        """(N,) bool, particles that are depenetrating from any owner."""
        states = self.surfaces.penetration_states
        if not self.surfaces.any_penetrating:  # the usual case
            return np.zeros(len(states), dtype=bool)
        return np.asarray(((states > 0) & (states < PINCHED)).any(axis=1))

    def filter_contacts(self, contacts: Contacts, start: Floats) -> Contacts:
        """The contacts of a step from `start` (3, N) [m] that push particles to their side."""
        if not self.surfaces.any_penetrating:
            return contacts
        contacts, flipped = filter_by_sides(self.closed_surfaces, self.pinched, contacts, start)
        self.flipped = np.union1d(self.flipped, flipped)
        return contacts

    def finish_step(self, solved: SolvedContacts) -> None:
        """Finds particles that a step has left without room, and releases those that have it."""
        self.pinched = update_pinched(self.closed_surfaces, self.pinched, self.pinchable, solved)

    def vertex_rows(self, positions: Floats) -> Contacts:
        """Rows that keep vertices at their prescribed heights, for positions (3, N) [m]."""
        penetrations = self.penetrations
        rows = Contacts(
            particles=np.concatenate([penetrations.vertices[None], penetrations.corners]),
            weights=np.concatenate([np.ones((1, len(penetrations.ages))), -penetrations.weights]),
            normals=penetrations.directions(positions),
            gaps=self.held_heights(),
            owners=self.owners(),
            keys=np.full(len(penetrations.ages), -1),
        )
        return rows.chosen(~self.held_by_pins & np.isfinite(rows.normals[0]))

    def owners(self) -> Integers:
        """(2, k) owners of vertices, and of the triangles where they exit."""
        pairs = self.surfaces.owners[
            np.stack([self.penetrations.vertices, self.penetrations.corners[0]])
        ]
        return np.asarray(pairs)


def build_sides(
    surfaces: Surfaces, soft: Booleans, bodies: int, pinned: Booleans, pinchable: Booleans
) -> Sides:
    """Finds penetrations into colliders and solids, `soft` (o,), at rest.

    A component wholly inside of a body, or of a collider with inward normals, as of a room, is
    meant to be there, and stays. The first owners are bodies; `pinned` (N,) are pinned particles,
    `pinchable` (N,) those of cloth.
    """
    positions, triangles = surfaces.rest, []
    ends = np.searchsorted(surfaces.owners[surfaces.triangles[0]], np.arange(1, len(soft)))
    for owner, own in enumerate(np.split(surfaces.triangles, ends, axis=1)):
        triangles.append(own[:, closed_shells(own) if soft[owner] or owner >= bodies else []])
    closed_surfaces = ClosedSurfaces(surfaces, triangles, list(triangles), soft, bodies)
    for owner, other in closed_surfaces.overlapping_pairs(positions):
        _mark_inside(closed_surfaces, owner, other, positions)
    closed_surfaces.triangles[:] = [orient_outwards(positions, own) for own in triangles]
    inside = np.flatnonzero((surfaces.penetration_states == INSIDE).any(axis=1))
    _mark_all_colliders(closed_surfaces, inside)
    penetrations = find_penetrations(closed_surfaces, inside, positions)
    sides = Sides(closed_surfaces, pinchable, penetrations)
    sides.held_by_pins = _find_held_by_pins(sides, positions, pinned)
    near = near_closed_surfaces(closed_surfaces, positions)
    sides.intersections = find_intersections(closed_surfaces, near, pinned, positions)
    initial_pairs = [
        sides.owners()[:, ~sides.held_by_pins],
        *(rows.owners for rows in sides.intersections),
    ]
    sides.initial_pairs = sorted(
        set(zip(*np.concatenate(initial_pairs, axis=1).tolist(), strict=True))
    )
    return sides


def still_penetrating(sides: Sides, positions: Floats, free: Booleans) -> list[tuple[int, int]]:
    """Initial pairs of owners with edges between free particles (N,) that are still inside."""
    surfaces, closed_surfaces, found = sides.surfaces, sides.closed_surfaces, []
    free = free & ~surfaces.exempt[0] & (surfaces.penetration_states < PINCHED).all(axis=1)
    free[sides.penetrations.vertices[sides.held_by_pins]] = False
    edges = surfaces.edges[:, free[surfaces.edges].all(axis=0)]
    for owner, obstacle in sides.initial_pairs:
        ends = positions[:, edges[:, surfaces.owners[edges[0]] == owner]]
        points = np.einsum("es,xek->xks", EDGE_SAMPLES, ends).reshape(3, -1)
        if winding_numbers(points, positions, closed_surfaces.triangles[obstacle]).any():
            found.append((owner, obstacle))
    return found


def _find_held_by_pins(sides: Sides, positions: Floats, pinned: Booleans) -> Booleans:
    """(k,) penetrations of vertices nearer to a pin (N,) at rest than the pin's depth.

    They stay inside: moving out would stretch the body between them.
    """
    surfaces, penetrations = sides.surfaces, sides.penetrations
    own, other = sides.owners()
    held_by_pins, pins = np.zeros(len(own), dtype=bool), pinned[penetrations.vertices]
    depths = surfaces.gaps[own, other] - penetrations.heights(positions)
    for body, obstacle in np.unique(sides.owners(), axis=1).T.tolist():
        of_pair = (own == body) & (other == obstacle)
        deep, asked = np.flatnonzero(of_pair & pins), np.flatnonzero(of_pair & ~pins)
        if sides.closed_surfaces.keeps_shape[body] or not len(deep):
            continue
        for some in np.split(asked, range(CHUNK, len(asked), CHUNK)):
            rest = surfaces.rest[:, penetrations.vertices]
            apart = magnitudes(rest[:, some][:, :, None] - rest[:, deep][:, None])
            held_by_pins[some] = (depths[deep] > apart).any(axis=1)
    return held_by_pins


def _mark_inside(
    closed_surfaces: ClosedSurfaces, owner: int, other: int, positions: Floats
) -> None:
    """Marks particles of an owner inside of a solid."""
    surfaces = closed_surfaces.surfaces
    first, last = surfaces.starts[owner : owner + 2].tolist()
    turns = winding_numbers(positions[:, first:last], positions, closed_surfaces.triangles[other])
    if not turns.any():
        return
    edges = surfaces.edges[:, surfaces.owners[surfaces.edges[0]] == owner]
    pieces = find_components(last - first, edges.T - first)
    outside = np.zeros(pieces.max(initial=-1) + 1, dtype=bool)
    outside[pieces[turns == 0]] = True
    may_stay = ~outside[pieces] & ((turns < 0) | (other < closed_surfaces.bodies))
    inside = (turns != 0) & ~may_stay & ~surfaces.exempt[0, first:last]
    surfaces.penetration_states[first:last, other][inside] = INSIDE


def _mark_all_colliders(closed_surfaces: ClosedSurfaces, inside: Integers) -> None:
    """Marks particles inside as inside of all colliders they collide with: these may overlap."""
    surfaces = closed_surfaces.surfaces
    whole = [
        other >= closed_surfaces.bodies and own.size > 0
        for other, own in enumerate(closed_surfaces.triangles)
    ]
    inside_of = (surfaces.penetration_states[inside] == INSIDE).any(axis=1)
    met = surfaces.collides[surfaces.owners[inside]] & whole & inside_of[:, None]
    surfaces.penetration_states[inside] = np.where(met, INSIDE, surfaces.penetration_states[inside])


def mark_appeared(sides: Sides, obstacle: int, positions: Floats) -> None:
    """Marks particles inside of a collider that gains an area, at positions (3, N) [m]."""
    closed_surfaces, surfaces = sides.closed_surfaces, sides.surfaces
    closed_surfaces.triangles[obstacle] = closed_surfaces.given_triangles[obstacle]
    near = near_closed_surfaces(closed_surfaces, positions)
    near &= surfaces.collides[surfaces.owners, obstacle]
    surfaces.penetration_states[near, obstacle] = EMERGING
    for owner in range(closed_surfaces.bodies):
        if obstacle in closed_surfaces.obstacles_of(owner):
            _mark_inside(closed_surfaces, owner, obstacle, positions)
    inside = surfaces.penetration_states[:, obstacle] == INSIDE
    surfaces.penetration_states[inside, obstacle] = EMERGING  # until penetrations are found
    given = closed_surfaces.given_triangles[obstacle]
    closed_surfaces.triangles[obstacle] = orient_outwards(positions, given)


def update_sides(sides: Sides, positions: Floats, pinned: Booleans, dt: float) -> None:
    """Releases particles that are out at positions (3, N) [m], before a step of length dt [s].

    Particles that are out by one penetration but still inside, and particles that pins (N,) no
    longer hold inside, get new penetrations.
    """
    surfaces, penetrations = sides.surfaces, sides.penetrations
    near_out = (surfaces.penetration_states == EMERGING).any(axis=1)
    # Solids without volume have no inside, and heights above them are nan.
    limits = RELEASE_SHARE * surfaces.gaps[tuple(sides.owners())]
    high = ~(penetrations.heights(positions) < limits)
    held_by_pins = sides.held_by_pins & _find_held_by_pins(sides, positions, pinned)
    near_out[penetrations.vertices[high | sides.held_by_pins]] = True
    vertices = np.flatnonzero(near_out)
    asked = surfaces.penetration_states[vertices].T > 0
    within = sides.closed_surfaces.contain(positions[:, vertices], asked, positions).T
    released = (surfaces.penetration_states[vertices] == EMERGING) & ~within
    released[np.isin(vertices, sides.flipped)] = False
    sides.flipped = NO_PENETRATIONS.vertices
    out = np.where(within, INSIDE, np.minimum(surfaces.penetration_states[vertices], EMERGING))
    surfaces.penetration_states[vertices] = np.where(released, 0, out)
    inner = vertices[within.any(axis=1)]
    _mark_all_colliders(sides.closed_surfaces, inner)
    kept = held_by_pins & np.isin(penetrations.vertices, inner)
    kept |= ~np.isin(penetrations.vertices, vertices)
    again = np.setdiff1d(inner, penetrations.vertices[kept])
    found = find_penetrations(sides.closed_surfaces, again, positions)
    sides.penetrations = concatenated(selected(penetrations, kept), found, axis=-1)
    # Penetrations in progress are not stopped by pins because the body oscillates a little.
    fresh = np.arange(len(sides.penetrations.ages)) >= kept.sum()
    sides.held_by_pins = _find_held_by_pins(sides, positions, pinned) & fresh
    sides.held_by_pins[: kept.sum()] = held_by_pins[kept]
    sides.penetrations.ages[~sides.held_by_pins] += dt
    sides.intersections = find_intersections(
        sides.closed_surfaces, near_out, pinned, positions, sides.intersections
    )


def solid_shifts(sides: Sides, positions: Floats, pieces: Integers, dt: float) -> Floats:
    """(3, p + 1) displacements of p rigidly depenetrating pieces in the next step [m]; last is 0.

    The step starts at `positions` (3, N) [m]; `pieces` (N,) are the free piece of each particle, −1
    for none.
    """
    penetrations = sides.penetrations
    directions = penetrations.directions(positions)
    before = np.maximum(sides.held_heights(-dt), penetrations.heights(positions))
    rises = np.clip(sides.held_heights() - before, 0.0, None)
    of_vertices, of_triangles = pieces[penetrations.vertices], pieces[penetrations.corners[0]]
    directions = np.where(of_vertices >= 0, directions, -directions)
    numbers = np.where(of_vertices >= 0, of_vertices, of_triangles)
    return piece_shifts(numbers, pieces.max(initial=-1) + 1, rises, directions)
