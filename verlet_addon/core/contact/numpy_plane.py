"""Kernels for the plane in NumPy: the same as the compiled ones, which go particle by particle."""

import numpy as np

from ..arrays import NONZERO, Floats, magnitudes
from .plane import PlaneContact, along, bounce


def project_plane(positions: Floats, contact: PlaneContact, inverse_masses: Floats) -> None:
    """C = height − floor ≥ 0, and Coulomb friction, |friction| ≤ coefficient × normal.

    Corrections accumulate over all rounds of a step, so that a round can reduce an excess of the
    one before.
    """
    depth = contact.floors[1] - contact.plane.heights(positions)
    touching = (depth > 0.0) | (contact.normal_corrections > 0.0)
    hit = np.flatnonzero(touching & (inverse_masses > 0.0))
    if not len(hit):
        return
    normal = contact.plane.normal[:, None]
    normal_corrections = np.maximum(contact.normal_corrections[hit] + depth[hit], 0.0)
    positions[:, hit] += normal * (normal_corrections - contact.normal_corrections[hit])
    contact.normal_corrections[hit] = normal_corrections
    slid = positions[:, hit] + contact.friction_corrections[:, hit] - contact.start[:, hit]
    slid -= normal * along(contact.plane.normal, slid)
    length = magnitudes(slid)
    slid *= np.minimum(1.0, contact.friction * normal_corrections / np.maximum(length, NONZERO))
    positions[:, hit] -= slid - contact.friction_corrections[:, hit]
    contact.friction_corrections[:, hit] = slid


def rebound_plane(positions: Floats, previous_positions: Floats, contact: PlaneContact) -> None:
    """Velocity update of particles in contact with the plane: no normal speed, or a rebound's.

    Speeds are set through `previous_positions` (3, n); a rebound also raises `positions` (3, n).
    """
    hit = np.flatnonzero(contact.normal_corrections > 0.0)
    if not len(hit):
        return
    normal = contact.plane.normal
    fall = along(normal, contact.predicted[:, hit] - contact.start[:, hit])
    overshoot = contact.plane.heights(contact.predicted[:, hit]) - contact.floors[0, hit]
    pull = along(normal, contact.accelerations[:, hit])
    rise, speed = bounce(contact.restitution, fall, overshoot, pull, contact.dt)
    positions[:, hit] += normal[:, None] * rise
    drift, bend = contact.start_gains
    climb = (speed * drift - pull * bend) * (speed > 0.0)
    moved = along(normal, positions[:, hit] - previous_positions[:, hit])
    previous_positions[:, hit] += normal[:, None] * (moved - climb - contact.climb)
