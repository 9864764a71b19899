"""Gradual depenetration from the ground."""

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, Integers

DEPENETRATION_TIME = 0.5
"""Time after which particles that start in the ground are out [s]. Half as much passes the same
tests; with twice as much a cube is not out after a second."""


@dataclass(eq=False)
class GroundDepenetration:
    """Initial depths of a body in the ground, at first contact."""

    depths: Floats
    """(n,) initial depths, 0 once a particle is out [m]."""
    age: float = 0.0
    """Time since first contact [s]."""


def floor_heights(
    ground_depenetration: GroundDepenetration, above: Floats, thicknesses: Floats, dt: float
) -> Floats:
    """(2, n) heights of particles' floors over the ground, at start and end of the step [m].

    `above` (n,) are heights of particles at the start of the step. The floor of a particle with
    initial depth d is d (1 + 2 s) (1 − s)² below the ground after s DEPENETRATION_TIME: its speed
    is 0 at both ends. Particles that are out have no lowered floor, nor has any after that time.
    """
    age, depths = ground_depenetration.age, ground_depenetration.depths
    depths[(above >= thicknesses) | (age >= DEPENETRATION_TIME)] = 0.0
    ages = np.minimum(np.array([[age], [age + dt]]) / DEPENETRATION_TIME, 1.0)
    ground_depenetration.age += dt
    return np.asarray(thicknesses - depths * (1.0 + 2.0 * ages) * (1.0 - ages) ** 2)


def lift_components(heights: Floats, lifts: Floats, components: Integers) -> Floats:
    """(n,) displacements of unpinned components upwards, with the floors that they stand on [m].

    Components are shifted as a whole: a contact correction would become speed, and squash them.
    Heights (n,) are above floors, which rise by `lifts` (n,); `components` (n,) are −1 if pinned.
    """
    most = np.zeros(components.max(initial=-1) + 2)  # the last for pinned ones
    np.maximum.at(most, components, np.minimum(lifts, -heights))
    most[-1] = 0.0
    return np.asarray(most[components])
