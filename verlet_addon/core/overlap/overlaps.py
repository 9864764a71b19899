"""Contacts of what is on its way out of a solid: they point out of it, whichever side it is on."""

from dataclasses import replace

import numpy as np

from ..arrays import Floats, Integers
from ..detection.contacts import Contacts
from ..detection.surfaces import Surfaces
from .solids import outward_normals

EMERGING, BURIED, PINCHED = 1, 2, 3
"""Of a particle and an owner, in `Surfaces.leaving`: just out, its surroundings not; inside;
without room, so that it touches nothing."""


def leaving(surfaces: Surfaces, particles: Integers, weights: Floats) -> Integers:
    """(k,) EMERGING or BURIED for contacts (4, k) of what is on its way out; else 0."""
    if not surfaces.any_leaving:
        return np.zeros(particles.shape[1], dtype=surfaces.leaving.dtype)
    own = surfaces.owners[particles]
    other = np.where(own == own[0], own[3], own[0])
    return np.asarray((surfaces.leaving[particles, other] * (weights != 0.0)).max(axis=0))


def held_outside(
    surfaces: Surfaces, contacts: Contacts, start: Floats, solids: Integers
) -> tuple[Contacts, Integers]:
    """The contacts without buried pairs, emerging ones with normals that look out of the solid.

    Parameters
    ----------
    start : (3, N) where the step begins [m].
    solids : (3, t) the triangles of solids, counter-clockwise seen from outside.

    Returns
    -------
    The contacts, and the particles of those that had to be turned round.
    """
    state = leaving(surfaces, contacts.particles, contacts.weights)
    contacts, state = contacts.chosen(state < BURIED), state[state < BURIED]
    emerging = np.flatnonzero(state == EMERGING)
    if not len(emerging):
        return contacts, emerging
    its = contacts.chosen(emerging)
    own = surfaces.owners[its.particles]
    other = np.where(own == its.owners[0], its.owners[1], its.owners[0])
    solid = np.where(surfaces.leaving[its.particles, other] > 0, other, -1).max(axis=0)
    out = outward_normals(start, solids)
    outwards = ((own == solid) * np.abs(its.weights) * out[:, its.particles]).sum(axis=1)
    along = (its.normals * outwards).sum(axis=0) * np.where(solid == its.owners[1], 1.0, -1.0)
    wrong = emerging[along < 0.0]
    normals = contacts.normals.copy()
    normals[:, wrong] *= -1.0
    return replace(contacts, normals=normals), np.unique(contacts.particles[:, wrong])
