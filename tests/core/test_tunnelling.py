"""Bodies that are squeezed, knotted and swept along pass through nothing, and come to rest."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    HALF,
    Body,
    floor,
    frames,
    moved,
    pinned,
    rope,
    rotation,
    samples,
    sheet,
    simulated,
    sphere,
    split,
    strains,
)
from tests.core.colliders import Moving, ball, collider, crossed
from verlet_addon.core.arrays import Floats
from verlet_addon.core.contacts.narrow_phase.proximity import nearest_on_edges
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

SELF = BodySettings(use_self_collision=True)


def fastest(track: Floats) -> float:
    """Over the last quarter of a second, the mean speed of the fastest frame [m/s]."""
    return float(np.linalg.norm(np.diff(track[-7:], axis=0), axis=2).mean(axis=1).max() * 24)


@pytest.mark.slow
def test_a_cloth_between_two_balls_stays_between_them() -> None:
    """One comes down on the other as far as there is room for the cloth."""
    shape, places = ball(friction=0.5)

    def lower(_time: float) -> Floats:
        return np.asarray(places + np.array([0.0, 0.0, -0.35]))

    def upper(time: float) -> Floats:
        return np.asarray(places + np.array([0.0, 0.0, max(0.315, 0.8 - 0.5 * time)]))

    bodies = [(moved(sheet(12), np.eye(3), (-0.5, -0.5, 0.0)), SELF)]
    around: list[Moving] = [(shape, lower), (shape, upper)]
    tracks = simulated(bodies, frames(2.25, 24), HALF, ground=floor(-0.65), colliders=around)
    assert crossed(bodies, tracks, around) == 0
    assert strains(bodies[0][0], tracks[0]).max() < 0.05
    assert fastest(tracks[0]) < 0.02


def swinging_arm(fine: int) -> Moving:
    """At 3 m/s, until it stands half a metre behind where it hits a cape."""
    mesh = split(sphere(fine, 5 * fine // 6, radius=0.06))
    long = mesh.positions * np.array([1.0, 1.0, 5.0])

    def place(time: float) -> Floats:
        return np.asarray(long + np.array([0.1, min(3.0 * time - 0.6, 0.5), 0.5]))

    return collider(mesh.face_vertices.reshape(-1, 3), friction=0.5), place


def cape(across: int, down: int, *, triangles: bool = False) -> Body:
    """Pinned at its upper edge."""
    flat = sheet(across, down, size=0.8, triangles=triangles)
    mesh = moved(flat, rotation((1, 0, 0), np.pi / 2), (-0.4, 0.0, 0.0))
    return pinned(mesh, range((across + 1) * down, (across + 1) * (down + 1))), SELF


@pytest.mark.slow
def test_an_arm_swings_through_a_cape() -> None:
    """It stays there, and the cape hangs over it.

    How calmly is chance: 2 to 3 cm/s, as the arm stands a millimetre farther to one side.
    """
    bodies, around = [cape(12, 15)], [swinging_arm(12)]
    tracks = simulated(bodies, frames(2.75, 24), HALF, colliders=around)
    assert crossed(bodies, tracks, around) == 0
    assert tracks[0][:, :, 1].max() > 0.5, "it should have been hit"
    assert strains(bodies[0][0], tracks[0][-1]).max() < 0.02
    assert fastest(tracks[0]) < 0.05


def test_an_arm_drags_no_edge_long() -> None:
    """A fine cape slips on it, before friction stretches any edge to several times its length."""
    body = cape(24, 30, triangles=True)
    (track,) = simulated([body], frames(0.45, 24), colliders=[swinging_arm(24)])
    assert track[-1, :, 1].max() > 0.5, "it should have been hit"
    assert strains(body[0], track).max() < 0.1


def overhand(segments: int) -> tuple[Floats, Floats]:
    """An overhand knot with free ends (n, 3), and the ways (2, 3) in which these are pulled."""
    angle = np.linspace(0.0, 2 * np.pi, 4000)[200:-200]
    knot = 0.06 * np.stack(
        [
            np.sin(angle) + 2 * np.sin(2 * angle),
            np.cos(angle) - 2 * np.cos(2 * angle),
            -np.sin(3 * angle),
        ],
        axis=1,
    )
    ways = np.stack([knot[0] - knot[5], knot[-1] - knot[-6]])
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    out = np.linspace(0.5, 0.001, 400)[:, None]
    points = np.concatenate([knot[0] + ways[0] * out, knot, knot[-1] + ways[1] * out[::-1]])
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    even = np.linspace(0.0, along[-1], segments + 1)
    return np.stack([np.interp(even, along, axis) for axis in points.T], axis=1), ways


@pytest.mark.slow
def test_an_overhand_knot_is_pulled_tight() -> None:
    """Its strands keep off each other, it keeps its length, and it does not slip through itself."""
    points, ways = overhand(160)
    body = BodySettings(body_type="ROPE", thickness=0.012, use_self_collision=True, friction=0.3)
    mesh = pinned(rope(points), [0, 160])

    def targets(time: float) -> list[Floats]:
        ends = points.copy()
        ends[[0, 160]] += ways * min(0.2 * time, 0.35)
        return [ends]

    (track,) = simulated([(mesh, body)], frames(2.0, 24), HALF, targets=targets)
    first, second = np.triu_indices(160, k=4)
    for place in track[::6]:
        x = place.T
        strands = np.stack([x[:, first], x[:, first + 1], x[:, second], x[:, second + 1]], axis=1)
        assert nearest_on_edges(strands)[2].min() > 0.9 * 0.012
    assert np.abs(strains(mesh, track)).max() < 0.005
    # Untied it would be straight between its ends, for these are as far apart as it is long then.
    slack = lengths_of(points) - np.linalg.norm(track[-1, 160] - track[-1, 0])
    assert slack > 0.1


def lengths_of(points: Floats) -> float:
    """How long a rope is along its points [m]."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


