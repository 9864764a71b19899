"""Stiff surfaces that are curved at rest keep their shape, all of it at once."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    WEIGHTLESS,
    Body,
    built_state,
    disc,
    floor,
    frames,
    kinetic_energy,
    make_mesh,
    momenta,
    moved,
    pinned,
    rope,
    rotation,
    sheet,
    simulated,
    slow,
    sphere,
    split,
    strains,
    thrown,
    tube,
)
from tests.core.colliders import ball
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.scene import Collider
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.shell.kernels import ShellSystem
from verlet_addon.core.state import ShellBatches, ready_batches

RADIUS = 0.1
STIFF = BodySettings(mass=0.2, bend_compliance=0.5, shear_compliance=1e-3)


def half_cylinder(around: int, rows: int, *, triangles: bool = False) -> MeshData:
    """Half a tube along y, a metre long, open at the bottom."""
    flat = sheet(around, rows, triangles=triangles)
    angle = flat.positions[:, 0] * np.pi
    along = flat.positions[:, 1] * (around / rows)
    points = np.stack([-RADIUS * np.cos(angle), along, RADIUS * np.sin(angle)], axis=1)
    return make_mesh(points, faces=flat.face_vertices.reshape(-1, 3 if triangles else 4).tolist())


def hat(around: int = 16) -> MeshData:
    """A dome with a brim, as wide as 26 cm, of quads but for its top."""
    polar = np.arange(1, 7) * np.pi / 12
    profile = [(0.1 * np.sin(turn), 0.12 * np.cos(turn)) for turn in polar]
    profile += [(0.115, -0.002), (0.13, -0.004)]
    turns = np.arange(around) * 2 * np.pi / around
    rings = [(r * np.cos(t), r * np.sin(t), z) for r, z in profile for t in turns]
    faces: list[tuple[int, ...]] = []
    for k in range(around):
        onward = (k + 1) % around
        faces.append((0, 1 + k, 1 + onward))
        faces += [
            (at + k, at + around + k, at + around + onward, at + onward)
            for at in range(1, 1 + (len(profile) - 1) * around, around)
        ]
    return make_mesh([(0.0, 0.0, 0.12), *rings], faces=faces)


def out_of_shape(mesh: MeshData, positions: Floats) -> float:
    """How far any vertex is from where the shape at rest, moved and turned, would have it [m]."""
    rest, now = (points - points.mean(axis=0) for points in (mesh.positions, positions))
    left, _, right = np.linalg.svd(rest.T @ now)
    mirrored = np.diag([1.0, 1.0, np.linalg.det(left @ right)])
    return float(np.linalg.norm(rest @ (left @ mirrored @ right) - now, axis=1).max())


def shell_of(body: Body, dt: float = 1 / 240) -> ShellSystem | None:
    """What solves for the shape of a body, if it is a shell."""
    model, state = built_state(body, dt=dt)
    batches = ready_batches(model, state, "TCV_EXACT", dt)
    return batches.shell if isinstance(batches, ShellBatches) else None


@pytest.mark.parametrize(
    "mesh",
    [sheet(12), sheet(12, triangles=True), disc(6), rope([(0.1 * k, 0, 0) for k in range(9)])],
    ids=["quads", "triangles", "disc", "rope"],
)
def test_what_is_flat_at_rest_is_no_shell(mesh: MeshData) -> None:
    """However stiff it is: its bends are linear, and solved for without the lengths."""
    assert shell_of((mesh, STIFF)) is None


def test_only_stiff_surfaces_are_shells() -> None:
    """Curved cloth folds: it is relaxed in turn as ever."""
    mesh = tube(16, 8)
    assert shell_of((mesh, BodySettings())) is None
    assert shell_of((mesh, STIFF)) is not None


@pytest.mark.parametrize(
    ("around", "rows", "triangles", "substeps"),
    [
        (8, 24, False, 5),
        (8, 24, False, 20),
        (8, 24, True, 5),
        (8, 24, True, 20),
        pytest.param(12, 36, True, 20, marks=pytest.mark.slow),
    ],
)
def test_half_a_tube_clamped_at_one_end_droops_by_the_formula(
    around: int, rows: int, triangles: bool, substeps: int
) -> None:
    """W L³ / 8 E I with I = R³ (π/2 − 4/π) for each thickness: it bends as a beam, and stays round.

    It is a polygon of quads, which triangles are taken together to.
    """
    mesh = half_cylinder(around, rows, triangles=triangles)
    assert droop(mesh, bend=0.2, substeps=substeps) == pytest.approx(1.0, rel=0.1)


def droop(mesh: MeshData, *, bend: float, substeps: int) -> float:
    """Of half a tube that is clamped at one end and comes to rest, by that of the formula."""
    stretch, mass = 1e-5, 0.5
    body = BodySettings(
        mass=mass,
        stretch_compliance=stretch,
        shear_compliance=2.6 * stretch,
        bend_compliance=bend,
        damping=20.0,
    )
    clamped = pinned(mesh, np.flatnonzero(mesh.positions[:, 1] == 0.0))
    scene = SceneSettings(substeps=substeps, use_ground=False)
    (track,) = simulated([(clamped, body)], frames(0.75, 24), scene)
    assert np.abs(track[-1] - track[-2]).max() < 1e-4
    wanted = mass * 9.81 * stretch / (8 * RADIUS**3 * (np.pi / 2 - 4 / np.pi))
    far = mesh.positions[:, 1] > 1.0 - 1e-9
    return float((mesh.positions - track[-1])[far, 2].mean() / wanted)


def test_a_shell_that_is_nearly_cloth_droops_by_the_formula_too() -> None:
    """Its round gives way a little; were its bends relaxed in turn, it would droop seven times."""
    assert droop(half_cylinder(8, 24), bend=6.0, substeps=10) == pytest.approx(1.0, rel=0.15)


@pytest.mark.parametrize("triangles", [*slow(False), True], ids=["quads", "triangles"])
def test_a_shell_that_is_thrown_keeps_its_momentum_and_gains_no_energy(triangles: bool) -> None:
    """Turning and trembling without weight or drag; only the motion within it may die down."""
    mesh = half_cylinder(8, 16, triangles=triangles)
    random = np.random.default_rng(3)
    velocities = 0.2 * random.normal(size=mesh.positions.shape)
    velocities += np.cross([3.0, 5.0, 2.0], mesh.positions - [0.0, 0.5, 0.0])
    body = thrown(mesh, velocities), BodySettings(mass=0.3, bend_compliance=0.2, damping=0.0)
    scene = SceneSettings(substeps=1)
    (track,) = simulated([body], frames(0.5, 240), scene, gravity=WEIGHTLESS)
    momentum, spin = momenta(body, track, 1 / 240)
    np.testing.assert_allclose(momentum, momentum[:1].repeat(len(momentum), axis=0), atol=1e-9)
    np.testing.assert_allclose(spin, spin[:1].repeat(len(spin), axis=0), atol=1e-9)
    energy = kinetic_energy(body, track, 1 / 240)
    assert energy.max() <= energy[0] * 1.001
    assert energy[-1] > 0.2 * energy[0]


def test_a_shell_falls_freely() -> None:
    """By g t²/2, and its shape stays what it is."""
    mesh = moved(hat(), rotation((1, 2, 3), 1.0))
    (track,) = simulated([(mesh, replace(STIFF, damping=0.0))], frames(0.5, 24))
    fall = np.broadcast_to([0.0, 0.0, -9.81 * 0.5**2 / 2], mesh.positions.shape)
    np.testing.assert_allclose(track[-1] - mesh.positions, fall, atol=1e-6)


def test_soft_pins_hold_a_shell_as_springs() -> None:
    """Of weight ½ they swing at 20 rad/s, so that all of it sags by g / 20²."""
    mesh = half_cylinder(6, 10)
    mesh = pinned(mesh, np.arange(len(mesh.positions)), weight=0.5)
    body = BodySettings(mass=0.2, bend_compliance=0.2, damping=20.0)
    (track,) = simulated([(mesh, body)], frames(1.5, 24))
    sag = mesh.positions[:, 2] - track[-1, :, 2]
    np.testing.assert_allclose(sag, 9.81 / 20.0**2, rtol=0.01)


@pytest.mark.slow
def test_a_hat_dropped_on_the_ground_keeps_its_shape() -> None:
    """It tumbles, comes to rest on the ground, and is as it was."""
    mesh = moved(hat(12), rotation((1.0, 0.3, 0.0), 1.2), (0.0, 0.0, 0.3))
    # As it starts a nanometre higher or lower, it tumbles for half a second or for two.
    (track,) = simulated([(mesh, STIFF)], frames(3.0, 24), ground=floor())
    assert out_of_shape(mesh, track[-1]) < 1e-3
    assert track[..., 2].min() > STIFF.thickness - 1e-6
    assert np.abs(track[-1] - track[-2]).max() * 24 < 0.02
    strained = np.abs(strains(mesh, track))
    # An impact strains single edges in the frame in which it happens; by how much is decided by
    # last digits: 0.2 to 8 %, and 0.1 to 2.2 % at the 99th percentile, as it starts a nanometre
    # higher or lower.
    assert np.sort(strained.max(axis=1))[-3] < 0.02
    assert np.sort(np.percentile(strained, 99, axis=1))[-2] < 0.01


@pytest.mark.slow
def test_what_hits_hard_has_its_lengths_again_soon() -> None:
    """For a moment single edges are strained by 0.4 to 15 %, as the last digits decide."""
    mesh = moved(hat(), rotation((1, 0.3, 0), 0.4), (0.0, 0.0, 0.25))
    struck = thrown(mesh, (0.0, 0.0, -2.0))
    around = [ball(radius=0.1, friction=0.5)]
    (track,) = simulated(
        [(struck, replace(STIFF, damping=0.5))], frames(0.25, 24), colliders=around
    )
    assert strains(mesh, track[-1]).max() < 0.02


@pytest.mark.slow
def test_a_hat_dropped_on_a_ball_keeps_its_shape() -> None:
    """It lands on the head, and is hardly bent by that."""
    head = split(sphere(16, 8, radius=0.08))
    ball = Collider("Ball", head.face_vertices.reshape(-1, 3), 0.0, 0.5, 0.0, False)
    mesh = moved(hat(), rotation((1.0, 0.3, 0.0), 0.2), (0.01, 0.0, 0.1))
    (track,) = simulated(
        [(mesh, STIFF)],
        frames(0.3, 24),
        colliders=[(ball, head.positions + np.array([0.0, 0.0, 0.09]))],
    )
    assert track[-1, :, 2].mean() > 0.09
    assert out_of_shape(mesh, track[-1]) < 2e-3
    assert np.abs(strains(mesh, track)).max() < 0.05
