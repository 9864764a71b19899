"""Goal radii: the largest distance of particles from places that move."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, norms


@dataclass(frozen=True, eq=False)
class GoalRadii:
    """Particles that stay near their goals in one step."""

    particles: Integers
    """(k,) each of them once; none of them pinned."""
    goals: Floats
    """(3, k) their goals at the end of the step [m]."""
    radii: Floats
    """(k,) largest distances from them [m]."""


def project_goal_radii(positions: Floats, limits: GoalRadii | None) -> None:
    """Projects C = r − |x − goal| ≥ 0 in positions (3, n) [m]: back to the sphere, straight on."""
    if limits is None:
        return
    away = positions.take(limits.particles, axis=1) - limits.goals
    distances = norms(away)
    outside = np.flatnonzero(distances > limits.radii)
    if len(outside):
        shares = limits.radii[outside] / distances[outside]
        nearer = limits.goals[:, outside] + away[:, outside] * shares
        positions[:, limits.particles[outside]] = nearer
