"""Rigid parts: each moves as one, keeps its momentum, and swings as rigid bodies do."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    IN_ONE_STEP,
    WEIGHTLESS,
    advance,
    built_state,
    cube,
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
    strains,
    strewn,
    thrown,
)
from tests.core.both_bodies import in_numpy
from tests.core.colliders import plate
from verlet_addon.core.arrays import Floats, Integers
from verlet_addon.core.compiled import backend
from verlet_addon.core.geometry.rest_shape import build_rest_shape
from verlet_addon.core.mesh import MeshData, Paint
from verlet_addon.core.rigid import kernels as in_c
from verlet_addon.core.settings import BodySettings, SceneSettings

FREE = BodySettings(damping=0.0)


def rigid(mesh: MeshData, vertices: slice | Integers = slice(None)) -> MeshData:
    """The mesh with these vertices painted rigid."""
    weights = np.zeros(len(mesh.positions))
    weights[vertices] = 1.0
    return replace(mesh, paint=Paint(rigid=weights))


def distances(points: Floats) -> Floats:
    """(n, n) of points (n, 3) [m]."""
    return np.asarray(np.linalg.norm(points[:, None] - points, axis=2))


def brick() -> MeshData:
    """A rigid brick that tumbles about its middle axis, which is unstable."""
    mesh = cube(1.0)
    mesh = replace(mesh, positions=mesh.positions * np.array([1.0, 0.6, 0.3]))
    spin = np.cross((0.2, 6.0, 0.1), mesh.positions)
    return thrown(rigid(mesh), spin + np.array([1.0, 0.0, 2.0]))


@pytest.mark.parametrize("substeps", [1, 3, *slow(10)])
def test_a_rigid_brick_tumbles_without_losing_its_shape_or_its_spin(substeps: int) -> None:
    """Distances to 1e-12 of its size, momentum to 1e-10, and energy with them, in 2 seconds."""
    mesh, dt = brick(), 1 / 24 / substeps
    (track,) = simulated([(mesh, FREE)], frames(2.0, 1 / dt), IN_ONE_STEP, gravity=WEIGHTLESS)
    for places in track:
        assert np.abs(distances(places) - distances(mesh.positions)).max() < 1e-12
    for kept in momenta((mesh, FREE), track, dt):
        np.testing.assert_allclose(kept, np.tile(kept[0], (len(kept), 1)), rtol=1e-10, atol=1e-12)
    energies = kinetic_energy((mesh, FREE), track, dt)
    np.testing.assert_allclose(energies, energies[0], rtol=0.02)
    ends = (track[:, 2] - track[:, 0]) / 0.6
    assert ends[:, 1].min() < -0.5, "its middle axis turned over, as Dzhanibekov saw"


def test_a_brick_that_is_carried_between_two_steps_goes_on_at_its_speed() -> None:
    """As a mirror and what eases bodies out of each other do."""
    mesh = brick()
    model, state = built_state((mesh, FREE), gravity=WEIGHTLESS)
    for carried in (0.0, 0.1):
        state.positions += carried
        state.previous_positions += carried
        before = state.positions.mean(axis=1)
        advance([(model, state)], [mesh.positions], dt=0.01, gravity=WEIGHTLESS)
        way = state.positions.mean(axis=1) - before
        assert way == pytest.approx([0.01, 0.0, 0.02], abs=1e-12)


@pytest.mark.parametrize("way", [(1.0, 0.0, 0.0), (1.0, 0.3, -0.2)])
def test_a_straight_piece_keeps_its_spin_whichever_way_it_lies(way: tuple[float, ...]) -> None:
    """It has no inertia about itself, and rounding must not find any."""
    bar = rope([tuple(0.1 * k * np.array(way)) for k in range(11)])
    body = BodySettings(body_type="ROPE", damping=0.0)
    mesh = thrown(rigid(bar), np.cross((0.2, 3.0, 1.1), bar.positions))
    (track,) = simulated([(mesh, body)], frames(0.5, 24), gravity=WEIGHTLESS)
    spins = momenta((mesh, body), track, 1 / 24)[1]
    np.testing.assert_allclose(spins, np.tile(spins[0], (len(spins), 1)), rtol=1e-9, atol=1e-12)


def double_pendulum(start: float, gap: float) -> tuple[MeshData, Floats]:
    """Two rigid bars of a metre, joined by a strip, and how far each vertex is from the pins."""
    bar = np.linspace(0.0, 1.0, 11)
    along = np.concatenate([bar, [1.0 + gap / 2], 1.0 + gap + bar])
    points = [(s * np.sin(start), w, -s * np.cos(start)) for s in along for w in (0.0, 0.1)]
    faces = [(2 * k, 2 * k + 1, 2 * k + 3, 2 * k + 2) for k in range(len(along) - 1)]
    stiff = np.array([k for k in range(len(points)) if k // 2 != 11])
    return pinned(rigid(make_mesh(points, faces=faces), stiff), [0, 1]), along.repeat(2)


def tip_by_law(masses: Floats, along: Floats, start: float, gap: float, fps: int) -> Floats:
    """(frames, 2) where the lower end of two bars is: their equations of motion, by Runge–Kutta."""
    joint = 1.0 + gap / 2
    (m1, d1, i1), (m2, d2, i2) = (
        (m.sum(), (m * s).sum() / m.sum(), (m * s**2).sum())
        for m, s in ((masses[:22], along[:22]), (masses[24:], along[24:] - joint))
    )

    def rates(state: Floats) -> Floats:
        a, b, va, vb = state
        cross = m2 * joint * d2
        inertia = np.array(
            [[i1 + m2 * joint**2, cross * np.cos(a - b)], [cross * np.cos(a - b), i2]]
        )
        torque = np.array(
            [
                -cross * np.sin(a - b) * vb**2 - (m1 * d1 + m2 * joint) * 9.81 * np.sin(a),
                cross * np.sin(a - b) * va**2 - m2 * d2 * 9.81 * np.sin(b),
            ]
        )
        return np.concatenate([[va, vb], np.linalg.solve(inertia, torque)])

    state, found, h = np.array([start, start, 0.0, 0.0]), [], 1 / fps / 20
    for number in range(40 * fps + 1):
        if number % 20 == 0:
            found.append(joint * np.exp(1j * state[0]) + joint * np.exp(1j * state[1]))
        k1 = rates(state)
        k2 = rates(state + h / 2 * k1)
        k3 = rates(state + h / 2 * k2)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(state + h * k3))
    return np.stack([np.imag(found), -np.real(found)], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("start", [0.5, 1.2])
def test_two_bars_joined_by_a_strip_swing_as_a_double_pendulum(start: float) -> None:
    """Within three thousandths of its length for two seconds, most of it the strip's own 4 mm."""
    mesh, along = double_pendulum(start, 0.004)
    settings = replace(FREE, mass=2.0)
    masses = build_rest_shape(mesh, settings).masses
    (track,) = simulated([(mesh, settings)], frames(2.0, 24))
    tip = tip_by_law(masses, along, start, 0.004, 24)
    assert np.linalg.norm(track[:, -2][:, [0, 2]] - tip, axis=1).max() < 0.006
    for bar in (slice(0, 22), slice(24, None)):
        now = distances(track[-1, bar])
        assert np.abs(now - distances(mesh.positions[bar])).max() < 1e-9


