"""Contacts of pinched cloth, which touches colliders on one of its faces alone."""

import numpy as np

from ..arrays import NONZERO, Floats, Integers, cross, dot, magnitudes, sum_rows
from ..detection.contacts import Contacts
from ..geometry.faces import area_normals
from .collision_world import CollisionWorld


def filter_pinched(world: CollisionWorld, contacts: Contacts, start: Floats) -> Contacts:
    """The contacts of a step at `start` (3, N) [m] without those on free faces of pinched cloth."""
    pinched = world.pinched
    if not len(pinched.particles):
        return contacts
    away = np.zeros_like(start)
    away[:, pinched.particles] = cloth_normals(world, pinched.particles, start) * pinched.sides
    free = ~(contacts.owners >= world.bodies).any(axis=0)
    free |= ~((away != 0.0).any(axis=0)[contacts.particles] & (contacts.weights != 0.0)).any(axis=0)
    perhaps = contacts.chosen(np.flatnonzero(~free))
    outwards = _collider_normals(world, perhaps.particles, start)
    wrong, surface = np.zeros(len(perhaps.gaps), dtype=bool), np.zeros_like(perhaps.normals)
    for particles, weights in zip(perhaps.particles, perhaps.weights, strict=True):
        push = perhaps.normals * np.sign(weights)
        wrong |= dot(away[:, particles], push) < 0.0
        of_collider = particles >= world.first_collider_particle
        surface += outwards[:, particles] * (np.abs(weights) * of_collider)
    # From within a collider its surface would hold the cloth inside.
    second = perhaps.owners[1] >= world.bodies
    free[~free] = ~(wrong | (dot(surface, perhaps.normals) * np.where(second, 1.0, -1.0) < 0.0))
    return contacts.chosen(free)


def _collider_normals(world: CollisionWorld, particles: Integers, positions: Floats) -> Floats:
    """(3, N) normals of closed surfaces, not unit, that are right at particles (4, k) alone."""
    triangles = np.concatenate(world.depenetration.closed_surfaces.triangles, axis=1)
    wanted = np.zeros(positions.shape[1], dtype=bool)
    wanted[particles] = True
    return area_normals(positions, triangles[:, wanted[triangles].any(axis=0)])


def cloth_normals(world: CollisionWorld, particles: Integers, positions: Floats) -> Floats:
    """(3, k) unit normals of the cloth at particles."""
    number, triangles = world.surfaces.fans_of(particles)
    a, b, c = (positions[:, corner] for corner in world.surfaces.triangles[:, triangles])
    found = sum_rows(number, cross(b - a, c - a), len(particles))
    return np.asarray(found / np.maximum(magnitudes(found), NONZERO))
