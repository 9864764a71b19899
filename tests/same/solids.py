"""Jelly, by itself and on everything; water; and force fields."""

from dataclasses import replace
from typing import Any

import numpy as np

from tests.core.bodies import (
    WEIGHTLESS,
    Body,
    block,
    cross,
    cube,
    field,
    flat_sheet,
    floor,
    moved,
    pinned,
    rope,
    rotation,
    sheet,
    sphere,
    split,
    thrown,
)
from tests.core.colliders import ball, collider, plate
from tests.same.bakes import Scene, Scenes, on_floor, scene
from tests.same.cloths import mirrored
from tests.same.pieces import joined, mixed_up
from tests.same.touching import shifted
from verlet_addon.core.arrays import Floats, weighted_sums
from verlet_addon.core.field import Field
from verlet_addon.core.materials import MATERIALS
from verlet_addon.core.mesh import MeshData, Paint
from verlet_addon.core.settings import BodySettings

JELLY = BodySettings(body_type="SOFT", resolution=4, stiffness=3000.0)
BRICK = block((0.3, 0.2, 0.1), (3, 2, 1))
TILTED = moved(BRICK, rotation((1.0, 2.0, 3.0), 0.8))
STILL = BodySettings(body_type="WATER", damping=0.0)


def alone(mesh: MeshData, own: BodySettings = JELLY, **more: Any) -> Scene:
    """Jelly right above the ground, whose pins move."""
    shift = np.array([0.3, -0.2, 0.1])
    ground = floor(float(mesh.positions[:, 2].min()) - 0.02)
    given = {"targets": lambda t: [mesh.positions + t * shift]} | more
    return scene((mesh, own), ground=ground, **given)


def lying(mesh: MeshData, height: float = 0.006) -> MeshData:
    """The mesh with its lowest point at a height."""
    return moved(mesh, np.eye(3), (0.0, 0.0, height - mesh.positions[:, 2].min()))


def stack() -> list[Body]:
    """Three cubes, each aside and above the one below."""
    return [
        (
            moved(
                block((1.0,) * 3, (2,) * 3),
                rotation((0, 0, 1), 0.2 * k),
                (0.05 * k, 0, 1.006 * k + 0.006),
            ),
            replace(JELLY, resolution=3, stiffness=2e3),
        )
        for k in range(3)
    ]


def collision() -> list[Body]:
    """A ball and a cube that hit each other."""
    own = replace(JELLY, resolution=3, damping=0.0, stiffness=500.0, friction=0.5)
    thrown_ball = thrown(moved(sphere(12, 8, radius=0.3), np.eye(3), (-0.32, 0, 0)), (1.5, 0.2, 0))
    box = moved(block((0.5,) * 3, (3,) * 3), rotation((1, 0.5, 0.2), 0.6), (0.05, -0.1, -0.1))
    return [(thrown_ball, own), (thrown(box, (-1.0, 0.0, 0.1)), own)]


def rolling() -> MeshData:
    """A ball that rolls on the ground."""
    shape = sphere(12, 8, radius=0.1)
    return lying(
        thrown(shape, np.cross((0.0, 3.0, 0.0), shape.positions) + np.array([0.3, 0.0, 0.0]))
    )


def keyed() -> Scene:
    """Jelly that becomes stiff, and heavy of gravity."""
    turns: list[dict[str, float]] = [{}, {"stiffness": 3e4}, {"gravity": 2.0}, {"damping": 9.0}]
    return alone(
        pinned(BRICK, np.arange(4)),
        count=5,
        changes=lambda number: {"settings": [replace(JELLY, **turns[number % 4])]},
    )


def let_go() -> Scene:
    """Jelly that is held, drawn, let go and taken hold of elsewhere."""
    weights = [np.zeros(len(BRICK.positions)) for _ in range(6)]
    for number, (place, weight) in enumerate([(0, 1.0), (0, 1.0), (0, 0.5), (1, 0.0), (5, 1.0)]):
        weights[number][place] = weight
    return alone(BRICK, count=5, changes=lambda number: {"pin_weights": [weights[number]]})


def pond(kind: str, *others: Body, **more: Any) -> Scene:
    """Water with what falls into it."""
    water = flat_sheet(kind, 16)
    return scene((water, replace(STILL, damping=2.0)), *others, count=6, **more)


def dipped() -> Scene:
    """A pond that moves, with pinned edges, into which a collider dips."""
    shape = split(sphere(12, 8, radius=0.2))
    moving = collider(shape.face_vertices.reshape(-1, 3)), shape.positions
    water = flat_sheet("quads", 16)
    rim = (np.abs(water.positions[:, :2] - 0.5) > 0.499).any(axis=1)
    held = pinned(water, np.flatnonzero(rim))

    def targets(time: float) -> list[Floats]:
        return [held.positions + time * np.array([0.0, 0.2, 0.1])]

    around = [shifted(moving, lambda time: (0.5, 0.5, 0.22 - time))]
    return scene((held, STILL), count=6, targets=targets, colliders=around)


