"""What touches nothing is moved through a frame by one call, as steps would move it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    UP,
    Body,
    built_state,
    coil,
    field,
    flat_sheet,
    floor,
    gaping_tube,
    make_mesh,
    moved,
    pinned,
    rope,
    rotation,
    samples,
    scanned,
    sheet,
    simulated,
    star,
    thicket,
    thrown,
    wind,
    with_fringe,
    woven,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.bodies.plain_bodies import make_group
from verlet_addon.core.bodies.step_data import Body as Built
from verlet_addon.core.compiled import backend
from verlet_addon.core.contacts.solve.collision_world import CollisionWorld, build_collision_world
from verlet_addon.core.fast_paths import find_plain, step_plain_bodies
from verlet_addon.core.materials import MATERIALS
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.scene import Collider, Plane, Sample
from verlet_addon.core.settings import SceneSettings
from verlet_addon.core.state import ready_batches
from verlet_addon.core.step import step
from verlet_addon.core.stretch.seams import with_seams
from verlet_addon.core.substeps import cut_into_steps, find_ways

pytestmark = pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")

SCENE, FRAME = SceneSettings(substeps=7), 1 / 24
RING = make_mesh(
    [(0.1 * np.cos(k), 0.1 * np.sin(k), 0.0) for k in np.arange(20) * 2.0 * np.pi / 20],
    edges=[(k, (k + 1) % 20) for k in range(20)],
)
LINE = rope([(0.02 * k, 0.0, 0.1) for k in range(26)])
TILTED, SMALL, SMALLER = (
    moved(sheet(8, size=size), rotation((1.0, 2.0, 0.0), 0.8), (0.0, 0.0, 0.1))
    for size in (0.4, 0.2, 0.1)
)


ROPES: dict[str, tuple[str, MeshData]] = {
    "held at one end": ("HEMP", pinned(LINE, [0, 1])),
    "soft, held at one end": ("BUNGEE", pinned(LINE, [0])),
    "held at both ends": ("STEEL_CHAIN", pinned(LINE, [0, 25])),
    "held by nothing, tumbling": (
        "NYLON",
        thrown(LINE, LINE.positions[:, [2, 1, 0]] * np.array([3.0, 0.0, -9.0])),
    ),
    "star": ("NYLON", pinned(star(5), [3])),
    "thicket": ("BUNGEE", pinned(thicket(40), [7])),
    "coil": ("HEMP", moved(pinned(coil(2.0, 20), [0, 1]), np.eye(3), (0.0, 0.0, 0.3))),
}
CASES = ROPES | {
    "cloth on two corners": ("COTTON", pinned(TILTED, [0, 8])),
    "cloth held by nothing": ("SILK", TILTED),
    "elastic cloth": ("RUBBER_SHEET", pinned(TILTED, range(9))),
    "scanned cloth": ("COTTON", pinned(scanned(6, tiny=0.01), [0])),
    "paper": ("PAPER", pinned(SMALL, [0, 8])),
    "stiff paper": ("PAPER", SMALLER),
    "triangles": ("DENIM", pinned(flat_sheet("strewn triangles", 8), [0, 8])),
    "cloth with a fringe": ("COTTON", pinned(with_fringe(TILTED), [0, 8])),
    "ring": ("NYLON", pinned(RING, [0])),
    "woven cloth": ("RUBBER_SHEET", pinned(woven(TILTED), [0, 8])),
    "cloth sewn to itself": ("COTTON", with_seams(pinned(gaping_tube(10, 5), [0]), every=True)),
    "soft pins": ("COTTON", pinned(TILTED, [0, 8], weight=0.4)),
    "cloth near its animated mesh": ("COTTON", TILTED),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "cloth near its animated mesh": {"use_maximum_distance": True, "maximum_distance": 0.05}
}
"""Settings of a case besides those of its material."""


def way(case: str, *, ground: Plane | None, moving: bool) -> tuple[Body, list[Sample]]:
    """A body of a case, bouncing, and the scene as its pins stand still or move."""
    material, mesh = CASES[case]
    own = SETTINGS.get(case, {})
    body = mesh, replace(MATERIALS[material].settings, restitution=0.5, **own)
    shift = np.array([0.3, -0.2, 0.1]) if moving else np.zeros(3)
    scene = samples(
        [mesh], [FRAME] * 8, ground=ground, targets=lambda t: [mesh.positions + t * shift]
    )
    return body, list(scene)


def step_plain_body(
    body: Built,
    settings: SceneSettings,
    before: Sample,
    after: Sample,
    world: CollisionWorld | None = None,
) -> bool:
    """Advances a single body in one call if it is plain; returns whether it did."""
    ways = find_ways([body], [()], before, after, settings.substeps)
    plain = find_plain([body], settings, before, after)
    return bool(plain) and step_plain_bodies([body], settings, before, after, ways, world)


def stepped(
    body: Body, scene: Sequence[Sample], move: Callable[..., bool] = step_plain_body
) -> tuple[Any, list[bool]]:
    """The body at the end, and for each frame whether one call moved it, as steps do."""
    (model, state), (_, other) = (built_state(body, dt=FRAME / SCENE.substeps) for _ in range(2))
    swung = []
    for before, after in pairwise(scene):
        swung.append(move((model, state), SCENE, before, after))
        for each in (other,) if swung[-1] else (other, state):
            ways = find_ways([(model, each)], [()], before, after, SCENE.substeps)
            for given in cut_into_steps(ways, before, after, SCENE.substeps):
                step([(model, each)], SCENE, given)
        for name in ("positions", "previous_positions", "steps"):
            np.testing.assert_array_equal(getattr(state, name), getattr(other, name))
    return (model, state), swung


@pytest.mark.parametrize("below", [None, 0.03, -0.3])
@pytest.mark.parametrize("case", CASES)
def test_one_call_moves_bodies_as_steps_do(case: str, below: float | None) -> None:
    """To the bit: hanging, tumbling and bouncing; what starts in the ground is left to steps."""
    lowest = float(CASES[case][1].positions[:, 2].min())
    ground = None if below is None else floor(lowest - below)
    _, swung = stepped(*way(case, ground=ground, moving=False))
    assert not any(swung) if below == -0.3 else all(swung[1:])


def led(body: Built, scene: SceneSettings, before: Sample, after: Sample) -> bool:
    """Steps in which single calls move the body; returns whether they could."""
    ways = find_ways([body], [()], before, after, scene.substeps)
    plain = find_plain([body], scene, before, after)
    group = make_group([body], plain, scene, ways, before, after)
    group.start_steps()
    for given in cut_into_steps(ways, before, after, scene.substeps):
        step([body], scene, given, None, group)
    return plain == [0]


@pytest.mark.parametrize("case", CASES)
def test_single_calls_lead_bodies_through_each_step(case: str) -> None:
    """To the bit, above ground on which they bounce: as what touches others is led."""
    ground = floor(float(CASES[case][1].positions[:, 2].min()) - 0.03)
    assert all(stepped(*way(case, ground=ground, moving=False), led)[1])


@pytest.mark.parametrize(
    "case",
    [
        "held at one end",
        "star",
        "held at both ends",
        "soft pins",
        "cloth near its animated mesh",
    ],
)
def test_one_call_moves_bodies_along_with_their_pins(case: str) -> None:
    """To the bit, also a rope between pins, which they may draw out."""
    assert all(stepped(*way(case, ground=None, moving=True))[1])


@pytest.mark.parametrize("move", [step_plain_body, led])
@pytest.mark.parametrize("case", ["held by nothing, tumbling", "cloth held by nothing"])
def test_ground_that_moves_carries_bodies_as_in_steps(case: str, move: Callable[..., bool]) -> None:
    """To the bit: it rises to the body, tilts and slides away beneath it."""
    lowest = float(CASES[case][1].positions[:, 2].min())
    body, scene = way(case, ground=None, moving=False)
    moving = [
        replace(each, ground=replace(floor(lowest - 0.03, tilt=0.02 * k), point=point))
        for k, each in enumerate(scene)
        for point in [np.array([0.05 * k, 0.0, lowest - 0.03 + 0.02 * k])]
    ]
    (_, state), done = stepped(body, moving, move)
    assert all(done)
    assert float(state.positions[2].min()) > lowest, "the ground has lifted it"


@pytest.mark.parametrize("move", [step_plain_body, led])
@pytest.mark.parametrize("case", ["star", "cloth on two corners", "cloth with a fringe"])
def test_fields_that_change_move_bodies_as_steps_do(case: str, move: Callable[..., bool]) -> None:
    """To the bit: wind that rises, eddies that travel and grow, and a whirl that turns."""
    body, scene = way(case, ground=None, moving=False)
    blown = [
        replace(
            each,
            fields=[
                [
                    wind(0.5 * k),
                    field(
                        "TURBULENCE", 2.0, origin=0.1 * k * UP, size=0.1 * (k + 1), wind_factor=0.5
                    ),
                    field("VORTEX", 1.0, np.array([np.sin(k), 0.0, np.cos(k)]), radial_power=1.0),
                ]
            ],
        )
        for k, each in enumerate(scene)
    ]
    assert all(stepped(body, blown, move)[1][1:])


def test_what_acts_unevenly_is_left_to_steps() -> None:
    """A field in a cone, and steps of another length than before."""
    held, scene = way("star", ground=floor(-5.0), moving=False)
    body, _ = stepped(held, scene[:3])
    blown = replace(scene[3], fields=[[replace(wind(1.0), falloff="CONE")]])
    slower = replace(scene[3], duration=2.0 * FRAME)
    for after in (blown, slower):
        assert not step_plain_body(body, SCENE, scene[2], after)
    assert step_plain_body(body, SCENE, scene[2], scene[3])


PLATE = np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])
BOUNCY = Collider("Plate", np.array([[0, 1, 2], [0, 2, 3]]), 0.001, 0.5, 0.9, False)


@pytest.mark.parametrize("case", ["held by nothing, tumbling", "held at one end"])
def test_a_rope_is_left_to_steps_while_it_is_near_a_collider(case: str) -> None:
    """It moves to the bit as beside one that has no face near it, but lies on all sides of it.

    Falling, bouncing off a plate that rises against it, and flying on, or swinging through it.
    """
    body, _ = way(case, ground=None, moving=False)
    around = np.repeat([(-30.0, -30.0, -30.0), (30.0, 30.0, 30.0)], 3, axis=0)
    around[[1, 4], 0] += 0.1
    around[[2, 5], 1] += 0.1
    everywhere = replace(BOUNCY, name="Corners", triangles=np.array([[0, 1, 2], [3, 4, 5]]))

    def rising(time: float) -> Floats:
        return np.asarray(PLATE + np.array([0.0, 0.0, 0.3 * time - 0.4]))

    swung = simulated([body], [FRAME] * 16, SCENE, colliders=[(BOUNCY, rising)])
    others = [(BOUNCY, rising), (everywhere, lambda _: around)]
    stepped = simulated([body], [FRAME] * 16, SCENE, colliders=others)
    np.testing.assert_array_equal(swung[0], stepped[0])
    assert not np.array_equal(swung[0], simulated([body], [FRAME] * 16, SCENE)[0])


def test_a_frame_begins_anew_once_a_rope_has_come_near_a_collider() -> None:
    """What one call did to it until then is taken back; farther away, it moves the rope on."""
    held, scene = way("held at one end", ground=None, moving=False)
    mesh = replace(held[0], colliders=[0])
    (model, state), _ = stepped(held, scene[:4])

    def moves_on(height: float) -> bool:
        places = [PLATE + np.array([0.0, 0.0, height])]
        before, after = (replace(sample, colliders=places) for sample in scene[3:5])
        world = build_collision_world([model], [mesh], [BOUNCY], places)
        return step_plain_body((model, state), SCENE, before, after, world)

    def memory() -> list[Floats]:
        strip_system = ready_batches(
            model, state, SCENE.integrator, FRAME / SCENE.substeps
        ).ropes.strip_system
        return [
            state.positions,
            state.previous_positions,
            strip_system.multipliers,
            strip_system.displacement,
        ]

    former = [rows.copy() for rows in memory()]
    assert not moves_on(0.0)
    for rows, before in zip(memory(), former, strict=True):
        np.testing.assert_array_equal(rows, before)
    assert moves_on(-0.5)
