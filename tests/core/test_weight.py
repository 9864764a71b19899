"""What lies on something presses on it with its weight, and what carries it, carries it along."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    HALF,
    Body,
    block,
    floor,
    frames,
    make_mesh,
    moved,
    pinned,
    sheet,
    simulated,
)
from tests.core.colliders import GAP, Moving, ball, crossed, plate, puck
from verlet_addon.core.arrays import Floats
from verlet_addon.core.bodies.body_step import BodyStep
from verlet_addon.core.contacts.solve.contact_solver import collide
from verlet_addon.core.contacts.solve.contact_step import ContactStep
from verlet_addon.core.settings import BodySettings

G, MASS, FPS, SUBSTEPS = 9.81, 0.5, 24, HALF.substeps
Forces = Callable[[], Floats]


@pytest.fixture
def forces(monkeypatch: pytest.MonkeyPatch) -> Forces:
    """(steps, 3) what contacts gave the momentum of the last body per second, step by step [N]."""
    seen: list[Floats] = []

    def measured(body_steps: Sequence[BodyStep], contact_step: ContactStep, dt: float) -> None:
        collide(body_steps, contact_step, dt)
        rows, owners = contact_step.rows, contact_step.world.surfaces.owners
        share = (rows.weights * (owners[rows.particles] == len(body_steps) - 1)).sum(axis=0)
        given = rows.normals * rows.normal_multipliers - rows.friction_multipliers
        seen.append((given * share).sum(axis=1) / dt**2)

    monkeypatch.setattr("verlet_addon.core.step.collide", measured)
    return lambda: np.array(seen)


def check_rest(track: Floats, pressed: Floats, weight: float) -> None:
    """Over the last half second the force is the weight, to five per cent, and nothing drifts."""
    mean = pressed[-FPS * SUBSTEPS // 2 :].mean(axis=0)
    np.testing.assert_allclose(mean, [0.0, 0.0, weight], atol=0.05 * weight)
    drift = track[-1].mean(axis=0) - track[-FPS // 2].mean(axis=0)
    assert np.abs(drift).max() < 1e-3


LIGHT = BodySettings(mass=MASS, thickness=GAP, damping=2.0, friction=1.0)
JELLY = BodySettings(body_type="SOFT", resolution=5)
IN_VACUUM = replace(LIGHT, damping=0.0)
PUCK: Body = (make_mesh(puck(), faces=[(0, 1, 2)]), IN_VACUUM)


def test_a_plate_carries_the_weight_of_what_lies_on_it(forces: Forces) -> None:
    (track,) = simulated([PUCK], frames(1.0, FPS), HALF, colliders=[plate(friction=1.0)])
    check_rest(track, forces(), MASS * G)


@pytest.mark.slow
def test_a_ball_carries_the_weight_of_a_cloth_over_it(forces: Forces) -> None:
    """Its corners hang down; all of it rests on the ball."""
    cloth = (moved(sheet(12), np.eye(3), (-0.5, -0.5, 0.32)), LIGHT)
    (track,) = simulated([cloth], frames(2.0, FPS), HALF, colliders=[ball(friction=1.0)])
    check_rest(track, forces(), MASS * G)


@pytest.mark.slow
def test_jelly_carries_the_weight_of_a_cloth_on_it(forces: Forces) -> None:
    jelly = (moved(block((0.5,) * 3, (4,) * 3), np.eye(3), (-0.25, -0.25, 0.01)), JELLY)
    cloth = (moved(sheet(4, size=0.4), np.eye(3), (-0.2, -0.2, 0.53)), LIGHT)
    _, track = simulated([jelly, cloth], frames(2.0, FPS), HALF, ground=floor())
    check_rest(track, forces(), MASS * G)


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "resolution"), [(6, 5), (12, 8)])
def test_hung_cloth_carries_the_weight_of_jelly_on_it(
    forces: Forces, cells: int, resolution: int
) -> None:
    """However many vertices either has; and both come to rest."""
    corners = np.array([0, cells, cells * (cells + 1), (cells + 1) ** 2 - 1])
    cloth = (pinned(sheet(cells), corners), BodySettings())
    cube = moved(block((0.3,) * 3, (5,) * 3), np.eye(3), (0.35, 0.35, 0.02))
    tracks = simulated(
        [cloth, (cube, replace(JELLY, resolution=resolution))], frames(3.0, FPS), HALF
    )
    check_rest(tracks[1], forces(), MASS * G)
    for track in tracks:
        assert np.linalg.norm(track[-1] - track[-2], axis=1).max() * FPS < 0.03


@pytest.mark.parametrize("pull", [-4.0, 4.0])
def test_a_lift_presses_by_its_acceleration(forces: Forces, pull: float) -> None:
    """Setting off upwards or downwards at 4 m/s² it feels m (g + a); then it goes evenly.

    Frame by frame its way is straight, so that its speed changes in jumps: what counts is the mean
    of the half second in which it sets off and the quarter of a second after that.
    """
    shape, places = plate(friction=1.0)

    def place(time: float) -> Floats:
        rising = min(max(time - 0.5, 0.0), 0.5)
        way = pull * (rising**2 / 2 + rising * max(time - 1.0, 0.0))
        return np.asarray(places + np.array([0.0, 0.0, way]))

    lift: Moving = (shape, place)
    (track,) = simulated([PUCK], frames(2.0, FPS), HALF, colliders=[lift])
    pressed = forces()[:, 2]
    steps = FPS * SUBSTEPS
    setting_off = pressed[steps // 2 : steps + steps // 4].mean()
    assert setting_off == pytest.approx(MASS * (G + pull * 0.5 / 0.75), rel=0.05)
    assert pressed[-steps // 2 :].mean() == pytest.approx(MASS * G, rel=0.05)
    np.testing.assert_allclose(track[-1, :, 2] - place(2.0)[0, 2], GAP, atol=1e-6)


@pytest.mark.slow
def test_a_cloth_hung_from_four_corners_holds_a_jelly() -> None:
    """It hangs through under its weight, and nothing passes; the jelly stays where it was put."""
    corners = [0, 12, 12 * 13, 13 * 13 - 1]
    hung = pinned(moved(sheet(12, size=1.2), np.eye(3), (-0.6, -0.6, 1.0)), corners)
    jelly = moved(block((0.3,) * 3, (3,) * 3), np.eye(3), (-0.15, -0.15, 1.03))
    bodies = [(hung, BodySettings()), (jelly, JELLY)]
    tracks = simulated(bodies, frames(1.75, FPS), HALF)
    assert crossed(bodies, tracks, []) == 0
    assert tracks[0][-1, :, 2].min() < 0.98
    middle = tracks[1][-1].mean(axis=0)
    assert np.linalg.norm(middle[:2]) < 0.02
    assert middle[2] > 0.9


@pytest.mark.parametrize("kind", ["box", "sheet"])
def test_what_lies_on_taut_cloth_is_not_thrown_up(kind: str) -> None:
    """A fifth as heavy as the cloth, it comes no higher than it fell from, and soon lies still.

    The cloth sags by a few centimetres as edges stretch by 0.4 per cent, and so much it may rise.
    The walls of a box are as loose as sails, and swing on while the box as a whole lies.
    """
    hung = pinned(moved(sheet(12, size=1.2), np.eye(3), (-0.6, -0.6, 1.0)), [0, 12, 156, 168])
    light = block((0.3,) * 3, (3,) * 3) if kind == "box" else sheet(4, size=0.3)
    fallen = (moved(light, np.eye(3), (-0.15, -0.15, 1.03)), BodySettings(mass=0.1))
    tracks = simulated([(hung, BodySettings()), fallen], frames(3.0, FPS), HALF)
    heights = tracks[1][:, :, 2].mean(axis=1)
    assert heights.max() < heights[0] + 0.03
    lying = [tracks[0], tracks[1].mean(axis=1, keepdims=True) if kind == "box" else tracks[1]]
    for track in lying:
        assert np.linalg.norm(np.diff(track[-12:], axis=0), axis=2).max() * FPS < 0.05


def test_taut_cloth_comes_to_rest_on_a_ball() -> None:
    """Hung by its corners over a ball three centimetres below, it lies on it after two seconds."""
    hung = pinned(moved(sheet(12, size=1.2), np.eye(3), (-0.6, -0.6, 1.0)), [0, 12, 156, 168])
    shape, places = ball(radius=0.1, friction=0.5)
    around = [(shape, places + np.array([0.02, 0.01, 0.87]))]
    (track,) = simulated([(hung, BodySettings())], frames(2.5, FPS), HALF, colliders=around)
    assert np.linalg.norm(np.diff(track[-12:], axis=0), axis=2).max() * FPS < 0.2