@pytest.mark.parametrize("shape", ["cube", "plate on a collider", *slow("ball", "plate")])
def test_what_is_rigid_all_over_falls_and_comes_to_rest(shape: str) -> None:
    """On what it falls on, no deeper in its thickness of 5 mm than a tenth of it, and as it was."""
    meshes = {"cube": cube(0.5), "ball": sphere(16, 10, radius=0.3), "plate": sheet(8)}
    mesh = rigid(moved(meshes[shape.split()[0]], rotation((1, 2, 0), 0.5), (0.0, 0.0, 0.8)))
    scene, body = SceneSettings(substeps=4), (mesh, BodySettings())
    beneath: Any = {"ground": floor()}
    if "collider" in shape:
        beneath = {"colliders": [plate(size=4.0)]}
    (track,) = simulated([body], frames(2.5, 24), scene, **beneath)
    assert track[:, :, 2].min() > 0.0045
    assert track[-1, :, 2].min() < 0.0051
    assert np.abs(track[-1] - track[-2]).max() * 24 < 0.05
    assert np.abs(distances(track[-1]) - distances(mesh.positions)).max() < 1e-9


def test_rigid_boxes_rest_on_each_other_at_their_thickness() -> None:
    """A stack of three: each gap is within 1 % of the thickness, and none creeps aside."""
    boxes = [rigid(moved(cube(0.3), np.eye(3), (0.0, 0.0, 0.16 + 0.31 * k))) for k in range(3)]
    top = plate(size=4.0, cells=2, friction=0.5, restitution=0.0)
    bodies = [(mesh, BodySettings(friction=0.5)) for mesh in boxes]
    found = simulated(bodies, frames(0.75, 24), colliders=[top])
    ends = [track[-1] for track in found]
    lowest = np.array([end[:, 2].min() for end in ends])
    below = np.array([0.0, *(end[:, 2].max() for end in ends[:-1])])
    np.testing.assert_allclose(lowest - below, 0.005, atol=0.01 * 0.005)
    assert max(np.abs((track[-1] - track[0])[:, :2]).max() for track in found) < 5e-4