def drops() -> Scene:
    """A body of water that starts away from its level, and a round one."""
    flat = flat_sheet("strewn triangles", 12)
    # Without a function that NumPy rounds as the processor has it.
    heights = 0.05 / (1.0 + 40.0 * (flat.positions[:, 0] - 0.3) ** 2)
    raised = replace(
        flat, positions=flat.positions + np.outer(heights, [0, 0, 1]), rest_positions=flat.positions
    )
    planet = moved(sphere(16, 10, radius=0.5), np.eye(3), (3.0, 0.0, 0.0))
    outward = (planet.positions - [3.0, 0.0, 0.0]) * (planet.positions[:, 2:] > 0.3)
    return scene((raised, STILL), (thrown(planet, outward), replace(STILL, wave_speed=3.0)))


AXES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.6, 0.0, 0.8]])


def fielded(*bodies: Body, cones: bool = True, **more: Any) -> Scene:
    """Bodies among force fields of every kind and shape that move and turn.

    Cones are among them unless none are wanted: of these, C does not have the law.
    """

    def fields(time: float) -> list[Field]:
        turn = rotation((1, 1, 0), time)
        strong: dict[str, Any] = {"flow": 0.5, "wind_factor": 0.5}
        found = [
            field("WIND", 5.0, AXES[2], **strong),
            field("FORCE", -3.0, power=1.0, nearest=0.2, shape="LINE"),
            field("VORTEX", 2.0, AXES[1], falloff="TUBE", radial_power=1.0, radial_nearest=0.1),
            field("HARMONIC", 4.0, damping=0.5, size=0.3),
            field("CHARGE", 2.0, shape="PLANE", farthest=3.0, inverse_square=True),
            field("TURBULENCE", 4.0, size=0.4, in_world=True),
            field("DRAG", 2.0, damping=0.5, side="POSITIVE"),
        ]
        more_fields = [
            field("TURBULENCE", 3.0, size=0.2, falloff="CONE", radial_farthest=60.0, **strong),
            field(
                "FORCE", 5.0, inverse_square=True, falloff="CONE", radial_power=1.0, side="NEGATIVE"
            ),
            field("VORTEX", 3.0, AXES[2], flow=1.0, shape="POINT", radial_farthest=4.0),
        ]
        if not cones:
            more_fields = [
                field(
                    "FORCE", 2.0, inverse_square=True, falloff="TUBE", side="NEGATIVE", power=2.0
                ),
                field("TURBULENCE", 2.0, size=0.3, nearest=0.1, farthest=2.0, wind_factor=1.0),
                field("VORTEX", 3.0, AXES[2], flow=1.0, shape="LINE", radial_farthest=4.0),
            ]
        named = found + [replace(each, name=f"{each.name} 2") for each in more_fields]
        return [
            replace(
                each, axis=weighted_sums(turn, each.axis), origin=np.array([0.2, 3.0 * time, -0.3])
            )
            for each in named
        ]

    return scene(*bodies, fields=fields, **more)


LIMBS = moved(cross(5), rotation((1.0, 0.3, 0.2), 0.9) / 11.0, (0.0, 0.0, 0.6))

