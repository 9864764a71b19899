"""Rigid pieces, cloth with gas in it, and shells, by themselves and on what they touch."""

from dataclasses import replace
from typing import Any

import numpy as np

from tests.core.bodies import (
    WEIGHTLESS,
    cube,
    floor,
    make_mesh,
    moved,
    pinned,
    rope,
    rotation,
    sheet,
    sphere,
    thrown,
    tube,
    wind,
)
from tests.core.colliders import plate
from tests.same.bakes import Scene, Scenes, on_floor, scene
from tests.same.touching import CLOTH, flat, over_ball, shifted
from verlet_addon.core.arrays import Floats, Integers
from verlet_addon.core.mesh import MeshData, Paint
from verlet_addon.core.settings import BodySettings


def rigid(mesh: MeshData, vertices: slice | Integers = slice(None)) -> MeshData:
    """The mesh with these vertices painted rigid."""
    weights = np.zeros(len(mesh.positions))
    weights[vertices] = 1.0
    return replace(mesh, paint=Paint(rigid=weights))


def hinge(*, triangles: bool = False) -> MeshData:
    """Two rigid plates and cloth between them, aslant over the ground."""
    cloth = sheet(10, 4, triangles=triangles)
    parts = rigid(cloth, np.flatnonzero(np.abs(cloth.positions[:, 0] - 0.5) > 0.15))
    return thrown(moved(parts, rotation((0.3, 1.0, 0.1), 0.3), (0, 0, 0.32)), (0.0, 0.0, -3.0))


def brick() -> MeshData:
    """A rigid brick that tumbles."""
    mesh = replace(cube(1.0), positions=cube(1.0).positions * [1.0, 0.6, 0.3])
    return thrown(
        rigid(mesh), np.cross((0.2, 6.0, 0.1), mesh.positions) + np.array([1.0, 0.0, 2.0])
    )


def led() -> Scene:
    """A rigid plate that pins turn."""
    plane = pinned(rigid(sheet(4)), [0, 4, 20])

    def targets(time: float) -> list[Floats]:
        return [moved(plane, rotation((1, 1, 0), time), (time, 0.0, 0.0)).positions]

    return scene((plane, CLOTH), targets=targets)


def cover(cells: int) -> MeshData:
    """Two squares on each other, joined at their rims: an empty cushion's cover."""
    top = sheet(cells)
    rim = (np.abs(top.positions[:, :2] - 0.5) > 0.5 - 1e-9).any(axis=1)
    below = np.where(rim, np.arange(len(rim)), len(rim) - 1 + np.cumsum(~rim))
    faces = top.face_vertices.reshape(-1, 4)
    points = np.concatenate([top.positions, top.positions[~rim]])
    return make_mesh(points, faces=[*faces.tolist(), *below[faces[:, ::-1]].tolist()])


def joined(*meshes: MeshData) -> MeshData:
    """Meshes as one body."""
    starts = np.cumsum([0, *(len(mesh.positions) for mesh in meshes)])
    faces = [
        (face + start).tolist()
        for mesh, start in zip(meshes, starts, strict=False)
        for face in np.split(mesh.face_vertices, mesh.face_starts[1:-1])
    ]
    return make_mesh(np.concatenate([mesh.positions for mesh in meshes]), faces=faces)


def bag() -> MeshData:
    """A sphere without its top."""
    whole = sphere(12, 8)
    faces = np.split(whole.face_vertices, whole.face_starts[1:-1])
    kept = [face for face in faces if whole.positions[face, 2].max() < 0.4]
    used = np.unique(np.concatenate(kept))
    number = np.full(len(whole.positions), -1)
    number[used] = np.arange(len(used))
    return make_mesh(whole.positions[used], faces=[number[face].tolist() for face in kept])


def mixed_up() -> MeshData:
    """A cube every other face of which is turned over."""
    faces = cube(0.4).face_vertices.reshape(-1, 4).tolist()
    turned = [face[::-1] if number % 2 else face for number, face in enumerate(faces)]
    return make_mesh(moved(cube(0.4), np.eye(3), (4.0, 0.0, 0.0)).positions, faces=turned)


def chambers() -> Scene:
    """A ball, a bag and a turned-over ball as one body, whose gas leaks out and comes back."""
    upside = moved(sphere(10, 6, radius=0.3), np.diag([1.0, 1.0, -1.0]), (2.0, 0.0, 0.0))
    mesh = joined(sphere(12, 8), moved(bag(), np.eye(3), (-1.5, 0.0, 0.0)), upside, mixed_up())
    share = np.clip(mesh.positions[:, 0], 0.2, 1.0)
    body = replace(mesh, paint=Paint(pressure=share)), BodySettings(pressure=500.0)
    return scene(body, changes=lambda number: {"pressures": [(500.0, 200.0, 800.0)[number % 3]]})


