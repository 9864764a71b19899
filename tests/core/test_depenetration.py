"""What starts inside of a solid comes out of it: without speed, wholly, and the user is told."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    GRAVITY,
    HALF,
    WEIGHTLESS,
    Body,
    block,
    cube,
    floor,
    frames,
    moved,
    pinned,
    rope,
    rotation,
    samples,
    sheet,
    simulated,
    split,
    strains,
    tube,
)
from tests.core.colliders import TINY, Moving, ball, collider, crossed
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import MeshData, Paint
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

CLOTH, JELLY = BodySettings(), BodySettings(body_type="SOFT")


def box(x: float, y: float, z: float, *, inwards: bool = False) -> tuple[Moving, MeshData]:
    """A closed box about the origin, with normals that look outwards or inwards."""
    mesh = split(cube(1.0))
    triangles = mesh.face_vertices.reshape(-1, 3)
    places = mesh.positions * np.array([x, y, z])
    return (collider(triangles[:, ::-1] if inwards else triangles, friction=0.5), places), mesh


def arm() -> Moving:
    """A round bar with closed ends, along z."""
    bar = tube(16, 8, radius=0.05, length=1.0)
    around = [tuple(face) for face in np.split(bar.face_vertices, bar.face_starts[1:-1])]
    top = len(bar.positions) - 16
    caps = [tuple(range(16))[::-1], tuple(range(top, top + 16))]
    shape = split(
        replace(
            bar,
            face_starts=np.cumsum([0, *map(len, [*around, *caps])]),
            face_vertices=np.concatenate([*around, *caps]),
        )
    )
    return collider(shape.face_vertices.reshape(-1, 3), friction=0.5), bar.positions


def flat(size: float, cells: int, height: float) -> MeshData:
    """A level sheet about the z axis."""
    return moved(sheet(cells, size=size), np.eye(3), (-size / 2, -size / 2, height))


def along(count: int) -> MeshData:
    """A rope through the middle of what lies about the origin."""
    return rope([(x, 0.1, 0.05) for x in np.linspace(-0.7, 0.7, count)])


STARTS: dict[str, tuple[Body, Moving]] = {
    "a sheet through a ball": ((flat(1.5, 14, 0.1), CLOTH), ball(friction=0.5)),
    "a sheet in a table's top": ((flat(1.0, 14, 0.0), CLOTH), box(0.7, 1.4, 0.05)[0]),
    "a sheet a little inside a box": ((flat(1.5, 14, 0.23), CLOTH), box(0.7, 0.6, 0.5)[0]),
    "a napkin wholly inside": ((flat(0.3, 6, 0.0), CLOTH), box(0.7, 0.6, 0.5)[0]),
    "a napkin in a ball": ((flat(0.3, 6, 0.0), CLOTH), ball(friction=0.5)),
    "a rope through a box": ((along(30), BodySettings(body_type="ROPE")), box(0.7, 0.6, 0.5)[0]),
    "a sleeve that cuts into its arm": (
        (moved(tube(16, 10, radius=0.06, length=0.4), np.eye(3), (0.02, 0.0, 0.3)), CLOTH),
        arm(),
    ),
    "jelly in a box": (
        (moved(block((0.3,) * 3, (4,) * 3), np.eye(3), (-0.15, -0.15, 0.15)), JELLY),
        box(0.7, 0.6, 0.5)[0],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STARTS)
def test_comes_out_of_a_collider_without_speed(name: str) -> None:
    """In a second all of it is out, and it has moved no faster than it is eased.

    Ways out are up to 0.3 m long, over half a second; the profile is 1.5 times as steep in its
    middle, and what hangs on is thrown a little ahead.
    """
    body, around = STARTS[name]
    (track,) = simulated([body], frames(1.0, 24), HALF, gravity=WEIGHTLESS, colliders=[around])
    assert crossed([body], [track[:1]], [around]) or "napkin" in name
    assert crossed([body], [track[-1:]], [around]) == 0
    speeds = np.linalg.norm(np.diff(track, axis=0), axis=2) * 24
    assert speeds.max() < 1.5
    assert speeds[-1].mean() < 0.2
    assert strains(body[0], track[-1]).max() < 0.02


@pytest.mark.slow
def test_a_curtain_that_hangs_through_half_of_a_table_comes_out_upwards() -> None:
    """The nearest way out of its lower edge leads down, and would tear it apart."""
    mesh = moved(sheet(8, size=0.6), rotation((1, 0, 0), np.pi / 2), (-0.3, 0.0, -0.13))
    body, top = (mesh, CLOTH), box(1.4, 1.4, 0.3)[0]
    (track,) = simulated([body], frames(0.75, 24), gravity=WEIGHTLESS, colliders=[top])
    assert crossed([body], [track[:1]], [top])
    assert crossed([body], [track[-1:]], [top]) == 0
    assert strains(mesh, track).max() < 0.02


def test_a_napkin_inside_of_a_box_comes_to_lie_on_it() -> None:
    """Of ways that are equally long, it takes the one up."""
    body, around = STARTS["a napkin wholly inside"]
    (track,) = simulated([body], frames(1.5, 24), colliders=[around])
    np.testing.assert_allclose(track[-1, :, 2], 0.25 + CLOTH.thickness, atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("radius", [0.49, 0.47])
def test_what_lies_around_under_the_skin_comes_out_all_around(radius: float) -> None:
    """A cuff a centimetre within a ball goes out the nearest ways; one way for all is 0.6 m long.

    The ball's skin is longer than the cuff, whose ends slide along it.
    """
    mesh = flat(1.0, 16, 0.0)
    x, y, _ = mesh.positions.T
    places = np.stack([np.cos(1.5 * np.pi * x), np.sin(1.5 * np.pi * x), y], axis=1)
    body = replace(mesh, positions=places * [radius, radius, 0.2]), CLOTH
    around = ball(radius=0.5, friction=0.5)
    (track,) = simulated([body], frames(0.5, 24), HALF, gravity=WEIGHTLESS, colliders=[around])
    assert radius < 0.48 or crossed([body], [track[:1]], [around]) > 0
    assert crossed([body], [track[-1:]], [around]) == 0
    assert np.linalg.norm(track - body[0].positions, axis=2).max() < 0.25


def test_what_is_exempt_stays_where_it_is() -> None:
    """A collar within a neck is not eased out, nor is that said; what is not exempt comes out."""
    (mesh, settings), (shape, still) = STARTS["a sheet through a ball"]
    places = [np.asarray(still)]
    near = np.linalg.norm(mesh.positions[:, :2], axis=1) < 0.2
    scenes = samples([mesh], frames(0.2, 24), gravity=WEIGHTLESS, colliders=lambda _: places)
    for exempt in (near, np.ones_like(near)):
        painted = Paint(object_collisions=exempt.astype(float))
        body = replace(mesh, paint=painted, colliders=[0])
        baked = list(simulate([body], [settings], SceneSettings(), scenes, [shape]))
        stays = np.abs(baked[-1].positions[0] - mesh.positions).max() < TINY
        assert stays == exempt.all()
        assert (not any(frame.remarks for frame in baked)) == exempt.all()


@pytest.mark.slow
def test_two_jellies_that_overlap_part() -> None:
    """The upper one is put onto the lower, and both keep their shape.

    Of sixteen starts, turned and shifted otherwise, one ends with crossed corners, and nine of the
    upper ones slide off.
    """
    size = (0.3, 0.3, 0.3)
    low = (moved(block(size, (4, 4, 4)), np.eye(3), (0.0, 0.0, 0.01)), JELLY)
    high = (moved(block(size, (4, 4, 4)), rotation((0, 0, 1), 0.3), (0.03, 0.02, 0.25)), JELLY)
    tracks = simulated([low, high], frames(1.5, 24), ground=floor())
    assert crossed([low, high], [track[-1:] for track in tracks], []) == 0
    centres = [track[-1, :, 2].mean() for track in tracks]
    # Each of its own weight, and the lower one of the other's too.
    assert centres[1] - centres[0] > 0.24
    speeds = [np.abs(np.diff(track[-2:], axis=0)).max() * 24 for track in tracks]
    assert max(speeds) < 0.2


def test_a_room_whose_normals_look_inwards_keeps_what_is_in_it() -> None:
    """It falls to the floor there."""
    room, _ = box(2.0, 2.0, 1.0, inwards=True)
    body = (flat(0.5, 6, 0.1), CLOTH)
    (track,) = simulated([body], frames(1.5, 24), colliders=[room])
    np.testing.assert_allclose(track[-1, :, 2], -0.5 + CLOTH.thickness, atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("side", "height"), [(0.4, 0.275), (0.43, 0.1)])
def test_what_is_pinned_inside_stays_there(side: float, height: float) -> None:
    """What hangs on it is not pushed out again and again, nor stretched, however deep it is."""
    mesh = pinned(flat(1.0, 10, height), np.arange(55, 66))
    (track,) = simulated([(mesh, CLOTH)], frames(1.5, 24), colliders=[box(side, side, 0.6)[0]])
    np.testing.assert_array_equal(track[-1, 55:66], mesh.positions[55:66])
    assert strains(mesh, track[-1]).max() < 0.02
    assert np.linalg.norm(np.diff(track[-3:], axis=0), axis=2).max() * 24 < 1.0


def remarks(
    bodies: Sequence[Body], around: Sequence[Moving], height: float, seconds: float = 0.1
) -> list[str]:
    """What is said of a start on a floor at this height, and of some time after it."""
    meshes = [replace(mesh, colliders=range(len(around))) for mesh, _ in bodies]
    places: list[Floats] = [np.asarray(place) for _, place in around]
    scenes = samples(
        meshes,
        frames(seconds, 24),
        gravity=GRAVITY,
        ground=floor(height),
        colliders=lambda _: places,
    )
    results = simulate(
        meshes,
        [settings for _, settings in bodies],
        HALF,
        scenes,
        [replace(shape, name=f"Table {k}") for k, (shape, _) in enumerate(around)],
    )
    return [sentence for frame in results for sentence in frame.remarks]


def test_it_is_said_once_who_starts_inside_of_what() -> None:
    """Body by body, with the number of vertices that are pushed out; pins are not."""
    above = replace(flat(0.5, 4, 1.0), name="Flag")
    napkin = replace(pinned(flat(0.3, 2, 0.2), [0]), name="Napkin")
    sunk = replace(moved(sheet(2, size=0.2), np.eye(3), (3.0, 0.0, -0.35)), name="Mat")
    said = remarks([(above, CLOTH), (napkin, CLOTH), (sunk, CLOTH)], [box(1, 1, 0.5)[0]], -0.3)
    assert said == [
        "Mat starts inside the ground with 9 vertices and is pushed out slowly; lower the ground, "
        "or switch it off in its panel",
        "Napkin starts inside Table 0 with 8 vertices and is pushed out slowly; move them apart at "
        "the first frame",
    ]
    assert remarks([(above, CLOTH)], [box(1, 1, 0.5)[0]], -0.3) == []


@pytest.mark.slow
def test_it_is_said_what_goes_right_through() -> None:
    """A curtain through a slab; a napkin comes out of it."""
    curtain = moved(sheet(12), rotation((1, 0, 0), np.pi / 2), (-0.5, 0.0, -0.5))
    bodies = [
        (replace(pinned(curtain, range(13 * 12, 13 * 13)), name="Curtain"), CLOTH),
        (replace(moved(flat(0.3, 6, 0.0), np.eye(3), (0.75, 0.0, 0.0)), name="Napkin"), CLOTH),
    ]
    said = remarks(bodies, [box(2.0, 1.0, 0.1)[0]], -3.0, 1.1)
    assert [sentence.split(" with ")[0] for sentence in said[:2]] == [
        "Curtain starts inside Table 0",
        "Napkin starts inside Table 0",
    ]
    (through,) = said[2:]
    assert through.startswith("Curtain still penetrates Table 0 at frame 26, and cannot be pushed")


def test_what_is_thicker_than_it_is_large_says_so() -> None:
    """As cloth in a scene of millimetres is at the stock thickness."""
    tiny = moved(sheet(2), np.eye(3) * 0.001, (0.0, 0.0, 1.0))
    (said,) = remarks([(tiny, CLOTH)], [box(1, 1, 0.5)[0]], -0.3)
    assert said.startswith("Body is 1 mm large and its Thickness is 5 mm; lower")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "width"),
    [("a napkin in a ball", 1.0), ("a rope through a box", 0.0), ("jelly in a box", 0.0)],
)
def test_comes_out_of_a_collider_that_appears_round_it(name: str, width: float) -> None:
    """Until it has a size nothing is inside of it, and a line does not know its outside."""
    body, (shape, place) = STARTS[name]
    full = np.array(place)
    small = full * [width, 0.0, 0.0] @ rotation((1, 1, 1), 0.7)
    growing = shape, lambda time: full if time > 0.1 else small
    (track,) = simulated([body], frames(1.2, 24), HALF, gravity=WEIGHTLESS, colliders=[growing])
    assert crossed([body], [track[-1:]], [(shape, full)]) == 0
    assert np.linalg.norm(track[-1] - track[0], axis=1).max() > 0.1
    assert strains(body[0], track[-1]).max() < 0.02


def test_stays_in_a_room_that_comes_back() -> None:
    """Its normals look inwards: what is in it is meant to be there."""
    room, walls = box(1.0, 1.0, 1.0, inwards=True)[0]
    size = np.array(walls)
    coming = room, lambda time: size * float(not 0.1 < time < 0.2)
    sheet_in_it = moved(sheet(3, size=0.3), np.eye(3), (-0.15, -0.15, 0.0))
    (track,) = simulated(
        [(sheet_in_it, CLOTH)], frames(0.5, 24), gravity=WEIGHTLESS, colliders=[coming]
    )
    np.testing.assert_allclose(track[-1], track[0], atol=TINY)


@pytest.mark.parametrize("squashed", [(1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (0.0, 0.0, 0.0)])
def test_is_let_go_where_the_collider_is_squashed(squashed: tuple[float, ...]) -> None:
    """Ways out of what has no inside any more are no numbers."""
    mesh, settings = STARTS["a rope through a box"][0]
    shape, _ = box(0.7, 0.6, 0.5)[0]
    full = cube(1.0).positions * [0.7, 0.6, 0.5]
    scenes = samples(
        [mesh],
        frames(0.5, 24),
        gravity=WEIGHTLESS,
        colliders=lambda time: [full * squashed if time > 0.1 else full],
    )
    results = simulate(
        [replace(mesh, colliders=(0,))], [settings], SceneSettings(), scenes, [shape]
    )
    *_, last = results
    assert np.isfinite([*last.deepest, last.positions[0].sum()]).all()
    assert strains(mesh, last.positions[0]).max() < 0.01


@pytest.mark.slow
def test_a_collider_with_inverted_normals_lets_out_what_is_partly_inside() -> None:
    """Only what is wholly inside is meant to be there."""
    body = (flat(1.5, 16, 0.2), CLOTH)
    around, _ = box(0.7, 0.6, 0.5, inwards=True)
    (track,) = simulated([body], frames(1.0, 24), HALF, gravity=WEIGHTLESS, colliders=[around])
    assert crossed([body], [track[-1:]], [around]) == 0
    assert np.linalg.norm(np.diff(track, axis=0), axis=2).max() * 24 < 1.5


def test_a_sheet_inside_two_balls_that_overlap_comes_out_of_both() -> None:
    """What is inside of one alone may have its way out through the other."""
    mesh = moved(sheet(10, size=0.3), np.eye(3), [-0.15, -0.15, 0.0])
    shape, places = ball(fine=16, outer=0.01, friction=0.5)
    balls = [(shape, places + np.array([x, 0.0, 0.0])) for x in (-0.225, 0.225)]
    (track,) = simulated([(mesh, CLOTH)], frames(1.0, 24), colliders=balls)
    assert strains(mesh, track).max() < 0.05
    assert crossed([(mesh, CLOTH)], [track[-1:]], balls) == 0


def test_what_bounces_comes_out_without_speed_too() -> None:
    """Being too near at the start of a step is no fall that it could bounce from."""
    straight = rope(np.linspace([-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], 9))
    mesh = moved(straight, rotation((0, 1, 0), 0.3), [0.0, 0.1, 0.0])
    body = BodySettings(body_type="ROPE", thickness=0.1, restitution=0.5, friction=0.1)
    around = [ball(radius=0.2, fine=6, outer=0.01)]
    (track,) = simulated(
        [(mesh, body)], frames(0.25, 24), SceneSettings(substeps=4), colliders=around
    )
    assert np.linalg.norm(np.diff(track, axis=0), axis=2).max() * 24 < 6.0
