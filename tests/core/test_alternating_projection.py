"""Contacts and lengths in turn: compiled kernels say by one call what steps through them say."""

from typing import Any

import numpy as np
import pytest

from tests.core.bodies import floor, frames, moved, pinned, sheet, simulated
from tests.core.colliders import ball
from verlet_addon.core.arrays import Floats
from verlet_addon.core.collision import alternating_projection
from verlet_addon.core.compiled import backend
from verlet_addon.core.settings import BodySettings


def draped() -> list[Floats]:
    """A sheet with a held corner, and another on top of it, that fall over a ball to the ground."""
    cloth = BodySettings(use_self_collision=True, thickness=0.01)
    below = moved(sheet(8, 8, size=0.6), np.eye(3), (0.02, 0.01, 0.33))
    above = moved(sheet(6, 6, size=0.5), np.eye(3), (-0.03, 0.0, 0.36))
    bodies = [(pinned(below, [0]), cloth), (above, cloth)]
    return simulated(bodies, frames(0.5, 24), ground=floor(-0.05), colliders=[ball(fine=12)])


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")
def test_one_call_settles_as_rounds_of_calls_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit: tethers, the ground, and two bodies that touch are all in it."""
    simple = alternating_projection._is_simple
    told: list[bool] = []

    def is_simple(*given: Any) -> bool:
        told.append(simple(*given))
        return told[-1]

    monkeypatch.setattr(alternating_projection, "_is_simple", is_simple)
    at_once = draped()
    assert sum(told) > 50
    monkeypatch.setattr(alternating_projection, "_is_simple", lambda *_: False)
    for one, other in zip(at_once, draped(), strict=True):
        np.testing.assert_array_equal(one, other)