SCENES: Scenes = {
    "falling flat": lambda: alone(BRICK),
    "stiff": lambda: alone(BRICK, replace(JELLY, stiffness=1e7)),
    "tumbling": lambda: alone(thrown(TILTED, TILTED.positions[:, [2, 1, 0]] * 9.0 - 1.0)),
    "held at one end": lambda: alone(pinned(BRICK, np.flatnonzero(BRICK.positions[:, 0] < 0.01))),
    "drawn": lambda: alone(pinned(BRICK, np.arange(4), weight=0.5)),
    "rolling": lambda: on_floor((rolling(), replace(JELLY, damping=0.0)), count=6),
    "rubber ball": lambda: on_floor(
        (
            thrown(lying(sphere(12, 8, radius=0.1)), (0.2, 0.0, -3.0)),
            MATERIALS["RUBBER_BALL"].settings,
        )
    ),
    "two pieces": lambda: on_floor((two_pieces(), JELLY)),
    "mixed-up faces": lambda: on_floor((lying(mixed_up()), JELLY)),
    "at rest": lambda: on_floor((lying(cube(0.2)), replace(JELLY, stiffness=1e5)), count=24),
    "thin limbs": lambda: on_floor((lying(LIMBS), replace(JELLY, stiffness=500.0, resolution=8))),
    "thin limbs, held": lambda: scene(
        (pinned(LIMBS, np.arange(8)), replace(JELLY, resolution=5)), count=3
    ),
    "painted": lambda: alone(
        replace(pinned(BRICK, np.arange(4)), paint=Paint(stiffness=np.linspace(0.0, 1.0, 24)))
    ),
    "keyed": keyed,
    "let go": let_go,
    "mirrored": lambda: mirrored(block((0.2, 0.2, 0.2), (2, 2, 2)), JELLY, ground=floor(-0.01)),
    "in the ground": lambda: on_floor((moved(cube(0.3), rotation((1, 0, 0), 0.4)), JELLY)),
    "on a plate": lambda: scene(
        (lying(cube(0.3), 0.02), replace(JELLY, restitution=0.5)),
        count=6,
        colliders=[plate(size=4.0, cells=4, friction=0.5)],
    ),
    "on a lift": lambda: scene(
        (rolling(), JELLY),
        count=6,
        colliders=[shifted(plate(size=4.0, friction=0.5), lambda time: (0, 0, 0.5 * time))],
    ),
    "on a ball": lambda: scene(
        (lying(BRICK, 0.31), JELLY), count=6, colliders=[ball(friction=0.5, fine=12)]
    ),
    "stack": lambda: on_floor(*stack(), count=4),
    "collision": lambda: scene(*collision(), gravity=WEIGHTLESS, count=5),
    "overlapping": lambda: scene(
        (cube(0.4), JELLY), (moved(cube(0.3), np.eye(3), (0.25, 0.1, 0.15)), JELLY)
    ),
    "held, with another on it": lambda: scene(
        (pinned(cube(0.2), [1, 3, 5, 7], weight=0.9), JELLY),
        (moved(cube(0.2), np.eye(3), (0.0, 0.0, 0.206)), JELLY),
    ),
    "on cloth": lambda: scene(
        (pinned(moved(sheet(10), np.eye(3), (-0.5, -0.5, 0.0)), [0, 10, 110, 120]), BodySettings()),
        (moved(cube(0.2), np.eye(3), (0.0, 0.0, 0.106)), JELLY),
        count=6,
    ),
    "under a rope and cloth": lambda: on_floor(
        (lying(cube(0.4)), JELLY),
        (rope(np.linspace([-0.5, 0, 0.42], [0.5, 0.1, 0.42], 17)), BodySettings(body_type="ROPE")),
        (moved(sheet(6, size=0.6), np.eye(3), (-0.3, -0.3, 0.44)), BodySettings()),
        count=6,
        substeps=2,
    ),
    "pond with jelly": lambda: pond(
        "quads", (moved(sphere(10, 6, radius=0.15), np.eye(3), (0.5, 0.5, 0.16)), JELLY)
    ),
    "pond with cloth and rope": lambda: pond(
        "strewn triangles",
        (moved(sheet(6, size=0.4), np.eye(3), (0.31, 0.31, 0.02)), BodySettings(thickness=0.02)),
        (
            rope(np.linspace([0.2, 0.2, 0.02], [0.8, 0.3, 0.03], 13)),
            BodySettings(body_type="ROPE", thickness=0.04),
        ),
    ),
    "pond with a collider": dipped,
    "drops": drops,
    "fields on cloth": lambda: fielded(
        (sheet(8), BodySettings(wind=0.8, turbulence_weight=0.5)),
        (moved(flat_sheet("triangles", 6), np.eye(3), (2.0, 0, 0)), BodySettings(drag_weight=2.0)),
    ),
    "fields on a rope": lambda: fielded(
        (
            pinned(rope(np.linspace([0, 0, 0.4], [0.6, 0, 0.2], 15)), [0]),
            BodySettings(body_type="ROPE"),
        )
    ),
    "fields without cones on cloth": lambda: fielded(
        (sheet(8), BodySettings(wind=0.8, turbulence_weight=0.5)),
        (moved(flat_sheet("triangles", 6), np.eye(3), (2.0, 0, 0)), BodySettings(drag_weight=2.0)),
        cones=False,
    ),
    "fields without cones on a rope and a sheet": lambda: fielded(
        (
            pinned(rope(np.linspace([0, 0, 0.4], [0.6, 0, 0.2], 15)), [0]),
            BodySettings(body_type="ROPE"),
        ),
        (sheet(4), BodySettings()),
        cones=False,
        ground=floor(-0.2),
    ),
    "fields on jelly": lambda: fielded((BRICK, JELLY), ground=floor(-0.2)),
    "fields on water": lambda: fielded((flat_sheet("quads", 8), STILL)),
    "fields on rigid parts": lambda: fielded(
        (replace(cube(0.3), paint=Paint(rigid=np.ones(8))), BodySettings())
    ),
    "fields on a balloon": lambda: fielded((sphere(12, 8), BodySettings(pressure=300.0))),
}


def two_pieces() -> MeshData:
    """A tumbling cube and a ball at rest that are one body."""
    return lying(joined(cube(0.2), moved(sphere(8, 6, radius=0.1), np.eye(3), (0.5, 0.0, 0.1))))
