"""Goal springs draw any vertices of a body, others at each sample, without a new model.

A spring is critically damped for a mass m and a rate ω where k = m ω² and c = 2 m ω.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from tests.core.bodies import (
    GRAVITY,
    UP,
    WEIGHTLESS,
    block,
    flat_sheet,
    masses,
    net,
    pinned,
    rope,
    sheet,
    sphere,
    star,
    strains,
    wind,
    woven,
)
from tests.core.test_mirrors import mirror
from tests.core.test_rigid import rigid
from tests.core.test_shells import STIFF, hat
from verlet_addon.core import build
from verlet_addon.core.arrays import Floats
from verlet_addon.core.changes import rebuilding
from verlet_addon.core.checkpoint import read_checkpoint, write_checkpoint
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.scene import GoalSprings, Sample
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulation import Simulation, start_simulation

FPS, G = 60, 9.81
SCENE = SceneSettings(substeps=4)
DT = 1.0 / (FPS * SCENE.substeps)
"""Of a step [s]."""
FREE = BodySettings(damping=0.0, use_tethers=False)
LINE = np.eye(3)[0] * np.linspace(0.0, 1.0, 21)[:, None]
Springs = Callable[[int], GoalSprings | None]


def springs(
    vertices: ArrayLike, targets: ArrayLike, stiffness: ArrayLike, damping: ArrayLike = 0.0
) -> GoalSprings:
    """Springs alike on vertices."""
    chosen = np.atleast_1d(np.array(vertices))
    count = len(chosen)
    return GoalSprings(
        chosen,
        np.array(targets, dtype=float).reshape(count, 3),
        np.broadcast_to(stiffness, count).astype(float),
        np.broadcast_to(damping, count).astype(float),
    )


def critical(vertices: ArrayLike, targets: ArrayLike, mass: ArrayLike, rate: float) -> GoalSprings:
    """Springs that are critically damped for a mass on each vertex [kg] and a rate [rad/s]."""
    mass = np.asarray(mass)
    return springs(vertices, targets, mass * rate**2, 2.0 * mass * rate)


def start(
    mesh: MeshData,
    settings: BodySettings,
    drawn: Springs,
    gravity: Floats = GRAVITY,
    scene: SceneSettings = SCENE,
) -> Simulation:
    """A simulation at its first sample."""
    return start_simulation([mesh], [settings], scene, sample(mesh, drawn, 0, gravity))


def sample(mesh: MeshData, drawn: Springs, number: int, gravity: Floats) -> Sample:
    """The sample of a number."""
    acting = drawn(number)
    return Sample(
        frame=number,
        duration=1.0 / FPS,
        gravity=gravity,
        targets=[mesh.positions],
        ground=None,
        mirrors=[[each.plane for each in mesh.mirrors]] if mesh.mirrors else (),
        goal_springs=() if acting is None else [acting],
    )


def drawn_track(
    mesh: MeshData,
    settings: BodySettings,
    drawn: Springs,
    count: int,
    *,
    gravity: Floats = GRAVITY,
    scene: SceneSettings = SCENE,
) -> Floats:
    """(count + 1, n, 3) where vertices are at each sample [m]."""
    simulation = start(mesh, settings, drawn, gravity, scene)
    samples = (sample(mesh, drawn, number, gravity) for number in range(1, count + 1))
    return np.array([mesh.positions, *(simulation.advance(each).positions[0] for each in samples)])


PAIR = rope([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
"""Two particles that are drawn alike, so that nothing acts between them."""
RATE, SPEED = 12.0, 0.7


@pytest.mark.parametrize("substeps", [4, 16])
def test_a_particle_follows_as_the_damped_spring_says(substeps: int) -> None:
    """A target that moves evenly: x = v t − (2 v / ω)(1 − e^{−ω t}) + v t e^{−ω t}.

    Implicit steps are off by their length: twice as many, half the error.
    """
    settings = replace(FREE, body_type="ROPE")
    own = masses((PAIR, settings))[:, 0]
    track = drawn_track(
        PAIR,
        settings,
        lambda k: critical([0, 1], PAIR.positions + SPEED * k / FPS * UP, own, RATE),
        60,
        gravity=WEIGHTLESS,
        scene=SceneSettings(substeps=substeps),
    )
    t = np.arange(61) / FPS
    decay = np.exp(-RATE * t)
    expected = SPEED * (t - 2.0 / RATE * (1.0 - decay) + t * decay)
    error = RATE / (FPS * substeps) * 0.5 * SPEED / RATE
    assert track[:, :, 2] == pytest.approx(expected[:, None].repeat(2, axis=1), abs=error)
    # In the end, behind by the time that the damping takes.
    assert SPEED * t[-1] - track[-1, 0, 2] == pytest.approx(2.0 * SPEED / RATE, rel=1e-3)


def test_how_a_particle_follows_does_not_depend_on_its_mass() -> None:
    """Stiffness and damping in proportion to the mass give the same motion."""

    def track(mass: float) -> Floats:
        settings = replace(FREE, body_type="ROPE", mass=mass)
        goal = critical([0, 1], PAIR.positions + UP, mass / 2, 30.0)
        return drawn_track(PAIR, settings, lambda _: goal, 30)

    assert track(0.001) == pytest.approx(track(100.0), abs=1e-9)


@pytest.mark.parametrize("rate", [1.0, 30.0, 1e3, 1e5, 1e8])
def test_no_stiffness_is_too_high(rate: float) -> None:
    """A cloth on one vertex, jerked to and fro, comes to rest below it, and never beyond."""
    mesh, held = sheet(8), 40
    settings = replace(FREE, damping=1.0)

    def drawn(k: int) -> GoalSprings:
        side = 0.3 * (k // 10 % 2) if k < 60 else 0.3
        return critical(held, mesh.positions[held] + [side, 0, 0], settings.mass, rate)

    track = drawn_track(mesh, settings, drawn, 360)
    target = mesh.positions[held] + [0.3, 0, 0]
    assert np.abs(strains(mesh, track[60:])).max() < 0.2
    assert track[:, held, 0].max() <= target[0] + 0.01
    if rate >= 30.0:
        sag = G / rate**2
        assert track[-1, held] == pytest.approx(target - [0, 0, sag], abs=0.1 * sag + 1e-3)


def test_a_body_hangs_as_far_below_as_its_weight_stretches_the_spring() -> None:
    """All of it on one vertex: M g / k."""
    mesh, k = rope(LINE[:, [1, 2, 0]] * -1), 40.0
    settings = BodySettings(body_type="ROPE", mass=0.5, damping=4.0)
    track = drawn_track(mesh, settings, lambda _: springs(0, [0, 0, 0], k, 10.0), 600)
    assert track[-1, 0, 2] == pytest.approx(-0.5 * G / k, rel=2e-3)


ROPE = BodySettings(body_type="ROPE")
KINDS: dict[str, tuple[MeshData, BodySettings, list[int], float]] = {
    "cloth": (sheet(10), replace(FREE, shear_compliance=0.01), [0, 10], 1e-12),
    "triangles": (
        flat_sheet("strewn triangles", 8),
        replace(FREE, stretch_compliance=1e-4),
        [0],
        1e-12,
    ),
    "woven": (woven(sheet(8)), replace(FREE, stretch_compliance=2e-4), [0, 8], 1e-12),
    "balloon": (sphere(12, 8), replace(FREE, pressure=300.0, stretch_compliance=1e-3), [0], 1e-12),
    "hat": (hat(), replace(STIFF, use_tethers=False), [0, 1, 2], 1e-12),
    "yielding": (sheet(8), replace(FREE, use_plasticity=True), [0, 8], 1e-11),
    "rope": (rope(LINE), ROPE, [0], 1e-12),
    "rope by its middle": (rope(LINE), ROPE, [10], 1e-12),
    "star": (star(4), ROPE, [0], 1e-12),
    "net": (net(6), ROPE, [0, 6], 1e-5),
    "cloth beside a rigid part": (rigid(sheet(8), np.array([0, 1, 9])), FREE, [80], 1e-11),
    "rigid part": (rigid(sheet(8), np.array([0, 1, 9, 10])), FREE, [0, 1], 1e-5),
    "jelly": (block((0.4, 0.4, 0.4), (3, 3, 3)), BodySettings(body_type="SOFT"), [0, 1, 2], 0.02),
    "mirrored half": (replace(sheet(6), mirrors=[mirror(1.0, 0.0, 0.0)]), FREE, [6, 48], 1e-12),
    "water": (sheet(8), BodySettings(body_type="WATER"), [40], 1e-12),
}
"""Body, vertices that are held, and how far it may be from a pinned one [m]. Places on the way are
rounded differently; a net is solved by so many rounds, and jelly is held through its skin."""


@pytest.mark.parametrize("kind", KINDS)
def test_infinitely_stiff_springs_are_pins(kind: str) -> None:
    """While they lead their vertices up and down."""
    mesh, settings, held, tolerance = KINDS[kind]

    def place(k: int) -> Floats:
        return np.asarray(mesh.positions[held] + 0.1 * np.sin(k / 10) * UP)

    by_springs = drawn_track(mesh, settings, lambda k: springs(held, place(k), np.inf), 45)
    simulation = start(pinned(mesh, held), settings, lambda _: None)
    for k in range(1, 46):
        targets = mesh.positions.copy()
        targets[held] = place(k)
        plain = replace(sample(mesh, lambda _: None, k, GRAVITY), targets=[targets])
        by_pins = simulation.advance(plain).positions[0]
        assert by_springs[k, held] == pytest.approx(place(k), abs=1e-12)
        assert np.abs(by_springs[k] - by_pins).max() <= tolerance
    assert np.abs(by_pins - mesh.positions).max() > 0.03


def test_cloth_that_hangs_from_stiff_springs_hangs_as_from_pins_to_the_bit() -> None:
    mesh, held = sheet(10), [0, 10]
    goal = springs(held, mesh.positions[held], np.inf)
    by_springs = drawn_track(mesh, FREE, lambda _: goal, 60)
    assert np.array_equal(by_springs, drawn_track(pinned(mesh, held), FREE, lambda _: None, 60))


@pytest.mark.parametrize("mesh", [sheet(12), flat_sheet("strewn triangles", 12)])
def test_tethers_and_coarse_levels_leave_held_vertices_alone(mesh: MeshData) -> None:
    """Which know of pins only: lengths then have to be kept without them."""
    held = [0, 12]
    goal = springs(held, mesh.positions[held], np.inf)
    track = drawn_track(pinned(mesh, 168), BodySettings(), lambda k: goal if k > 5 else None, 180)
    assert track[6:, held] == pytest.approx(mesh.positions[held][None].repeat(175, 0), abs=1e-12)
    assert strains(mesh, track[60:]).max() < 0.01


def test_a_spring_without_stiffness_leaves_every_bit_as_it_was() -> None:
    """As does one on a pin, and one that is gone before time passes."""
    mesh = pinned(sheet(10), [0, 10])
    alone = drawn_track(mesh, BodySettings(), lambda _: None, 30)
    none = springs([0, 60], mesh.positions[[0, 60]] + 1.0, [100.0, 0.0], [0.0, 7.0])
    assert np.array_equal(drawn_track(mesh, BodySettings(), lambda _: none, 30), alone)
    early = springs(60, [0, 0, 1], 100.0)
    by_early = drawn_track(mesh, BodySettings(), lambda k: None if k else early, 30)
    assert np.array_equal(by_early, alone)


def test_what_is_let_go_goes_on_as_fast_as_it_was_led() -> None:
    """Thrown sideways: all of it falls freely from then on, with its momentum."""
    mesh, vertices, speed = sheet(6), np.arange(49), 2.0

    def drawn(k: int) -> GoalSprings | None:
        shift = [speed * k / FPS, 0, 0]
        return springs(vertices, mesh.positions + shift, np.inf) if k <= 12 else None

    track = drawn_track(mesh, FREE, drawn, 36)
    t = np.arange(1, 25) / FPS
    path = track[12:].mean(axis=1) - track[12].mean(axis=0)
    assert path[1:, 0] == pytest.approx(speed * t, rel=1e-6)
    assert path[1:, 2] == pytest.approx(-G / 2 * t * (t + DT), rel=1e-6)


@pytest.mark.parametrize("kind", ["cloth", "rope", "jelly", "hat"])
def test_other_vertices_are_held_without_a_new_model(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another vertex, target and stiffness at every sample."""
    mesh, settings, *_ = KINDS[kind]
    simulation = start(mesh, settings, lambda _: None)
    simulation.advance(sample(mesh, lambda _: None, 1, GRAVITY))

    def no_model(*_: object) -> None:
        raise AssertionError("a model was built")

    for module in (build, rebuilding):
        monkeypatch.setattr(module, "build_model", no_model)
    for k in range(2, 12):
        moved = simulation.advance(
            sample(mesh, lambda k: springs(k, mesh.positions[k], 10.0**k), k, GRAVITY)
        )
    assert moved.positions[0][11] == pytest.approx(mesh.positions[11], abs=0.05)


