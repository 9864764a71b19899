"""Settings of the scene, masses and tethers that are keyed act from their frame on."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    GRAVITY,
    Body,
    block,
    floor,
    frames,
    moved,
    pinned,
    rope,
    samples,
    sheet,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.scene import Plane
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

G = 9.81


def keyed(
    body: Body,
    scenes: list[SceneSettings],
    *,
    bodies: list[dict[str, Any]] | None = None,
    seconds: float = 0.5,
    ground: Plane | None = None,
    gravity: Floats = GRAVITY,
) -> Floats:
    """(frames + 1, n, 3) the motion with these settings, each for so many seconds."""
    mesh, settings = body
    own = bodies or [{}] * len(scenes)
    count = round(24 * seconds)
    stage = samples([mesh], frames(count * len(scenes) / 24, 24), ground=ground, gravity=gravity)
    for number, sample in enumerate(stage):
        turn = min(max(number - 1, 0) // count, len(scenes) - 1)
        settings_now = [replace(settings, **own[turn])]
        stage[number] = replace(sample, scene_settings=scenes[turn], settings=settings_now)
    found = simulate([mesh], [settings], scenes[0], stage)
    return np.array([frame.positions[0] for frame in found])


@pytest.mark.parametrize("body_type", ["CLOTH", "SOFT"])
def test_what_lies_on_a_slope_slides_once_the_ground_is_slippery(body_type: Any) -> None:
    """At 20 degrees it is held by a friction above tan 20°, and slides by g (sin − μ cos)."""
    tilt = np.radians(20.0)
    slope = floor(0.0, tilt=tilt)
    turn = np.array([[np.cos(tilt), 0, -np.sin(tilt)], [0, 1, 0], [np.sin(tilt), 0, np.cos(tilt)]])
    flat, size = (
        (sheet(4, size=0.2), 0.006)
        if body_type == "CLOTH"
        else (block((0.2, 0.2, 0.2), (3, 3, 3)), 0.0)
    )
    if body_type == "SOFT":
        size = 0.006 - flat.positions[:, 2].min()
    mesh = moved(flat, turn, size * slope.normal)
    settings = BodySettings(body_type=body_type, damping=0.0, friction=0.9, stiffness=1e5)
    scenes = [SceneSettings(ground_friction=each) for each in (0.8, 0.1)]
    track = keyed((mesh, settings), scenes, ground=slope)
    along = np.linalg.norm(track.mean(axis=1) - track[0].mean(axis=0), axis=1)
    assert along[12] < 0.01
    wanted = G * (np.sin(tilt) - 0.1 * np.cos(tilt)) * 0.5**2 / 2
    assert along[24] - along[12] == pytest.approx(wanted, rel=0.15)


def test_what_falls_bounces_once_the_ground_does() -> None:
    """From the height of the speed that is kept."""
    body = rope([(0.0, 0.0, 1.0), (0.1, 0.0, 1.0)]), BodySettings(body_type="ROPE", damping=0.0)
    fall, floor_below = np.sqrt(2.0 * (1.0 - 0.005) / G), floor(0.0)
    for restitution in (0.0, 0.8):
        scenes = [SceneSettings(), SceneSettings(ground_restitution=restitution)]
        height = keyed(body, scenes, ground=floor_below, seconds=0.375)[:, 0, 2]
        late = height[int(24 * fall) + 2 :]
        assert (late.max() > 0.1) == (restitution > 0.0)


def test_free_fall_is_right_while_substeps_are_keyed() -> None:
    """Steps of changing length, which the integrator corrects for."""
    body = rope([(0.0, 0.0, 0.0), (0.1, 0.0, 0.0)]), BodySettings(body_type="ROPE", damping=0.0)
    scenes = [SceneSettings(substeps=each) for each in (10, 3, 25)]
    height = keyed(body, scenes)[:, 0, 2]
    seconds = np.arange(len(height)) / 24
    assert height == pytest.approx(-G * seconds**2 / 2, abs=1e-9)


def test_settings_that_stay_the_same_change_nothing() -> None:
    """To the bit, given with samples or not."""
    body = pinned(sheet(8), [0, 8]), BodySettings()
    given = keyed(body, [SceneSettings(substeps=7)])
    mesh, settings = body
    stage = samples([mesh], frames(0.5, 24))
    plain = simulate([mesh], [settings], SceneSettings(substeps=7), stage)
    np.testing.assert_array_equal(given, np.array([frame.positions[0] for frame in plain]))


@pytest.mark.parametrize("by_size", [False, True])
def test_a_rope_that_gives_hangs_as_far_as_its_keyed_mass_says(by_size: bool) -> None:
    """Twice the mass, twice the stretch."""
    line = pinned(rope([(0.0, 0.0, -k / 20) for k in range(21)]), [0])
    settings = BodySettings(
        body_type="ROPE", stretch_compliance=0.02, damping=8.0, use_density=by_size, mass=0.5
    )
    name = "density" if by_size else "mass"
    values = [{name: 0.5}, {name: 1.0}]
    track = keyed((line, settings), [SceneSettings()] * 2, bodies=values, seconds=2.0)
    stretch = -track[:, -1, 2] - 1.0
    assert stretch[48] > 0.02
    assert stretch[96] == pytest.approx(2.0 * stretch[48], rel=0.02)


def test_jelly_keeps_its_shape_as_its_mass_is_keyed() -> None:
    """A bar that hangs by its end stretches as far as if it had always been so heavy."""
    mesh = moved(block((0.1, 0.1, 0.4), (2, 2, 8)), np.eye(3))
    top = np.flatnonzero(mesh.positions[:, 2] > mesh.positions[:, 2].max() - 1e-6)
    settings = BodySettings(body_type="SOFT", stiffness=4e4, damping=8.0)
    values = [{"mass": 2.0}, {"mass": 4.0}]
    body = pinned(mesh, top), settings
    track = keyed(body, [SceneSettings()] * 2, bodies=values, seconds=1.5)
    for number, value in zip((36, 72), values, strict=True):
        alone = keyed(body, [SceneSettings()], bodies=[value], seconds=1.5)
        assert track[number] == pytest.approx(alone[-1], abs=1e-4)
