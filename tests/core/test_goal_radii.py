"""Vertices stay within a distance of the animated mesh, whatever acts on them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings as profile, strategies as st

from tests.core.bodies import (
    UP,
    Body,
    block,
    floor,
    frames,
    net,
    pinned,
    rope,
    samples,
    sheet,
    simulated,
    sphere,
    strains,
    thrown,
    wind,
    woven,
)
from tests.core.test_mirrors import mirror
from tests.core.test_rigid import rigid
from tests.core.test_shells import STIFF, hat
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import Paint
from verlet_addon.core.scene import Collider
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate
from verlet_addon.core.stretch.distance_limits import GoalRadii, project_goal_radii

NEAR = BodySettings(use_maximum_distance=True, maximum_distance=0.1)
FPS = 24


def near(kind: str, radius: float) -> Body:
    """Bodies of each kind, with a largest distance."""
    limit: dict[str, Any] = {"use_maximum_distance": True, "maximum_distance": radius}
    line = rope([(k / 20, 0.0, 0.0) for k in range(21)])
    jelly, cap = block((0.3, 0.3, 0.3), (3, 3, 3)), hat()
    return {
        "cloth": (pinned(sheet(8), [0, 8]), replace(NEAR, maximum_distance=radius)),
        "free": (sheet(8), replace(NEAR, maximum_distance=radius)),
        "rope": (line, BodySettings(body_type="ROPE", **limit)),
        "net": (pinned(net(6), [0]), BodySettings(body_type="ROPE", **limit)),
        "woven": (pinned(woven(sheet(8)), [0, 8]), BodySettings(**limit)),
        "balloon": (sphere(12, 8), BodySettings(pressure=200.0, **limit)),
        "shell": (cap, replace(STIFF, **limit)),
        "rigid": (pinned(rigid(sheet(8), slice(40, 45)), [0, 8]), BodySettings(**limit)),
        "jelly": (jelly, BodySettings(body_type="SOFT", stiffness=2e4, **limit)),
        "plastic": (pinned(sheet(8), [0, 8]), BodySettings(use_plasticity=True, **limit)),
    }[kind]


KINDS = ("cloth", "free", "rope", "net", "woven", "balloon", "shell", "rigid", "jelly", "plastic")


@pytest.mark.parametrize("radius", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("kind", KINDS)
def test_no_vertex_leaves_its_place_by_more(kind: str, radius: float) -> None:
    """Thrown and blown, while the animation moves; single precision rounds what it is shown in."""
    mesh, own = near(kind, radius)
    mesh = thrown(mesh, (1.0, 2.0, 0.5))

    def places(time: float) -> list[Floats]:
        return [mesh.positions + np.array([0.5 * np.sin(4.0 * time), 0.0, 0.3 * time])]

    stage = samples([mesh], frames(1.0, FPS), targets=places, fields=[wind(9.0, np.eye(3)[1])])
    farthest = 0.0
    for number, frame in enumerate(simulate([mesh], [own], SceneSettings(substeps=6), stage)):
        away = np.linalg.norm(frame.positions[0] - places(number / FPS)[0], axis=1)
        assert away.max() <= radius + 1e-9
        farthest = max(farthest, away.max())
    assert farthest == pytest.approx(radius, abs=1e-9)


def test_within_the_distance_nothing_is_felt() -> None:
    """To the bit of NumPy's own steps: cloth that stays nearer moves as without."""
    mesh, own = near("cloth", 9.0)
    times = frames(1.0, FPS)
    far = simulated([(mesh, own)], times)[0]
    without = simulated([(mesh, replace(own, use_maximum_distance=False))], times)[0]
    assert far == pytest.approx(without, abs=1e-9)


def test_cloth_at_its_farthest_keeps_its_lengths() -> None:
    """A sheet that hangs down to where it is held is stretched no more than free cloth is."""
    mesh, own = near("cloth", 0.15)
    track = simulated([(mesh, own)], frames(2.0, FPS))[0]
    assert np.abs(strains(mesh, track[-1])).max() < 0.05


