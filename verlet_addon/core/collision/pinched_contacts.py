"""Contacts of pinched cloth, which touches colliders on one of its faces alone."""

import numpy as np

from ..arrays import NONZERO, Floats, Integers, dot, magnitudes
from ..depenetration.closed_surfaces import vertex_normals
from ..detection.contacts import Contacts
from .collision_world import CollisionWorld


def filter_pinched(world: CollisionWorld, contacts: Contacts, start: Floats) -> Contacts:
    """The contacts of a step at `start` (3, N) [m] without those on free faces of pinched cloth."""
    pinched = world.pinched
    if not len(pinched.particles):
        return contacts
    away = np.zeros_like(start)
    away[:, pinched.particles] = cloth_normals(world, pinched.particles, start) * pinched.sides
    outwards = vertex_normals(
        start, np.concatenate(world.depenetration.closed_surfaces.triangles, axis=1)
    )
    hard = contacts.owners >= world.bodies
    touched, wrong = np.zeros((2, len(contacts.gaps)), dtype=bool)
    surface = np.zeros_like(contacts.normals)
    for particles, weights in zip(contacts.particles, contacts.weights, strict=True):
        push = contacts.normals * np.sign(weights)
        touched |= (away[:, particles] != 0.0).any(axis=0) & (weights != 0.0)
        wrong |= dot(away[:, particles], push) < 0.0
        of_collider = particles >= world.first_collider_particle
        surface += outwards[:, particles] * (np.abs(weights) * of_collider)
    # From within a collider its surface would hold the cloth inside.
    out = dot(surface, contacts.normals) * np.where(hard[1], 1.0, -1.0)
    return contacts.chosen(~(hard.any(axis=0) & touched & (wrong | (out < 0.0))))


def cloth_normals(world: CollisionWorld, particles: Integers, positions: Floats) -> Floats:
    """(3, k) unit normals of the cloth at particles."""
    triangles = world.surfaces.triangles
    triangles = triangles[:, triangles[0] < world.first_collider_particle]
    found = vertex_normals(positions, triangles)[:, particles]
    return np.asarray(found / np.maximum(magnitudes(found), NONZERO))