def test_a_rigid_box_sticks_where_friction_holds_it() -> None:
    """On a slope of 20° with a coefficient of 0.5 it creeps by less than 0.3 mm in a second."""
    mesh = moved(cube(0.3), rotation((0, 1, 0), -0.35))
    mesh = moved(mesh, np.eye(3), tuple(0.1551 * np.array([-np.sin(0.35), 0.0, np.cos(0.35)])))
    slope = plate(size=8.0, tilt=0.35, friction=0.5, restitution=0.0)
    settings = BodySettings(friction=0.5, damping=0.0)
    (track,) = simulated([(rigid(mesh), settings)], frames(1.0, 24), colliders=[slope])
    assert np.linalg.norm(track[-1] - track[0], axis=1).max() < 3e-4


def test_a_button_in_cloth_keeps_its_shape_and_the_cloth_its_lengths() -> None:
    """It hangs with the cloth, which is stretched no more than elsewhere."""
    cloth = sheet(20)
    far = np.linalg.norm(cloth.positions - (0.5, 0.5, 0.0), axis=1)
    button = np.flatnonzero(far < 0.12)
    hung = pinned(rigid(cloth, button), [400 + 20, 440])
    (track,) = simulated([(hung, BodySettings())], frames(1.0, 24))
    pieces = distances(track[-1, button]) - distances(cloth.positions[button])
    assert np.abs(pieces).max() < 1e-9
    assert strains(cloth, track[-1]).max() < 0.02