def test_a_body_that_springs_hold_everywhere_is_held_in_a_field_too() -> None:
    mesh = sheet(4)
    settings = BodySettings(use_self_collision=True)
    every = springs(np.arange(25), mesh.positions + 0.1 * UP, np.inf)
    simulation = start(mesh, settings, lambda _: None)
    for k in (1, 2):
        blown = replace(sample(mesh, lambda _: every, k, GRAVITY), fields=[[wind(10.0)]])
        moved = simulation.advance(blown).positions[0]
        assert moved == pytest.approx(every.targets, abs=1e-12)


def test_a_drawn_simulation_goes_on_from_a_file(tmp_path: Path) -> None:
    """To the same bits."""
    mesh, held = sheet(8), [3, 70]

    def drawn(k: int) -> GoalSprings:
        return springs(held, mesh.positions[held] + [0, 0, 0.01 * k], 30.0, 1.0)

    simulation = start(mesh, FREE, drawn)
    for k in range(1, 6):
        simulation.advance(sample(mesh, drawn, k, GRAVITY))
    write_checkpoint(tmp_path / "stored", simulation)
    again = read_checkpoint(tmp_path / "stored")
    for k in range(6, 12):
        each = sample(mesh, drawn, k, GRAVITY)
        assert np.array_equal(
            simulation.advance(each).positions[0], again.advance(each).positions[0]
        )