def squeezed(**settings: Any) -> Scene:
    """A ball of gas between two plates that come together."""
    low = shifted(plate(friction=0.5), lambda _: (0.0, 0.0, -0.51))
    high = shifted(plate(friction=0.5), lambda time: (0.0, 0.0, 0.51 - 1.5 * time))
    body = sphere(12, 8), BodySettings(pressure=1000.0, **settings)
    return scene(body, gravity=WEIGHTLESS, colliders=[low, high])


def half_cylinder(*, triangles: bool = False) -> MeshData:
    """Half a tube along y, open at the bottom."""
    flat_one = sheet(8, 16, triangles=triangles)
    angle = flat_one.positions[:, 0] * np.pi
    along = flat_one.positions[:, 1] / 2.0
    points = np.stack([-0.1 * np.cos(angle), along, 0.1 * np.sin(angle)], axis=1)
    faces = flat_one.face_vertices.reshape(-1, 3 if triangles else 4)
    return make_mesh(points, faces=faces.tolist())


SHELL = BodySettings(mass=0.2, bend_compliance=0.5, shear_compliance=1e-3)


SCENES: Scenes = {
    "rigid brick": lambda: scene((brick(), CLOTH), gravity=WEIGHTLESS),
    "rigid cube on the ground": lambda: on_floor(
        (rigid(moved(cube(0.5), rotation((1, 2, 0), 0.5), (0, 0, 0.4))), CLOTH), count=6
    ),
    "rigid plate on a collider": lambda: scene(
        (rigid(moved(sheet(6), rotation((1, 2, 0), 0.2), (0, 0, 0.22))), CLOTH),
        count=6,
        colliders=[plate(size=4.0)],
    ),
    "rigid button": lambda: scene(
        (
            pinned(rigid(sheet(12), np.array([70, 71, 83, 84, 85, 97])), [156, 168]),
            replace(CLOTH, bend_compliance=1.0),
        ),
        fields=[wind(4.0)],
    ),
    "rigid hinge": lambda: on_floor(
        (hinge(), BodySettings(mass=20.0, bend_compliance=1.0)), count=6
    ),
    "rigid hinge of triangles": lambda: on_floor((hinge(triangles=True), CLOTH), count=6),
    "rigid rod": lambda: scene(
        (
            rigid(rope(np.linspace([0, 0, 0.1], [0.5, 0, 0.3], 9)), slice(3)),
            BodySettings(body_type="ROPE"),
        ),
        ground=floor(),
    ),
    "rigid bodies on cloth": lambda: scene(
        (pinned(flat(1.0, 10, 0.0), [0, 10, 110, 120]), CLOTH),
        (rigid(moved(cube(0.2), np.eye(3), (0.0, 0.0, 0.12))), CLOTH),
        (rigid(moved(cube(0.2), rotation((0, 0, 1), 0.5), (0.0, 0.0, 0.33))), CLOTH),
        count=6,
    ),
    "rigid, led by pins": led,
    "balloon": lambda: on_floor(
        (
            moved(sphere(12, 8), np.eye(3), (0, 0, 0.51)),
            BodySettings(pressure=500.0, restitution=0.5),
        )
    ),
    "balloon between plates": squeezed,
    "elastic balloon between plates": lambda: squeezed(stretch_compliance=1e-3),
    "cushion": lambda: scene((cover(10), BodySettings(pressure=300.0)), gravity=WEIGHTLESS),
    "chambers": chambers,
    "shell": lambda: on_floor((moved(half_cylinder(), np.eye(3), (0, 0, 0.05)), SHELL)),
    "shell of triangles": lambda: over_ball(
        moved(half_cylinder(triangles=True), np.eye(3), (0, -0.2, 0.26)), SHELL
    ),
    "shell, held": lambda: scene((pinned(half_cylinder(), range(9)), SHELL), substeps=4),
    "shell, drawn": lambda: scene((pinned(tube(12, 6), [0, 1], weight=0.5), SHELL)),
    "shells on each other": lambda: on_floor(
        (moved(half_cylinder(), np.eye(3), (0, 0, 0.006)), SHELL),
        (moved(half_cylinder(), rotation((0, 0, 1), 0.6), (0, 0, 0.12)), SHELL),
    ),
}
