"""Jelly on a collider does as it does on the ground: its push is solved for with the stress."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    HALF,
    block,
    floor,
    frames,
    moved,
    rotation,
    simulated,
    slow,
    sphere,
    thrown,
)
from tests.core.colliders import plate
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings, SceneSettings

JELLY = BodySettings(body_type="SOFT", resolution=5, friction=0.5, stiffness=400.0)
GAP = 0.006
"""Of the body's thickness and the plate's [m]."""


def lying(mesh: MeshData, height: float) -> MeshData:
    """The mesh with its lowest vertex so high [m]."""
    return moved(mesh, np.eye(3), (0.0, 0.0, height - mesh.positions[:, 2].min()))


def cube() -> MeshData:
    """Of a metre, in the middle."""
    return moved(block((1.0, 1.0, 1.0), (5, 5, 5)), np.eye(3), (-0.5, -0.5, 0.0))


def on_both(mesh: MeshData, seconds: float, substeps: int, settings: BodySettings) -> list[Floats]:
    """(frames, n, 3) tracks on the ground, and on a plate as high above it as its thickness."""
    body, times, scene = [(mesh, settings)], frames(seconds, 24), SceneSettings(substeps=substeps)
    (ground,) = simulated(body, times, scene, ground=floor(GAP - settings.thickness))
    (table,) = simulated(body, times, scene, colliders=[plate(size=4.0, cells=4, friction=0.5)])
    return [ground, table]


@pytest.mark.parametrize("substeps", [5, *slow(20)])
def test_it_sags_as_on_the_ground(substeps: int) -> None:
    """By ρ g H²/2E and its skin's give, whatever the substeps; to 3 %, for edges touch as well."""
    ground, table = on_both(lying(cube(), GAP + 0.001), 1.5, substeps, JELLY)
    sag, sag_there = (1.0 - np.ptp(track[-1, :, 2]) for track in (ground, table))
    assert sag_there == pytest.approx(sag, rel=0.03)
    assert np.linalg.norm(table[-1] - table[-2], axis=1).max() * 24 < 0.002


BALL = pytest.param(sphere(24, 16), marks=pytest.mark.slow)


@pytest.mark.slow
@pytest.mark.parametrize("mesh", [cube(), BALL], ids=["cube", "ball"])
def test_it_bounces_as_on_the_ground(mesh: MeshData) -> None:
    """Its middle is where it is there, to half a centimetre, down and up again.

    It falls beside a corner of the plate: on one, rounding decides which way it is pushed.
    """
    beside = moved(lying(mesh, 0.3), np.eye(3), (0.01, 0.003, 0.0))
    ground, table = on_both(beside, 1.0, 10, replace(JELLY, stiffness=1e3))
    middles = [track[..., 2].mean(axis=1) for track in (ground, table)]
    np.testing.assert_allclose(middles[1], middles[0], atol=0.005)


@pytest.mark.slow
def test_a_lift_carries_it_up() -> None:
    """It rides on a plate that rises by half a metre a second, and lies on it as on one at rest."""
    lift, places = plate(size=4.0, cells=4, friction=0.5)
    body = [(lying(cube(), GAP + 0.001), JELLY)]
    rising = [(lift, lambda time: places + np.array([0.0, 0.0, min(time, 1.5) / 2]))]
    (track,) = simulated(body, frames(2.5, 24), HALF, colliders=rising)
    (still,) = simulated(body, frames(2.5, 24), HALF, colliders=[(lift, places)])
    np.testing.assert_allclose(track[-1] - [0.0, 0.0, 0.75], still[-1], atol=0.002)


def test_friction_holds_it_on_a_slope() -> None:
    """At 20°, below arctan ½ = 26.6°, it stays without creeping."""
    turn = rotation((0, 1, 0), -np.radians(20.0))
    table, places = plate(size=4.0, cells=4, friction=0.5)
    mesh = moved(lying(cube(), GAP + 0.0005), turn)
    (track,) = simulated([(mesh, JELLY)], frames(1.5, 24), colliders=[(table, places @ turn.T)])
    assert np.linalg.norm(track[-1] - track[-2], axis=1).max() * 24 < 0.001


@pytest.mark.slow
def test_what_rolls_on_a_collider_comes_to_rest() -> None:
    """As on the ground: pressing it flat takes work, of which it gives back a half."""
    ball = thrown(lying(sphere(16, 12), GAP), (1.0, 0.0, 0.0))
    settings = replace(JELLY, damping=0.0, stiffness=1e3)
    table = plate(size=12.0, cells=6, friction=0.5)
    scene = SceneSettings(substeps=5)
    (track,) = simulated([(ball, settings)], frames(6.0, 24), scene, colliders=[table])
    assert 0.3 < (track[-1] - track[0])[:, 0].mean() < 2.0
    assert np.linalg.norm(track[-1] - track[-2], axis=1).max() * 24 < 0.05
