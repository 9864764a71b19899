"""Bodies keep off each other, and off themselves: nothing passes, and it comes to rest."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    HALF,
    WEIGHTLESS,
    Body,
    block,
    built,
    floor,
    frames,
    make_mesh,
    moved,
    pinned,
    results,
    rope,
    rotation,
    sheet,
    simulated,
    sphere,
    strains,
    thrown,
    tracks,
    work,
)
from tests.core.colliders import GAP, TINY, ball, crossed, plate as flat_plate, puck
from tests.core.intersections import crossings
from verlet_addon.core.arrays import Floats
from verlet_addon.core.contacts.manifold.row_setup import PredictedMotion
from verlet_addon.core.contacts.solve.collision_world import build_collision_world, gather_bodies
from verlet_addon.core.contacts.solve.contact_step import apply_tunnelling_guard, detect_contacts
from verlet_addon.core.mesh import Paint
from verlet_addon.core.settings import BodySettings, SceneSettings

SELF = BodySettings(use_self_collision=True)


@pytest.mark.parametrize("substeps", [1, 10])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_two_bodies_bounce_off_each_other(restitution: float, substeps: int) -> None:
    """Meeting at 10 m/s, they part at e times that, and their centre moves on as before."""
    body = BodySettings(damping=0.0, thickness=GAP, restitution=restitution, mass=0.2)
    heavy = replace(body, mass=0.6)
    bodies = [
        (thrown(make_mesh(puck(0.5), faces=[(0, 1, 2)]), (0.0, 0.0, -5.0)), body),
        (thrown(make_mesh(puck(-0.5), faces=[(0, 1, 2)]), (0.0, 0.0, 5.0)), heavy),
    ]
    tracks = simulated(
        bodies, frames(0.25, 24), SceneSettings(substeps=substeps), gravity=WEIGHTLESS
    )
    light, weighty = (np.diff(track[-2:], axis=0).mean(axis=(0, 1)) * 24 for track in tracks)
    assert light[2] - weighty[2] == pytest.approx(restitution * 10.0, abs=0.05)
    assert 0.2 * light[2] + 0.6 * weighty[2] == pytest.approx(2.0, abs=1e-6)
    np.testing.assert_allclose([light[:2], weighty[:2]], 0.0, atol=1e-6)


def test_sheets_that_start_too_near_part_slowly() -> None:
    """A millimetre apart for a distance of ten, they get there in a second, and hardly fly on."""
    below = sheet(6, 6, size=0.1)
    above = replace(below, positions=below.positions + np.array([0.004, 0.003, 0.001]))
    body = BodySettings(thickness=0.01, mass=0.01)
    ends = simulated([(below, body), (above, body)], frames(1.0, 24), gravity=WEIGHTLESS)
    apart = [float((over - under)[:, 2].mean()) for under, over in zip(*ends, strict=True)]
    assert 0.008 < apart[-1] < 0.013
    assert max(np.abs(strains(below, track)).max() for track in ends) < 0.02


def pile(count: int) -> list[Body]:
    """Sheets above each other, each turned against the one below."""
    turned = [rotation((0, 0, 1), 0.3 * k) for k in range(count)]
    return [
        (moved(sheet(10), turn, (-0.5 + 0.1 * k, -0.5, 0.1 + 0.08 * k)), SELF)
        for k, turn in enumerate(turned)
    ]


def upright() -> list[Body]:
    """A sheet that stands nearly on its edge, and folds as it falls."""
    return [(moved(sheet(10), rotation((1, 0.3, 0), 1.4), (-0.5, 0.0, 0.3)), SELF)]


@pytest.mark.slow
@pytest.mark.parametrize("bodies", [pile(3), upright()], ids=["pile", "upright"])
def test_cloth_falls_onto_cloth(bodies: list[Body]) -> None:
    """Three sheets dropped in a pile, and one that crumples, pass through nowhere and lie still."""
    tracks = simulated(bodies, frames(2.0, 24), HALF, ground=floor())
    assert crossed(bodies, tracks, []) == 0
    for track in tracks:
        # What is held back from passing comes before the distance from the ground.
        assert track[:, :, 2].min() > 0.5 * SELF.thickness
        assert np.abs(np.diff(track[-2:], axis=0)).mean() * 24 < 0.01


SOFT = BodySettings(body_type="SOFT", resolution=4)
CUBE = (moved(block((0.2,) * 3, (3,) * 3), np.eye(3), (-0.1, -0.1, 0.0)), SOFT)
CUSHION = (moved(sphere(16, 8, radius=0.2), np.diag([1, 1, 0.5]), (0.0, 0.0, 0.1)), SOFT)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("jelly", "triangles", "falls", "lies"),
    [
        (CUBE, True, 0.25, 0.006),
        (CUSHION, False, 0.25, 0.006),
        (CUBE, False, 0.006, 1.0),
        (CUSHION, True, 0.006, 1.0),
    ],
    ids=["on a cube", "on a cushion", "under a cube", "under a cushion"],
)
def test_cloth_and_jelly_lie_on_each_other(
    jelly: Body, triangles: bool, falls: float, lies: float
) -> None:
    """Cloth falls on jelly, or jelly from a metre on cloth that lies: no corner goes through.

    After three seconds both lie still, but for corners of the cloth that swing beside the jelly.
    """
    cloth = moved(sheet(12, size=0.6, triangles=triangles), np.eye(3), (-0.29, -0.31, falls))
    turned = rotation((1, 0.4, 0), 0.0 if lies < falls else 0.6)
    bodies = [(cloth, SELF), (moved(jelly[0], turned, (0.0, 0.0, lies)), SOFT)]
    tracks = simulated(bodies, frames(3.5, 24), HALF, ground=floor())
    assert crossed(bodies, tracks, []) == 0
    for track in tracks:
        speeds = np.linalg.norm(np.diff(track[-12:], axis=0), axis=2) * 24
        assert speeds.mean() < 0.005
        assert speeds.max() < 0.05


def draped() -> Body:
    """A sheet that falls over a ball at the origin."""
    return moved(sheet(10), np.eye(3), (-0.5, -0.5, 0.33)), SELF


def strung() -> Body:
    """A rope that does."""
    body = BodySettings(body_type="ROPE")
    return rope(np.linspace((-0.5, 0.01, 0.32), (0.5, 0.01, 0.32), 31)), body


@pytest.mark.slow
def test_apart_bodies_bake_alike_alone_and_in_company() -> None:
    """A body that touches no other does not feel that there is one, not in its last digit.

    Contacts of all were solved until all lay still, which took a body 16 cm elsewhere, and looked
    for as far as the thickest of all bodies keeps off.
    """
    bodies, around = [], []
    for place, body in zip((0.0, 5.0, 10.0), (draped(), upright()[0], strung()), strict=True):
        thicker = replace(body[1], thickness=(4.0 if place else 1.0) * body[1].thickness)
        bodies.append((moved(body[0], np.eye(3), (place, 0.0, 0.0)), thicker))
        around.append((ball(friction=0.5)[0], ball()[1] + np.array([place, 0.0, 0.0])))
    given: dict[str, Any] = {"ground": floor(-0.35), "colliders": around}
    together = simulated(bodies, frames(0.4, 24), HALF, **given)
    for body, track in zip(bodies, together, strict=True):
        np.testing.assert_array_equal(simulated([body], frames(0.4, 24), HALF, **given)[0], track)


def test_the_guard_looks_where_nothing_was_looked_for() -> None:
    """What the last push has led through a plate is held back, though no search came after it."""
    mesh = moved(sheet(2), np.eye(3), (-0.5, -0.5, 0.1))
    shape, place = flat_plate(size=4.0)
    model = built((mesh, BodySettings()))
    world = build_collision_world([model], [replace(mesh, colliders=(0,))], [shape], [place])
    assert world is not None
    start = world.gather_positions([mesh.positions.T], [place])
    motion = PredictedMotion(
        inverse_masses=np.append(model.contact_inverse_masses, np.zeros(len(place))),
        start=start,
        predicted=start,
        accelerations=np.zeros_like(start),
        on_ropes=world.on_ropes,
        dt=1 / 240,
    )
    contact_step = detect_contacts(world, motion, start)
    bodies = [mesh.positions.T - [[0.0], [0.0], [0.3]]]
    gather_bodies(world.body_slices, bodies, contact_step.positions)  # as pushes leave it
    apply_tunnelling_guard(contact_step, bodies, lambda _: None)
    assert bodies[0][2].min() > 0.0


CRUMPLED = 1e-3 * np.array(
    [
        [(30.0, -25.3, 14.6), (-4.8, 10.2, 14.3), (10.6, 33.4, -2.8)],
        [(-5.4, -29.4, -19.5), (-17.4, -27.0, 2.0), (-13.1, 38.1, -8.7)],
    ]
)
"""(2, 3, 3) corners of two squares side by side, lower and upper ones, in a cloth over Suzanne."""
PASSING = 1e-3 * np.array(
    [
        [(-0.8, 2.1, -0.8), (-2.1, 0.7, 0.4), (1.3, -1.8, -0.6)],
        [(-0.8, 1.8, 0.3), (1.0, -1.2, 1.3), (1.4, -1.6, -0.7)],
    ]
)
"""Their displacements within a step, by which the diagonals of both would pass each other."""


def test_diagonals_of_neighbouring_squares_do_not_pass_each_other() -> None:
    """The triangles beside them have corners in common, so that no other pair is in the way."""
    flat = 0.04 * np.array([(x, y, 0.0) for y in range(2) for x in range(3)])
    mesh = make_mesh(flat, faces=[(0, 1, 3), (1, 4, 3), (1, 2, 4), (2, 5, 4)])
    start, end = (x.reshape(6, 3).T.copy(order="C") for x in (CRUMPLED, CRUMPLED + PASSING))
    world = build_collision_world([built((mesh, SELF))], [mesh], [], [])
    assert world is not None
    motion = PredictedMotion(
        inverse_masses=np.ones(6),
        start=start,
        predicted=end,
        accelerations=np.zeros_like(start),
        on_ropes=world.on_ropes,
        dt=1 / 240,
    )
    bodies = [end.copy()]
    surfaces = world.surfaces
    assert crossings(end, surfaces.edges, surfaces.triangles).size
    apply_tunnelling_guard(detect_contacts(world, motion, end), bodies, lambda _: None)
    assert not crossings(bodies[0], surfaces.edges, surfaces.triangles).size


@pytest.mark.slow
def test_cells_smaller_than_the_thickness_keep_their_lengths() -> None:
    """Cloth whose cells are smaller in its middle than it is thick drapes over a ball as any does.

    Two per cent is what impacts may stretch; it is 14 where contacts push neighbours apart. (Cells
    just as large as the cloth is thick, 5 mm, are not there yet: single ones stretch by 10 to 20 %
    for a frame, in every other place that it can start from.)
    """
    flat = sheet(20, size=2.0)
    from_middle = flat.positions - [1.0, 1.0, 0.0]
    finer = np.sign(from_middle) * (0.07 * np.abs(from_middle) + 0.93 * from_middle**2) * 0.2
    start = (0.02001, 0.01, 0.13)
    mesh = moved(replace(flat, positions=finer), rotation((1, 0.3, 0), 0.1), start)
    around = [ball(radius=0.1, friction=0.5)]
    (track,) = simulated([(mesh, SELF)], frames(0.6, 24), ground=floor(-0.3), colliders=around)
    assert strains(mesh, track).max() < 0.02


def test_what_would_pass_is_solved_with_lengths() -> None:
    """A sheet thrown onto a ball leaves the guard nothing to pull back, and crosses it nowhere.

    That guard knows no lengths: it acts in four of 120 steps here if what would pass does not
    become rows.
    """
    mesh = thrown(moved(sheet(20), np.eye(3), (-0.5, -0.5, 0.23)), (0.0, 0.0, -6.0))
    bodies, around = [(mesh, replace(SELF, damping=2.0))], [ball(radius=0.2, friction=1.0)]
    found = list(results(bodies, frames(0.5, 24), ground=floor(-0.6), colliders=around))
    assert work(found).guarded_steps == 0
    assert crossed(bodies, tracks(found), around) == 0
    assert strains(mesh, tracks(found)[0]).max() < 0.02


def test_what_comes_near_and_not_too_near_is_not_solved_for_again() -> None:
    """A sheet that crumples over a ball is solved for less than once a step; else, 1.2 times."""
    mesh = moved(sheet(24), np.eye(3), (-0.5, -0.5, 0.23))
    bodies, around = [(mesh, replace(SELF, damping=2.0))], [ball(radius=0.2, friction=1.0)]
    done = work(results(bodies, frames(0.6, 24), ground=floor(-0.6), colliders=around))
    assert 0 < done.island_solutions < done.steps


def flying(*, exempt: str, painted: float, gap: float) -> tuple[Floats, Floats]:
    """Heights of a sheet that flies at 5 m/s onto one that is held, and where that one stood.

    They are one body, or two; the flying one is painted exempt by so much.
    """
    held = pinned(sheet(6), range(48))
    missile = thrown(moved(sheet(6, size=0.5), np.eye(3), (0.2, 0.3, gap)), (0.0, 0.0, -5.0))
    weights = np.full(len(missile.positions), painted)
    settings = BodySettings(use_self_collision=True)
    if exempt == "object_collisions":
        missile = replace(missile, paint=Paint(object_collisions=weights))
        track = simulated([(held, settings), (missile, settings)], frames(0.2, 24))[1]
        return track[-1, :, 2], held.positions[:, 2]
    count = len(held.positions)
    both = replace(
        make_mesh(
            np.concatenate([held.positions, missile.positions]),
            faces=[
                tuple(face + shift)
                for mesh, shift in ((held, 0), (missile, count))
                for face in np.split(mesh.face_vertices, mesh.face_starts[1:-1])
            ],
        ),
        pin_weights=np.concatenate([held.pin_weights, missile.pin_weights]),
        velocities=np.concatenate([held.velocities, missile.velocities]),
        paint=Paint(self_collisions=np.concatenate([np.zeros(count), weights])),
    )
    (track,) = simulated([(both, settings)], frames(0.2, 24))
    return track[-1, count:, 2], held.positions[:, 2]


@pytest.mark.parametrize("exempt", ["object_collisions", "self_collisions"])
def test_what_is_exempt_passes(exempt: str) -> None:
    """With any weight above 0, through other bodies or through its own; with none it is held."""
    for weight in (1.0, 0.01):
        heights, _ = flying(exempt=exempt, painted=weight, gap=0.3)
        assert heights.max() < -0.3
    heights, stood = flying(exempt=exempt, painted=0.0, gap=0.3)
    assert heights.min() > stood.max()


def test_a_sheet_is_held_where_it_is_not_exempt() -> None:
    """One half of it lies on a table, the other hangs down through it."""
    mesh = moved(sheet(12), np.eye(3), (-0.5, -0.5, 0.1))
    exempt = mesh.positions[:, 0] > TINY
    mesh = replace(mesh, paint=Paint(object_collisions=exempt.astype(float)))
    settings = BodySettings(damping=5.0)
    (track,) = simulated([(mesh, settings)], frames(1.0, 24), colliders=[flat_plate(friction=0.9)])
    assert track[-1, ~exempt, 2].min() > -TINY
    assert track[-1, exempt, 2].min() < -0.3
