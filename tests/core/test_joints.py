"""Joints of rods that are given by the frequency and the damping ratio of the first mode."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.core.bodies import WEIGHTLESS, frames, lengths, pinned, rope, simulated, thrown
from tests.core.test_rods import WIRE, bow, tossed
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import Joints, MeshData
from verlet_addon.core.settings import SceneSettings

FREQUENCY, RATIO = 2.0, 0.1


def jointed(
    points: Floats, *, frequency: float = FREQUENCY, ratio: float = RATIO, limit: float = np.pi
) -> MeshData:
    """A rope, pinned by its first two points, whose joints are alike."""
    every = np.ones(len(points))
    joints = Joints(frequency * every, ratio * every, limit * every)
    joints.frequencies[:2] = np.inf
    return replace(pinned(rope(points), [0, 1]), joints=joints)


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
