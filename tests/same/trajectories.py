"""Trajectories of single particles, by every scheme that scripts may ask for."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from tests.same.bakes import hashed
from verlet_addon.core.arrays import Floats
from verlet_addon.core.integrators import trajectory

SCHEMES = ("euler", "improved_euler", "verlet", "tcv", "tcv_exact", "velocity_verlet", "leapfrog")
STEPS = (0.1, 0.1, 0.05, 0.2, 0.01, 0.1)


def swing(scheme: str, start: str) -> Iterator[str]:
    """Yields the hash of every position of a damped spring in steps of different lengths."""

    def acceleration(x: Floats, v: Floats, t: float) -> Floats:
        return np.asarray(-4.0 * x - 0.3 * v + t)

    found = trajectory(scheme, acceleration, [1.0, 0.0, 0.5], [0.0, 2.0, 0.0], STEPS, start=start)
    for position in found:
        yield hashed([position])


SCENES: dict[str, Callable[[], Iterator[str]]] = {
    f"{scheme}, {start}": partial(swing, scheme, start)
    for scheme in SCHEMES
    for start in ("taylor", "naive")
}
