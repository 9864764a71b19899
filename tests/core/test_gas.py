"""Cloth with gas in it: p V stays what it was, p being the pressure over the outside."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    IN_ONE_STEP,
    WEIGHTLESS,
    advance,
    built,
    built_state,
    floor,
    frames,
    make_mesh,
    masses,
    momenta,
    moved,
    pinned,
    rotation,
    samples,
    sheet,
    simulated,
    slow,
    sphere,
    split,
    strains,
    thrown,
    tube,
)
from tests.core.colliders import plate
from verlet_addon.core.arrays import Floats, Integers
from verlet_addon.core.bodies.inflation import fill_with_gas
from verlet_addon.core.bodies.step_data import StepInputs
from verlet_addon.core.compiled import backend
from verlet_addon.core.contacts.solve.collision_world import build_collision_world
from verlet_addon.core.errors import MeshError, SettingsError
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate
from verlet_addon.core.step import step
from verlet_addon.core.volume.gas import build_chambers, volumes_and_gradients

RADIUS, STRETCH = 0.5, 1e-3
RUBBER = BodySettings(stretch_compliance=STRETCH, shear_compliance=1e6, damping=5.0)


def faces_of(mesh: MeshData) -> list[Integers]:
    """The vertices of each face."""
    return np.split(mesh.face_vertices, mesh.face_starts[1:-1])


def triangles_of(mesh: MeshData) -> Integers:
    """(t, 3) its faces, fanned out."""
    return split(mesh).face_vertices.reshape(-1, 3)


def volume_within(triangles: Integers, points: Floats) -> float:
    """Within triangles [m³]."""
    a, b, c = points[triangles.T]
    return float((a * np.cross(b, c)).sum() / 6)


def mean_radius(points: Floats) -> float:
    """Mean distance from the centre [m]."""
    return float(np.linalg.norm(points - points.mean(axis=0), axis=1).mean())


def radius_by_law(pressure: float) -> float:
    """Of a ball of rubber: p r² = 2 r₀ ε/c with p = P (r₀/r)³, so ε (1 + ε) = P r₀ c/2 [m]."""
    load = pressure * RADIUS * STRETCH / 2
    return float(RADIUS * (0.5 + np.sqrt(0.25 + load)))


@pytest.mark.parametrize("case", [(24, 1000.0), *slow((24, 100.0), (42, 400.0))])
def test_a_balloon_swells_to_the_radius_of_its_law(case: tuple[int, float]) -> None:
    """By 21, 2 and 9 %; half a per cent is for its being a polyhedron."""
    around, pressure = case
    ball = sphere(around, around * 2 // 3, radius=RADIUS)
    settings = replace(RUBBER, pressure=pressure)
    (track,) = simulated([(ball, settings)], frames(1.5, 24), gravity=WEIGHTLESS)
    assert mean_radius(track[-1]) == pytest.approx(radius_by_law(pressure), rel=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("substeps", [4, 25])
def test_its_radius_depends_neither_on_steps_nor_on_mass(substeps: int) -> None:
    """Half a per cent is for its being a polyhedron."""
    ball = sphere(24, 16, radius=RADIUS)
    scene = SceneSettings(substeps=substeps)
    for mass in (0.5, 3.0):
        settings = replace(RUBBER, pressure=400.0, mass=mass)
        (track,) = simulated([(ball, settings)], frames(2.0, 24), scene, gravity=WEIGHTLESS)
        assert mean_radius(track[-1]) == pytest.approx(radius_by_law(400.0), rel=5e-3)


@pytest.mark.parametrize("pressure", slow(200.0, 1e3, 5e3))
def test_squeezed_it_keeps_pressure_times_volume(pressure: float) -> None:
    """Pressed flat by a third between the ground and a plate, at every frame from then on."""
    ball = sphere(16, 12, radius=RADIUS)
    top = np.flatnonzero(ball.positions[:, 2] > 0.4)
    model, state = built_state((pinned(ball, top), BodySettings(pressure=pressure)), dt=1 / 240)
    plate = ball.positions.copy()
    plate[top, 2] = 0.4
    triangles, products = triangles_of(ball), []
    for number in range(480):
        plate[top, 2] -= 0.3 / 240 * (number < 240)
        advance([(model, state)], [plate], ground=floor(-RADIUS))
        if number > 240 and state.gas is not None:
            volume = volume_within(triangles, state.positions.T)
            products.append(float(state.gas.pressures[0]) * volume)
    whole = volume_within(triangles, ball.positions)
    assert np.array(products) / whole == pytest.approx(pressure, rel=0.02)


@pytest.mark.slow
def test_squeezed_between_colliders_it_keeps_pressure_times_volume() -> None:
    """By 30 % of its height between two plates of mesh, at every step from the first frame on."""
    substeps = 10
    ball, dt = replace(sphere(16, 12), colliders=[0, 1]), 1 / 24 / substeps
    settings = BodySettings(pressure=1000.0)
    model, state = built_state((ball, settings), gravity=WEIGHTLESS, dt=dt)
    (low, at), (high, _) = plate(friction=0.5), plate(friction=0.5)

    def places(time: float) -> list[Floats]:
        return [at + np.array((0.0, 0.0, z)) for z in (-0.51, 0.51 - 0.6 * min(time, 0.5))]

    world = build_collision_world([model], [ball], [low, high], places(0.0))
    fill_with_gas(model, state, settings.pressure)
    triangles, products = triangles_of(ball), []
    for number in range(15 * substeps):
        given = StepInputs(
            dt=dt,
            gravity=WEIGHTLESS,
            targets=[ball.positions.T],
            fields=[()],
            ground=None,
            ground_shift=np.zeros(3),
            collider_starts=places(number * dt),
            collider_ends=places((number + 1) * dt),
        )
        step([(model, state)], SceneSettings(substeps=substeps), given, world)
        assert state.gas is not None
        volume = volume_within(triangles, state.positions.T)
        products.append(float(state.gas.pressures[0]) * volume)
    whole = volume_within(triangles, ball.positions)
    assert np.ptp(state.positions[2]) == pytest.approx(0.71, abs=1e-3)
    assert np.array(products[substeps:]) / whole == pytest.approx(1000.0, rel=0.02)


@pytest.mark.parametrize("pressure", [100.0, 300.0, 1000.0])
def test_pressure_is_there_from_the_first_frame(pressure: float) -> None:
    """Within 1 %; then the ball moves with less than 10 mJ: 20 cm/s of its half kilogram."""
    ball = sphere(24, 16)
    settings = BodySettings(pressure=pressure)
    model, state = built_state((ball, settings), gravity=WEIGHTLESS, dt=1 / 240)
    for number in range(48):
        before = state.positions
        advance([(model, state)], [ball.positions], gravity=WEIGHTLESS)
        ways = ((state.positions - before) * 240) ** 2 / model.inverse_masses
        assert state.gas is not None
        if number >= 9:
            assert ways.sum() / 2 < 0.01
            assert float(state.gas.pressures[0]) == pytest.approx(pressure, rel=0.01)


@pytest.mark.parametrize(("pressure", "most"), [(30.0, 1e-3), (300.0, 1e-4)])
def test_a_balloon_in_the_air_hardly_trembles(pressure: float, most: float) -> None:
    """After a second and a half the mean vertex of a metre moves by so much a frame [m].

    Walls that remembered tension that comes and goes moved by 4 and 0.17 mm.
    """
    settings = BodySettings(pressure=pressure)
    (track,) = simulated([(sphere(24, 12), settings)], frames(1.5, 24), gravity=WEIGHTLESS)
    assert np.linalg.norm(np.diff(track[-6:], axis=0), axis=2).mean() < most


def cover(cells: int, *, lifted: float = 0.0) -> MeshData:
    """Two squares of a metre on each other, joined at their rims: an empty cushion's cover."""
    top = sheet(cells)
    rim = (np.abs(top.positions[:, :2] - 0.5) > 0.5 - 1e-9).any(axis=1)
    below = np.where(rim, np.arange(len(rim)), len(rim) - 1 + np.cumsum(~rim))
    faces = faces_of(top)
    points = np.concatenate([top.positions + np.array((0.0, 0.0, lifted)), top.positions[~rim]])
    points[: len(rim)][rim] = top.positions[rim]
    return make_mesh(points, faces=[*map(tuple, faces), *(tuple(below[f[::-1]]) for f in faces)])


