"""What starts in the ground comes out of it little by little."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers

DEPENETRATION_TIME = 0.5
"""What starts in the ground is out of it after this time [s]."""


@dataclass(eq=False)
class GroundDepenetration:
    """How deep a body lay in the ground when it met it first."""

    depths: Floats
    """(n,) 0 once a particle is out [m]."""
    age: float = 0.0
    """Time since then [s]."""


def floor_heights(
    ground_depenetration: GroundDepenetration, above: Floats, thicknesses: Floats, dt: float
) -> Floats:
    """(2, n) heights over the ground where particles' own floors begin and end the step [m].

    `above` (n,) is where particles begin the step. The floor of one that met the ground d deep
    stands d (1 + 2 s) (1 − s)² below it after s OUT_AFTER: it sets off and arrives without a jerk.
    What has come out has the ground itself for its floor, and so has all once that time is over.
    """
    ground_depenetration.depths[
        (above >= thicknesses) | (ground_depenetration.age >= DEPENETRATION_TIME)
    ] = 0.0
    ages = np.minimum(
        np.array([[ground_depenetration.age], [ground_depenetration.age + dt]])
        / DEPENETRATION_TIME,
        1.0,
    )
    ground_depenetration.age += dt
    return np.asarray(
        thicknesses - ground_depenetration.depths * (1.0 + 2.0 * ages) * (1.0 - ages) ** 2
    )


def lift_components(heights: Floats, lifts: Floats, components: Integers) -> Floats:
    """(n,) how far bodies that nothing holds go up with the floors of the particles they stand on.

    They are put there: a push would become speed, and squash them. Heights (n,) are over the
    floors, which rise by `lifts` (n,); `components` (n,) are −1 for what is held.
    """
    most = np.zeros(components.max(initial=-1) + 2)  # the last for what is held
    np.maximum.at(most, components, np.minimum(lifts, -heights))
    most[-1] = 0.0
    return np.asarray(most[components])
