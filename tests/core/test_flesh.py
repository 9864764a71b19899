"""Flesh over what something poses: laws of elasticity, and promises about any pose."""

from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import sphere
from tests.core.both_bodies import in_numpy
from tests.core.fleshy import Pose, bent, hemisphere, legs, limb, play
from verlet_addon.core.arrays import Floats, Integers
from verlet_addon.core.build import build_model
from verlet_addon.core.changes.rebuilding import change_settings
from verlet_addon.core.contacts.solve.flesh_folds import exempt_folds
from verlet_addon.core.contacts.solve.solid_diagnostics import boneless
from verlet_addon.core.errors import MeshError
from verlet_addon.core.flesh import kernels, posing
from verlet_addon.core.flesh.flesh_body import Flesh, FleshState
from verlet_addon.core.inputs import still_scene
from verlet_addon.core.mesh import MeshData, Paint
from verlet_addon.core.model import FleshModel
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate
from verlet_addon.core.simulation import Simulation
from verlet_addon.core.solid import kernels as solid_kernels
from verlet_addon.core.solid.solid_body import find_lattice_components
from verlet_addon.core.state import SolidBodyState

LIMB: dict[str, Any] = {
    "flesh_depth": 0.04,
    "flesh_resolution": 2,
    "keep_volume": 0.0,
    "flesh_damping": 0.4,
}
"""Settings of a limb with a bone of 1 cm radius."""


def turned(positions: Floats, angle: float) -> Floats:
    """Positions (n, 3) turned about y."""
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(positions @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]))


def still(mesh: MeshData) -> Pose:
    """A pose that does not move."""
    return lambda _: mesh.positions


def moved(positions: Floats, x: float, y: float = 0.0) -> Floats:
    """Positions (n, 3) moved along x and y."""
    return np.asarray(positions + np.array([x, y, 0.0]))


def twisted(positions: Floats, rate: float) -> Floats:
    """Positions (n, 3) twisted about x by an angle per length."""
    angles = rate * positions[:, 0]
    x, y, z = positions.T
    c, s = np.cos(angles), np.sin(angles)
    return np.stack([x, c * y - s * z, s * y + c * z], axis=1)


def volume(positions: Floats, triangles: Integers) -> float:
    """Volume within a closed surface [m³]."""
    a, b, c = positions[triangles].transpose(1, 0, 2)
    return float((a * np.cross(b, c)).sum()) / 6.0


def parts(simulation: Simulation) -> tuple[Flesh, FleshState]:
    """The flesh of the only body, and its state."""
    model, state = simulation.bodies[0]
    assert isinstance(model, FleshModel)
    assert isinstance(state, SolidBodyState)
    assert isinstance(state.solid, FleshState)
    return model.solid, state.solid


def jacobians(simulation: Simulation) -> Floats:
    """Relative volume J of all cells."""
    flesh, state = parts(simulation)
    found = []
    for cells in flesh.lattice.groups:
        rows = state.pose + state.nodes
        offsets = rows[:, cells.nodes] - rows[:, cells.nodes[:, :1]]
        gradients = cells.elements.gradients[cells.kinds]
        found.append(np.linalg.det(np.einsum("aec,eck->eak", offsets, gradients)))
    return np.concatenate(found)


@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_stretched_flesh_is_where_the_pose_has_it(gravity: float) -> None:
    mesh = limb()
    end = mesh.positions * [1.1, 1.0, 1.0]
    frames, _ = play(
        mesh,
        lambda t: mesh.positions + (end - mesh.positions) * min(t, 0.5) * 2,
        1.5,
        gravity=gravity,
        **LIMB,
    )
    assert np.abs(frames[-1] - end).max() < 1e-4


@pytest.mark.parametrize(
    "pose",
    [lambda x, s: bent(x, 25 * s, 0.15), lambda x, s: turned(x, 2 * s), twisted],
)
def test_held_poses_of_all_kinds_are_kept(pose: Any) -> None:
    mesh = limb()
    frames, _ = play(mesh, lambda t: pose(mesh.positions, min(2 * t, 1.0)), 1.5, **LIMB)
    assert np.abs(frames[-1] - pose(mesh.positions, 1.0)).max() < 1e-4


