"""The ground holds, rubs, bounces and carries as a textbook says."""

import numpy as np
import pytest

from tests.core.bodies import (
    floor,
    frames,
    make_mesh,
    moved,
    pinned,
    rope,
    rotation,
    sheet,
    simulated,
    thrown,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.scene import Plane
from verlet_addon.core.settings import BodySettings, BodyType, SceneSettings

G = 9.81
TINY = 1e-9
"""Rounding [m]."""
SLICK = BodySettings(damping=0.0, thickness=0.0, friction=10.0)
"""A body of which the ground's own friction decides."""


def puck(height: float = 0.0, *, tilt: float = 0.0) -> Floats:
    """(3, 3) a triangle lying on a plane tilted by `tilt`, or above it."""
    flat = np.array([(-0.1, -0.1, height), (0.1, -0.1, height), (0.0, 0.1, height)])
    return np.asarray(flat @ rotation((0, 1, 0), -tilt).T)


PUCK = make_mesh(puck(), faces=[(0, 1, 2)])


@pytest.mark.parametrize(
    ("restitution", "substeps"), [(0.3, 3), (0.5, 3), (0.7, 3), (0.9, 3), (1.0, 3), (0.5, 20)]
)
def test_bounce_reaches_the_height_it_should(restitution: float, substeps: int) -> None:
    """A body dropped from h rises to e² h again, whatever the steps."""
    height = 1.0
    mesh = make_mesh(puck(height), faces=[(0, 1, 2)])
    body = BodySettings(damping=0.0, thickness=0.0, restitution=restitution)
    apex = np.sqrt(2 * height / G) * (1 + restitution)
    count = round(apex * 24)
    (track,) = simulated(
        [(mesh, body)],
        np.full(count, apex / count),
        SceneSettings(substeps=substeps),
        ground=floor(),
    )
    assert track[-1, :, 2] == pytest.approx(restitution**2 * height, abs=1e-3 * height)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_nothing_sinks_below_the_ground(restitution: float) -> None:
    """A sheet thrown flat, edge on or crumpling stays its thickness above a tilted ground."""
    ground = floor(-0.2, tilt=0.3)
    body = BodySettings(thickness=0.01, restitution=restitution, damping=0.0)
    mesh = thrown(moved(sheet(6), rotation((1, 2, 0), 1.2), (0.0, 0.0, 0.9)), (1.0, 0.0, -6.0))
    (track,) = simulated([(mesh, body)], frames(1.0, 24), SceneSettings(substeps=6), ground=ground)
    heights = (track[1:] - ground.point) @ ground.normal
    assert heights.min() > 0.01 - TINY
    assert heights[-1].min() < 0.3, "the sheet should have come down"


@pytest.mark.parametrize("body_type", ["CLOTH", "ROPE"])
def test_nothing_creeps_at_rest(body_type: BodyType) -> None:
    """Five seconds after it was dropped, a body lies still: under 1 cm/s everywhere."""
    mesh = sheet(8) if body_type == "CLOTH" else rope(np.eye(3)[[0, 1, 2, 0, 2, 1]] / 3)
    dropped = moved(mesh, rotation((1, 1, 0), 0.4), (0.0, 0.0, 0.6))
    (track,) = simulated(
        [(dropped, BodySettings(body_type=body_type))],
        frames(5.0, 24),
        SceneSettings(substeps=3),
        ground=floor(),
    )
    speeds = np.linalg.norm(np.diff(track[-5:], axis=0), axis=2) * 24
    assert speeds.max() < 0.01
    assert track[-1, :, 2].max() < 0.6, "it should have come down"


@pytest.mark.parametrize("tilt", [0.2, 0.5])
@pytest.mark.parametrize("substeps", [1, 8])
def test_slides_down_a_slope_by_coulombs_law(tilt: float, substeps: int) -> None:
    """On a slope steeper than friction holds, a body slides with g (sin − μ cos)."""
    friction = 0.5 * np.tan(tilt)
    mesh = make_mesh(puck(tilt=tilt), faces=[(0, 1, 2)])
    scene = SceneSettings(substeps=substeps, ground_friction=friction)
    (track,) = simulated([(mesh, SLICK)], frames(1.0, 24), scene, ground=floor(tilt=tilt))
    downhill = np.array([-np.cos(tilt), 0.0, -np.sin(tilt)])
    expected = G * (np.sin(tilt) - friction * np.cos(tilt)) / 2
    slid = (track[-1] - track[0]) @ downhill
    # The first step has no speed to brake yet and may differ by μ g h² in speed times a second.
    np.testing.assert_allclose(slid, expected, rtol=5e-3)


@pytest.mark.parametrize(("share", "slides"), [(0.98, True), (1.02, False)])
def test_slides_if_the_slope_is_steeper_than_friction(share: float, slides: bool) -> None:
    """A body slides if the tangent of the slope exceeds its friction, else sticks."""
    tilt = 0.4
    mesh = make_mesh(puck(tilt=tilt), faces=[(0, 1, 2)])
    scene = SceneSettings(substeps=4, ground_friction=share * np.tan(tilt))
    (track,) = simulated([(mesh, SLICK)], frames(1.0, 24), scene, ground=floor(tilt=tilt))
    slid = np.linalg.norm(track[-1] - track[0], axis=1)
    assert (slid > 0.02).all() if slides else (slid < 1e-6).all()


def test_friction_stops_what_slides() -> None:
    """Thrown along the ground, a body comes to rest after v²/(2 μ g)."""
    scene = SceneSettings(substeps=20, ground_friction=0.4)
    (track,) = simulated(
        [(thrown(PUCK, (2.0, 0.0, 0.0)), SLICK)], frames(1.0, 24), scene, ground=floor()
    )
    # One step at 2 m/s is 4 mm.
    assert track[-1, 0, 0] - track[0, 0, 0] == pytest.approx(2.0**2 / (2 * 0.4 * G), abs=4e-3)
    np.testing.assert_allclose(track[-1], track[-2], atol=TINY)


def test_the_slipperier_and_the_bouncier_decide() -> None:
    """Of body and ground the lower friction counts, and the higher restitution."""
    scene = SceneSettings(ground_friction=1.0, ground_restitution=0.8, substeps=5)
    fall = np.sqrt(2.0 / G)
    sliding = thrown(PUCK, (2.0, 0.0, 0.0))
    dropped = make_mesh(puck(1.0), faces=[(0, 1, 2)])
    slippery = BodySettings(damping=0.0, thickness=0.0, friction=0.0)
    (track,) = simulated([(sliding, slippery)], frames(0.5, 24), scene, ground=floor())
    np.testing.assert_allclose(track[-1, :, 0] - track[0, :, 0], 1.0, atol=1e-9)
    (track,) = simulated([(dropped, slippery)], np.full(50, 1.8 * fall / 50), scene, ground=floor())
    assert track[-1, :, 2] == pytest.approx(0.64, abs=1e-3)


def test_moving_ground_carries() -> None:
    """What lies on ground that sets off sideways goes with it, and rises with it."""

    def ground(time: float) -> Plane:
        return Plane(
            point=np.array([0.3 * time, 0.0, 0.2 * time]), normal=np.array([0.0, 0.0, 1.0])
        )

    scene = SceneSettings(substeps=5, ground_friction=1.0)
    (track,) = simulated([(PUCK, SLICK)], frames(1.0, 24), scene, ground=ground)
    # It is dragged up to speed over v²/(2 μ g), less than 5 mm.
    np.testing.assert_allclose(track[-1] - track[0], [(0.3, 0.0, 0.2)] * 3, atol=5e-3)
    np.testing.assert_allclose(track[-1, :, 2], 0.2, atol=TINY)


def test_pins_may_pass_the_ground() -> None:
    """A pinned vertex stays on its target below the ground."""
    (track,) = simulated(
        [(pinned(PUCK, [0]), SLICK)], frames(0.2, 24), SceneSettings(), ground=floor(0.5)
    )
    np.testing.assert_array_equal(track[:, 0], np.broadcast_to(PUCK.positions[0], (6, 3)))


@pytest.mark.parametrize("iterations", [1, 5])
def test_sweeps_leave_the_push_of_the_ground(iterations: int) -> None:
    """A crumpling sheet that nothing holds is caught: its centre keeps the ground's push for good.

    Its momentum is set right after every sweep, for what acts within the sheet; the ground's push
    comes from outside. How soon it has tumbled down is chance: within two seconds and a half.
    """
    mesh = moved(sheet(6), rotation((1, 2, 0), 1.2), (0.0, 0.0, 0.6))
    scene = SceneSettings(iterations=iterations)
    (track,) = simulated([(mesh, BodySettings())], frames(3.0, 24), scene, ground=floor())
    speeds = np.diff(track.mean(axis=1), axis=0) * 24
    assert np.abs(speeds[-12:]).max() < 0.01, "it should lie still"
    assert track[-1, :, 2].min() > BodySettings().thickness - TINY


def test_what_bounces_comes_to_rest() -> None:
    """Bounces that gravity would end within two steps are none, or it would tremble for ever."""
    mesh = moved(sheet(2, size=0.1), np.eye(3), (0.0, 0.0, 0.2))
    body = BodySettings(restitution=0.9, damping=0.0)
    (track,) = simulated([(mesh, body)], frames(5.0, 24), ground=floor())
    assert track[20:60, :, 2].max() > 0.05
    np.testing.assert_allclose(track[-1], track[-2], atol=TINY)
    np.testing.assert_allclose(track[-1, :, 2], body.thickness, atol=TINY)
