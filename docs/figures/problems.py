"""Motions with known solutions, and ways to cut time into steps."""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, exp, sin
from random import Random

import numpy as np

from verlet_addon.core.arrays import Floats
from verlet_addon.core.integrators import trajectory

DURATION = 3.0
"""Of every motion here [s]."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A motion that is known."""

    name: str
    acceleration: Callable[[Floats, Floats, float], Floats]
    x0: Floats
    v0: Floats
    true: Callable[[float], Floats]
    """The true position at a time."""

    def errors(self, scheme: str, steps: Floats, *, start: str = "taylor") -> Floats:
        """Returns the distance from the truth [m] after each step."""
        path = trajectory(scheme, self.acceleration, self.x0, self.v0, steps, start=start)
        return np.asarray(np.linalg.norm(path - self.path(times(steps)), axis=1))

    def path(self, at: Floats) -> Floats:
        """Returns the true positions at all those times."""
        return np.array([self.true(t) for t in at])


def vector(*components: float) -> Floats:
    """Returns a vector of those components."""
    return np.array(components)


GRAVITY = vector(0.0, -9.81)
THROW = vector(5.0, 15.0)
DRAG = 2.0
"""Rate of the air's drag [1/s]."""
PHASE = 0.8
"""The sine's, so that it begins with an acceleration."""

PROJECTILE = Problem(
    name="projectile",
    acceleration=lambda _x, _v, _t: GRAVITY,
    x0=vector(0.0, 0.0),
    v0=THROW,
    true=lambda t: THROW * t + GRAVITY * t * t / 2,
)
POLYNOMIAL = Problem(
    name="polynomial",
    acceleration=lambda _x, _v, t: vector(12 * t * t - 36 * t + 22),
    x0=vector(0.0),
    v0=vector(-6.0),
    true=lambda t: vector(t * (t - 1) * (t - 2) * (t - 3)),
)
SINE = Problem(
    name="sine",
    acceleration=lambda _x, _v, t: vector(-16 * sin(4 * t + PHASE)),
    x0=vector(sin(PHASE)),
    v0=vector(4 * cos(PHASE)),
    true=lambda t: vector(sin(4 * t + PHASE)),
)
SPRING = Problem(
    name="spring",
    acceleration=lambda x, _v, _t: -4.0 * x,
    x0=vector(1.0),
    v0=vector(0.5),
    true=lambda t: vector(cos(2 * t) + sin(2 * t) / 4),
)
AIR_DRAG = Problem(
    name="air drag",
    acceleration=lambda _x, v, _t: GRAVITY - DRAG * v,
    x0=vector(0.0, 0.0),
    v0=THROW,
    true=lambda t: GRAVITY / DRAG * t + (THROW - GRAVITY / DRAG) * (1 - exp(-DRAG * t)) / DRAG,
)


def times(steps: Floats) -> Floats:
    """Returns the start's time and each step's end."""
    return np.concatenate([[0.0], np.cumsum(steps)])


def constant_steps(count: int) -> Floats:
    """Returns equal steps."""
    return np.full(count, DURATION / count)


def random_steps(count: int, seed: int = 0) -> Floats:
    """Returns steps drawn evenly within 50 % of their mean."""
    draw = Random(seed)
    steps = np.array([0.5 + draw.random() for _ in range(count)])
    return np.asarray(steps * (DURATION / steps.sum()))


def ramped_steps(count: int) -> Floats:
    """Returns steps that grow by equal factors, fiftyfold in all."""
    steps = np.geomspace(1.0, 50.0, count)
    return np.asarray(steps * (DURATION / steps.sum()))