def test_skin_without_flesh_is_where_its_pose_has_it_at_all_times() -> None:
    mesh = limb()
    frames, _ = play(mesh, lambda t: bent(mesh.positions, 300 * t), 0.4, gravity=9.81, **LIMB)
    bone = mesh.paint.flesh == 0.0
    for number, frame in enumerate(frames):
        pose = bent(mesh.positions, 300 * number / 24)
        np.testing.assert_array_equal(frame[bone], pose[bone])
    assert np.abs(frames[5] - bent(mesh.positions, 300 * 5 / 24)).max() > 1e-3


def test_a_shape_modelled_under_gravity_sags_only_as_it_turns() -> None:
    mesh = hemisphere()
    resting: dict[str, Any] = {"keep_volume": 0.0, "gravity": 9.81, "flesh_damping": 0.7}
    upright, _ = play(mesh, still(mesh), 0.5, **resting)
    assert np.abs(upright[-1] - mesh.positions).max() < 1e-6
    unloaded, _ = play(mesh, still(mesh), 1.0, loaded_shape=False, **resting)
    sag = mesh.positions[0, 2] - unloaded[-1][0, 2]
    side = turned(mesh.positions, np.pi / 2)
    hanging, _ = play(
        mesh, lambda t: turned(mesh.positions, min(t / 0.5, 1.0) * np.pi / 2), 2.0, **resting
    )
    moved = (hanging[-1] - side)[0]
    assert sag > 0.003
    # Down by gravity across the dome, and out, as the load that it was modelled under is gone.
    assert moved[2] < -sag
    assert abs(abs(moved[0]) - sag) < 0.3 * sag


@pytest.mark.parametrize("loaded_shape", [True, False])
def test_only_flesh_that_sags_is_told_to_be_too_heavy(loaded_shape: bool) -> None:
    mesh = hemisphere()
    settings = BodySettings(
        body_type="FLESH",
        flesh_depth=0.1,
        stiffness=300.0,
        use_density=True,
        density=950.0,
        loaded_shape=loaded_shape,
    )
    frames = simulate([mesh], [settings], SceneSettings(use_ground=False), still_scene([mesh], 2))
    told = [text for frame in frames for text in frame.remarks if "too heavy" in text]
    assert len(told) == (not loaded_shape)


def frequencies(resolutions: list[int]) -> list[float]:
    """Frequencies of the first mode of a hemisphere as multiples of √(E/ρ)/R [Hz]."""
    found = []
    for resolution in resolutions:
        settings = BodySettings(
            body_type="FLESH",
            flesh_depth=0.1,
            flesh_resolution=resolution,
            stiffness=5e3,
            use_density=True,
            density=950.0,
        )
        model = build_model(hemisphere(rings=24, segments=32), settings)
        assert isinstance(model, FleshModel)
        found.append(model.solid.frequency / (2 * np.pi) * 0.1 / np.sqrt(5e3 / 950.0))
    return found


def test_a_hemisphere_swings_as_fast_at_all_resolutions() -> None:
    for found in frequencies([3, 4, 5, 6]):
        assert found == pytest.approx(0.179, rel=0.03)


def shoved(mesh: MeshData, time: float) -> Floats:
    """A board that moves by 4 cm in a quarter of a second."""
    share = min(time / 0.25, 1.0)
    return moved(mesh.positions, 0.04 * share * share * (3 - 2 * share))


