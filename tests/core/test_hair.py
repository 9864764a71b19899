"""Hair: strands that keep their length and shape at any frame rate, and stay out of the head."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    HALF,
    WEIGHTLESS,
    built_state,
    frames,
    hair,
    lengths,
    results,
    rotation,
    simulated,
    wind,
    work,
)
from tests.core.colliders import ball, collider
from verlet_addon.core.arrays import Floats
from verlet_addon.core.materials import MATERIALS
from verlet_addon.core.mesh import MeshData, Paint
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.strands.kernels import rub_strands

LENGTH = 0.2
"""Of strands [m]."""
HEAD = 0.1
"""Radius [m]."""
HAIR = BodySettings(
    body_type="HAIR",
    use_density=True,
    density=5e-5,
    bend_compliance=1e7,
    damping=2.0,
    thickness=0.002,
    friction=0.3,
)


def strands(roots: Floats, ways: Floats, points: int) -> MeshData:
    """Straight strands of LENGTH from roots (k, 3) along unit vectors (k, 3); two points held."""
    along = np.linspace(0.0, LENGTH, points)
    places = roots[:, None] + ways[:, None] * along[None, :, None]
    mesh = hair(places)
    return replace(mesh, paint=Paint(object_collisions=mesh.pin_weights))


def groom(count: int, points: int = 16, *, tilt: float = 0.0) -> MeshData:
    """Strands that stand on the upper half of the head, tilted from its normals [rad]."""
    rng = np.random.default_rng(7)
    ways = rng.normal(size=(count, 3))
    ways[:, 2] = np.abs(ways[:, 2])
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    beside = np.cross(ways, [0.3, 1.0, 0.2])
    beside /= np.linalg.norm(beside, axis=1)[:, None]
    return strands(HEAD * ways, np.cos(tilt) * ways + np.sin(tilt) * beside, points)


def single(points: int = 33) -> MeshData:
    """A level strand."""
    return strands(np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0]]), points)


@pytest.mark.parametrize("fps", [12, 24, 60, 120])
@pytest.mark.parametrize("substeps", [5, 10, 40])
def test_a_strand_hangs_alike_at_any_frame_rate(fps: int, substeps: int) -> None:
    """Its tip ends within half a millimetre of where fine steps put it, and it keeps its length."""
    mesh = single()
    body = replace(HAIR, damping=8.0)
    ends = []
    for rate, steps in ((fps, substeps), (240, 20)):
        scene = SceneSettings(substeps=steps)
        (track,) = simulated([(mesh, body)], frames(2.0, rate), scene)
        ends.append(track[-1])
    np.testing.assert_allclose(ends[0], ends[1], atol=5e-4)
    assert ends[0][-1, 2] < -0.1
    segments = lengths(ends[0], mesh.edges) * 32 / LENGTH
    np.testing.assert_allclose(segments, 1.0, atol=1e-6)


@pytest.mark.parametrize("tilt", [0.0, 1.2])
def test_strands_stay_out_of_a_turning_head(tilt: float) -> None:
    """No point is inside of it, whether hair stands or lies, and strands keep their lengths."""
    mesh = groom(60, tilt=tilt)
    head, places = ball(radius=HEAD, fine=32)

    def turned(time: float) -> Floats:
        turn = rotation((0.2, 0.1, 1.0), 1.2 * np.sin(6.0 * time))
        return np.asarray(np.einsum("xy,ny->nx", turn, places))

    def follow(time: float) -> list[Floats]:
        turn = rotation((0.2, 0.1, 1.0), 1.2 * np.sin(6.0 * time))
        return [np.einsum("xy,ny->nx", turn, mesh.positions)]

    (track,) = simulated(
        [(mesh, HAIR)],
        frames(1.0, 24),
        SceneSettings(substeps=5),
        targets=follow,
        colliders=[(head, turned)],
    )
    free = mesh.pin_weights < 1.0
    assert np.linalg.norm(track[:, free], axis=2).min() > HEAD * np.cos(np.pi / 32)
    for positions in track:
        strain = lengths(positions, mesh.edges) * 15 / LENGTH - 1.0
        assert np.abs(strain).max() < 1e-3


def test_only_points_of_hair_touch() -> None:
    """A wedge between two points of a strand touches a rope of these points, and no hair."""
    mesh = single(5)
    wedge = np.array([[0.125, 0.0, -1e-3], [0.124, -0.1, -0.1], [0.126, 0.1, -0.1]])
    rows = [
        work(results([(mesh, body)], [1 / 240], HALF, colliders=[(collider([[0, 1, 2]]), wedge)]))
        for body in (HAIR, replace(HAIR, body_type="ROPE", use_dynamic_mesh=True))
    ]
    assert [found.contact_rows > 0 for found in rows] == [False, True]


def tangle(count: int, points: int = 12, *, speed: float) -> MeshData:
    """Loose strands in a clump, which fly apart at random speeds [m/s] but hold nothing."""
    rng = np.random.default_rng(3)
    roots = rng.uniform(-0.02, 0.02, size=(count, 3))
    mesh = strands(roots, np.tile([0.0, 0.0, -1.0], (count, 1)), points)
    velocities = np.repeat(rng.normal(scale=speed, size=(count, 3)), points, axis=0)
    return replace(mesh, velocities=velocities, pin_weights=np.zeros(count * points))


def test_friction_of_strands_keeps_momentum_and_ends_their_differences() -> None:
    """Strands of a clump end with its mean velocity, at any number of steps and frames."""
    mesh, rate = tangle(40, speed=0.3), 5.0
    body = replace(HAIR, damping=0.0, strand_friction=rate, strand_spacing=0.2)
    ends = []
    for fps, substeps in ((24, 5), (120, 8)):
        (track,) = simulated(
            [(mesh, body)],
            frames(1.0, fps),
            SceneSettings(substeps=substeps, use_ground=False),
            gravity=WEIGHTLESS,
        )
        velocities = (track[-1] - track[-2]) * fps
        np.testing.assert_allclose(velocities.mean(axis=0), mesh.velocities.mean(axis=0), atol=1e-3)
        ends.append(np.std(velocities))
    assert ends[0] < 0.1 * np.std(mesh.velocities)
    assert ends[0] == pytest.approx(ends[1], rel=0.15)


def test_pressure_restores_the_volume_of_squeezed_strands() -> None:
    """A bundle that is thrown together comes apart again, and without pressure stays together."""
    mesh = tangle(60, speed=0.0)
    inwards = -8.0 * mesh.positions * [1.0, 1.0, 0.0]
    mesh = replace(mesh, velocities=inwards)
    widths = []
    for pressure in (0.0, 20.0):
        body = replace(
            HAIR, damping=8.0, strand_friction=5.0, strand_pressure=pressure, strand_spacing=0.01
        )
        scene = SceneSettings(substeps=10, use_ground=False)
        (track,) = simulated([(mesh, body)], frames(1.5, 24), scene, gravity=WEIGHTLESS)
        widths.append(np.std(track[-1, :, :2]) / np.std(mesh.positions[:, :2]))
    assert widths[0] < 0.4
    assert widths[1] > 0.8


def test_hair_at_rest_does_not_press_on_itself() -> None:
    """A groom without weight, whatever its density, stays exactly as it is."""
    mesh = groom(50)
    body = replace(HAIR, strand_friction=20.0, strand_pressure=10.0)
    (track,) = simulated([(mesh, body)], frames(0.5, 24), gravity=WEIGHTLESS)
    np.testing.assert_allclose(track[-1], mesh.positions, atol=1e-9)


def test_kernels_rub_strands_alike() -> None:
    """NumPy's and the compiled function change velocities alike."""
    mesh = tangle(30, speed=0.5)
    body = replace(HAIR, strand_friction=20.0, strand_pressure=30.0)
    model, state = built_state((mesh, body))
    assert model.strands is not None
    state.positions = 0.6 * state.positions
    both = [state.previous_positions.copy() for _ in range(2)]
    rub_strands(both[0], state.positions, model.strands, 0.01, 0.01)
    rub_strands.reference(both[1], state.positions, model.strands, 0.01, 0.01)
    assert np.abs(both[1] - state.previous_positions).max() > 1e-4
    np.testing.assert_allclose(both[0], both[1], atol=1e-15)