@pytest.mark.slow
def test_where_there_is_no_room_it_stays_sane_and_is_told() -> None:
    """Two plates close on a folded cloth: nothing is infinite, and a sentence names all three."""
    mesh = replace(
        moved(sheet(8, size=0.4), rotation((1, 0, 0), 0.9), (-0.2, -0.1, 0.2)), name="Rag"
    )
    flat = split(sheet(2, size=2.0))
    triangles = flat.face_vertices.reshape(-1, 3)
    level = flat.positions - [1.0, 1.0, 0.0]
    press = [replace(collider(triangles), name=name) for name in ("Bed", "Stamp")]

    def places(time: float) -> list[Floats]:
        return [level, level + np.array([0.0, 0.0, max(0.004, 0.6 - 0.6 * time)])]

    meshes = [replace(mesh, colliders=[0, 1])]
    scenes = samples(meshes, frames(1.5, 24), colliders=places)
    results = list(simulate(meshes, [SELF], SceneSettings(), scenes, press))
    assert all(np.isfinite(frame.positions[0]).all() for frame in results)
    told = [sentence for frame in results for sentence in frame.remarks]
    assert any("Rag" in each and "Bed" in each and "Stamp" in each for each in told), told


MANY_FACES = pytest.param(128, 1, marks=pytest.mark.slow)


@pytest.mark.parametrize(("fine", "told"), [(24, 0), MANY_FACES])
def test_what_slows_a_bake_is_told_once(fine: int, told: int) -> None:
    """A coarse cloth that drapes over a ball of very many faces; one of few takes no time."""
    cloth = replace(moved(sheet(12), np.eye(3), (-0.5, -0.5, 0.325)), name="Rag", colliders=(0,))
    shape, places = ball(fine=fine)
    scenes = samples([cloth], frames(0.2, 24), colliders=lambda _: [places])
    setting = BodySettings(thickness=0.04)
    results = simulate([cloth], [setting], SceneSettings(), scenes, [replace(shape, name="Ball")])
    lines = [sentence for frame in results for sentence in frame.remarks]
    assert len(lines) == told
    assert all("Rag slows" in each and "give Ball fewer faces" in each for each in lines)


@pytest.mark.slow
def test_folds_that_land_on_each_other_have_room() -> None:
    """A sheet that falls over a ball is pressed on itself for a moment: that is no news."""
    shape, places = ball(friction=0.5)
    radius = float(np.linalg.norm(places, axis=1).max())
    wide = moved(
        sheet(30, size=4 * radius), np.eye(3), (-1.96 * radius, -1.98 * radius, 1.1 * radius)
    )
    meshes, thin = [replace(wide, colliders=[0])], replace(SELF, thickness=0.005)
    scenes = samples(
        meshes, frames(0.5, 24), colliders=lambda _time: [places], ground=floor(-radius)
    )
    results = simulate(meshes, [thin], SceneSettings(), scenes, [shape])
    assert [sentence for frame in results for sentence in frame.remarks] == []


def test_what_hangs_on_a_sharp_tip_has_room() -> None:
    """The tip presses far into the distance of what hangs on it, which could rise from there."""
    corners = np.array([(0.1, 0.0, 0.0), (-0.05, 0.09, 0.0), (-0.05, -0.09, 0.0), (0.0, 0.0, 0.3)])
    tip = replace(collider([[0, 1, 3], [1, 2, 3], [2, 0, 3], [2, 1, 0]]), outer=0.001)
    mesh = moved(sheet(30, size=1.6), np.eye(3), (-0.78, -0.79, 0.35))
    meshes = [replace(mesh, colliders=[0])]
    scenes = samples(meshes, frames(1.0, 24), colliders=lambda _: [corners])
    results = simulate(meshes, [SELF], SceneSettings(), scenes, [tip])
    assert [told for frame in results for told in frame.remarks] == []
