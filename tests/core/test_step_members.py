"""What may act within a body is part of the one call, and moves it as steps by themselves do."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    Body,
    floor,
    moved,
    pinned,
    rope,
    rotation,
    samples,
    sheet,
    sphere,
    tracks,
    with_fringe,
    woven,
)
from tests.core.test_goal_springs import springs
from tests.core.test_mirrors import mirror
from tests.core.test_rigid import rigid
from verlet_addon.core import simulation
from verlet_addon.core.arrays import Floats
from verlet_addon.core.compiled import backend
from verlet_addon.core.materials import MATERIALS
from verlet_addon.core.scene import Frame, Plane, Sample
from verlet_addon.core.settings import SceneSettings
from verlet_addon.core.simulation import start_simulation

pytestmark = pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")

SCENE, FRAME, FRAMES = SceneSettings(substeps=5), 1 / 24, 4
FLAG = pinned(moved(sheet(6, size=0.3), rotation((1.0, 0.0, 0.0), 1.0), (0.0, 0.0, 0.5)), range(7))
COTTON = MATERIALS["COTTON"].settings
Scene = tuple[Body, list[Sample]]


def waved(body: Body = (FLAG, COTTON)) -> Scene:
    """A flag whose pins swing and turn."""
    mesh = body[0]

    def targets(time: float) -> list[Floats]:
        turned = moved(mesh, rotation((0.0, 1.0, 0.0), 3.0 * time), (0.4 * time, 0.0, 0.0))
        return [turned.positions]

    return body, samples([mesh], [FRAME] * FRAMES, targets=targets)


def drawn(stiffness: float) -> Scene:
    """A flag two vertices of which are drawn by springs, others from the third frame on."""
    body, scene = waved()

    def acting(number: int, sample: Sample) -> Sample:
        chosen = [40, 45] if number < 3 else [41, 45]
        place = sample.targets[0][chosen] + np.array([0.0, 0.02 * number, 0.0])
        return replace(sample, goal_springs=[springs(chosen, place, stiffness, 0.05)])

    return body, [acting(number, sample) for number, sample in enumerate(scene)]


def crumpled(*, weave: bool = False) -> Scene:
    """A sheet that yields, with a rope at a corner, swung by its pins."""
    mesh = woven(FLAG) if weave else with_fringe(FLAG)
    yielding = replace(
        MATERIALS["RUBBER_SHEET"].settings,
        use_plasticity=True,
        yield_strain=0.002,
        yield_curvature=0.5,
        hardening=0.2,
    )
    return waved((mesh, yielding))


def filled() -> Scene:
    """A ball, held at a vertex, whose pressure rises."""
    ball = pinned(moved(sphere(8, 6, radius=0.2), np.eye(3), (0.0, 0.0, 1.0)), [0])
    body, scene = waved((ball, COTTON))
    return body, [replace(each, pressures=[20.0 * k]) for k, each in enumerate(scene)]


def halved() -> Scene:
    """Half a flag, whose mirror moves with its pins."""
    point = FLAG.positions[FLAG.positions[:, 0].argmin()]
    half = replace(FLAG, mirrors=[mirror(1.0, 0.2, 0.0, point=point, merge_distance=1e-3)])
    body, scene = waved((half, COTTON))

    def moving(number: int) -> list[Plane]:
        return [Plane(point + np.array([0.01 * number, 0.0, 0.0]), np.array([1.0, 0.2, 0.0]))]

    return body, [replace(each, mirrors=[moving(k)]) for k, each in enumerate(scene)]


def stiffened() -> Scene:
    """A flag with a rigid piece below, which swings and bounces off the ground."""
    bottom = float(FLAG.positions[:, 2].min())
    body, scene = waved((rigid(FLAG, np.arange(35, 49)), replace(COTTON, restitution=0.5)))
    return body, [replace(each, ground=floor(bottom - 0.02)) for each in scene]


def drawn_out() -> Scene:
    """A rope whose pins go farther apart than it is long."""
    line = pinned(rope([(0.02 * k, 0.0, 0.1) for k in range(12)]), [0, 11])

    def targets(time: float) -> list[Floats]:
        return [line.positions * np.array([1.0 + 3.0 * time, 1.0, 1.0])]

    scene = samples([line], [FRAME] * FRAMES, targets=targets)
    return (line, MATERIALS["STEEL_CHAIN"].settings), scene


def stretched() -> Scene:
    """A soft rope that yields as its pin shakes it."""
    line = pinned(rope([(0.02 * k, 0.0, 0.1) for k in range(12)]), [0])
    soft = replace(
        MATERIALS["BUNGEE"].settings,
        stretch_compliance=0.1,
        use_plasticity=True,
        yield_strain=1e-4,
    )
    return waved((line, soft))


MEMBERS: dict[str, Callable[[], Scene]] = {
    "springs": lambda: drawn(5.0),
    "springs of infinite stiffness": lambda: drawn(np.inf),
    "gas": filled,
    "pins that draw a rope out": drawn_out,
    "plasticity of a rope": stretched,
    "a mirror": halved,
    "a rigid piece": stiffened,
    "plasticity": crumpled,
    "plasticity of threads": lambda: crumpled(weave=True),
    "a share of inertia left out": lambda: waved((FLAG, replace(COTTON, inertia_share=0.6))),
}


def bake(scene: Scene) -> list[Floats]:
    """The track of the body."""
    (mesh, settings), given = scene
    running = start_simulation([mesh], [settings], SCENE, given[0])
    frames: Sequence[Frame] = [running.advance(sample) for sample in given[1:]]
    return tracks(frames)


def refused(*_: Any) -> None:
    """What is not to be called."""
    raise AssertionError("the body took a step by itself")


@pytest.mark.parametrize("member", MEMBERS)
def test_one_call_moves_a_body_with_it_as_steps_do(
    member: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit."""
    scene = MEMBERS[member]()
    with monkeypatch.context() as patch:
        patch.setattr(simulation, "find_plain", lambda *_: [])
        by_steps = bake(scene)
    monkeypatch.setattr(simulation, "step", refused)
    np.testing.assert_array_equal(bake(scene), by_steps)
