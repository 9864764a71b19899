"""Cloth between colliders that pass into each other comes out of there as it was."""

import numpy as np

from tests.core.bodies import HALF, frames, moved, pinned, rotation, sheet, simulated, strains
from tests.core.colliders import Moving, ball, crossed
from verlet_addon.core.arrays import Floats
from verlet_addon.core.settings import BodySettings


def test_cloth_comes_out_from_between_two_balls_that_pass_into_each_other() -> None:
    """It hangs from a rail. What is within them keeps its lengths, and is clear when they part."""
    shape, places = ball(radius=0.3, friction=0.3)

    def place(side: float) -> Moving:
        def at(time: float) -> Floats:
            near = min(max(0.0, 2.5 * time - 0.25), 1.0) - min(max(0.0, 2.5 * time - 2.5), 1.0)
            return np.asarray(places + np.array([0.0, side * (0.45 - 0.175 * near), 0.0]))

        return shape, at

    hung = moved(sheet(14), rotation((1, 0, 0), np.pi / 2), (-0.5, 0.0, -0.5))
    mesh = pinned(hung, np.flatnonzero(hung.positions[:, 2] > 0.499))
    bodies = [(mesh, BodySettings(use_self_collision=True, thickness=0.01))]
    around = [place(1.0), place(-1.0)]
    (track,) = simulated(bodies, frames(2.25, 24), HALF, colliders=around)
    assert strains(mesh, track).max() < 0.01
    still = [(shape, at(2.25)) for shape, at in around if callable(at)]
    assert crossed(bodies, [track[-1:]], still) == 0
