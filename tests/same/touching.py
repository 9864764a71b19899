"""Cloth that touches the ground, colliders and itself; and what starts inside of something."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tests.core.bodies import (
    WEIGHTLESS,
    Body,
    block,
    cube,
    disc,
    floor,
    make_mesh,
    moved,
    pinned,
    rope,
    rotation,
    sheet,
    sphere,
    split,
    strewn,
    thrown,
    tube,
    woven,
)
from tests.core.colliders import Moving, ball, collider, plate
from tests.same.bakes import FRAME, Scene, Scenes, on_floor, scene
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import MeshData, Paint
from verlet_addon.core.scene import Plane
from verlet_addon.core.settings import BodySettings

CLOTH, SELF = BodySettings(), BodySettings(use_self_collision=True)
UPRIGHT = rotation((1, 0, 0), np.pi / 2)


def flat(size: float, cells: int, height: float, *, triangles: bool = False) -> MeshData:
    """A level sheet about the z axis."""
    mesh = sheet(cells, size=size, triangles=triangles)
    return moved(mesh, np.eye(3), (-size / 2, -size / 2, height))


def box(*size: float, **settings: Any) -> Moving:
    """A closed box about the origin."""
    mesh = split(cube(1.0))
    triangles = mesh.face_vertices.reshape(-1, 3)
    return collider(triangles, friction=0.5, **settings), mesh.positions * np.array(size)


def shifted(moving: Moving, way: Callable[[float], tuple[float, float, float]]) -> Moving:
    """A collider that moves, by a shift at each time."""
    shape, places = moving
    assert isinstance(places, np.ndarray)
    still: Floats = places
    return shape, lambda time: np.asarray(still + np.array(way(time)))


def swept() -> Scene:
    """A cape that an arm hits at 3 m/s."""
    mesh = split(sphere(12, 10, radius=0.06))
    arm = collider(mesh.face_vertices.reshape(-1, 3), friction=0.5), mesh.positions * [1, 1, 5]
    cape = moved(sheet(12, 15, size=0.8, triangles=True), UPRIGHT, (-0.4, 0.0, 0.0))
    body = pinned(cape, range(13 * 15, 13 * 16)), SELF
    around = [shifted(arm, lambda time: (0.1, 3.0 * time - 0.12, 0.5))]
    return scene(body, count=5, substeps=3, colliders=around)


def pinched() -> Scene:
    """Cloth between two balls that pass into each other, and part."""

    def place(side: float) -> Moving:
        def way(time: float) -> tuple[float, float, float]:
            near = min(3.5 * time / (2.0 * FRAME), 3.5) - max(0.0, 3.5 * (time / FRAME - 4.0))
            return 0.0, side * (0.32 - 0.02 * near), 0.0

        return shifted(ball(radius=0.3, fine=16, friction=0.3), way)

    hung = moved(sheet(14), UPRIGHT, (-0.5, 0.0, -0.5))
    mesh = pinned(hung, np.flatnonzero(hung.positions[:, 2] > 0.499))
    body = mesh, replace(SELF, thickness=0.01)
    return scene(body, count=10, substeps=3, colliders=[place(1.0), place(-1.0)])


def inside(mesh: MeshData, around: Moving, **settings: Any) -> Scene:
    """A body that starts inside of a collider."""
    own = BodySettings(**settings)
    return scene((mesh, own), count=6, gravity=WEIGHTLESS, colliders=[around])


def growing(moving: Moving) -> Moving:
    """A collider that is a point in the first frames."""
    shape, places = moving
    assert isinstance(places, np.ndarray)
    full: Floats = places
    return shape, lambda time: full * float(time > 1.5 * FRAME)


def held_inside() -> Scene:
    """A sheet whose pins hold it in a box until they are let go, and longer than it may take."""
    mesh = flat(0.9, 8, 0.0)
    weights = np.isin(np.arange(81), [39, 40, 41, 49]).astype(float)
    body = pinned(mesh, [39, 40, 41, 49]), CLOTH
    return scene(
        body,
        count=30,
        substeps=1,
        gravity=WEIGHTLESS,
        colliders=[box(0.5, 0.6, 0.3)],
        changes=lambda number: {"pin_weights": [weights * (number < 26)]},
    )


def arm() -> Moving:
    """A round bar with closed ends, along z."""
    bar = tube(12, 6, radius=0.05, length=1.0)
    faces = [tuple(face) for face in bar.face_vertices.reshape(-1, 4).tolist()]
    top = len(bar.positions) - 12
    caps = [tuple(range(12))[::-1], tuple(range(top, top + 12))]
    shape = split(make_mesh(bar.positions, faces=[*faces, *caps]))
    return collider(shape.face_vertices.reshape(-1, 3), friction=0.5), bar.positions


def exempt() -> Scene:
    """A folded sheet, parts of which pass through a ball, and through itself."""
    mesh = flat(1.0, 12, 0.3)
    near = (np.linalg.norm(mesh.positions[:, :2], axis=1) < 0.2).astype(float)
    paint = Paint(object_collisions=near, self_collisions=1.0 - near)
    return scene((replace(mesh, paint=paint), SELF), colliders=[ball(fine=12, friction=0.5)])


def over_ball(mesh: MeshData, own: BodySettings = CLOTH, **settings: Any) -> Scene:
    """A body right above a ball."""
    given: Any = {"friction": 0.5, "fine": 16} | settings
    return scene((mesh, own), count=5, colliders=[ball(**given)])


def rising(time: float) -> Plane:
    """Ground that rises and tilts."""
    return floor(0.5 * time, tilt=0.2 + time)


SHEETS_IN_AIR: list[Body] = [(flat(1.0, 10, 0.01 + 0.02 * k), SELF) for k in range(3)]
DOME = moved(disc(5), np.eye(3), (0.0, 0.0, 0.31))

SCENES: Scenes = {
    "cloth on the ground": lambda: on_floor((flat(1.0, 10, 0.02), BodySettings(restitution=0.5))),
    "cloth on a slope": lambda: scene(
        (moved(flat(1.0, 10, 0.03), rotation((0, 1, 0), -0.3)), CLOTH), ground=floor(tilt=0.3)
    ),
    "cloth on ground that rises": lambda: scene((flat(1.0, 10, 0.15), CLOTH), ground=rising),
    "cloth in the ground": lambda: on_floor(
        (moved(sheet(10), UPRIGHT, (0, 0, -0.5)), CLOTH), count=5
    ),
    "rope in the ground": lambda: on_floor(
        (rope(np.linspace([0, 0, -0.5], [0, 0, 0.5], 21)), BodySettings(body_type="ROPE"))
    ),
    "pipe in the ground": lambda: on_floor((moved(tube(12, 6), np.eye(3), (0, 0, -0.5)), CLOTH)),
    "cloth on a ball": lambda: over_ball(flat(1.0, 14, 0.31)),
    "strewn cloth on a ball": lambda: over_ball(
        moved(strewn(sheet(12, triangles=True), 0.02), np.eye(3), (-0.5, -0.5, 0.31)), SELF
    ),
    "disc on a bouncy ball": lambda: over_ball(
        thrown(DOME, (0.0, 0.0, -3.0)), BodySettings(restitution=0.8), restitution=1.0
    ),
    "woven cloth on a fine ball": lambda: over_ball(woven(flat(1.0, 10, 0.31)), fine=48),
    "cloth on a turning plate": lambda: scene(
        (flat(0.8, 10, 0.02), CLOTH),
        colliders=[
            (
                plate(friction=1.0, cells=4)[0],
                lambda time: plate(cells=4, tilt=0.1 + 2.0 * time)[1],
            )
        ],
    ),
    "cloth through a one-sided plate": lambda: scene(
        (flat(0.8, 10, -0.002), CLOTH),
        (flat(0.7, 8, 0.02), CLOTH),
        colliders=[plate(single_sided=True, outer=0.002)],
    ),
    "cloth at speed": lambda: over_ball(thrown(flat(0.8, 8, 0.6), (0.0, 0.0, -20.0)), SELF),
    "cloths on each other": lambda: on_floor(*SHEETS_IN_AIR, count=6),
    "cloths that cross": lambda: scene(
        (pinned(flat(1.0, 8, 0.0), [0, 8, 72, 80]), SELF),
        (thrown(moved(sheet(6, size=0.4), UPRIGHT, (-0.2, 0.03, 0.05)), (0, 0, -8.0)), SELF),
    ),
    "knocked over": swept,
    "pinched": pinched,
    "exempt": exempt,
    "sheet through a ball": lambda: inside(flat(1.5, 14, 0.1), ball(fine=16, friction=0.5)),
    "sheet in a table's top": lambda: inside(flat(1.0, 14, 0.0), box(0.7, 1.4, 0.05)),
    "napkin in a box": lambda: inside(flat(0.3, 6, 0.0), box(0.7, 0.6, 0.5)),
    "sleeve that cuts into its arm": lambda: inside(
        moved(tube(16, 10, radius=0.06, length=0.4), np.eye(3), (0.02, 0.0, 0.3)), arm()
    ),
    "rope through a box": lambda: inside(
        rope([(x, 0.1, 0.05) for x in np.linspace(-0.7, 0.7, 30)]),
        box(0.7, 0.6, 0.5),
        body_type="ROPE",
    ),
    "napkin in what grows": lambda: inside(flat(0.3, 6, 0.0), growing(box(0.7, 0.6, 0.5))),
    "held in a box": held_inside,
    "jelly in a box": lambda: inside(
        moved(block((0.3,) * 3, (4,) * 3), np.eye(3), (-0.15, -0.15, 0.15)),
        box(0.7, 0.6, 0.5),
        body_type="SOFT",
    ),
    "cloth in jelly": lambda: scene(
        (
            moved(cube(0.5), np.eye(3), (0.0, 0.0, 0.3)),
            BodySettings(body_type="SOFT", resolution=3),
        ),
        (flat(0.9, 10, 0.3), CLOTH),
        count=5,
    ),
}
