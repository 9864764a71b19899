"""A solid that touches the ground alone is moved through a frame by one call, as by steps."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    Body,
    block,
    floor,
    moved,
    pinned,
    rotation,
    samples,
    sphere,
    thrown,
    wind,
)
from tests.core.test_fused_plain_step import FRAME, SCENE, stepped
from verlet_addon.core.compiled import backend
from verlet_addon.core.fast_paths.fused_solid_step import step_solid
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.scene import Sample
from verlet_addon.core.settings import BodySettings
from verlet_addon.core.solid import solid_step
from verlet_addon.core.solid.contact_solver import solve_contacts

pytestmark = pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")

JELLY = BodySettings(body_type="SOFT", resolution=4, stiffness=3000.0)
BRICK = block((0.3, 0.2, 0.1), (3, 2, 1))
TILTED = moved(BRICK, rotation((1.0, 2.0, 3.0), 0.8))
CASES: dict[str, tuple[MeshData, BodySettings]] = {
    "falling flat": (BRICK, JELLY),
    "stiff": (BRICK, replace(JELLY, stiffness=1e7)),
    "tumbling": (thrown(TILTED, TILTED.positions[:, [2, 1, 0]] * 9.0 - 1.0), JELLY),
    "rolling": (thrown(sphere(12, 6, radius=0.1), np.tile([0.5, 0.2, 0.0], (62, 1))), JELLY),
    "held at one end": (pinned(BRICK, np.flatnonzero(BRICK.positions[:, 0] < 0.01)), JELLY),
    "drawn": (pinned(BRICK, np.arange(4), weight=0.5), JELLY),
}


def way(
    case: str, *, above: float | None, moving: bool = False, count: int = 12
) -> tuple[Body, list[Sample]]:
    """A body of a case, so high above the ground, and the scene as its pins stand or move."""
    mesh, settings = CASES[case]
    shift = np.array([0.3, -0.2, 0.1]) if moving else np.zeros(3)
    ground = None if above is None else floor(float(mesh.positions[:, 2].min()) - above)
    scene = samples(
        [mesh], [FRAME] * count, ground=ground, targets=lambda t: [mesh.positions + t * shift]
    )
    return (mesh, settings), scene


@pytest.mark.parametrize("above", [None, 0.05, -0.02])
@pytest.mark.parametrize("case", CASES)
def test_one_call_moves_solids_as_steps_do(case: str, above: float | None) -> None:
    """To the bit: falling, landing, tumbling; what starts in the ground is left to steps."""
    _, served = stepped(*way(case, above=above), step_solid)
    assert not served[1] if above == -0.02 else all(served[1:4])


def test_what_falls_unstrained_is_not_solved_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by steps, after the first, nor by the one call: its way is that of free fall."""
    solved: list[Any] = []

    def noted(*given: Any) -> None:
        solved.append(given)
        solve_contacts(*given)

    monkeypatch.setattr(solid_step, "solve_contacts", noted)
    for one_call in (lambda *_: False, step_solid):
        (_, state), _ = stepped(*way("falling flat", above=None), one_call)
        np.testing.assert_array_equal(state.solid.moves, 0.0)
    assert len(solved) <= 1 + SCENE.substeps


@pytest.mark.parametrize("case", ["held at one end", "drawn"])
def test_one_call_moves_solids_along_with_their_pins(case: str) -> None:
    """To the bit."""
    _, served = stepped(*way(case, above=None, moving=True), step_solid)
    assert all(served)


def test_what_has_come_to_rest_within_a_call_lies() -> None:
    """To the bit, in the very frame in which steps find that it does."""
    (_, state), served = stepped(*way("falling flat", above=0.05, count=60), step_solid)
    assert state.solid.sleep_state is not None
    assert served[1:].index(False) > 3  # from then on steps tell what lies
    np.testing.assert_array_equal(state.positions, state.previous_positions)


def test_what_acts_unevenly_is_left_to_steps() -> None:
    """Force fields, a ground that moves, steps of another length, and what others have moved."""
    held, scene = way("tumbling", above=1.0)
    (model, state), _ = stepped(held, scene[:3], step_solid)
    others: list[Sample] = [
        replace(scene[3], fields=[[wind(1.0)]]),
        replace(scene[3], ground=floor(-4.9)),
        replace(scene[3], duration=2.0 * FRAME),
    ]
    for after in others:
        assert not step_solid((model, state), SCENE, scene[2], after)
    state.positions[:, 0] += 0.001
    assert not step_solid((model, state), SCENE, scene[2], scene[3])
    state.positions[:, 0] = state.solid.solved_points[:, 0]
    assert step_solid((model, state), SCENE, scene[2], scene[3])
