"""What touches, as rows that are solved together with everything else: one row for each contact."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..integrators import start_displacement
from .plane import bounce

EASING = 0.1
"""What starts a step nearer than it may, is out of there but for a third after this time [s]."""
LEAST_EASING = 0.2
"""Yet it is eased out no slower than this [m/s]."""


@dataclass(frozen=True, eq=False)
class ContactRows:
    """Contacts of one step: normal · Σ weights positions ≥ targets, with friction."""

    particles: Integers
    """(4, k) of all bodies and colliders in one array."""
    weights: Floats
    """(4, k) positive for what is on the side that the normal points to; their sum is 0."""
    pulls: Floats
    """(4, k) weight × inverse mass [1/kg]."""
    mobilities: Floats
    """(k,) Σ weight² × inverse mass, above 0 [1/kg]."""
    normals: Floats
    """(3, k) unit vectors."""
    gaps: Floats
    """(k,) how far apart they are to be kept [m]."""
    targets: Floats
    """(k,) how far apart they have to be at the end of this step [m]."""
    climbs: Floats
    """(k,) how far they part during the step that sets their speed, 0 but where they bounce [m]."""
    anchors: Floats
    """(3, k) Σ weights positions when the step began: what friction holds on to [m]."""
    friction: Floats
    """(k,) Coulomb coefficients."""
    pushed: Floats
    """(k,) multipliers of normals, 0 or more; changed by the kernels [kg m]."""
    rubbed: Floats
    """(3, k) those of friction; changed by the kernels [kg m]."""

    def heights(self, positions: Floats) -> Floats:
        """(k,) how far apart they are along their normals, of positions (3, N) [m]."""
        return np.einsum("xk,pk,xpk->k", self.normals, self.weights, positions[:, self.particles])


def make_rows(
    particles: Integers,
    weights: Floats,
    normals: Floats,
    gaps: Floats,
    *,
    inverse_masses: Floats,
    start: Floats,
    arrival: Floats,
    accelerations: Floats,
    friction: Floats,
    restitution: Floats,
    damping: Floats,
    dt: float,
) -> ContactRows:
    """The rows of contacts, those left out that nothing can give way in.

    Parameters
    ----------
    particles, weights, normals, gaps : of the contacts; see `Contacts`.
    inverse_masses, start, arrival, accelerations : (N,) or (3, N), of all particles: where they
        began the step and where free motion led them to, or animation, and what pulled at them.
    friction, restitution, damping : (k,) of the contacts; damping is the rate of drag [1/s].
    dt : length of the step [s].
    """
    pulls = weights * inverse_masses[particles]
    mobilities = (weights * pulls).sum(axis=0)
    kept = np.flatnonzero(mobilities > 0.0)
    particles, weights, normals = particles[:, kept], weights[:, kept], normals[:, kept]

    def apart(values: Floats) -> Floats:
        return np.asarray(np.einsum("pk,xpk->xk", weights, values[:, particles]))

    def along(vectors: Floats) -> Floats:
        return np.asarray(np.einsum("xk,xk->k", normals, vectors))

    anchors = apart(start)
    began, fall, pull = along(anchors), along(apart(arrival - start)), along(apart(accelerations))
    targets = np.minimum(gaps[kept], began + eased(gaps[kept] - began, dt))
    rise, speed = bounce(restitution[kept], fall, began + fall - gaps[kept], pull, dt)
    climbs = start_displacement(speed, pull, dt, damping[kept]) * (speed > 0.0)
    return ContactRows(
        particles=particles,
        weights=weights,
        pulls=pulls[:, kept],
        mobilities=mobilities[kept],
        normals=normals,
        gaps=gaps[kept],
        targets=targets + rise,
        climbs=climbs,
        anchors=anchors,
        friction=friction[kept],
        pushed=np.zeros(len(kept)),
        rubbed=np.zeros((3, len(kept))),
    )


def eased(lacks: Floats, dt: float) -> Floats:
    """(k,) how much of what they lack to their distance they may be pushed apart in a step [m]."""
    return np.maximum(lacks * min(dt / EASING, 1.0), LEAST_EASING * dt)
