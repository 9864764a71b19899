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
    if limits is not None:
        pull_within(positions, limits.particles, limits.goals, limits.radii)


def pull_within(positions: Floats, particles: Integers, centres: Floats, radii: Floats) -> None:
    """Moves particles (k,), each of them once, into spheres about centres (3, k) [m]."""
    arms = positions.take(particles, axis=1, mode="clip") - centres
    reach = norms(arms)
    far = np.flatnonzero(reach > radii)
    positions[:, particles[far]] += arms[:, far] * (radii[far] / reach[far] - 1.0)
