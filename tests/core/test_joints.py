"""Joints of rods that are given by the frequency and the damping ratio of the first mode."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    WEIGHTLESS,
    frames,
    lengths,
    pinned,
    rope,
    samples,
    simulated,
    thrown,
    tracks,
)
from tests.core.test_rods import WIRE, bow, tossed
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import Joints, MeshData
from verlet_addon.core.scene import GoalSprings
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

FREQUENCY, RATIO = 2.0, 0.1


def jointed(
    points: Floats, *, frequency: float = FREQUENCY, ratio: float = RATIO, limit: float = np.pi
) -> MeshData:
    """A rope, pinned by its first two points, whose joints are alike."""
    every = np.ones(len(points))
    mesh = pinned(rope(points), [0, 1])
    joints = Joints(frequency * every, ratio * every, limit * every, mesh.edges)
    joints.frequencies[:2] = np.inf
    return replace(mesh, joints=joints)


def swings(mesh: MeshData, *, density: float = 0.01, air: float = 0.0) -> tuple[float, float]:
    """Frequency [Hz] and damping ratio of small swings of a rope's end."""
    places = mesh.positions - mesh.positions[1]
    size = np.linalg.norm(places[-1])
    speeds = np.zeros_like(places)
    speeds[2:, 1] = 0.02 * size * (places[2:, 0] / places[-1, 0]) ** 2
    body = replace(WIRE, density=density, damping=air)
    (track,) = simulated(
        [(thrown(mesh, speeds), body)],
        frames(3.0, 96),
        SceneSettings(substeps=5),
        gravity=WEIGHTLESS,
    )
    height = track[:, -1, 1]
    turns = np.flatnonzero(height[1:] * height[:-1] < 0.0)
    shares = height[turns] / (height[turns] - height[turns + 1])
    times = (turns + shares)[1:] / 96
    tops = [np.abs(height[a:b]).max() for a, b in pairwise(turns[1:])]
    decrement = -np.polyfit(np.arange(len(tops)), np.log(tops), 1)[0] / np.pi
    return 0.5 / float(np.diff(times).mean()), decrement / float(np.sqrt(1 + decrement**2))


@pytest.mark.parametrize(
    ("length", "segments", "curvature", "density"),
    [(0.3, 3, 0.0, 0.01), (0.3, 8, 0.0, 1.0), (3.0, 24, 0.0, 0.01), (0.3, 8, 5.0, 0.01)],
)
def test_the_first_mode_has_the_frequency_and_the_ratio_that_are_given(
    length: float, segments: int, curvature: float, density: float
) -> None:
    """Within 2 % and a twentieth, whatever its size, mass, number of joints and curvature."""
    frequency, ratio = swings(jointed(bow(length, segments, curvature)), density=density)
    # A damped swing is slower by √(1 − ζ²).
    assert frequency == pytest.approx(FREQUENCY * np.sqrt(1 - RATIO**2), rel=0.02)
    assert ratio == pytest.approx(RATIO, rel=0.05)


def test_the_ratio_includes_the_damping_of_the_air() -> None:
    """A rope in thick air swings down as fast as in none."""
    _, ratio = swings(jointed(bow(0.3, 8, 0.0)), air=1.0)
    assert ratio == pytest.approx(RATIO, rel=0.05)


def test_a_ratio_of_one_does_not_overshoot() -> None:
    """What is pushed comes back to its place from the same side."""
    mesh = jointed(bow(0.3, 8, 0.0), ratio=1.0)
    speeds = np.zeros_like(mesh.positions)
    speeds[2:, 1] = np.linspace(0.1, 1.0, 8) ** 2 * 0.1
    (track,) = simulated(
        [(thrown(mesh, speeds), replace(WIRE, damping=0.0))], frames(2.0, 24), gravity=WEIGHTLESS
    )
    height = track[:, -1, 1]
    assert height.max() > 1e-3
    assert height.min() > -0.01 * height.max()


