"""Many small bodies: each bakes as it does alone, and those far apart cost no call of their own."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import GRAVITY, Body, cube, floor, pinned, rope, sheet, simulated, thrown
from tests.core.test_rigid import rigid
from tests.work import growth
from verlet_addon.core import simulation
from verlet_addon.core.bodies.plain_bodies import PlainGroup
from verlet_addon.core.bodies.surface_bodies import SurfaceStep
from verlet_addon.core.build import build
from verlet_addon.core.compiled import backend
from verlet_addon.core.contacts.solve.collision_world import CollisionWorld, build_collision_world
from verlet_addon.core.materials import MATERIALS
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings, SceneSettings

compiled = pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")
SCENE, FRAMES = SceneSettings(substeps=4), [1 / 24] * 8
HEMP, COTTON = (MATERIALS[name].settings for name in ("HEMP", "COTTON"))


def shifted(mesh: MeshData, x: float, y: float) -> MeshData:
    """The mesh elsewhere, with a name of its own."""
    places = mesh.positions + np.array([x, y, 0.0])
    return replace(mesh, positions=places, name=f"{mesh.name} at {x:g}, {y:g}")


def field(count: int, apart: float) -> list[Body]:
    """Ropes and sheets in turn, in rows so far apart, each held at a corner, or thrown."""
    line = pinned(rope([(0.03 * k, 0.0, 0.0) for k in range(8)]), [0])
    cloth = pinned(shifted(sheet(4, size=0.2), 0.0, 0.1), [0])
    kinds = (line, HEMP), (cloth, COTTON), (thrown(line, (0.0, 1.0, 0.0)), HEMP)
    chosen = [(kinds[k % 3], apart * (k % 4), apart * (k // 4)) for k in range(count)]
    return [(shifted(mesh, x, y), settings) for (mesh, settings), x, y in chosen]


@pytest.mark.parametrize("apart", [2.0, 0.3])
def test_a_body_bakes_alike_alone_and_among_many(apart: float) -> None:
    """To the bit: beside 20 others that touch nothing, or some of which touch each other."""
    own = field(1, apart)[0]
    own = shifted(own[0], -3.0, 0.0), own[1]
    others = field(20, apart)
    ground = floor(-0.3)
    alone = simulated([own], FRAMES, SCENE, ground=ground)
    beside = simulated([*others, own], FRAMES, SCENE, ground=ground)
    np.testing.assert_array_equal(beside[-1], alone[0])
    by_themselves = [simulated([other], FRAMES, SCENE, ground=ground)[0] for other in others]
    assert all(map(np.array_equal, beside, by_themselves)) == (apart == 2.0)


def refused(*_: Any) -> None:
    """What is not to be called."""
    raise AssertionError("a body was told by itself what to do")


@compiled
def test_bodies_far_apart_take_one_call_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many they are: nobody takes a step."""
    calls: list[int] = []

    def noted(group: PlainGroup, move: Any = PlainGroup.take_all_steps) -> Any:
        calls.append(len(group.members))
        return move(group)

    monkeypatch.setattr(PlainGroup, "take_all_steps", noted)
    monkeypatch.setattr(simulation, "step", refused)
    for count in (3, 12):
        calls.clear()
        simulated(field(count, 2.0), FRAMES, SCENE, ground=floor(-0.3))
        assert calls == [count] * len(FRAMES)


@compiled
def test_bodies_that_touch_are_told_together_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them takes its step alone."""
    monkeypatch.setattr(SurfaceStep, "project_constraints", refused)
    drawn = pinned(sheet(4), [0], weight=0.5), COTTON
    stiff = rigid(shifted(sheet(4), 1.0, 0.0), np.arange(6)), COTTON
    simulated([*field(12, 0.3), drawn, stiff], FRAMES, SCENE, ground=floor(-0.3))


def test_solids_far_apart_are_not_compared_pair_by_pair() -> None:
    """Where it is looked for what starts inside of what."""
    jelly = BodySettings(body_type="SOFT", resolution=1)

    def work(count: int) -> Callable[[], CollisionWorld | None]:
        meshes = [shifted(cube(0.1), float(number), 0.0) for number in range(count)]
        models = [build(each, jelly, gravity=GRAVITY, dt=0.01)[0] for each in meshes]
        return lambda: build_collision_world(models, meshes, [], [])

    assert growth(work, 20) < 5.0