@pytest.mark.parametrize("pressure", [0.0, 10.0])
def test_hair_that_fell_on_a_head_comes_to_rest(pressure: float) -> None:
    """After three seconds most points move by less than a millimetre per second, none fast.

    Pressure is the gradient of an energy: one that only knew where it is denser kept hair moving at
    half a metre per second for ever.
    """
    mesh = groom(60, tilt=1.2)
    body = replace(MATERIALS["STRAIGHT"].settings, strand_friction=20.0, strand_pressure=pressure)
    (track,) = simulated(
        [(mesh, body)],
        frames(3.0, 24),
        SceneSettings(substeps=5, use_ground=False),
        colliders=[ball(radius=HEAD, fine=24)],
    )
    speeds = np.linalg.norm(track[-1] - track[-2], axis=1) * 24
    assert np.quantile(speeds, 0.9) < 1e-3
    assert speeds.max() < 0.1


def test_wind_lifts_a_lock_as_its_drag_and_weight_ask() -> None:
    """In a wind whose drag across it is its weight, a limp lock hangs at sin φ = cos² φ.

    Its diameter is that of its mass, some 0.4 mm, not of the distance that it keeps from a head.
    """
    density, speed = 1e-4, 1.74
    diameter = np.sqrt(4.0 * density / (650.0 * np.pi))
    drag = 0.5 * 1.225 * 1.2 * diameter * speed**2
    assert drag == pytest.approx(density * 9.81, rel=0.01)
    mesh = strands(np.zeros((1, 3)), np.array([[0.0, 0.0, -1.0]]), 17)
    body = replace(HAIR, density=density, bend_compliance=1e13, damping=0.0, thickness=0.005)
    track = simulated(
        [(mesh, body)], frames(6.0, 24), fields=[wind(speed, np.array([1.0, 0.0, 0.0]))]
    )[0]
    hung = (track[-48:, -1] - track[-48:, 2]).mean(axis=0)
    assert np.arctan2(hung[0], -hung[2]) == pytest.approx(np.arcsin(0.618), abs=0.03)