@pytest.mark.parametrize("substeps", [4, *slow(10)])
@pytest.mark.parametrize("lifted", [0.0, 2e-3])
def test_a_flat_cover_is_blown_up_to_a_cushion(lifted: float, substeps: int) -> None:
    """It holds as much as a square bag of paper can: 0.2055 of its width's cube (A. Pak, 2005)."""
    mesh = cover(16, lifted=lifted)
    settings, scene = BodySettings(pressure=300.0), SceneSettings(substeps=substeps)
    (track,) = simulated([(mesh, settings)], frames(1.5, 24), scene, gravity=WEIGHTLESS)
    assert volume_within(triangles_of(mesh), track[-1]) == pytest.approx(0.2055, rel=0.03)
    assert strains(mesh, track).max() < 0.03


@pytest.mark.parametrize("substeps", [1, 3, *slow(10)])
@pytest.mark.parametrize("pressure", [30.0, 1e3, 5e3, 1e9])
def test_pressure_is_held_at_rest_or_said_to_be_too_much(pressure: float, substeps: int) -> None:
    """Cloth that does not stretch stays a ball, in few steps or many."""
    settings, scene = BodySettings(pressure=pressure), SceneSettings(substeps=substeps)
    ball = sphere(24, 16)
    if pressure * (10 / substeps) ** 2 > 6.5e3:
        with pytest.raises(SettingsError, match=r"pressure of 'Body' .* raise the substeps"):
            simulated([(ball, settings)], frames(0.1, 24), scene)
        return
    (track,) = simulated([(ball, settings)], frames(2.0, 24), scene, gravity=WEIGHTLESS)
    assert strains(ball, track).max() < 0.06
    assert np.ptp(track[-1], axis=0) == pytest.approx((1.0, 1.0, 1.0), rel=0.1)