def test_painted_weights_are_factors_on_the_distance() -> None:
    """From all of it at one side to none at the other."""
    weights = np.linspace(0.0, 1.0, 81)
    mesh = replace(sheet(8), paint=Paint(maximum_distance=weights))
    track = simulated([(mesh, NEAR)], frames(1.0, FPS))[0]
    away = np.linalg.norm(track - mesh.positions, axis=2)
    assert (away <= 0.1 * weights + 1e-9).all()
    assert away[-1, -1] > 0.09


def test_the_distance_can_be_keyed() -> None:
    """It closes on the animation frame by frame, and opens again."""
    mesh = sheet(8)
    radii = [0.2 if number < 12 else 0.05 if number < 24 else 0.4 for number in range(40)]
    stage = [
        replace(sample, settings=[replace(NEAR, maximum_distance=radius)])
        for sample, radius in zip(samples([mesh], frames(39 / FPS, FPS)), radii, strict=True)
    ]
    found = [frame.positions[0] for frame in simulate([mesh], [NEAR], SceneSettings(), stage)]
    away = np.linalg.norm(np.array(found) - mesh.positions, axis=2).max(axis=1)
    assert (away[1:] <= np.array(radii[1:]) + 1e-9).all()
    assert away[10] > 0.19
    assert away[39] > 0.3


def test_it_comes_to_rest_at_its_farthest() -> None:
    """A distance is no spring: what hangs there does not shake."""
    mesh, own = near("free", 0.1)
    track = simulated([(mesh, own)], frames(4.0, FPS))[0]
    assert np.abs(track[-1] - track[-2]).max() < 1e-5


def test_both_halves_of_a_mirror_keep_it() -> None:
    mesh = replace(sheet(6), mirrors=[mirror(1.0, 0.0, 0.0)])
    stage = samples([mesh], frames(0.5, FPS))
    stage = [replace(each, mirrors=[[mesh.mirrors[0].plane]]) for each in stage]
    for frame in simulate([mesh], [NEAR], SceneSettings(), stage):
        away = np.linalg.norm(frame.positions[0] - mesh.positions, axis=1)
        assert away.max() <= 0.1 + 1e-9


def test_ground_and_colliders_act_within_it() -> None:
    """Cloth above a table sinks onto that, and its rim farther, down to its distance."""
    mesh = replace(sheet(8), positions=sheet(8).positions + 0.05 * UP)
    plate = np.array([[0.3, 0.3, 0], [0.7, 0.3, 0], [0.7, 0.7, 0], [0.3, 0.7, 0.0]])
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    table = Collider("Table", faces, 0.0, friction=0.5, restitution=0.0, single_sided=False)
    (on_table,) = simulated([(mesh, NEAR)], frames(1.5, FPS), colliders=[(table, plate)])
    middle = np.abs(mesh.positions[:, :2] - 0.5).max(axis=1) < 0.15
    assert on_table[-1, middle, 2].min() > 0.0
    assert on_table[-1, :, 2].min() < -0.03
    (on_ground,) = simulated([(mesh, NEAR)], frames(1.5, FPS), ground=floor(0.0))
    assert on_ground[..., 2].min() > 0.004


@given(st.integers(0, 2**32 - 1))
@profile(deadline=None, max_examples=50)
def test_a_projection_ends_on_the_sphere_and_moves_nothing_within(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, goals = rng.normal(size=(2, 3, 20))
    particles = rng.permutation(20)[:12]
    limits = GoalRadii(particles, goals[:, particles], rng.uniform(0.0, 2.0, 12))
    moved = points.copy()
    project_goal_radii(moved, limits)
    before = np.linalg.norm(points[:, particles] - limits.goals, axis=0)
    after = np.linalg.norm(moved[:, particles] - limits.goals, axis=0)
    assert after == pytest.approx(np.minimum(before, limits.radii))
    same = np.ones(20, bool)
    same[particles[before > limits.radii]] = False
    np.testing.assert_array_equal(moved[:, same], points[:, same])
