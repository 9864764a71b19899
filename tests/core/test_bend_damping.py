"""Surfaces lose of their bends by the formula, and of nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    WEIGHTLESS,
    frames,
    moved,
    pinned,
    results,
    sheet,
    simulated,
    thrown,
    tube,
)
from tests.core.colliders import ball
from verlet_addon.core.arrays import Floats
from verlet_addon.core.bending.bend_damping import (
    DAMPING_TIME,
    INTERNAL_FRICTION,
    damping_time,
    play_share,
)
from verlet_addon.core.materials import MATERIALS
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings, SceneSettings

CELLS = 10
BAND = BodySettings(bend_compliance=20.0, mass=0.005, damping=1.0)


def band(*, triangles: bool) -> MeshData:
    """Half a metre, clamped at one end, and set off as a bar swings at its slowest."""
    flat = sheet(CELLS, 1, size=0.5, triangles=triangles)
    along = np.maximum(flat.positions[:, 0] - 0.05, 0.0)
    held = pinned(flat, np.flatnonzero(along == 0.0).tolist())
    return thrown(held, along[:, None] ** 2 * np.array([0.0, 0.0, 1.0]))


def swing(
    triangles: bool, fps: int, substeps: int, *, body: BodySettings = BAND, seconds: float = 1.5
) -> tuple[Floats, Floats]:
    """When the tip of the band comes to a stop [s], and how far out [m]; step by step."""
    steps, scene = fps * substeps, SceneSettings(substeps=1, use_ground=False)
    durations = [1.0 / steps] * round(seconds * steps)
    bodies = [(band(triangles=triangles), body)]
    (track,) = simulated(bodies, durations, scene, gravity=WEIGHTLESS)
    height = track[:, CELLS, 2]
    turns = np.flatnonzero(np.diff(np.sign(np.diff(height))) != 0) + 1
    return turns / steps, np.abs(height[turns])


@pytest.mark.parametrize("triangles", [False, True])
@pytest.mark.parametrize(("fps", "substeps"), [(12, 20), (24, 5), (24, 20), (60, 10)])
def test_a_band_swings_less_and_less_by_the_formula(
    triangles: bool, fps: int, substeps: int
) -> None:
    """At a rate of (c + (τ + h) ω²)/2 + η ω/π: air takes c, what lags τ, solving for steps h.

    What rubs is η of the moment at each bend, and so takes 2 η of the swing in each period.
    """
    times, sizes = swing(triangles, fps, substeps)
    rate = -np.polyfit(times, np.log(sizes), 1)[0]
    square = (np.pi / np.diff(times).mean()) ** 2 + rate**2  # ω² but for what is lost
    lag = DAMPING_TIME + 1.0 / (fps * substeps)
    rubbed = INTERNAL_FRICTION * np.sqrt(square) / np.pi
    assert rate == pytest.approx((BAND.damping + lag * square) / 2 + rubbed, rel=0.05)


@pytest.mark.parametrize("loss_factor", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("steps", [120, 240, 480])
def test_cloth_that_bends_to_and_fro_loses_what_its_inner_damping_says(
    loss_factor: float, steps: int
) -> None:
    """Swings of two and a half seconds become smaller by exp(−π η) in each, air or none.

    Within 10 %: the steps add 3 to 9 %, and the play of the friction does not set in at once.
    """
    body = replace(BAND, bend_compliance=190.0, damping=0.0, inner_damping=loss_factor)
    times, sizes = swing(False, steps, 1, body=body, seconds=4.5)
    rate = -np.polyfit(times, np.log(sizes), 1)[0]
    half = np.diff(times).mean()
    assert half == pytest.approx(1.25, rel=0.1)
    found = 2.0 * rate / np.hypot(np.pi / half, rate)
    assert found == pytest.approx(loss_factor, rel=0.1)


def test_the_default_is_that_of_former_versions_also_in_single_precision() -> None:
    """A loss factor of 0.3, as Blender stores it, has the damping time that all cloth had."""
    stored = float(np.float32(BodySettings.inner_damping))
    assert damping_time(stored, 1 / 240) == DAMPING_TIME
    assert play_share(stored, 1 / 240) == INTERNAL_FRICTION / 240 / DAMPING_TIME


def test_cloth_without_inner_damping_goes_on_swinging() -> None:
    """It loses in a swing of 0.7 s what steps of 1/480 s take: a loss factor of h ω, 0.02."""
    body = replace(BAND, damping=0.0, inner_damping=0.0)
    _, sizes = swing(False, 480, 1, body=body)
    assert 0.92 < sizes[2] / sizes[0] < 1.0


def test_a_shell_says_that_inner_damping_does_not_act_on_it() -> None:
    """A stiff tube with a loss factor of its own; with the default nothing is said."""
    curved = tube(12, 4, radius=0.1, length=0.3)
    stiff = BodySettings(bend_compliance=1.0, mass=0.1)
    for factor, told in ((0.02, True), (BodySettings.inner_damping, False)):
        body = replace(stiff, inner_damping=factor)
        found = results([(curved, body)], frames(1 / 24, 24))
        assert any("Inner Damping" in each for frame in found for each in frame.remarks) is told


def test_stiff_cloth_on_a_ball_soon_stops_swinging() -> None:
    """Half a second after denim was let go its flaps swing at 1 cm/s; in air alone, at 4."""
    cloth = moved(sheet(12, size=0.6), np.eye(3), (-0.3, -0.3, 0.32))
    bodies = [(cloth, replace(MATERIALS["DENIM"].settings, damping=1.0))]
    (track,) = simulated(bodies, frames(0.5, 24), colliders=[ball(friction=0.5)])
    speeds = np.linalg.norm(track[-1] - track[-2], axis=1) * 24
    assert np.sqrt((speeds**2).mean()) < 0.02


@pytest.mark.parametrize("compliance", [5.0, 50.0])
def test_other_steps_move_nothing_that_hangs(compliance: float) -> None:
    """Bends that are solved all at once, or along strips, are taken as they are when steps change.

    Else what damps them would straighten the band, by 7 to 10 cm in a tenth of a second.
    """
    held = replace(band(triangles=False), velocities=np.zeros((2 * CELLS + 2, 3)))
    body = replace(BAND, bend_compliance=compliance)
    durations = [1 / 120] * 360 + [1 / 100] * 12
    (track,) = simulated([(held, body)], durations, SceneSettings(substeps=1, use_ground=False))
    assert track[360, CELLS, 2] < -0.05
    np.testing.assert_allclose(track[-1], track[360], atol=2e-3)