@pytest.mark.slow
def test_a_leak_lets_it_sink() -> None:
    """The pressure falls to 0 within a second; a ball that stood has lost a fifth of its height."""
    ball = sphere(24, 16)
    spans = frames(3.0, 24)
    scenes = samples([ball], spans, ground=floor(-0.5))
    leaking = [
        replace(sample, pressures=[300.0 * max(0.0, 1 - max(0, number - 24) / 24)])
        for number, sample in enumerate(scenes)
    ]
    track = np.array(
        [
            frame.positions[0]
            for frame in simulate([ball], [BodySettings()], SceneSettings(), leaking)
        ]
    )
    heights = np.ptp(track[:, :, 2], axis=1)
    assert heights[24] > 0.9
    assert heights[-1] < 0.8


def test_turned_over_and_mixed_up_faces_enclose_the_same() -> None:
    """Which way faces look decides nothing."""
    ball = split(sphere(12, 8))
    faces = faces_of(ball)
    mixed = [face[::-1] if number % 3 else face for number, face in enumerate(faces)]
    turned = [face[::-1] for face in faces]
    settings = BodySettings(pressure=300.0)
    volumes = []
    for around in (faces, turned, mixed):
        mesh = make_mesh(ball.positions, faces=[tuple(face.tolist()) for face in around])
        model, state = built_state((mesh, settings))
        fill_with_gas(model, state, 300.0)
        assert state.gas is not None
        volumes.append(float(state.gas.chambers.rest_volumes[0]))
    assert volumes == pytest.approx([volume_within(triangles_of(ball), ball.positions)] * 3)


def test_a_bag_with_a_lid_stays_where_it_is() -> None:
    """Without the lid over its mouth it would fly off like a rocket."""
    ball = sphere(24, 16)
    open_faces = [face for face in faces_of(ball) if ball.positions[face, 2].max() < 0.4]
    used = np.unique(np.concatenate(open_faces))
    number = np.full(len(ball.positions), -1)
    number[used] = np.arange(len(used))
    bag = make_mesh(ball.positions[used], faces=[tuple(number[face]) for face in open_faces])
    settings = BodySettings(pressure=500.0)
    (track,) = simulated([(bag, settings)], frames(1.0, 24), gravity=WEIGHTLESS)
    weights = masses((bag, settings))
    centres = (track * weights).sum(axis=1) / weights.sum()
    assert np.abs(centres - centres[0]).max() < 1e-9
    assert np.ptp(track[-1], axis=0) == pytest.approx(np.ptp(track[0], axis=0), rel=0.05)


