"""Strips start a step from the tension they had, and cloth so keeps its lengths."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    WEIGHTLESS,
    built_state,
    disc,
    flat_sheet,
    floor,
    frames,
    kinetic_energy,
    moved,
    pinned,
    results,
    rope,
    rotation,
    sheet,
    simulated,
    slow,
    strains,
    thrown,
    tracks,
    tube,
    work,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.materials import MATERIALS
from verlet_addon.core.mesh import Joints, MeshData
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.state import ready_batches
from verlet_addon.core.stretch import tension_warm_start as warm_start
from verlet_addon.core.stretch.strain_limiting import limit_strain
from verlet_addon.core.stretch.sweep import MAX_SWEEPS, project_stretch
from verlet_addon.core.stretch.tension_warm_start import (
    TAUT_KEPT_SHARE,
    StripSystem,
    warm_start_tension,
)


def hung(cells: int, *, triangles: bool = False) -> MeshData:
    """A square metre that is let fall, two of its corners pinned."""
    return pinned(sheet(cells, triangles=triangles), [0, cells])


def taut_net(mesh: MeshData) -> tuple[StripSystem, Floats]:
    """A body's strips under random tension, and its positions (3, n)."""
    model, state = built_state((mesh, BodySettings()), dt=1 / 240)
    batches = ready_batches(model, state, "TCV_EXACT", 1 / 240)
    strip_system = (
        batches.lengths.strip_system if len(mesh.face_vertices) else batches.ropes.strip_system
    )
    random = np.random.default_rng(0)
    strip_system.multipliers[...] = -random.uniform(0.0, 1e-3, len(strip_system.multipliers))
    return strip_system, state.positions


def dense_answer(
    strip_system: StripSystem, positions: Floats, kept_share: float, min_tautness: float
) -> Floats:
    """(3, n) m (x' − x) = Σ T/l (x'ₖ − x') for all particles at once, with NumPy's solver."""
    n = positions.shape[1]
    system = np.diag(strip_system.masses)
    for a, b, tension, max_inverse_mass in zip(
        strip_system.path[:-1],
        strip_system.path[1:],
        -strip_system.multipliers * strip_system.warm_started,
        strip_system.max_inverse_masses,
        strict=True,
    ):
        if a != b:
            pull = tension / np.linalg.norm(positions[:, b] - positions[:, a])
            tautness = pull * max_inverse_mass
            share = tautness / (tautness + min_tautness) if tautness else 0.0
            pull *= kept_share + (max(TAUT_KEPT_SHARE, kept_share) - kept_share) * share
            system[np.ix_([a, b], [a, b])] += pull * np.array([[1.0, -1.0], [-1.0, 1.0]])
    free = np.ones(n, dtype=bool)
    free[strip_system.pinned] = False
    answer = positions.copy()
    right = strip_system.masses * positions
    right = right[:, free] - positions[:, ~free] @ system[np.ix_(~free, free)]
    answer[:, free] = np.linalg.solve(system[np.ix_(free, free)], right.T).T
    assert answer.shape == (3, n)
    return answer