def test_soft_and_rigid_parts_together_keep_momentum() -> None:
    """Two plates and the cloth between them, thrown and spinning, for a second."""
    cloth = sheet(12, 4)
    x = cloth.positions[:, 0]
    plates = rigid(cloth, np.flatnonzero((x < 0.3) | (x > 0.7)))
    spin = np.cross((1.0, 3.0, 2.0), cloth.positions - cloth.positions.mean(axis=0))
    body = thrown(plates, spin + np.array([1.0, 0.0, 0.0])), FREE
    (track,) = simulated([body], frames(1.0, 240), IN_ONE_STEP, gravity=WEIGHTLESS)
    for kept in momenta(body, track, 1 / 240):
        np.testing.assert_allclose(kept, np.tile(kept[0], (240, 1)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("substeps", [4, *slow(10)])
def test_strips_between_plates_keep_their_lengths_as_these_land(substeps: int) -> None:
    """A heavy hinge of two plates hits the ground at 4 m/s with its edge: within 3 % all along.

    0.1 % as a rule; up to 2.5 % in single frames, as the last digits decide how corners roll.
    """
    cloth = sheet(10, 4)
    x = cloth.positions[:, 0]
    hinge = rigid(cloth, np.flatnonzero((x < 0.45) | (x > 0.55)))
    hinge = moved(hinge, rotation((0.3, 1.0, 0.1), 1.2), (0.0, 0.0, 1.8))
    settings = BodySettings(mass=20.0, bend_compliance=1.0)
    scene = SceneSettings(substeps=substeps)
    (track,) = simulated([(hinge, settings)], frames(1.5, 24), scene, ground=floor())
    assert np.abs(strains(cloth, track)).max() < 0.03


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")
@pytest.mark.parametrize("name", ["transfer_momentum", "transfer_contacts", "project_joints"])
def test_compiled_kernels_agree_with_the_reference(name: str) -> None:
    """On a hinge that is strewn: where pieces and particles go differs by rounding."""
    cloth = sheet(10, 4)
    hinge = rigid(cloth, np.flatnonzero(np.abs(cloth.positions[:, 0] - 0.5) > 0.15))
    model, state = built_state((pinned(hinge, [0]), FREE), dt=1 / 240)
    advance([(model, state)], [hinge.positions], steps=20)
    assert state.rigid is not None
    strewn = np.random.default_rng(3).normal(scale=0.003, size=state.positions.shape)
    found = []
    kernels: Any
    for kernels in (in_numpy(in_c), in_c):
        poses, positions = deepcopy(state.rigid), state.positions + strewn
        if name == "transfer_momentum":
            kernels.transfer_momentum(poses, positions, poses.pieces.constraint_masses, 3)
        elif name == "transfer_contacts":
            assert kernels.transfer_contacts(poses, positions)
        else:
            kernels.project_joints(poses, poses.pieces.joints, positions, 8)
        found.append([positions, poses.rotations, poses.centres, poses.angular_momenta])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12)
        assert np.abs(ours).max() > 0.0


def test_a_piece_that_is_pinned_follows_its_pins() -> None:
    """A plate held by three corners goes where they go."""
    plate = pinned(rigid(sheet(4)), [0, 4, 20])

    def targets(time: float) -> list[Floats]:
        return [moved(plate, rotation((1, 1, 0), time), (time, 0.0, 0.0)).positions]

    (track,) = simulated([(plate, BodySettings())], frames(1.0, 24), targets=targets)
    np.testing.assert_allclose(track[-1], targets(1.0)[0], atol=1e-4)


@pytest.mark.parametrize("place", [3.0, 9.0])
def test_pieces_land_alike_wherever_they_are(place: float) -> None:
    """Two boards and the strip between them, whose edges are more than what they hold can move.

    It took rounding alone to part them by centimetres, or to throw them a million kilometres away.
    On finer sheets rounding still parts one in four by millimetres.
    """
    turn = [[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]]
    mesh = moved(strewn(sheet(8, triangles=True), 0.005), turn, (0.0, 0.0, 0.62))
    mesh = rigid(mesh, np.flatnonzero(np.abs(mesh.positions[:, 0]) > 0.2))
    there = np.array([place, 0.0, 0.0])
    here, elsewhere = (
        simulated([(each, BodySettings())], frames(0.5, 24), ground=floor())[0]
        for each in (mesh, moved(mesh, np.eye(3), there))
    )
    assert np.abs(elsewhere - there - here).max() < 1e-6


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")
def test_limbs_bake_to_the_same_bits_with_and_without_compiled_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three limbs and the strips between them, which land on the ground and on a slope.

    Farms may have kernels for some of their machines alone, and what differs by a last digit when a
    ragdoll first hits something, differs by centimetres half a second later.
    """
    cloth = sheet(11, 2, size=0.8)
    column = np.arange(len(cloth.positions)) % 12
    limbs = moved(
        rigid(cloth, np.flatnonzero(column % 4 < 3)),
        rotation((0.2, 1.0, 0.1), 0.9),
        (0.0, 0.0, 0.72),
    )
    settings = BodySettings(mass=10.0, bend_compliance=1.0)

    def land() -> Floats:
        slope = plate(size=1.0, tilt=0.4)
        (track,) = simulated(
            [(limbs, settings)],
            frames(0.46, 24),
            SceneSettings(substeps=2),
            ground=floor(),
            colliders=[slope],
        )
        return track

    compiled = land()
    monkeypatch.setattr(backend(), "library", None)
    np.testing.assert_array_equal(land(), compiled)
    assert compiled[-1, :, 2].min() < 0.01, "it has landed"