@pytest.mark.parametrize("ratio", [0.03, 0.12])
def test_amplitudes_fall_by_the_damping_ratio(ratio: float) -> None:
    mesh = hemisphere()
    frames, simulation = play(
        mesh,
        lambda t: shoved(mesh, t),
        1.5,
        substeps=10,
        fps=48,
        keep_volume=0.0,
        flesh_damping=ratio,
    )
    swing = frames[:, 0, 0] - np.array([shoved(mesh, k / 48)[0, 0] for k in range(len(frames))])
    period = 2 * np.pi / parts(simulation)[0].frequency * 48
    free = swing[14:]
    times = np.arange(float(len(free)))
    # A damped sine fitted to the free swing.
    best = min(
        _misfit(free, times, 2 * np.pi / period * scale, each)
        for scale in np.linspace(0.9, 1.1, 21)
        for each in np.linspace(0.5 * ratio, 1.6 * ratio, 45)
    )
    assert np.exp(-2 * np.pi * best[2]) == pytest.approx(np.exp(-2 * np.pi * ratio), rel=0.1)
    assert best[1] == pytest.approx(2 * np.pi / period, rel=0.03)


def _misfit(free: Floats, times: Floats, rate: float, ratio: float) -> tuple[float, float, float]:
    """Square error of the best swing of a rate and damping ratio, and both."""
    fading, own = np.exp(-ratio * rate * times), rate * np.sqrt(1 - ratio * ratio)
    waves = np.stack([fading * np.cos(own * times), fading * np.sin(own * times)], axis=1)
    left = free - waves @ np.linalg.lstsq(waves, free, rcond=None)[0]
    return float((left * left).sum()), rate, ratio


def difference(one: Floats, other: Floats) -> float:
    """Root mean square of a difference over that of the other."""
    return float(np.sqrt(((one - other) ** 2).sum() / (other**2).sum()))


def swings(substeps: int, fps: float) -> Floats:
    """Displacements of the top from its board at frames of 1/24 s."""
    mesh = hemisphere()
    frames, _ = play(mesh, lambda t: shoved(mesh, t), 0.6, substeps=substeps, fps=fps)
    every = frames[:: round(fps / 24), 0]
    return np.array([row - shoved(mesh, k / 24)[0] for k, row in enumerate(every)])


