"""Penetration states of particles, and the contacts of depenetrating particles."""

from dataclasses import replace

import numpy as np

from ..arrays import Floats, Integers
from ..detection.contacts import Contacts
from ..detection.surfaces import Surfaces
from ..geometry.faces import area_normals

EMERGING, INSIDE, PINCHED = 1, 2, 3
"""States of a particle and an owner in `Surfaces.penetration_states`: out, but not its neighbours;
inside; pinched, so that it touches colliders on one face of its cloth alone."""


def contact_penetration_states(
    surfaces: Surfaces, particles: Integers, weights: Floats
) -> Integers:
    """(k,) the largest penetration state of particles (4, k) of each contact; 0 for none."""
    if not surfaces.any_penetrating:
        return np.zeros(particles.shape[1], dtype=surfaces.penetration_states.dtype)
    own = surfaces.owners[particles]
    other = np.where(own == own[0], own[3], own[0])
    return np.asarray(
        (surfaces.penetration_states[particles, other] * (weights != 0.0)).max(axis=0)
    )


def filter_penetrating(
    surfaces: Surfaces, contacts: Contacts, start: Floats, closed_surfaces: Integers
) -> tuple[Contacts, Integers]:
    """The contacts without particles inside; normals of emerging ones point out of the solid.

    Parameters
    ----------
    start : (3, N) where the step begins [m].
    closed_surfaces : (3, t) the triangles of solids, counter-clockwise seen from outside.

    Returns
    -------
    The contacts, and the particles of contacts with reversed normals.
    """
    state = contact_penetration_states(surfaces, contacts.particles, contacts.weights)
    kept = state != INSIDE
    contacts, state = contacts.chosen(kept), state[kept]
    emerging = np.flatnonzero(state == EMERGING)
    if not len(emerging):
        return contacts, emerging
    emerging_contacts = contacts.chosen(emerging)
    own = surfaces.owners[emerging_contacts.particles]
    other = np.where(
        own == emerging_contacts.owners[0], emerging_contacts.owners[1], emerging_contacts.owners[0]
    )
    obstacle = np.where(
        surfaces.penetration_states[emerging_contacts.particles, other] > 0, other, -1
    ).max(axis=0)
    out = area_normals(start, closed_surfaces)
    outwards = (
        (own == obstacle) * np.abs(emerging_contacts.weights) * out[:, emerging_contacts.particles]
    ).sum(axis=1)
    along = (emerging_contacts.normals * outwards).sum(axis=0) * np.where(
        obstacle == emerging_contacts.owners[1], 1.0, -1.0
    )
    wrong = emerging[along < 0.0]
    normals = contacts.normals.copy()
    normals[:, wrong] *= -1.0
    return replace(contacts, normals=normals), np.unique(contacts.particles[:, wrong])
