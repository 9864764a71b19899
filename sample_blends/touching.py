"""Samples of bodies that touch things: a covered table, a cape, a winch and a pile of cloths."""

from math import pi, radians
from typing import Any, cast

import bpy
import numpy as np

from sample_blends.figure import STEP, STRIDE, capsule, walking_figure
from sample_blends.stage import (
    Color,
    Pattern,
    add_mesh,
    animate,
    camera,
    empty_scene,
    grid,
    light_and_ground,
    plain,
    rod,
    show_edges,
)
from verlet_addon.blender.scene.colliders import make_collider

WOOD, HEMP, WHITE = (0.16, 0.075, 0.03), (0.50, 0.34, 0.16), (0.85, 0.83, 0.78)
TABLE = 0.72
"""Height of the table's top [m]."""


def covered_table() -> None:
    """A tablecloth that falls over a table with things on it."""
    empty_scene(frame_end=72)
    wood, china = plain("Wood", WOOD), plain("China", (0.75, 0.78, 0.80), roughness=0.2)
    top = solid(
        "cylinder", "Table", wood, (0, 0, TABLE - 0.02), vertices=64, radius=0.55, depth=0.04
    )
    leg = rod("Leg", length=TABLE - 0.04, radius=0.05, material=wood)
    bowl = solid("uv_sphere", "Bowl", china, (-0.18, -0.06, TABLE + 0.03), radius=0.15)
    bottle = solid("cylinder", "Bottle", china, (0.2, 0.12, TABLE + 0.13), radius=0.05, depth=0.26)
    book = solid("cube", "Book", wood, (0.14, -0.24, TABLE + 0.04), size=1.0)
    book.scale, book.rotation_euler.z = (0.22, 0.3, 0.08), 0.5
    for obj in (top, leg, bowl, bottle, book):
        make_collider(obj)
    cloth = _cloth("Tablecloth", 72, 1.7, TABLE + 0.45, _checks("Gingham", (0.55, 0.03, 0.03)))
    cloth.verlet.mass, cloth.verlet.damping = 0.5, 2.0
    cloth.modifiers.new("Smooth", "SUBSURF").levels = 1
    light_and_ground()
    camera((1.4, -2.5, 1.55), (0.0, 0.0, 0.62), lens=42)


def cape() -> None:
    """A cape on the shoulders of a figure that begins to walk."""
    empty_scene(frame_end=84)
    figure = walking_figure(frame_start=12, frame_end=84)
    make_collider(figure)
    columns, rows = 36, 46
    points, faces, uv = grid(
        columns, rows, lambda u, v: _hanging(u, 1 - v, width=0.62, length=1.12, top=1.52)
    )
    design = Pattern("Cape", translucency=0.15)
    obj = add_mesh(
        "Cape",
        points,
        faces=faces,
        uv=uv,
        material=design.color(design.v, {0.0: (0.45, 0.02, 0.03), 0.06: (0.30, 0.01, 0.02)}),
    )
    obj.verlet.enabled, obj.verlet.body_type, obj.verlet.mass = True, "CLOTH", 0.5
    # Arms would pull what lies in front of them.
    collar = np.arange(4, columns - 3) + rows * (columns + 1)
    attach(obj, figure, "Collar", collar.tolist())
    light_and_ground(sun=150)
    camera((2.8, 2.2, 1.5), (0.0, -0.05, 0.93), lens=38)
    follow: Any = cast(Any, bpy.context.scene).camera
    for frame in (12, 84):
        animate(follow, "location", {frame: (2.8, 2.2 - STRIDE * (frame - 12) / STEP, 1.5)})


def _hanging(u: Any, v: Any, *, width: float, length: float, top: float) -> tuple[Any, Any, Any]:
    """A sheet that lies round shoulders above, and hangs down wider below, v from the collar."""
    half = (width / 2) * (0.62 + 0.55 * v)
    angle = (u - 0.5) * pi * (1.0 - 0.35 * v)
    x = half * np.sin(angle)
    y = 0.19 - 0.15 * (1 - np.cos(angle)) * (1 - v) + 0.10 * v
    return x, y, top - length * v


