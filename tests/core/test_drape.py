"""Draping: bodies come to rest, hang or lie as they should, and a swing is no rest."""

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import GRAVITY, UP, make_mesh, sheet
from tests.core.colliders import collider
from tests.core.intersections import crossings
from verlet_addon.core.arrays import Floats
from verlet_addon.core.drape import REST_DISTANCE, Settling, drape
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.scene import Plane, Sample
from verlet_addon.core.settings import BodySettings, SceneSettings

FRAME = 1 / 24


def still(*meshes: MeshData, **more: Any) -> Sample:
    """Surroundings that do not move."""
    return Sample(
        frame=1,
        duration=FRAME,
        gravity=GRAVITY,
        targets=[mesh.positions for mesh in meshes],
        **{"ground": None, **more},
    )


def at_rest(mesh: MeshData, settings: BodySettings, sample: Sample, *, limit: float) -> Settling:
    """The body once it rests."""
    for settling in drape([mesh], [settings], SceneSettings(), sample):
        assert settling.seconds < limit
        if settling.is_at_rest:
            return settling
    raise AssertionError


def held_rope(count: int = 11) -> MeshData:
    """A rope of a metre that is held level by its first vertex."""
    points = np.zeros((count, 3))
    points[:, 0] = np.linspace(0.0, 1.0, count)
    mesh = make_mesh(points, edges=[(k, k + 1) for k in range(count - 1)])
    mesh.pin_weights[0] = 1.0
    return mesh


def test_a_rope_that_would_swing_for_ever_comes_to_hang() -> None:
    mesh = held_rope()
    settings = BodySettings(body_type="ROPE", damping=0.0)
    settling = at_rest(mesh, settings, still(mesh), limit=8.0)
    plumb = np.zeros((11, 3))
    plumb[:, 2] = -np.linspace(0.0, 1.0, 11)
    off = np.linalg.norm(settling.frame.positions[0] - plumb, axis=1).max()
    assert off < 3 * REST_DISTANCE


def test_a_swing_is_no_rest_where_it_turns_round() -> None:
    mesh = held_rope()
    settings = BodySettings(body_type="ROPE", damping=0.0)
    fastest = [
        settling.speed
        for settling in islice(drape([mesh], [settings], SceneSettings(), still(mesh)), 200)
        if settling.is_at_rest
    ]
    assert fastest
    assert max(fastest) < 0.05


def test_a_sheet_that_lies_on_the_ground_rests_within_its_first_second() -> None:
    mesh = sheet(6)
    ground = Plane(point=np.array([0.0, 0.0, -0.005]), normal=UP)
    settling = at_rest(mesh, BodySettings(), still(mesh, ground=ground), limit=1.2)
    assert settling.seconds == pytest.approx(1.0)


def test_what_falls_for_ever_never_rests() -> None:
    mesh = sheet(4)
    settlings = list(islice(drape([mesh], [BodySettings()], SceneSettings(), still(mesh)), 100))
    assert not any(settling.is_at_rest for settling in settlings)
    assert settlings[-1].fastest == mesh.name
    # A free fall in air that is as thick as critical damping has it: g / (2 √(g / size)).
    assert settlings[-1].speed == pytest.approx(np.sqrt(9.81 * np.sqrt(2.0)) / 2, rel=0.02)


def test_the_rest_of_all_is_that_of_the_last() -> None:
    hanging, lying = held_rope(), sheet(4)
    lying = replace(lying, positions=lying.positions + np.array([3.0, 0.0, -4.995]))
    ground = Plane(point=np.array([0.0, 0.0, -5.0]), normal=UP)
    settings = [BodySettings(), BodySettings(body_type="ROPE", damping=0.0)]
    sample = still(lying, hanging, ground=ground)
    for settling in drape([lying, hanging], settings, SceneSettings(), sample):
        if settling.is_at_rest:
            break
    assert settling.seconds > 1.5


def intact(positions: Floats, mesh: MeshData) -> bool:
    """Whether no edge passes through a face."""
    corners = mesh.face_vertices.reshape(-1, 4)
    triangles = np.concatenate([corners[:, :3], corners[:, [0, 2, 3]]]).T
    return not crossings(np.ascontiguousarray(positions.T), mesh.edges.T, triangles).size


def test_a_folded_sheet_rests_without_passing_through_itself() -> None:
    mesh = sheet(12)
    mesh.pin_weights[:13] = 1.0
    ground = Plane(point=np.array([0.0, 0.0, -0.3]), normal=UP)
    settings = BodySettings(use_self_collision=True)
    settling = at_rest(mesh, settings, still(mesh, ground=ground), limit=15.0)
    assert intact(settling.frame.positions[0], mesh)


def step_of(depth: float, *, top: float, behind: float) -> Floats:
    """(8, 3) corners of a box a metre wide, from the floor to `top`, so deep from `behind` on."""
    corners = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
    return (corners - [0.5, 0.0, 0.0]) * [1.0, depth, top] + [0.0, behind, 0.0]


BOX = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]


def least_gap(*, slide: bool) -> float:
    """How far a blanket stays from the corner of seat and back, over both of which it lies [m]."""
    strip = sheet(1, 40, size=0.05)
    strip = replace(
        strip, positions=strip.positions + np.array([-0.025, -0.8, 1.0]), colliders=(0, 1)
    )
    triangles = [corners for a, b, c, d in BOX for corners in ((a, b, c), (a, c, d))]
    sofa = [collider(triangles, friction=0.5)] * 2
    places = [step_of(0.9, top=0.4, behind=-0.45), step_of(0.2, top=0.9, behind=0.45)]
    sample = still(strip, colliders=places)
    for settling in drape([strip], [BodySettings()], SceneSettings(), sample, sofa, slide=slide):
        assert settling.seconds < 10.0
        if settling.is_at_rest:
            break
    corner = np.array([0.45, 0.4])
    return float(np.linalg.norm(settling.frame.positions[0][:, 1:] - corner, axis=1).min())


def test_a_blanket_slides_into_the_corner_of_a_sofa() -> None:
    """Held by its whole friction from where it first touches, it bridges the corner."""
    bridge = least_gap(slide=False)
    assert bridge > 0.2
    assert least_gap(slide=True) < 0.8 * bridge
