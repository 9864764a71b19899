"""Contacts of particles that are inside, come out, or are pinched, and what they may do."""

import numpy as np

from ...arrays import Booleans, Floats, Integers, dot
from ...geometry.faces import area_normals
from ..broad_phase.surfaces import Surfaces
from ..manifold.contacts import Contacts
from .closed_surfaces import INSIDE, PINCHED, ClosedSurfaces
from .pinched_cloth import PinchedParticles, cloth_normals


def contact_penetration_states(surfaces: Surfaces, contacts: Contacts) -> Integers:
    """(k,) the largest penetration state of the particles of each contact; 0 for none."""
    states = surfaces.penetration_states
    if not surfaces.any_penetrating:
        return np.zeros(len(contacts.gaps), dtype=states.dtype)
    other = _other_owners(surfaces, contacts)
    moves = contacts.weights != 0.0
    return np.asarray((states[contacts.particles, other] * moves).max(axis=0))


def _other_owners(surfaces: Surfaces, contacts: Contacts) -> Integers:
    """(4, k) for each particle the owner of the other feature."""
    first, second = contacts.owners
    return np.where(surfaces.owners[contacts.particles] == first, second, first)


def filter_by_sides(
    closed_surfaces: ClosedSurfaces, pinched: PinchedParticles, contacts: Contacts, start: Floats
) -> tuple[Contacts, Integers]:
    """The contacts of a step at `start` (3, N) [m] that push particles to their side.

    Particles inside have none. Normals of emerging ones point out of the solid. Pinched ones have
    none on the free face of their cloth, nor any whose normal points into the collider.

    Returns
    -------
    The contacts, and the particles of contacts with reversed normals.
    """
    surfaces = closed_surfaces.surfaces
    state = contact_penetration_states(surfaces, contacts)
    contacts, state = contacts.chosen(state != INSIDE), state[state != INSIDE]
    sided = np.flatnonzero(state > 0)
    some, pinches = contacts.chosen(sided), state[sided] == PINCHED
    inwards = _point_inwards(closed_surfaces, some, start)
    flipped = sided[inwards & ~pinches]
    contacts.normals[:, flipped] *= -1.0
    free = _push_off_side(surfaces, pinched, some, start)
    dropped = sided[pinches & (inwards | free)]
    return contacts.chosen(np.delete(np.arange(len(state)), dropped)), np.unique(
        contacts.particles[:, flipped]
    )


def _point_inwards(closed_surfaces: ClosedSurfaces, contacts: Contacts, start: Floats) -> Booleans:
    """(k,) bool, contacts with normals into the solid that a particle of them is emerging from."""
    surfaces = closed_surfaces.surfaces
    other = _other_owners(surfaces, contacts)
    obstacle = np.where(surfaces.penetration_states[contacts.particles, other] > 0, other, -1)
    obstacle = obstacle.max(axis=0)
    triangles, near = (
        np.concatenate(closed_surfaces.triangles, axis=1),
        np.zeros(start.shape[1], dtype=bool),
    )
    near[contacts.particles] = True
    out = area_normals(start, triangles[:, near[triangles].any(axis=0)])[:, contacts.particles]
    of_obstacle = surfaces.owners[contacts.particles] == obstacle
    outwards = (of_obstacle * np.abs(contacts.weights) * out).sum(axis=1)
    along = dot(contacts.normals, outwards)
    return np.asarray(along * np.where(obstacle == contacts.owners[1], 1.0, -1.0) < 0.0)


def _push_off_side(
    surfaces: Surfaces, pinched: PinchedParticles, contacts: Contacts, start: Floats
) -> Booleans:
    """(k,) bool, contacts that push a pinched particle away from the side that it is on."""
    away = np.zeros_like(start)
    away[:, pinched.particles] = cloth_normals(surfaces, pinched.particles, start) * pinched.sides
    pushes = contacts.normals[:, None] * np.sign(contacts.weights)
    return np.asarray((dot(away[:, contacts.particles], pushes) < 0.0).any(axis=0))