def winch() -> None:
    """A capsule that turns and goes aside winds up a rope."""
    scene = empty_scene(frame_end=120)
    height, radius, apart, hanging, over = 2.75, 0.14, 0.013, 2.45, 8
    points, faces = capsule(np.array((0.0, 0.0, -0.4)), np.array((0.0, 0.0, 0.4)), radius)
    drum = add_mesh("Drum", points, faces=faces, material=plain("Wood", WOOD))
    drum.rotation_mode = "ZYX"  # about its own axis first, which then lies along X
    turns, pitch = 2.3, 0.09
    for frame, turn in ((1, 0.0), (12, 0.0), (scene.frame_end - 12, turns)):
        animate(drum, "rotation_euler", {frame: (0.0, radians(90), -2 * pi * turn)})
        animate(drum, "location", {frame: (0.1 - pitch * turn, 0.0, height)})
    make_collider(drum)
    angle = np.linspace(pi / 2, pi, over + 1)[:-1]
    around = np.stack((0 * angle, np.cos(angle), np.sin(angle)), axis=1) * (radius + apart)
    length = (radius + apart) * pi / 2 / over
    down = -length * np.arange(int(hanging / length))[:, None] * np.array((0.0, 0.0, 1.0))
    line = np.concatenate([around, down + np.array((0.0, -(radius + apart), 0.0))])
    number = np.arange(len(line) - 1)
    obj = add_mesh(
        "Rope", line + np.array((0.0, 0.0, height)), edges=np.stack((number, number + 1), axis=1)
    )
    obj.verlet.enabled, obj.verlet.body_type, obj.verlet.mass = True, "ROPE", 0.5
    obj.verlet.thickness, obj.verlet.bend_compliance = apart - 0.001, 1e4
    attach(obj, drum, "End", [0, 1])
    show_edges(obj, radius=0.012, material=plain("Hemp", HEMP, roughness=0.9))
    light_and_ground()
    camera((2.2, -4.3, 2.1), (-0.05, 0.0, 1.76), lens=38)


def pile() -> None:
    """Three cloths that fall onto a block, one after the other."""
    empty_scene(frame_end=72)
    block = solid("cube", "Block", plain("Stone", (0.35, 0.34, 0.32)), (0, 0, 0.2), size=0.4)
    make_collider(block)
    colors = ((0.75, 0.09, 0.06), (0.80, 0.60, 0.10), (0.05, 0.25, 0.40))
    for number, color in enumerate(colors):
        name, size = f"Cloth {number + 1}", 1.15 - 0.25 * number
        height = 0.55 + 0.2 * number
        cloth = _cloth(name, round(26 * size), size, height, _checks(name, color))
        cloth.rotation_euler.z = 0.5 * number
        cloth.location.x = 0.05 * number
        cloth.modifiers.new("Smooth", "SUBSURF").levels = 1
    light_and_ground()
    camera((1.35, -2.4, 1.4), (0.0, 0.0, 0.42), lens=45)


def attach(obj: Any, target: Any, group: str, vertices: list[int], *, bone: str = "") -> None:
    """Holds some vertices of a body to another object, or to a bone of it."""
    obj.vertex_groups.new(name=group).add(vertices, 1.0, "REPLACE")
    held = obj.verlet.attachments.add()
    held.target, held.bone, held.vertex_group = target, bone, group


def solid(kind: str, name: str, material: Any, place: Any, **size: Any) -> Any:
    """Adds one of Blender's primitives, smooth where it is round."""
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(location=place, **size)
    obj: Any = bpy.context.object
    obj.name = obj.data.name = name
    obj.data.materials.append(material)
    if kind == "uv_sphere":
        obj.data.polygons.foreach_set("use_smooth", np.ones(len(obj.data.polygons), bool))
    return obj


def _cloth(name: str, count: int, size: float, height: float, material: Any) -> Any:
    """Adds a level square of cloth that nothing holds, and that keeps off its own folds."""
    points, faces, uv = grid(
        count, count, lambda u, v: (size * (u - 0.5), size * (v - 0.5), 0 * u + height)
    )
    obj = add_mesh(name, points, faces=faces, uv=uv, material=material)
    body: Any = obj.verlet
    body.enabled, body.body_type, body.use_self_collision = True, "CLOTH", True
    return obj


def _checks(name: str, color: Color) -> Any:
    """A checked material of a colour and white."""
    design = Pattern(name, translucency=0.15)
    threads = [
        design.math("GREATER_THAN", design.math("FRACT", design.math("MULTIPLY", x, 10), 0), 0.5)
        for x in (design.u, design.v)
    ]
    both = design.math("MULTIPLY", design.math("ADD", *threads), 0.4)
    middle = (
        (color[0] + WHITE[0]) / 2,
        (color[1] + WHITE[1]) / 2,
        (color[2] + WHITE[2]) / 2,
    )
    return design.color(both, {0.0: WHITE, 0.3: middle, 0.7: color})