@pytest.mark.parametrize("min_tautness", [0.0, 1.0, 1e300])
@pytest.mark.parametrize("mesh", [hung(6), pinned(disc(3), [1])], ids=["quads", "disc"])
def test_former_tension_is_solved_implicitly(
    mesh: MeshData, min_tautness: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With rounds enough, crossing strips end where a full solve puts them, whatever is direct."""
    monkeypatch.setattr(warm_start, "STIFF_LINK_SHARE", 0.0)
    strip_system, positions = taut_net(mesh)
    expected = dense_answer(strip_system, positions, 0.6, min_tautness)
    before = strip_system.multipliers * strip_system.warm_started
    warm_start_tension.reference(
        positions, strip_system, kept_share=0.6, min_tautness=min_tautness, rounds=200
    )
    np.testing.assert_allclose(positions, expected, rtol=0, atol=1e-9)
    assert (np.abs(strip_system.multipliers) <= np.abs(before) * 1.5 + 1e-12).all()
    assert (strip_system.multipliers <= 0.0).all()


def test_former_tension_of_a_rope_is_solved_at_once() -> None:
    """A single strip needs no search: it ends where a full solve puts it."""
    line = rope(np.linspace((0.0, 0.0, 0.0), (1.0, 0.5, -0.2), 40))
    strip_system, positions = taut_net(pinned(line, [0]))
    expected = dense_answer(strip_system, positions, 1.0, 0.0)
    warm_start_tension(positions, strip_system, kept_share=1.0, min_tautness=0.0)
    np.testing.assert_allclose(positions, expected, rtol=0, atol=1e-12)


def test_nothing_moves_without_tension() -> None:
    """Particles that no strip pulls stay where they are."""
    strip_system, positions = taut_net(hung(4))
    strip_system.multipliers.fill(0.0)
    start = positions.copy()
    warm_start_tension(positions, strip_system, kept_share=1.0, min_tautness=1.0)
    np.testing.assert_array_equal(positions, start)


@pytest.mark.parametrize(("triangles", "limit"), [(False, 0.005), (True, 0.02)])
def test_cloth_hung_from_two_corners_keeps_its_lengths(triangles: bool, limit: float) -> None:
    """No edge stretches noticeably while the cloth falls, is caught and swings back."""
    mesh = hung(30, triangles=triangles)
    (track,) = simulated([(mesh, BodySettings())], frames(1.0, 24), SceneSettings())
    assert strains(mesh, track).max() < limit


@pytest.mark.slow
def test_a_skirt_keeps_its_lengths() -> None:
    """Slack strips adapt to taut ones: swept in any other order, an edge is stretched by 2.6 %."""
    around = tube(60, 30, radius=1.0)
    x, y, z = around.positions.T
    skirt = np.stack([(0.6 - 0.4 * z) * x, (0.6 - 0.4 * z) * y, z], axis=1)
    mesh = pinned(replace(around, positions=skirt), np.flatnonzero(z > 1.0 - 1e-9))
    (track,) = simulated([(mesh, BodySettings())], frames(1.0, 24))
    assert strains(mesh, track).max() < 0.01


def test_sweeps_that_gain_nothing_are_not_made() -> None:
    """In few steps a sheet on two corners cannot keep its lengths; more sweeps would gain little.

    As it snaps taut, each step makes 7 of them, and 12 if they go on where none gains much.
    """
    mesh = pinned(sheet(60, size=2.0), [0, 60])
    found = list(results([(mesh, BodySettings())], frames(0.5, 24), SceneSettings(substeps=3)))
    snap = work(found[4:6])
    assert 0 < snap.sweeps < 9 * snap.steps
    assert strains(mesh, tracks(found)[0]).max() < 0.02


@pytest.mark.parametrize("held", ["two places", *slow("rim")])
def test_disc_keeps_its_lengths(held: str) -> None:
    """A disc hung by two places of its rim, or all round it, stretches nowhere by 3 %."""
    mesh = disc(28, radius=1.0)
    rim = np.flatnonzero(np.linalg.norm(mesh.positions, axis=1) > 1.0 - 1e-9)
    mesh = pinned(mesh, rim if held == "rim" else rim[[0, len(rim) // 4]])
    (track,) = simulated([(mesh, BodySettings())], frames(1.1, 24), SceneSettings())
    found = strains(mesh, track)
    assert found.max() < 0.03
    assert np.percentile(found, 99, axis=1).max() < 0.01


def test_silk_that_hangs_over_a_rim_comes_to_rest() -> None:
    """Held in its middle, its folds go on by less than 6 mm/s on average after five seconds.

    Tension remembered from one step to the next must not keep its corners swinging.
    """
    mesh = sheet(40)
    arms = mesh.positions[:, :2] - mesh.positions[:, :2].mean(axis=0)
    mesh = pinned(mesh, np.flatnonzero(np.hypot(*arms.T) < 0.3))
    (track,) = simulated([(mesh, MATERIALS["SILK"].settings)], frames(6.0, 24), SceneSettings())
    speeds = np.diff(track[-24:], axis=0) * 24
    assert np.sqrt((speeds**2).sum(axis=2).mean()) < 6e-3


@pytest.mark.parametrize("mesh", [sheet(6), disc(4)], ids=["quads", "disc"])
def test_stretch_is_shared_without_a_push(mesh: MeshData) -> None:
    """Drawing stretched edges together keeps the centre of mass, and makes the worst one better."""
    model, state = built_state((mesh, BodySettings()), dt=1 / 240)
    batches = ready_batches(model, state, "TCV_EXACT", 1 / 240)
    state.positions[:, 3] += (0.1, 0.05, 0.2)
    weights = 1.0 / model.inverse_masses
    centre = state.positions @ weights
    before = strains(mesh, state.positions.T).max()
    limit_strain(state.positions, batches.lengths.links, max_strain=0.0)
    np.testing.assert_allclose(state.positions @ weights, centre, rtol=0, atol=1e-12)
    assert strains(mesh, state.positions.T).max() < before / 2


def test_bones_in_cloth_are_lengthened_as_they_are_shortened() -> None:
    """Their ends are drawn apart to 0.4 % of their length, where other edges may fold to half."""
    mesh = sheet(3)
    bones = np.stack([np.arange(12), np.arange(4, 16)], axis=1)  # along columns
    none = np.zeros(len(mesh.positions))
    mesh = replace(mesh, joints=Joints(none, none, none, bones))
    model, state = built_state((mesh, BodySettings()), dt=1 / 240)
    batches = ready_batches(model, state, "TCV_EXACT", 1 / 240)
    state.positions[:] *= 0.9
    limit_strain(state.positions, batches.lengths.links, max_strain=0.0)
    along = np.ptp(mesh.edges, axis=1) == 4
    strain = strains(mesh, state.positions.T)
    assert strain[along].min() > -4.001e-3
    assert strain[~along].max() < -0.09


def test_relaxation_goes_on_until_a_given_deviation() -> None:
    """With iterations enough, no edge is left stretched by more than the tolerance; 0 makes all."""
    mesh = hung(12)
    stretches = [
        strains(mesh, simulated([(mesh, BodySettings())], frames(1.0, 24), scene)[0]).max()
        for scene in (
            SceneSettings(),
            SceneSettings(iterations=50, tolerance=3e-4),
            SceneSettings(iterations=10, tolerance=0.0),
        )
    ]
    assert 1e-3 > stretches[0] > 3e-4 > stretches[1] > stretches[2]


@pytest.mark.parametrize("far", [0.02, 0.1, 0.5])
def test_what_cannot_keep_its_lengths_is_given_up(far: float) -> None:
    """Held at ends too far apart, sweeps gain nothing, and end before they have to."""

    def swept(max_sweeps: int) -> Floats:
        mesh = sheet(10)
        right = mesh.positions[:, 0] > 1.0 - 1e-9
        held = pinned(mesh, np.flatnonzero(right | (mesh.positions[:, 0] < 1e-9)))
        model, state = built_state((held, BodySettings()), dt=1 / 240)
        shaken = np.random.default_rng(1).normal(scale=5e-3, size=state.positions.shape)
        state.positions += np.where(model.inverse_masses > 0.0, shaken, 0.0)
        state.positions[0, right] += far
        batches = ready_batches(model, state, "TCV", 1 / 240).lengths
        project_stretch(
            state.positions, model.lengths, batches, backwards=False, max_sweeps=max_sweeps
        )
        return state.positions

    np.testing.assert_array_equal(swept(MAX_SWEEPS), swept(60))


def test_tension_is_handed_on_when_the_step_changes() -> None:
    """Time that runs faster and slower from frame to frame does not stretch cloth."""
    mesh = hung(30)
    durations = np.where(np.arange(24) % 2, 1 / 24, 1 / 30)
    (track,) = simulated([(mesh, BodySettings())], durations, SceneSettings(substeps=4))
    assert strains(mesh, track).max() < 0.02


@pytest.mark.parametrize(
    ("substeps", "seconds"), [(10, 5.0), pytest.param(40, 2.0, marks=pytest.mark.slow)]
)
def test_spinning_disc_gains_no_energy(substeps: int, seconds: float) -> None:
    """A free disc that spins undamped keeps its kinetic energy, or loses some."""
    still = disc(5)
    mesh = thrown(still, np.cross([0.0, 0.0, 3.0], still.positions))
    body = BodySettings(damping=0.0)
    steps = frames(seconds, 24 * substeps)
    (track,) = simulated([(mesh, body)], steps, SceneSettings(substeps=1), gravity=WEIGHTLESS)
    energy = kinetic_energy((mesh, body), track, steps[0])
    assert energy.max() < energy[0] * 1.0001


def test_short_steps_leave_hardly_any_stretch() -> None:
    """What a sweep leaves over acts as a force, and less of it is left then."""
    mesh = hung(12)
    (track,) = simulated([(mesh, BodySettings())], frames(1.0, 24), SceneSettings(substeps=40))
    assert strains(mesh, track).max() < 1e-3


def test_stiff_triangles_do_not_sink_into_themselves() -> None:
    """Pushed, cloth of triangles gives way as if it buckled, which a firm sheet does not."""
    upright = moved(flat_sheet("triangles", 8), rotation((1, 0, 0), np.pi / 2))
    mesh = pinned(upright, np.flatnonzero(upright.positions[:, 2] < 0.2))
    (track,) = simulated([(mesh, BodySettings(bend_compliance=1.0))], frames(1.0, 24))
    assert strains(mesh, track).min() > -0.02


def test_heap_of_triangles_keeps_its_area() -> None:
    """Cloth of triangles gives way to being pushed together, but folds rather than shrinks."""
    mesh = sheet(14, triangles=True)
    points = mesh.positions.copy()
    points[:, 2] = 0.3 + 0.8 * points[:, 1]
    points[:, 1] *= 0.6
    mesh = replace(mesh, positions=points)
    body, scene = BodySettings(), SceneSettings()
    (track,) = simulated([(mesh, body)], frames(3.0, 24), scene, ground=floor())

    def area(positions: Floats) -> float:
        corners = positions[mesh.face_vertices.reshape(-1, 3)]
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return float(np.linalg.norm(across, axis=1).sum() / 2)

    assert area(track[-1]) > 0.9 * area(mesh.positions)


@pytest.mark.slow
def test_silk_over_the_rim_of_a_table_comes_to_rest() -> None:
    """What hangs down in folds moves by less than 2 cm/s after three seconds, and goes on so.

    With 0.95 of the former tension kept, tension and folds drove each other on at 0.3 m/s.
    """
    cloth = moved(sheet(30, size=0.3), np.eye(3), (-0.15, -0.15, 0.0))
    table = np.flatnonzero(np.linalg.norm(cloth.positions, axis=1) < 0.09)
    silk = BodySettings(
        shear_compliance=0.02, bend_compliance=3.5e5, use_density=True, density=0.069, damping=6.0
    )
    (track,) = simulated([(pinned(cloth, table), silk)], frames(4.0, 24.0))
    speeds = np.linalg.norm(np.diff(track[72:], axis=0), axis=2) * 24.0
    assert speeds.max() < 0.02
