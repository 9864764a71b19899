"""What must not matter does not: place, order, names, company; and what nature keeps is kept."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    GRAVITY,
    WEIGHTLESS,
    Body,
    advance,
    built_state,
    disc,
    floor,
    frames,
    kinetic_energy,
    masses,
    momenta,
    moved,
    net,
    pinned,
    rope,
    rotation,
    sheet,
    simulated,
    sphere,
    strains,
    thrown,
    tube,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.scene import Plane
from verlet_addon.core.settings import BodySettings, SceneSettings

SHORT = frames(0.25, 24)
"""Short enough that rounding is not yet amplified: crumpling is chaotic [s]."""
SCENE = SceneSettings(substeps=4)
SMOOTH = BodySettings(bend_compliance=10.0)


def shaken(mesh: MeshData, *, speed: float = 1.0) -> MeshData:
    """The mesh with random velocities, the same in every run."""
    random = np.random.default_rng(7)
    return thrown(mesh, random.normal(scale=speed, size=mesh.positions.shape))


ROPE = rope(np.eye(3)[[0, 1, 2, 0, 1, 2, 1]] / 3)
SCENES: dict[str, Body] = {
    "hung quads": (pinned(sheet(5), [0, 5]), SMOOTH),
    "hung triangles": (pinned(sheet(5, triangles=True), [0, 5]), SMOOTH),
    "free disc": (shaken(disc(3)), SMOOTH),
    "free tube": (shaken(tube(8, 4)), SMOOTH),
    "free ball": (shaken(sphere(20, 4)), SMOOTH),
    "hung rope": (pinned(ROPE, [0]), BodySettings(body_type="ROPE", bend_compliance=10.0)),
    "free rope": (shaken(ROPE), BodySettings(body_type="ROPE", bend_compliance=10.0)),
}
every_scene = pytest.mark.parametrize("scene", SCENES)


@every_scene
@pytest.mark.parametrize(
    ("matrix", "shift"),
    [
        (rotation((0.3, 1.0, 0.6), 2.0), (0.0, 0.0, 0.0)),
        (np.eye(3), (3.0, -4.0, 1.0)),
        (np.diag([-1.0, 1.0, 1.0]), (0.0, 0.0, 0.0)),
    ],
    ids=["turned", "shifted", "mirrored"],
)
def test_scene_turned_shifted_or_mirrored(scene: str, matrix: Floats, shift: Floats) -> None:
    """A scene turned, shifted or mirrored as a whole, with its gravity and ground, goes alike."""
    mesh, body = SCENES[scene]
    ground = Plane(point=np.array([0.0, 0.0, -0.05]), normal=np.array([0.0, 0.0, 1.0]))
    (track,) = simulated([(mesh, body)], SHORT, SCENE, ground=ground)
    (other,) = simulated(
        [(moved(mesh, matrix, shift), body)],
        SHORT,
        SCENE,
        gravity=matrix @ GRAVITY,
        ground=Plane(point=matrix @ ground.point + shift, normal=matrix @ ground.normal),
    )
    np.testing.assert_allclose(other, track @ matrix.T + shift, rtol=0, atol=1e-9)


@every_scene
def test_reruns_are_bit_identical(scene: str) -> None:
    """The same scene gives the same bits, whatever the body is called."""
    mesh, body = SCENES[scene]
    (track,) = simulated([(mesh, body)], SHORT, SCENE)
    (again,) = simulated([(replace(mesh, name="Änother"), body)], SHORT, SCENE)
    np.testing.assert_array_equal(again, track)


@pytest.mark.parametrize(
    ("scene", "company"),
    [
        ("hung quads", "free rope"),
        ("hung quads", "hung rope"),
        ("hung rope", "free disc"),
        ("hung quads", "free disc"),
        ("hung rope", "free rope"),
    ],
)
def test_company_changes_nothing(scene: str, company: str) -> None:
    """Bodies that do not touch, in either order, move bit for bit as each does alone."""
    mesh, settings = SCENES[company]
    other = moved(mesh, np.eye(3), (10.0, 0.0, 0.0)), settings
    (alone,) = simulated([SCENES[scene]], SHORT, SCENE)
    first, _ = simulated([SCENES[scene], other], SHORT, SCENE)
    _, last = simulated([other, SCENES[scene]], SHORT, SCENE)
    np.testing.assert_array_equal(first, alone)
    np.testing.assert_array_equal(last, alone)


def test_particles_may_be_no_vertices() -> None:
    """A particle that no vertex of the mesh stands for falls too, and moves none of them."""
    mesh, body = SCENES["free disc"]
    plain, extended = built_state((mesh, body)), built_state((mesh, body))
    model, state = extended
    inner = mesh.positions.mean(axis=0) + np.array([0.0, 0.0, 1.0])
    state.positions = np.c_[state.positions, inner]
    state.previous_positions = np.c_[state.previous_positions, inner]
    model = replace(
        model,
        inverse_masses=np.append(model.inverse_masses, 1.0),
        free_components=np.append(model.free_components, 1),
        thicknesses=np.append(model.thicknesses, 0.01),
    )
    bodies, targets = [plain, (model, state)], [mesh.positions] * 2
    advance(bodies, targets, dt=1 / 240, steps=120, ground=floor(-1.0))
    np.testing.assert_array_equal(state.positions[:, : len(mesh.positions)], plain[1].positions)
    assert state.positions[2, -1] < inner[2] - 0.9


FREE = [name for name in SCENES if not name.startswith("hung")]


@pytest.mark.parametrize(
    "scene",
    FREE,
)
@pytest.mark.parametrize("stretch_compliance", [0.0, 1e-2])
def test_momentum_is_kept(scene: str, stretch_compliance: float) -> None:
    """Without a force from outside, linear and angular momentum stay as they are."""
    mesh, body = SCENES[scene]
    body = replace(body, damping=0.0, stretch_compliance=stretch_compliance)
    (track,) = simulated(
        [(mesh, body)], frames(0.2, 240), SceneSettings(substeps=1), gravity=WEIGHTLESS
    )
    linear, angular = momenta((mesh, body), track, 1 / 240)
    np.testing.assert_allclose(linear - linear[0], 0.0, atol=1e-10)
    np.testing.assert_allclose(angular - angular[0], 0.0, atol=1e-10)
    assert np.abs(angular[0]).max() > 1e-3, "there should be something to keep"


ENERGETIC: dict[str, Body] = {
    "rope": (
        pinned(rope(np.linspace((0, 0, 0), (1, 0, 0), 9)), [0]),
        BodySettings(body_type="ROPE"),
    ),
    "springy rope": (
        pinned(rope(np.linspace((0, 0, 0), (1, 0, 0), 9)), [0]),
        BodySettings(body_type="ROPE", stretch_compliance=1e-3),
    ),
    "pinned edge": (pinned(sheet(4), np.arange(5)), BodySettings()),
    "pinned corners": (pinned(sheet(4, triangles=True), [0, 4]), BodySettings()),
    "stretchy sheet": (pinned(sheet(4), [0, 4]), BodySettings(stretch_compliance=1e-2)),
    "ball hung by its pole": (pinned(sphere(18, 4), [0]), BodySettings()),
    "free cloth": (shaken(sheet(4)), BodySettings()),
    "free disc": (shaken(disc(2)), BodySettings()),
}


def energy_rise(
    mesh: MeshData, body: BodySettings, gravity: Floats, track: Floats, fps: int
) -> float:
    """How far kinetic energy and height together pass their start, as a share of the kinetic."""
    between = (track[1:] + track[:-1]) / 2
    kinetic = kinetic_energy((mesh, body), track, 1 / fps)
    energy = kinetic - (masses((mesh, body)) * between * gravity).sum(axis=(1, 2))
    return float((energy - energy[0]).max() / kinetic.max())


@pytest.mark.parametrize("scene", ENERGETIC)
def test_undamped_energy_never_rises(scene: str) -> None:
    """Without damping, kinetic energy and height together never pass their start by 0.1 %."""
    mesh, body = ENERGETIC[scene]
    body = replace(body, damping=0.0)
    fps = 60
    gravity = WEIGHTLESS if scene.startswith("free") else GRAVITY
    (track,) = simulated(
        [(mesh, body)], frames(5.0, fps), SceneSettings(substeps=1), gravity=gravity
    )
    assert energy_rise(mesh, body, gravity, track, fps) < 1e-3
    assert strains(mesh, track).max() < 0.5, "it should not come apart"


@pytest.mark.parametrize("pins", [[0, 10], range(11)], ids=["corners", "edge"])
@pytest.mark.parametrize("triangles", [False, True])
def test_undamped_energy_never_rises_in_tiny_steps(triangles: bool, pins: Sequence[int]) -> None:
    """Cloth that falls from its pins gains nothing from what sweeps leave over, however often."""
    mesh, body = pinned(sheet(10, triangles=triangles), pins), BodySettings(damping=0.0)
    scene = SceneSettings(substeps=1)
    (track,) = simulated([(mesh, body)], frames(0.5, 960), scene)
    assert energy_rise(mesh, body, GRAVITY, track, 960) < 1e-3


@pytest.mark.parametrize("compliance", [0.0, 1e-4, 0.1])
@pytest.mark.parametrize(
    ("mesh", "seconds"),
    # A net has fallen and swung back after half the time, and needs ten times as long a step.
    [(net(3), 0.75), (rope(np.linspace((0.0, 0.0, 0.0), (0.8, 0.0, -0.6), 12)), 1.5)],
    ids=["net", "rope"],
)
def test_undamped_ropes_gain_nothing_in_tiny_steps(
    mesh: MeshData, seconds: float, compliance: float
) -> None:
    """Ropes and nets do not shake themselves up, firm or springy, however small the step."""
    mesh = pinned(mesh, [0])
    body = BodySettings(body_type="ROPE", damping=0.0, stretch_compliance=compliance)
    (track,) = simulated([(mesh, body)], frames(seconds, 720), SceneSettings(substeps=1))
    assert energy_rise(mesh, body, GRAVITY, track, 720) < 1e-3


def test_pins_are_on_their_targets() -> None:
    """Pinned vertices follow the animated mesh to the bit, frame by frame."""
    mesh = pinned(sheet(4), [0, 4])

    def targets(time: float) -> list[Floats]:
        return [moved(mesh, rotation((0, 0, 1), 3.0 * time), (time, 0.0, 0.0)).positions]

    (track,) = simulated([(mesh, SMOOTH)], SHORT, SCENE, targets=targets)
    for positions, time in zip(track, np.concatenate([[0.0], np.cumsum(SHORT)]), strict=True):
        np.testing.assert_array_equal(positions[[0, 4]], targets(float(time))[0][[0, 4]])


def sag_of_goal(weight: float, *, substeps: int = 4) -> float:
    """How far below its target a vertex ends up that its pin group draws with this weight [m]."""
    mesh = pinned(sheet(1), np.arange(4), weight=weight)
    body = BodySettings(damping=20.0)
    (track,) = simulated([(mesh, body)], frames(3.0, 24), SceneSettings(substeps=substeps))
    return float(-track[-1, 0, 2])


def test_soft_pins_hold_by_their_weight() -> None:
    """The lower its weight, the further a pin lets go; the steps do not matter, nor the mass."""
    sags = [sag_of_goal(weight) for weight in (0.2, 0.5, 0.8, 0.95)]
    assert (np.diff(sags) < 0.0).all()
    assert sags[1] == pytest.approx(9.81 / 20.0**2, rel=1e-3)
    assert sag_of_goal(0.5, substeps=12) == pytest.approx(sags[1], rel=1e-3)