def test_a_thrown_balloon_keeps_its_momentum_and_spin() -> None:
    """Gas pushes itself off nothing."""
    ball = moved(sphere(16, 10), rotation((1, 2, 3), 0.7))
    velocities = np.cross((1.0, 2.0, -1.0), ball.positions) + np.array((3.0, 0.0, 1.0))
    body = thrown(ball, velocities), BodySettings(pressure=500.0, damping=0.0)
    (track,) = simulated([body], frames(0.5, 480), IN_ONE_STEP, gravity=WEIGHTLESS)
    for kept in momenta(body, track, 1 / 480):
        np.testing.assert_allclose(kept, np.tile(kept[0], (240, 1)), rtol=1e-6, atol=1e-9)


def fins() -> MeshData:
    """A tube with a wall across it: edges of three faces."""
    mesh = tube(4, 2)
    return make_mesh(
        mesh.positions, faces=[*(tuple(face) for face in faces_of(mesh)), (4, 6, 10, 8)]
    )


def ribbon() -> MeshData:
    """A Möbius strip."""
    turns = np.arange(24) * 2 * np.pi / 24
    sides = [
        np.stack(
            [
                (1 + w * np.cos(turns / 2)) * np.cos(turns),
                (1 + w * np.cos(turns / 2)) * np.sin(turns),
                w * np.sin(turns / 2),
            ],
            axis=1,
        )
        for w in (-0.2, 0.2)
    ]
    faces = [(k, k + 1, 24 + k + 1, 24 + k) for k in range(23)] + [(23, 24, 0, 47)]
    return make_mesh(np.concatenate(sides), faces=faces)


@pytest.mark.parametrize(
    ("mesh", "told"),
    [
        (sheet(4), "encloses no volume"),
        (fins(), "more than two faces"),
        (ribbon(), "only one side"),
    ],
)
def test_what_has_no_inside_is_told_so(mesh: MeshData, told: str) -> None:
    """In a sentence with its name and what to do."""
    with pytest.raises(MeshError, match=rf"'Body' has pressure, but .*{told}.*; "):
        simulated([(mesh, BodySettings(pressure=1.0))], frames(0.1, 24))


@pytest.mark.parametrize("pressure", [-1.0, np.nan, np.inf])
def test_a_curve_that_asks_for_nonsense_is_told_so(pressure: float) -> None:
    """An eased key may run below 0."""
    scenes = [
        replace(sample, pressures=[pressure]) for sample in samples([sphere(8, 6)], frames(0.1, 24))
    ]
    with pytest.raises(SettingsError, match=r"pressure of 'Body' is .* at frame 2; set it to 0"):
        list(simulate([sphere(8, 6)], [BodySettings()], SceneSettings(), scenes))


def test_sheets_without_pressure_have_no_gas() -> None:
    """Nothing changes for what is no balloon."""
    model, state = built_state((sheet(4), BodySettings()))
    advance([(model, state)], [sheet(4).positions])
    assert state.gas is None


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")
def test_compiled_volumes_agree_with_the_reference() -> None:
    """Of two chambers at once, to rounding."""
    two = [sphere(12, 8, radius=0.3), moved(sphere(9, 6, radius=0.2), np.eye(3), (1.0, 0.5, 0.2))]
    count = len(two[0].positions)
    faces = [
        (face + shift).tolist()
        for mesh, shift in zip(two, (0, count), strict=True)
        for face in np.split(mesh.face_vertices, mesh.face_starts[1:-1])
    ]
    body = make_mesh(np.concatenate([mesh.positions for mesh in two]), faces=faces)
    model = built((body, BodySettings()))
    chambers = build_chambers("Body", model.rest_positions, model.triangles)
    x = model.rest_positions * np.array([[1.1], [0.9], [1.2]])
    expected = volumes_and_gradients.reference(x, chambers)
    found = volumes_and_gradients(x, chambers)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-14)
