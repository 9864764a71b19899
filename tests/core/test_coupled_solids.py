"""Jelly on jelly: what one is pushed with, the other is pushed with too, in the same step."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    HALF,
    WEIGHTLESS,
    Body,
    block,
    built_state,
    cube,
    floor,
    frames,
    moved,
    pinned,
    rotation,
    simulated,
    slow,
    sphere,
    thrown,
)
from tests.core.both_bodies import in_numpy
from tests.core.colliders import crossed
from verlet_addon.core.arrays import Floats
from verlet_addon.core.bodies.step_data import StepInputs
from verlet_addon.core.compiled import backend
from verlet_addon.core.contacts.solve.collision_world import build_collision_world
from verlet_addon.core.model import SolidModel
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.solid import active_set_solver, kernels as solid_kernels
from verlet_addon.core.solid.coupled_system import SolidContacts, couple_systems
from verlet_addon.core.solid.linear_system import (
    PinSprings,
    PointContacts,
    SolidPart,
    SolidSystem,
    SolverTolerance,
)
from verlet_addon.core.solid.solid_body import Solid, uniform_rotations
from verlet_addon.core.state import SolidBodyState
from verlet_addon.core.step import step

JELLY = BodySettings(body_type="SOFT", resolution=3, stiffness=2e3)
GAP = JELLY.thickness


def stack(count: int, aside: float, turned: float) -> list[Body]:
    """Cubes of a metre, each above the one below, so far aside [m] and turned [rad]."""
    found = []
    for number in range(count):
        place = (aside * number, 0.4 * aside * number, (1.0 + GAP + 1e-3) * number + GAP + 1e-3)
        box = moved(block((1.0,) * 3, (3,) * 3), np.eye(3), (-0.5, -0.5, 0.0))
        found.append((moved(box, rotation((0, 0, 1), turned * number), place), JELLY))
    return found


@pytest.mark.parametrize("stacked", [(3, 0.05, 0.0), *slow((2, 0.0, 0.5))])
def test_cubes_stand_as_high_as_their_weight_lets_them(stacked: tuple[int, float, float]) -> None:
    """ρ g H²/2E and what presses from above, to a tenth of that; after 2 s nothing creeps.

    A metre wide, for a tower of this jelly buckles under its own weight once it is higher than
    (7.84 E I / q)^(1/3), which is 5 m for these (Greenhill 1881). Nothing is in anything else.
    """
    count, aside, turned = stacked
    bodies = stack(count, aside, turned)
    tracks = simulated(bodies, frames(2.5, 24), SceneSettings(substeps=6), ground=floor())
    assert crossed(bodies, [track[-3:] for track in tracks], []) == 0
    strain = JELLY.mass * 9.81 / JELLY.stiffness
    top = bodies[-1][0].positions[:, 2] > count - 0.1
    sag = count + count * GAP - tracks[-1][-1, top, 2].mean()
    assert sag == pytest.approx(strain * count**2 / 2, rel=0.1)
    for track, (mesh, _) in zip(tracks, bodies, strict=True):
        assert np.linalg.norm(track[-1] - track[-13], axis=1).max() * 2 < 0.001
        moved_by = (track[-1] - mesh.positions).mean(axis=0)
        assert np.abs(moved_by[:2]).max() < 0.3 * aside + 0.001


def test_a_cube_leans_on_another_and_comes_to_rest() -> None:
    """By W e/E I and more, for it leans; what brakes rolling does not hold it up on its way."""
    soft = replace(JELLY, mass=1.0, stiffness=40 * 9.81)
    bodies = [(mesh, soft) for mesh, _ in stack(2, 0.06, 0.0)]
    track = simulated(bodies, frames(1.5, 24), HALF, ground=floor())[1]
    sides = bodies[1][0].positions[:, 2] > 1.9
    sunk = (track[-1] - bodies[1][0].positions)[sides, 2]
    ends = bodies[1][0].positions[sides, 0]
    lean = (sunk * (ends.mean() - ends)).sum() / ((ends - ends.mean()) ** 2).sum()
    assert 0.06 * 12 / 40 < lean < 2 * 0.06 * 12 / 40
    assert np.abs(track[-1] - track[-2]).max() * 24 < 0.005


@pytest.mark.slow
def test_a_ball_lies_still_on_a_cube() -> None:
    """As on the ground, it does not roll off, and moves by no nanometre a frame in the end."""
    firm = BodySettings(body_type="SOFT", resolution=6, stiffness=3e3, mass=2.0)
    box = moved(block((0.4,) * 3, (3,) * 3), np.eye(3), (-0.2, -0.2, 0.006))
    ball = moved(sphere(12, 8, radius=0.15), np.eye(3), (0.0, 0.0, 0.57))
    tracks = simulated(
        [(box, firm), (ball, replace(firm, mass=0.5))], frames(3.0, 24), HALF, ground=floor()
    )
    for track in tracks:
        assert np.abs(track[-1] - track[0])[:, :2].mean() < 0.005
        assert np.abs(track[-1] - track[-2]).max() < 1e-9


def collision(order: Sequence[int]) -> tuple[Floats, list[Floats]]:
    """(steps, 6) momentum of a ball and a cube that hit each other, and where both are then."""
    body = replace(JELLY, damping=0.0, stiffness=500.0, friction=0.5)
    ball = moved(sphere(12, 8, radius=0.3), np.eye(3), (-0.35, 0.0, 0.0))
    box = moved(block((0.5,) * 3, (3,) * 3), rotation((1, 0.5, 0.2), 0.6), (0.25, -0.1, -0.1))
    meshes = [thrown(ball, (1.5, 0.2, 0.0)), thrown(box, (-1.0, 0.0, 0.1))]
    meshes = [meshes[number] for number in order]
    states = [built_state((mesh, body), gravity=WEIGHTLESS, dt=1 / 240) for mesh in meshes]
    given = StepInputs(
        dt=1 / 240,
        gravity=WEIGHTLESS,
        targets=[mesh.positions.T for mesh in meshes],
        fields=[()] * 2,
        ground=None,
        ground_shift=np.zeros(3),
    )
    world, kept = build_collision_world([model for model, _ in states], meshes, [], []), []
    for _ in range(120):
        step(states, SceneSettings(), given, world)
        total = np.zeros(6)
        for model, state in states:
            assert isinstance(model, SolidModel)
            assert isinstance(state, SolidBodyState)
            speed = (state.solid.nodes - state.solid.previous_nodes) * 240
            turning = np.cross(state.solid.previous_nodes, speed, axis=0)
            mass = model.solid.masses
            total += np.concatenate([(mass * speed).sum(axis=1), (mass * turning).sum(axis=1)])
        kept.append(total)
    return np.array(kept), [states[order.index(number)][1].positions for number in (0, 1)]


def test_what_collides_keeps_its_momentum_in_any_order() -> None:
    """To the digits of rounding, though it rubs; places differ by half a centimetre in a metre."""
    (kept, one), (_, other) = collision((0, 1)), collision((1, 0))
    np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), atol=1e-12)
    apart = one[0].mean(axis=1) - one[1].mean(axis=1)
    assert np.linalg.norm(apart) > 0.4, "they did not pass through each other"
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=0.005)


def two_solids() -> tuple[list[Solid], SolidContacts]:
    """A ball in a corner of a block, and some places at which they meet."""
    found = []
    for mesh in (sphere(12, 8), moved(block((1.0, 0.5, 0.1), (4, 2, 1)), np.eye(3), (0.3, 0, 0))):
        model, _ = built_state((mesh, JELLY))
        assert isinstance(model, SolidModel)
        found.append(model.solid)
    random = np.random.default_rng(5)
    normals = random.normal(size=(3, 9))
    solid_contacts = SolidContacts(
        solids=np.repeat([[0], [1], [1], [1]], 9, axis=1),
        points=random.integers(15, size=(4, 9)),
        weights=np.array([1.0, -0.2, -0.3, -0.5])[:, None] * np.where(np.arange(9) < 5, 1.0, -1.0),
        normals=normals / np.linalg.norm(normals, axis=0),
        levels=random.normal(scale=0.5, size=9),
        frictions=np.full(9, 0.3),
        keys=np.arange(9),
    )
    return found, solid_contacts


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")
def test_compiled_kernels_agree_with_the_reference_on_two_solids() -> None:
    """Held apart at places that push and rub, one of them drawn: both answer alike."""
    solids, solid_contacts = two_solids()
    found = []
    modules = active_set_solver, solid_kernels
    for kernels, stress in (map(in_numpy, modules), modules):
        systems = []
        for number, solid in enumerate(solids):
            lattice, count = solid.lattice, len(solid.layer_masses)
            shapes = uniform_rotations(lattice, np.eye(4)[0])
            stress.find_stress(lattice, lattice.nodes, shapes, 1.0, np.zeros_like(lattice.nodes))
            firm = 1e3 * (number + 1) / 240**2
            contacts = PointContacts(
                normals=np.repeat([[0.0], [0.0], [1.0]], count, axis=1),
                levels=np.full(count, solid.points[2].min() + 0.01 * number),
                frictions=np.full(count, 0.5),
                stiffnesses=np.full(count, 0.01),
                start=solid.points.copy(),
                anchors=np.full((3, count), np.nan),
                friction_stiffnesses=np.full(count, -1.0),
                normal_forces=np.zeros(count),
            )
            systems.append(
                SolidSystem(
                    parts=[SolidPart(lattice, shapes, firm)],
                    embedding=solid.embedding,
                    masses=solid.masses,
                    diagonal=solid.masses + firm / 1e3 * solid.node_stiffnesses,
                    predicted=solid.points,
                    components=solid.free_components,
                    predicted_nodes=lattice.nodes,
                    pin_springs=PinSprings(
                        np.arange(2), np.full(2, 0.02), solid.points[:, :2] + 0.01
                    ),
                    contacts=contacts,
                )
            )
        anchors = solid_contacts.offsets(
            [solid.points + 0.01 * k for k, solid in enumerate(solids)]
        )
        skins = [np.full(len(solid.layer_masses), 0.02) for solid in solids]
        system = couple_systems(systems, solid_contacts, skins, anchors)
        moves = np.zeros_like(system.predicted_nodes)
        kernels.solve_contacts(
            system, np.zeros_like(moves), moves, SolverTolerance(1e-13, 0.0, 0, 0.0)
        )
        points = kernels.clamp_points(system, system.predicted_nodes + moves)
        found.append(
            [
                moves,
                system.contacts.normal_forces,
                system.contacts.friction_stiffnesses,
                system.contacts.anchors,
                points,
            ]
        )
        assert 0 < np.count_nonzero(system.contacts.normal_forces[-9:]) < 9
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12)


def test_a_ball_rolls_no_farther_on_a_slab_than_on_the_ground() -> None:
    """Hysteresis takes four fifths of its speed in 0.4 seconds.

    On the slab that is the mean of four starts 3 mm apart: single ones differ by 4 %, by which of
    its corners they meet.
    """
    rolling = sphere(12, 8, radius=0.2)
    spin = np.cross((0.0, 3.0, 0.0), rolling.positions)
    slab = moved(block((1.6, 0.5, 0.2), (4, 2, 1)), np.eye(3), (-0.8, -0.25, 0.005))
    soft, firm = replace(JELLY, stiffness=2e4, mass=5.0), replace(JELLY, stiffness=2e5, mass=100.0)
    speeds = []
    starts = [(-0.4, 0.21), *((-0.4 + 0.003 * place, 0.416) for place in range(4))]
    for start, height in starts:
        others = [(slab, firm)] if height > 0.3 else []
        ball = thrown(
            moved(rolling, np.eye(3), (start, 0.0, height)), spin + np.array([0.6, 0.0, 0.0])
        )
        tracks = simulated(
            [(ball, soft), *others], frames(0.4, 24), SceneSettings(substeps=4), ground=floor()
        )
        middle = tracks[0][:, :, 0].mean(axis=1)
        speeds.append(float(middle[-1] - middle[-2]) * 24)
    assert 0.05 < speeds[0] < 0.2
    assert np.mean(speeds[1:]) == pytest.approx(speeds[0], rel=0.1)


@pytest.mark.slow
def test_soft_pins_hold_jelly_with_another_on_it() -> None:
    """They give way by a centimetre or two; without them both would fall by 80."""
    low, high = cube(0.2), moved(cube(0.2), np.eye(3), (0.0, 0.0, 0.205))
    low = pinned(low, np.flatnonzero(low.positions[:, 2] > 0.0), weight=0.9)
    tracks = simulated([(low, JELLY), (high, JELLY)], frames(0.4, 24))
    for mesh, track in zip((low, high), tracks, strict=True):
        assert abs((track[-1] - mesh.positions)[:, 2].mean()) < 0.06
