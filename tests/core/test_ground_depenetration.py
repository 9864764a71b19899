"""Bodies that start in the ground are pushed out of it, and gain no speed by it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    HALF,
    WEIGHTLESS,
    Body,
    cube,
    floor,
    frames,
    moved,
    pinned,
    rope,
    rotation,
    sheet,
    simulated,
    slow,
    sphere,
    split,
    tube,
)
from tests.core.colliders import collider
from verlet_addon.core.arrays import Floats
from verlet_addon.core.contacts.sides.depenetration import DEPENETRATION_TIME
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.scene import Plane
from verlet_addon.core.settings import BodySettings

THICKNESS = 0.005
"""What the default settings keep from the ground [m]."""
TINY = 1e-9
"""Rounding [m]."""
JELLY = BodySettings(body_type="SOFT")


def upright(mesh: MeshData, height: float) -> MeshData:
    """A sheet stood on its edge, which is at this height [m]."""
    return moved(mesh, rotation((1, 0, 0), np.pi / 2), (0.0, 0.0, height))


BODIES: dict[str, Body] = {
    "cube": (cube(), JELLY),
    "sphere": (sphere(12, 8, radius=1.0), JELLY),
    "sphere of triangles": (split(sphere(8, 6, radius=1.0)), JELLY),
    "cube far below": (moved(cube(), np.eye(3), (0.0, 0.0, -7.0)), JELLY),
    "bouncy cube": (cube(), BodySettings(body_type="SOFT", restitution=1.0)),
    "pipe": (moved(tube(12, 6), np.eye(3), (0.0, 0.0, -0.5)), BodySettings()),
    "upright sheet": (upright(sheet(10), -0.5), BodySettings()),
    "sheet aslant": (moved(sheet(10), rotation((1, 1, 0), 0.5)), BodySettings()),
    "upright rope": (
        rope([(0.0, 0.0, z) for z in np.linspace(-0.5, 0.5, 21)]),
        BodySettings(body_type="ROPE"),
    ),
}


def moving(time: float) -> Plane:
    """Ground that rises."""
    return floor(0.5 * time)


ALIKE = ("sphere", "sphere of triangles", "cube far below", "bouncy cube")
"""Jelly that does as the cube does."""


def heights(track: Floats, ground: Plane | Callable[[float], Plane], fps: float) -> Floats:
    """(frames + 1, n) above the ground of each frame [m]."""
    planes = [ground(k / fps) if callable(ground) else ground for k in range(len(track))]
    above = [points - plane.point for points, plane in zip(track, planes, strict=True)]
    return np.array([vectors @ plane.normal for vectors, plane in zip(above, planes, strict=True)])


@pytest.mark.parametrize("name", [*(name for name in BODIES if name not in ALIKE), *slow(*ALIKE)])
def test_is_eased_out_without_speed(name: str) -> None:
    """Nothing rises more than the deepest vertex was deep, nor at once; then all is out."""
    check_easing(BODIES[name], floor(), fps=24)


@pytest.mark.slow
@pytest.mark.parametrize("ground", [floor(tilt=0.3), moving], ids=["tilted", "rising"])
@pytest.mark.parametrize("name", ["cube", "sphere", "upright sheet"])
def test_any_ground_eases_at_any_frame_rate(
    name: str, ground: Plane | Callable[[float], Plane]
) -> None:
    """The same on a slope and on ground that rises, at 60 frames a second."""
    check_easing(BODIES[name], ground, fps=60)


def check_easing(body: Body, ground: Plane | Callable[[float], Plane], *, fps: int) -> None:
    """Asserts that a body comes out bit by bit and no higher than it must."""
    (track,) = simulated([body], frames(0.65, fps), HALF, ground=ground)
    height = heights(track, ground, fps)
    depth = THICKNESS - height[0].min()
    # Gained speed would show: a floor that pushed would be 3 m/s fast, for 0.46 m more.
    assert height.max() < height[0].max() + 1.02 * depth
    # A floor that eases in and out is quickest in the middle, where it rises 1.5 times its mean;
    # what leans and tips over meanwhile may add a little.
    lifted = np.diff(height.min(axis=1)).max()
    assert lifted < 1.1 * 1.5 * depth / (DEPENETRATION_TIME * fps)
    out = height[int(np.ceil(DEPENETRATION_TIME * fps)) :]
    assert out.min() > THICKNESS - TINY
    assert out[0].min() < THICKNESS + 0.01 * depth, "it should be lying on the ground"


@pytest.mark.slow
def test_is_at_the_same_height_at_any_frame_rate() -> None:
    """How far a body has come depends on the time alone, not on the frames or steps it took."""
    lowest = [
        simulated([BODIES["cube"]], frames(0.5, fps), ground=floor())[0][..., 2].min(axis=1)
        for fps in (24, 120)
    ]
    np.testing.assert_allclose(lowest[0], lowest[1][::5], atol=1e-6)


@pytest.mark.parametrize("depth", [0.04, 0.15])
def test_the_ground_lets_out_as_a_collider_does(depth: float) -> None:
    """Jelly is as high in each frame as from a plate of the same depth; ways differ by the gap."""
    mesh = moved(cube(0.5), np.eye(3), (0.0, 0.0, 0.25 - depth))
    solid = split(cube())
    places = solid.positions * [2.0, 2.0, 0.5] - [0.0, 0.0, 0.5]
    plate = collider(solid.face_vertices.reshape(-1, 3)), places
    where: list[dict[str, Any]] = [{"ground": floor()}, {"colliders": [plate]}]
    (above,), (beside,) = (
        simulated([(mesh, JELLY)], frames(0.5, 48), HALF, gravity=WEIGHTLESS, **each)
        for each in where
    )
    assert np.abs(above - beside).max() < 0.1 * depth


@pytest.mark.slow
def test_without_weight_it_stays_where_it_came_out() -> None:
    """No speed is left: without gravity the cube would drift off for ever."""
    (track,) = simulated([BODIES["cube"]], frames(3.0, 24), ground=floor(), gravity=WEIGHTLESS)
    out = BODIES["cube"][0].positions + np.array([0.0, 0.0, 1.0 + THICKNESS])
    np.testing.assert_allclose(track[-1], out, atol=1e-6)


def test_held_curtain_is_pushed_up_from_below() -> None:
    """A curtain too long for its rail ends on the ground, where it crumples, not above the rail."""
    mesh = pinned(upright(sheet(10), -0.2), np.arange(110, 121))
    (track,) = simulated([(mesh, BodySettings())], frames(2.0, 24), ground=floor())
    free = mesh.pin_weights == 0.0
    assert track[..., 2].max() < 0.8 + 1e-3
    assert track[1, free, 2].min() < -0.15, "it should come out little by little"
    assert track[13:, free, 2].min() > THICKNESS - TINY


def test_pins_in_the_ground_lift_nothing() -> None:
    """What is pinned in the ground stays there, and its body too."""
    mesh = pinned(upright(sheet(10), -0.05), np.arange(11))
    (track,) = simulated([(mesh, BodySettings())], frames(1.0, 24), ground=floor())
    np.testing.assert_array_equal(track[-1, :11], mesh.positions[:11])
    assert track[..., 2].max() < 0.95 + 1e-3


@pytest.mark.slow
def test_what_has_come_out_stays_out() -> None:
    """A cube in ground that drops away and comes back is not let in again."""

    def ground(time: float) -> Plane:
        return floor(-1.5 * np.sin(min(time / 0.4, 1.0) * np.pi))

    (track,) = simulated([BODIES["cube"]], frames(1.0, 24), ground=ground)
    assert track[-1, :, 2].min() > THICKNESS - TINY
    heights_then = heights(track, ground, 24)
    out = int(np.argmax(heights_then.min(axis=1) >= THICKNESS))
    assert 0 < out < 10
    assert heights_then[out:].min() > THICKNESS - TINY
