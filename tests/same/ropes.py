"""Ropes: trees, rings and nets, by themselves and on what they touch."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from tests.core.bodies import (
    Body,
    coil,
    floor,
    make_mesh,
    moved,
    net,
    pinned,
    rope,
    rotation,
    sheet,
    split,
    star,
    thicket,
    thrown,
    tube,
    wind,
)
from tests.core.colliders import Moving, ball, collider
from tests.same.bakes import Scene, Scenes, on_floor, scene
from verlet_addon.core.arrays import Floats, weighted_sums
from verlet_addon.core.materials import MATERIALS
from verlet_addon.core.mesh import MeshData, Paint
from verlet_addon.core.settings import BodySettings

ROPE = BodySettings(body_type="ROPE", mass=0.1, use_self_collision=True)
LINE = rope([(0.02 * k, 0.0, 0.1) for k in range(26)])
TUMBLING = LINE.positions[:, [2, 1, 0]] * np.array([3.0, 0.0, -9.0])


def ring(count: int) -> MeshData:
    """A closed rope."""
    angles = np.arange(count) * 2.0 * np.pi / count
    points = 0.3 * np.stack([np.cos(angles), np.sin(angles), np.zeros(count)], axis=1)
    return make_mesh(points, edges=[(k, (k + 1) % count) for k in range(count)])


def swinging(
    name: str, mesh: MeshData, *, own: Mapping[str, Any] = MappingProxyType({}), **more: Any
) -> Scene:
    """A rope of a material and settings of its own, bouncing, whose pins move."""
    settings = replace(MATERIALS[name].settings, restitution=0.5, **own)
    shift = np.array([0.3, -0.2, 0.1])
    given = {"targets": lambda t: [mesh.positions + t * shift]} | more
    return scene((mesh, settings), **given)


def bar(*, radius: float = 0.03, **settings: float) -> Moving:
    """A thick bar along y through the origin."""
    mesh = split(tube(12, 2, radius=radius, length=0.4))
    centred = mesh.positions - [0.0, 0.0, 0.2]
    places = weighted_sums(rotation((1, 0, 0), np.pi / 2), centred.T).T
    return collider(mesh.face_vertices.reshape(-1, 3), **settings), places


def straight(segments: int, *, height: float, y: float = 0.0) -> MeshData:
    """A metre of rope along x."""
    return rope(np.linspace([-0.5, y, height], [0.5, y, height], segments + 1))


def loops() -> Body:
    """A rope that falls upright onto itself."""
    turn = np.linspace(0.0, 4.0 * np.pi, 29)
    points = np.stack([0.08 * np.cos(turn), 0.08 * np.sin(turn), 0.03 + 0.004 * turn], axis=1)
    return rope(points), replace(ROPE, thickness=0.01)


def knot() -> Scene:
    """A trefoil whose ends are pulled."""
    angle = np.linspace(0.15, 2 * np.pi - 0.15, 80)
    points = 0.06 * np.stack(
        [
            np.sin(angle) + 2 * np.sin(2 * angle),
            np.cos(angle) - 2 * np.cos(2 * angle),
            -np.sin(3 * angle),
        ],
        axis=1,
    )
    mesh = pinned(rope(points), [0, 79])
    ways = np.zeros_like(points)
    ways[[0, 79]] = [[-0.3, 0.5, 0.0], [0.3, 0.5, 0.0]]

    def targets(time: float) -> list[Floats]:
        return [points + time * ways]

    return scene((mesh, ROPE), targets=targets)


def keyed() -> Scene:
    """A rope that becomes soft, stiff and short."""
    turns = [{}, {"stretch_compliance": 1e-3}, {"bend_compliance": 1.0}, {"shrinking": 0.2}]
    return swinging(
        "NYLON",
        pinned(LINE, [0]),
        changes=lambda number: {
            "settings": [replace(MATERIALS["NYLON"].settings, **turns[number % 4])]
        },
    )


def painted() -> Scene:
    """A rope with every layer that ropes have."""
    share = np.linspace(0.0, 1.0, 26)
    paint = Paint(stretch=share, bend=1 - share, shrinking=share, thickness=share + 0.1)
    own = replace(ROPE, stretch_compliance=1e-3, bend_compliance=10.0, shrinking=0.1)
    return on_floor((replace(pinned(LINE, [0]), paint=paint), own))


def drawn_out() -> Scene:
    """Pins of a rope that part farther than it is long."""
    held = pinned(LINE, [0, 12, 25])

    def targets(time: float) -> list[Floats]:
        return [held.positions * [1.0 + min(4.0 * time, 0.3), 1.0, 1.0]]

    return scene((held, ROPE), targets=targets)


def star_drawn_out() -> Scene:
    """The ends of a star, farther from each other than it is long between them."""
    held = pinned(star(5), [3, 6, 9, 12, 15])
    return scene((held, ROPE), targets=lambda time: [held.positions * (1.0 + min(4 * time, 0.3))])


def yielding() -> Scene:
    """A rope that is stretched and bent past its limits."""
    own = replace(
        MATERIALS["BUNGEE"].settings,
        use_plasticity=True,
        yield_strain=0.01,
        yield_curvature=0.5,
        hardening=0.2,
        bend_compliance=1.0,
    )
    mesh = thrown(pinned(LINE, [0, 1]), TUMBLING)
    return scene((mesh, own))


SCENES: Scenes = {
    "hemp": lambda: swinging("HEMP", pinned(LINE, [0, 1])),
    "bungee": lambda: swinging("BUNGEE", pinned(LINE, [0]), ground=floor()),
    "chain": lambda: swinging("STEEL_CHAIN", pinned(LINE, [0, 25])),
    "nylon, tumbling": lambda: swinging("NYLON", thrown(LINE, TUMBLING)),
    "star": lambda: swinging("NYLON", pinned(star(5), [3])),
    "star held in the middle": lambda: swinging("BUNGEE", pinned(star(4), [0]), fields=[wind(3.0)]),
    "thicket": lambda: swinging("BUNGEE", pinned(thicket(40), [7])),
    "thicket in the wind": lambda: swinging("NYLON", pinned(thicket(60), [7]), fields=[wind(5.0)]),
    "coil": lambda: swinging("NYLON", pinned(coil(3.0, 30), [0, 1, 2])),
    "coil, thrown": lambda: swinging("BUNGEE", thrown(coil(3.0, 30), (1.0, 0.0, 2.0))),
    "at its angle limit": lambda: swinging(
        "NYLON", pinned(LINE, [0, 1]), own={"angle_limit": 0.05, "bend_compliance": 300.0}
    ),
    "dynamic": lambda: swinging(
        "NYLON",
        pinned(LINE, [0, 1]),
        own={"use_dynamic_mesh": True, "bend_compliance": 10.0},
        targets=lambda t: [LINE.positions + np.outer(LINE.positions[:, 0] ** 2, [0.0, t, -t])],
    ),
    "ring": lambda: swinging("HEMP", pinned(ring(12), [0])),
    "net": lambda: swinging("HEMP", pinned(net(8), [0, 8])),
    "soft pins": lambda: swinging("HEMP", pinned(LINE, [0, 13], weight=0.5)),
    "keyed": keyed,
    "painted": painted,
    "drawn out": drawn_out,
    "star, drawn out": star_drawn_out,
    "plastic": yielding,
    "over a bar": lambda: scene(
        (straight(40, height=0.04), replace(ROPE, damping=8.0)),
        count=6,
        substeps=4,
        colliders=[bar(friction=1.0)],
    ),
    "soft, over a bar": lambda: scene(
        (straight(30, height=0.04), replace(ROPE, stretch_compliance=1e-3)),
        count=5,
        colliders=[bar(friction=1.0)],
    ),
    "star on a ball": lambda: scene(
        (moved(star(5), np.eye(3), (0.02, 0.0, 0.31)), ROPE),
        colliders=[ball(radius=0.3, friction=0.5, fine=12)],
    ),
    "on itself": lambda: on_floor(loops(), count=6),
    "knot": knot,
    "held too near to a ball": lambda: scene(
        (
            pinned(rope(np.linspace([-0.5, 0, 0.31], [0.5, 0, 0.31], 19)), [4, 5, 6, 7, 12]),
            BodySettings(body_type="ROPE", thickness=0.001),
        ),
        colliders=[ball(outer=0.02, friction=1.0, fine=12)],
    ),
    "thicker than its edges are long": lambda: on_floor(
        (
            rope(np.linspace([0.0, 0.0, 0.1], [0.3, 0.1, 1.0], 20)),
            replace(ROPE, thickness=0.2, friction=1.5),
        )
    ),
    "on cloth": lambda: scene(
        (pinned(sheet(10), [0, 10, 110, 120]), BodySettings(mass=0.2)),
        (rope(np.linspace([0.2, 0.47, 0.01], [0.8, 0.47, 0.01], 25)), ROPE),
        count=6,
    ),
    "on a rope": lambda: scene(
        (pinned(straight(20, height=0.0), [0, 20]), ROPE),
        (replace(straight(20, height=0.012), positions=crosswise(0.012)), ROPE),
        count=6,
    ),
    "net on a ball": lambda: scene(
        (moved(net(8), np.eye(3), (-0.5, -0.5, 0.31)), ROPE),
        count=5,
        colliders=[ball(friction=0.5, fine=12)],
    ),
}


def crosswise(height: float) -> Floats:
    """(21, 3) a metre along y."""
    return np.linspace([0.01, -0.5, height], [0.01, 0.5, height], 21)