@pytest.mark.parametrize("turn", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("gap", [0.0005, 0.005, 0.03])
def test_a_leg_that_swings_leaves_the_other_alone(gap: float, turn: float) -> None:
    """Cells of 3 cm hold skin of both legs, whatever is between them, but have nodes for each."""
    mesh, straight = legs(gap, turn)
    moving = np.clip(-straight[:, 2] / 0.1, 0.0, 1.0) * (straight[:, 0] < 0.0)

    def swung(time: float) -> Floats:
        return np.asarray(mesh.positions + np.outer(moving, [0.0, 0.03 * np.sin(20 * time), 0.0]))

    settings: dict[str, Any] = {
        "flesh_depth": 0.03,
        "flesh_resolution": 1,
        "stiffness": 3e3,
        "keep_volume": 0.0,
    }
    frames, simulation = play(mesh, swung, 0.5, loaded_shape=False, **settings)
    poses = np.array([swung(number / 24.0) for number in range(len(frames))])
    away = np.abs(frames - poses).max(axis=(0, 2))
    low = straight[:, 2] < -0.12
    assert away[low & (straight[:, 0] < 0.0)].max() > 0.03
    assert away[low & (straight[:, 0] > 0.0)].max() < 0.001
    flesh, _ = parts(simulation)
    assert find_lattice_components(flesh.lattice).max() == 0, "they are one body at the hip"


def overlap(places: Floats, straight: Floats) -> float:
    """How far the inner side of the left leg is beyond that of the right one, at most [m]."""
    low = (np.abs(straight[:, 0]) < 0.02) & (straight[:, 2] < -0.05)
    left, right = (places[low & (side * straight[:, 0] > 0.0)] for side in (-1.0, 1.0))
    away = ((left[:, None, 1:] - right[None, :, 1:]) ** 2).sum(axis=2)
    near = away.min(axis=1) < 0.01**2
    return float((left[near, 0] - right[away.argmin(axis=1)[near], 0]).max())


def test_legs_that_the_pose_lays_into_each_other_keep_apart_if_asked() -> None:
    """By half of the thickness each, and each gives way."""
    mesh, straight = legs(0.03)
    share = np.clip(-straight[:, 2] / 0.1, 0.0, 1.0) * (straight[:, 0] < 0.0)

    def crossed(time: float) -> Floats:
        return np.asarray(mesh.positions + np.outer(share, [0.14 * min(time, 0.5), 0.0, 0.0]))

    found = {}
    for together in (False, True):
        frames, simulation = play(
            mesh, crossed, 0.5, flesh_depth=0.03, use_self_collision=together, thickness=0.005
        )
        found[together] = overlap(frames[-1], straight)
        if together:
            right = straight[:, 0] > 0.0
            assert np.abs(frames[-1] - crossed(0.5))[right].max() > 0.01
            assert not simulation.world or not simulation.world.surfaces.exempt[1].any()
    assert overlap(crossed(0.5), straight) == pytest.approx(0.04, abs=1e-9)
    assert found[False] > 0.03
    assert found[True] < -0.004


def test_a_fold_in_the_pose_follows_it_and_is_told_once() -> None:
    """An elbow bent by 130° comes to rest as without contact, which would make it tremble."""
    mesh = limb(rings=17, segments=12)
    ends = {}
    for folds in (False, True):
        settings: dict[str, Any] = {**LIMB, "flesh_resolution": 1, "use_self_collision": folds}
        frames, simulation = play(
            mesh, lambda time: bent(mesh.positions, 130 * min(4 * time, 1.0)), 0.75, **settings
        )
        assert np.abs(frames[-1] - frames[-2]).max() < 1e-4
        ends[folds] = frames[-1], simulation
    assert ends[True][0] == pytest.approx(ends[False][0], abs=1e-3)
    simulation = ends[True][1]
    assert simulation.world
    assert simulation.world.statistics.folds_reported[0]
    samples = replace(simulation.sample, frame=99)
    assert not exempt_folds(
        simulation.world, simulation.bodies, simulation.wholes, samples, samples
    )


def test_neither_substeps_nor_frame_rate_change_the_motion() -> None:
    assert difference(swings(4, 24), swings(8, 24)) < 0.08
    assert difference(swings(8, 24), swings(4, 48)) < 0.08
    assert difference(swings(8, 48), swings(16, 48)) < 0.03


@pytest.mark.parametrize(("keep_volume", "least"), [(0.3, 0.975), (1.0, 0.99)])
def test_an_elbow_keeps_its_volume_and_turns_no_cell_inside_out(
    keep_volume: float, least: float
) -> None:
    mesh = limb()
    frames, simulation = play(
        mesh,
        lambda t: bent(mesh.positions, 130 * min(2 * t, 1.0)),
        1.0,
        **{**LIMB, "keep_volume": keep_volume},
    )
    triangles = mesh.triangles
    posed = volume(bent(mesh.positions, 130), triangles) / volume(mesh.positions, triangles)
    assert posed < 0.97
    assert volume(frames[-1], triangles) / volume(mesh.positions, triangles) > least
    assert jacobians(simulation).min() > 0.2


def test_a_cut_in_the_animation_does_not_explode() -> None:
    mesh = hemisphere()
    away = moved(turned(mesh.positions, 2.0), 5.0, 1.0)
    frames, simulation = play(mesh, lambda t: mesh.positions if t < 0.3 else away, 2.0)
    assert np.abs(frames - mesh.positions)[:7].max() < 1e-9
    assert np.abs(frames[8:] - away).max() < 0.5
    assert np.abs(frames[-1] - away).max() < 2e-3
    assert jacobians(simulation).min() > 0.5


def test_less_inertia_leaves_out_the_motion_of_each_place() -> None:
    mesh = limb()
    frames, _ = play(
        mesh,
        lambda t: moved(bent(mesh.positions, 20 * np.sin(9 * t), 0.15), t * t),
        0.5,
        inertia_share=1.0,
        **LIMB,
    )
    for number, frame in enumerate(frames):
        time = number / 24
        pose = moved(bent(mesh.positions, 20 * np.sin(9 * time), 0.15), time * time)
        assert np.abs(frame - pose).max() < 1e-4


def test_a_muscle_whose_fibres_shorten_grows_thicker_and_keeps_its_volume() -> None:
    mesh = limb()
    along = np.tile([1.0, 0.0, 0.0], (len(mesh.positions), 1))
    middle = np.clip(2.0 - 20.0 * np.abs(mesh.positions[:, 0]), 0.0, 1.0)
    flesh = mesh.paint.flesh
    mesh = replace(mesh, fibres=along, paint=Paint(flesh=flesh, muscle=middle))
    frames, _ = play(
        mesh,
        still(mesh),
        1.5,
        keys=lambda t: {"muscle_length": 1.0 - 0.2 * min(2 * t, 1.0)},
        **LIMB,
    )
    radii = np.hypot(frames[-1][:, 1], frames[-1][:, 2])
    belly = np.abs(mesh.positions[:, 0]) < 0.01
    assert radii[belly].min() > 0.051
    share = volume(frames[-1], mesh.triangles) / volume(mesh.positions, mesh.triangles)
    assert share == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("along", [(1, 0, 0), (1, -1, 0), (1, 1, -2)])
def test_fibres_in_the_cells_run_as_those_at_the_skin(along: tuple[float, ...]) -> None:
    mesh, way = limb(), np.array(along) / np.linalg.norm(along)
    fibres, muscle = np.tile(way, (len(mesh.positions), 1)), np.ones(len(mesh.positions))
    mesh = replace(mesh, fibres=fibres, paint=replace(mesh.paint, muscle=muscle))
    _, simulation = play(mesh, still(mesh), 0.05, **LIMB)
    flesh, _ = parts(simulation)
    found = flesh.muscles[0].fibres @ flesh.lattice.grid.axes.T
    np.testing.assert_allclose(np.abs(found @ way), 1.0, atol=1e-9)


def rolled(place: float, frames: int) -> Floats:
    """The middle of a ball of jelly that has fallen on a hemisphere of flesh, from that [m]."""
    dome, ball = hemisphere(), sphere(12, 8, radius=0.05)
    dome = replace(dome, positions=moved(dome.positions, place))
    above = moved(ball.positions, place + 0.02, 0.003) + np.array([0.0, 0.0, 0.16])
    ball = replace(ball, name="Ball", positions=above)
    flesh = BodySettings(body_type="FLESH", flesh_depth=0.1, stiffness=5e3, mass=2.0)
    jelly = BodySettings(body_type="SOFT", stiffness=5e3, mass=0.05)
    scene, both = SceneSettings(use_ground=False), [dome, ball]
    *_, last = simulate(both, [flesh, jelly], scene, still_scene(both, frames))
    return np.asarray(last.positions[1].mean(axis=0) - [place, 0.0, 0.0])


def test_jelly_rolls_on_flesh_alike_wherever_both_are() -> None:
    here = rolled(0.0, 7)
    assert 0.03 < here[0] < 0.06
    for place in (8.0, -3.0):
        np.testing.assert_allclose(rolled(place, 7), here, atol=1e-3)


def test_jelly_that_touches_nothing_but_bone_stays_whole() -> None:
    assert np.isfinite(rolled(0.0, 14)).all()


def test_keyed_stiffness_is_that_of_a_body_built_with_it() -> None:
    """On the lattice that it has: a new one at each key took eleven times as long."""
    mesh = hemisphere()
    body = play(mesh, still(mesh), 0.1, stiffness=5e3)[1].bodies[0]
    stiffer = replace(body[0].settings, stiffness=2e4)
    changed, _ = change_settings(body, mesh, stiffer)
    models = body[0], changed, build_model(mesh, stiffer)
    former, keyed, built = (model.solid for model in models if isinstance(model, FleshModel))
    assert keyed.lattice is former.lattice
    for name in ("node_stiffnesses", "contact_stiffnesses", "frequency", "retardation_time"):
        assert getattr(keyed, name) == pytest.approx(getattr(built, name), rel=1e-6), name


def test_keyed_damping_acts_at_once_and_keeps_the_motion() -> None:
    mesh = hemisphere()
    loose, _ = play(mesh, lambda t: shoved(mesh, t), 0.8, flesh_damping=0.05)
    keyed, _ = play(
        mesh,
        lambda t: shoved(mesh, t),
        0.8,
        keys=lambda t: {"flesh_damping": 0.05 if t < 0.4 else 0.7},
    )
    np.testing.assert_allclose(keyed[:10], loose[:10], atol=1e-9)
    late = [np.abs(each[-8:] - shoved(mesh, 0.8)).max() for each in (keyed, loose)]
    assert late[0] < 0.3 * late[1]


@pytest.mark.parametrize("flesh", [None, np.zeros])
def test_a_body_without_flesh_is_told_in_one_sentence(flesh: Any) -> None:
    mesh = hemisphere()
    paint = Paint(flesh=None if flesh is None else flesh(len(mesh.positions)))
    wanted = "has no Flesh Group" if flesh is None else "has no flesh: its Flesh Group is empty"
    with pytest.raises(MeshError, match=f"'Body' {wanted}"):
        play(replace(mesh, paint=paint), still(mesh), 0.1)


def test_flesh_in_too_many_cells_is_told_before_it_fills_the_memory() -> None:
    mesh = hemisphere()
    with pytest.raises(MeshError, match="cells of 1 mm, 3"):
        play(mesh, still(mesh), 0.1, flesh_depth=0.003)


@pytest.mark.parametrize(("depth", "is_told"), [(0.04, False), (0.3, True)])
def test_flesh_without_bone_is_held_in_its_middle_and_told(depth: float, is_told: bool) -> None:
    mesh = limb()
    mesh = replace(mesh, paint=Paint(flesh=np.ones(len(mesh.positions))))
    frames, simulation = play(
        mesh, lambda t: moved(mesh.positions, 0.1 * np.sin(10 * t)), 1.0, flesh_depth=depth
    )
    pose = moved(mesh.positions, 0.1 * np.sin(10.0))
    assert np.abs(frames[-1] - pose).max() < 0.3
    told = boneless(simulation.bodies)
    assert told == [] or "is all flesh, without bone, in 1 of its parts" in told[0]
    assert bool(told) == is_told


def test_both_bodies_of_the_kernels_pose_and_stress_cells_alike() -> None:
    mesh = limb()
    fibres = np.tile([0.6, 0.8, 0.0], (len(mesh.positions), 1))
    muscle = np.full(len(fibres), 0.5)
    mesh = replace(mesh, fibres=fibres, paint=replace(mesh.paint, muscle=muscle))
    _, simulation = play(mesh, lambda t: bent(mesh.positions, 200 * t), 0.2, gravity=9.81, **LIMB)
    flesh, state = parts(simulation)
    skin = bent(mesh.positions, 60).T.copy()
    every = SimpleNamespace(**vars(solid_kernels), pose_nodes=posing.pose_nodes)
    every.pose_cells = kernels.pose_cells
    posed, results = list[Floats](), list[list[Floats]]()
    for bodies in (every, in_numpy(kernels, posing, solid_kernels)):
        nodes = bodies.pose_nodes(flesh.posing, skin)
        poses, corotations = deepcopy(state.poses), deepcopy(state.corotations)
        bodies.pose_cells(flesh.lattice, nodes, poses, flesh.muscles, 0.3, 0.8)
        forces = bodies.find_posed_stress(
            flesh.lattice, nodes + state.nodes, corotations, poses, 5e3, state.nodes
        )
        posed.append(nodes)
        results.append([*forces, *(each.rests for each in poses), *(e.ratios for e in poses)])
    np.testing.assert_allclose(posed[0], posed[1], atol=1e-12)
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9 * np.abs(other).max(initial=1))
