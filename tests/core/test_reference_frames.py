"""Without all of the motion of its reference frame a body moves as in one at rest."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    UP,
    block,
    floor,
    frames,
    pinned,
    rope,
    samples,
    sheet,
    simulated,
    thrown,
    wind,
)
from tests.core.test_rigid import rigid
from tests.core.test_shells import STIFF, hat
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.reference_frames import rigid_motion
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

FPS, SECONDS = 24, 1.0
ACCELERATION = np.array([6.0, -2.0, 3.0])
SPEED = np.array([1.0, 0.5, 0.0])
SCENE = SceneSettings(substeps=8)
Body = tuple[MeshData, BodySettings]


def evenly(time: float) -> Floats:
    """Where a reference frame is that is accelerated evenly [m]."""
    return np.asarray(SPEED * time + ACCELERATION * time**2 / 2.0)


def jerkily(time: float) -> Floats:
    """Where a runner is, who goes up and down, and sets off at once."""
    up = np.array([0.3 * np.sin(9.0 * time), 0.2 * np.cos(14.0 * time) - 0.2])
    return np.append(3.0 * time, up)


def carried(
    body: Body, way: Callable[[float], Floats], share: float, start: Floats = SPEED
) -> Floats:
    """(frames + 1, n, 3) the motion in a reference frame that moves [m]."""
    mesh, settings = thrown(body[0], start), replace(body[1], inertia_share=share)
    times = frames(SECONDS, FPS)
    stage = samples([mesh], times, targets=lambda time: [body[0].positions + way(time)])
    found = simulate([mesh], [settings], SCENE, stage)
    ways = np.array([way(number / FPS) for number in range(len(times) + 1)])
    return np.asarray(np.array([frame.positions[0] for frame in found]) - ways[:, None])


def still(body: Body) -> Floats:
    """(frames + 1, n, 3) the motion in a reference frame at rest [m]."""
    return np.array(simulated([body], frames(SECONDS, FPS), SCENE)[0])


def bodies() -> dict[str, Body]:
    """A flag, a rope, jelly, a stiff hat, a cloth with a button, each held; jelly that is free.

    The free one has fewer vertices than nodes.
    """
    cloth, jelly = sheet(8), block((0.3, 0.3, 0.3), (3, 3, 3))
    top = np.flatnonzero(jelly.positions[:, 2] > jelly.positions[:, 2].max() - 1e-6)
    cap, button = hat(), rigid(sheet(8), slice(40, 45))
    return {
        "cloth": (pinned(cloth, [0, 8]), BodySettings()),
        "rope": (
            pinned(rope([(k / 20, 0.0, 0.0) for k in range(21)]), [0]),
            BodySettings(body_type="ROPE"),
        ),
        "jelly": (pinned(jelly, top), BodySettings(body_type="SOFT", stiffness=2e4)),
        "free jelly": (block((0.3, 0.3, 0.3), (1, 1, 1)), BodySettings(body_type="SOFT")),
        "shell": (pinned(cap, range(4)), STIFF),
        "rigid": (pinned(button, [0, 8]), BodySettings()),
    }


@pytest.mark.parametrize("way", [evenly, jerkily])
@pytest.mark.parametrize("kind", ["cloth", "rope", "jelly", "free jelly", "shell", "rigid"])
def test_in_an_accelerated_frame_it_moves_as_in_one_at_rest(
    kind: str, way: Callable[[float], Floats]
) -> None:
    """In that frame, to rounding; conjugate gradients end where rounding lets them."""
    body = bodies()[kind]
    start = SPEED if way is evenly else np.zeros(3)
    found = carried(body, way, 1.0, start) - still(body)
    assert np.abs(found).max() < (1e-9 if kind in ("cloth", "rope") else 2e-5)


def test_without_a_share_it_lags_as_physics_has_it() -> None:
    """In a frame that sets off evenly, free parts feel a − g: a pendulum swings about that."""
    body = bodies()["cloth"]
    lagging = carried(body, evenly, 0.0) - still(body)
    assert np.abs(lagging).max() > 0.3
    half = carried(body, evenly, 0.5) - still(body)
    assert 0.1 < np.abs(half).max() < np.abs(lagging).max()


def test_no_share_is_the_simulation_as_it_was() -> None:
    """To the bit."""
    body = bodies()["cloth"]
    again = body[0], replace(body[1], inertia_share=0.0)
    np.testing.assert_array_equal(carried(body, jerkily, 0.0), carried(again, jerkily, 0.0))


def test_half_a_share_leaves_half_of_the_acceleration_out() -> None:
    """A free particle beside the held one falls behind by half of the way."""
    line = rope([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (5.0, 0.0, 0.0), (6.0, 0.0, 0.0)])
    mesh = pinned(replace(line, edges=np.array([[0, 1], [2, 3]])), [0, 1])
    settings = BodySettings(body_type="ROPE", damping=0.0, gravity=0.0)
    for share in (0.0, 0.25, 1.0):
        way = carried((mesh, settings), evenly, share)[:, 3] - mesh.positions[3]
        times = np.arange(len(way))[:, None] / FPS
        wanted = -(1.0 - share) * ACCELERATION * times**2 / 2.0
        assert way == pytest.approx(wanted, abs=0.01)


def test_a_body_that_turns_with_its_frame_does_not_feel_that() -> None:
    """Held without weight by a wheel that turns to and fro, cloth keeps its place on it."""
    flat = sheet(6, size=0.5)
    body = pinned(flat, range(7)), BodySettings(gravity=0.0)

    def turned(time: float) -> Floats:
        angle = 0.8 * np.sin(9.0 * time)
        sine, cosine = np.sin(angle), np.cos(angle)
        turn = np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1.0]])
        return np.asarray(flat.positions @ turn)

    times = frames(1.0, FPS)
    tracks = {}
    for share in (0.0, 1.0):
        settings = replace(body[1], inertia_share=share)
        stage = samples([body[0]], times, targets=lambda time: [turned(time)])
        found = [frame.positions[0] for frame in simulate([body[0]], [settings], SCENE, stage)]
        places = np.array([turned(number / FPS) for number in range(len(found))])
        tracks[share] = np.abs(np.array(found) - places).max()
    assert tracks[1.0] < 5e-4 < 0.02 < tracks[0.0]


def test_it_meets_the_world_at_its_own_speed() -> None:
    """Carried over the ground and down to it, it stops there, and does not pass."""
    mesh = pinned(sheet(6, size=0.5), [0, 6])
    mesh = replace(mesh, positions=mesh.positions + 0.6 * UP)
    settings = BodySettings(inertia_share=1.0)
    down = samples(
        [mesh],
        frames(1.0, FPS),
        ground=floor(0.0),
        targets=lambda time: [mesh.positions - 0.4 * time * UP],
    )
    for frame in simulate([mesh], [settings], SCENE, down):
        assert frame.positions[0][:, 2].min() > 0.005 - 1e-3


def test_air_goes_along() -> None:
    """Wind acts on it as on a body at rest."""
    body = bodies()["cloth"]
    blown = [wind(4.0, np.array([0.0, 1.0, 0.0]))]
    mesh, settings = thrown(body[0], SPEED), replace(body[1], inertia_share=1.0)
    times = frames(SECONDS, FPS)
    stage = samples(
        [mesh], times, targets=lambda time: [body[0].positions + evenly(time)], fields=blown
    )
    found = [frame.positions[0] for frame in simulate([mesh], [settings], SCENE, stage)]
    (alone,) = simulated([body], times, SCENE, fields=blown)
    assert found[-1] - evenly(SECONDS) == pytest.approx(alone[-1], abs=1e-9)


@pytest.mark.parametrize("count", [1, 2, 40])
def test_the_motion_of_one_point_and_of_a_line_has_no_spin(count: int) -> None:
    """It turns no farther than its points show."""
    rng = np.random.default_rng(3)
    line = np.linspace(0.0, 1.0, count)[:, None] * np.array([1.0, 0.0, 0.0])
    before = rng.normal(size=(count, 3)) if count > 2 else line
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    centre, way, vector = rigid_motion(before, before @ turn.T + [1.0, 2.0, 3.0])
    wanted = np.zeros(3) if count == 1 else np.array([0.0, 0.0, np.pi / 2.0])
    assert vector == pytest.approx(wanted, abs=1e-6)
    assert centre + way == pytest.approx(turn @ centre + [1.0, 2.0, 3.0])


@pytest.mark.parametrize("kind", ["cloth", "rope", "jelly"])
def test_a_share_that_is_keyed_gives_no_push(kind: str) -> None:
    """In a frame that goes on evenly, without drag, all shares are alike, also as they change."""
    mesh, settings = bodies()[kind]
    settings = replace(settings, damping=0.0)
    times = frames(SECONDS, FPS)
    stage = samples([mesh], times, targets=lambda time: [mesh.positions + SPEED * time])
    shares = [0.0] * 8 + [0.5] * 4 + [1.0] * 5 + [0.0] * 8
    stage = [
        replace(sample, settings=[replace(settings, inertia_share=share)])
        for sample, share in zip(stage, shares, strict=True)
    ]
    found = simulate([thrown(mesh, SPEED)], [settings], SCENE, stage)
    ways = SPEED * np.arange(len(shares))[:, None, None] / FPS
    track = np.array([frame.positions[0] for frame in found]) - ways
    assert np.abs(track - still((mesh, settings))).max() < (1e-8 if kind != "jelly" else 2e-5)