def test_rigid_joints_keep_their_angle() -> None:
    """A rope whose joints but the first are rigid swings as one piece, at the frequency given."""
    mesh = jointed(bow(0.3, 6, 0.0))
    joints = mesh.joints
    assert joints is not None
    joints.frequencies[3:] = np.inf
    frequency, _ = swings(mesh)
    assert frequency == pytest.approx(FREQUENCY, rel=0.02)
    (track,) = simulated([(mesh, WIRE)], frames(1.0, 24))
    arms = track[-1, 2:] - track[-1, 1]
    assert arms[-1, 2] < -0.01
    along = arms / np.linalg.norm(arms, axis=1)[:, None]
    assert np.abs(along - along[-1]).max() < 5e-3


def test_each_joint_has_its_own_angle_limit() -> None:
    """To 0.01 rad, and lengths to 1e-6."""
    mesh = jointed(bow(0.3, 8, 0.0), frequency=0.5)
    limits = np.linspace(0.05, 0.4, 10)
    assert mesh.joints is not None
    mesh.joints.angle_limits[:] = limits
    (track,) = simulated(
        [(mesh, replace(WIRE, damping=0.0))], frames(2.0, 24), targets=tossed(mesh)
    )
    ways = np.diff(track, axis=1) * 8 / 0.3
    angles = np.arccos(np.clip((ways[:, 1:] * ways[:, :-1]).sum(axis=2), -1.0, 1.0)).max(axis=0)
    assert (angles < limits[2:] + 0.01).all()
    assert angles[-1] > 0.1
    np.testing.assert_allclose(lengths(track, mesh.edges) * 8 / 0.3, 1.0, atol=1e-6)


def sampled(
    mesh: MeshData, body: BodySettings, seconds: float, **given: Callable[[float], Any]
) -> Floats:
    """(frames, n, 3) positions of a rope, with entries of samples given by time."""
    every = [
        replace(sample, **{name: value(number / 24) for name, value in given.items()})
        for number, sample in enumerate(samples([mesh], frames(seconds, 24)))
    ]
    return tracks(simulate([mesh], [body], SceneSettings(), every))[0]


def test_pulls_act_beside_gravity(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that equals it, upwards, holds a rope still; one call leads as steps do, to the bit."""
    mesh = jointed(bow(0.3, 8, 0.0))
    upwards = np.full_like(mesh.positions, 9.81) * [0.0, 0.0, 1.0]
    track = sampled(mesh, WIRE, 0.5, pulls=lambda _: [upwards])
    np.testing.assert_allclose(track, track[:1].repeat(len(track), axis=0), atol=1e-12)

    def sideways(time: float) -> list[Floats]:
        return [upwards + np.array([0.0, 8.0 * np.sin(20.0 * time), 0.0])]

    track = sampled(mesh, WIRE, 0.5, pulls=sideways)
    assert np.ptp(track[:, -1, 1]) > 1e-3
    monkeypatch.setattr("verlet_addon.core.simulation.find_plain", lambda *_: [])
    again = sampled(mesh, WIRE, 0.5, pulls=sideways)
    np.testing.assert_array_equal(again, track)


def test_inner_damping_of_rods_is_keyed() -> None:
    """A curved rope whose damping rises half way comes to rest sooner."""
    mesh = pinned(rope(bow(0.3, 8, 5.0)), [0, 1])
    body = replace(WIRE, damping=0.0, inner_damping=0.01, bend_compliance=1e3)
    late = replace(body, inner_damping=3.0)
    free = sampled(mesh, body, 1.0)
    damped = sampled(mesh, body, 1.0, settings=lambda time: [body if time < 0.5 else late])
    np.testing.assert_array_equal(free[:12], damped[:12])
    speeds = [np.abs(np.diff(track[-6:], axis=0)).max() for track in (free, damped)]
    assert speeds[1] < speeds[0] / 3


def test_springs_hold_all_of_a_rod() -> None:
    """Of infinite stiffness, as a loop's end has them, they put it where they draw it."""
    mesh = jointed(bow(0.3, 8, 0.0))
    vertices = np.arange(2, len(mesh.positions))
    targets = mesh.positions[vertices] + [0.0, 0.01, 0.0]
    count = len(vertices)
    springs = GoalSprings(vertices, targets, np.full(count, np.inf), np.zeros(count))
    track = sampled(
        mesh, WIRE, 0.5, goal_springs=lambda time: [springs if 0.2 < time < 0.4 else None]
    )
    np.testing.assert_allclose(track[8, 2:], targets, atol=1e-9)
    assert np.isfinite(track).all()
