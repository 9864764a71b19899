"""Write the sample files beside this script: `make samples`.

It runs in the oldest supported Blender, so that every later one opens what it writes.
"""

from math import cos, radians, sin
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
import zstandard

import verlet_addon
from sample_blends.bridge import (
    BUNTING_HEIGHT,
    DECK_HEIGHT,
    RAIL,
    SPAN,
    WIDTH,
    Net,
    bridge,
    bunting,
)
from sample_blends.fabrics import fabrics
from sample_blends.fleshy import heavy, seal
from sample_blends.fox import fox
from sample_blends.garments import dress, torn_banner
from sample_blends.girl import girl
from sample_blends.hair import curls, fur, long_hair, ponytail
from sample_blends.jellies import jellies
from sample_blends.outfits import dancer, sitter
from sample_blends.ragdoll import ragdoll
from sample_blends.stage import (
    Pattern,
    Points,
    add_mesh,
    animate,
    camera,
    empty_scene,
    grid,
    light_and_ground,
    link,
    make_body,
    plain,
    present,
    rod,
    show_edges,
)
from sample_blends.touching import cape, covered_table, pile, winch
from verlet_addon.blender.scene.action_channels import channels
from verlet_addon.blender.settings.materials import give_material
from verlet_addon.blender.ui.samples import MARK

FOLDER = Path(__file__).parent
Vector = tuple[float, float, float]
WOOD, HEMP = (0.16, 0.075, 0.03), (0.50, 0.34, 0.16)


def main() -> None:
    """Write every sample."""
    cast(Any, bpy.context.preferences).filepaths.save_version = 0  # no .blend1 beside a file
    verlet_addon.register()
    try:
        for name, build in SAMPLES.items():
            build()
            present()
            path = FOLDER / f"{name}.blend"
            save(path)
            print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")
    finally:
        verlet_addon.unregister()


def save(path: Path) -> None:
    """Writes the file with one workspace and as small as it gets, since the extension has it."""
    context: Any = bpy.context
    context.scene[MARK] = True
    kept = context.window.workspace
    bpy.data.batch_remove({each for each in bpy.data.workspaces if each != kept})
    bpy.data.batch_remove({*bpy.data.screens} - {*kept.screens})
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    path.write_bytes(zstandard.compress(path.read_bytes(), 19))


def flag() -> None:
    """A flag on a pole that is waved from side to side."""
    empty_scene(frame_end=120)
    pole = rod("Pole", length=3.0, radius=0.025, material=plain("Wood", WOOD))
    pole.rotation_mode = "XYZ"
    quarter = 15  # frames from one side to upright
    side, depth = radians(32), radians(14)
    sway = (1, 0, -1, 0)
    for frame in range(1, 122, quarter):
        phase = (frame - 1) // quarter
        tilt = (depth * (0, 1, 0, -1)[phase % 4], side * sway[phase % 4], 0.0)
        animate(pole, "rotation_euler", {frame: tilt})
    obj = _flag_on(pole, columns=72, rows=48)
    obj.verlet.damping = 4.0
    light_and_ground()
    camera((0.1, -7.9, 1.0), (0.1, 0.0, 1.85), lens=48)


def flag_in_wind() -> None:
    """A flag that hangs from a pole until the wind rises, and blows in gusts and eddies."""
    scene = empty_scene(frame_end=144)
    pole = rod("Pole", length=3.0, radius=0.025, material=plain("Wood", WOOD))
    obj = _flag_on(pole, columns=60, rows=40)
    obj.verlet.damping, obj.verlet.inner_damping = 0.5, 0.15
    speed, calm = 9.0, 12
    wind = _add_field("Wind", "WIND", place=(-2.5, 0.0, 2.0), turned=(0.0, radians(90), 0.0))
    wind.field.noise, wind.field.seed = 3.0, 5
    animate(wind.field, "strength", {1: 0.0, calm: 0.0, 3 * calm: speed})
    eddies = _add_field("Eddies", "TURBULENCE", place=(0.0, 0.0, 0.0), turned=(0.0, 0.0, 0.0))
    eddies.field.size, eddies.field.wind_factor = 0.8, 1.0
    animate(eddies.field, "strength", {1: 0.0, calm: 0.0, 3 * calm: 0.6 * speed})
    # The wind carries them along.
    far = speed * (scene.frame_end - 1) / 24
    animate(eddies, "location", {1: (0.0, 0.0, 0.0), scene.frame_end: (far, 0.0, 0.0)})
    light_and_ground()
    camera((0.9, -6.2, 1.3), (0.85, 0.0, 1.75), lens=48)


def _flag_on(pole: Any, *, columns: int, rows: int) -> Any:
    """Adds a flag to a pole, and makes it a body."""
    vertices, faces, uv = grid(columns, rows, lambda u, v: (1.8 * u, 0 * u, 1.75 + 1.2 * v))
    design = Pattern("Flag")
    arrow = design.math("ABSOLUTE", design.math("SUBTRACT", design.v, 0.5), 0.0)
    slanted = design.math("MULTIPLY", design.math("ADD", design.u, arrow), 0.5)
    red, white, blue = (0.75, 0.09, 0.06), (0.85, 0.82, 0.72), (0.02, 0.08, 0.25)
    cloth = design.color(slanted, {0.0: red, 0.28: white, 0.35: blue})
    obj = add_mesh("Flag", vertices, faces=faces, uv=uv, material=cloth)
    obj.parent = pole
    hoist = np.arange(rows + 1) * (columns + 1)
    make_body(obj, "CLOTH", pinned=hoist, mass=0.3)
    return obj


def _add_field(name: str, kind: Any, *, place: Vector, turned: Vector) -> Any:
    """Adds a force field."""
    bpy.ops.object.effector_add(type=kind, location=place, rotation=turned)
    obj: Any = bpy.context.object
    obj.name = name
    return obj


def curtain() -> None:
    """A curtain that is drawn aside on its rail and gathers in folds."""
    empty_scene(frame_end=96)
    wide, tall, top, pleats = 2.6, 1.85, 2.0, 13
    wood = plain("Wood", WOOD)
    for x in (-1.4, 1.4):
        rod("Post", length=top + 0.06, radius=0.035, material=wood).location.x = x
    rail = rod("Rail", length=2.96, radius=0.018, material=wood)
    rail.location, rail.rotation_euler = (-1.48, 0.0, top + 0.012), (0.0, radians(90), 0.0)
    columns, rows = 6 * pleats, 48
    vertices, faces, uv = grid(
        columns,
        rows,
        lambda u, v: (wide * u, 0.025 * np.sin(2 * np.pi * pleats * u), -tall * (1 - v)),
    )
    design = Pattern("Linen", translucency=0.5)
    hem = design.math("GREATER_THAN", design.v, 0.12)
    looks = design.color(hem, {0.0: (0.55, 0.16, 0.05), 0.5: (0.85, 0.62, 0.25)})
    obj = add_mesh("Curtain", vertices, faces=faces, uv=uv, material=looks)
    rings = np.arange(0, columns + 1, 6) + rows * (columns + 1)
    make_body(obj, "CLOTH", pinned=rings, use_self_collision=True)
    give_material(obj.verlet, "COTTON")
    obj.location = (-1.3, 0.0, top)
    animate(obj, "scale", {1: (1.0, 1.0, 1.0), 12: (1.0, 1.0, 1.0), 60: (0.3, 1.0, 1.0)})
    light_and_ground()
    camera((1.6, -4.6, 1.5), (0.0, 0.0, 1.08), lens=40)


def rope() -> None:
    """A rope between two posts, one end of which is swung round by a crank."""
    empty_scene(frame_end=120)
    span, length, segments = 3.0, 3.9, 240
    wood = plain("Wood", WOOD)
    for side in (-1, 1):
        rod("Post", length=1.8, radius=0.05, material=wood).location.x = side * span / 2
    obj = add_mesh(
        "Rope",
        _sagging(segments, span, length) + np.array((0.0, 0.0, 1.8)),
        edges=np.stack((np.arange(segments), np.arange(1, segments + 1)), axis=1),
    )
    rig = _rig({"Post": (-span / 2, 0.0, 1.8), "Hand": (span / 2, 0.0, 1.8)})
    obj.parent = rig
    obj.modifiers.new("Rig", "ARMATURE").object = rig
    obj.vertex_groups.new(name="Post").add(range(segments), 1.0, "REPLACE")
    obj.vertex_groups.new(name="Hand").add([segments], 1.0, "REPLACE")
    turn = {0: (0.0, 0.0), 1: (0.3, 0.3), 2: (0.0, 0.6), 3: (-0.3, 0.3)}
    place = {12 + 6 * quarter: (0.0, *turn[quarter % 4]) for quarter in range(13)}
    animate(rig.pose.bones["Hand"], "location", {1: (0.0, 0.0, 0.0), **place})
    make_body(obj, "ROPE", pinned=np.array((0, segments)), mass=0.6, bend_compliance=2e3)
    show_edges(obj, radius=0.028, material=plain("Hemp", HEMP, roughness=0.9))
    light_and_ground()
    camera((1.4, -6.4, 1.6), (0.1, 0.0, 1.3), lens=44)


def _rig(heads: dict[str, Vector]) -> Any:
    """Adds an armature with a bone at each place, whose axes are the world's: it lies along Y."""
    rig: Any = link(bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig")))
    cast(Any, bpy.context.view_layer).objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, head in heads.items():
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, (head[0], head[1] + 0.2, head[2])
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _sagging(segments: int, span: float, length: float) -> Points:
    """A curve of a given length over a span along X, ends at height 0, close to how it hangs."""
    x = np.linspace(-1, 1, 2001)
    low, high = 0.0, length
    for _ in range(60):
        depth = (low + high) / 2
        curve = np.stack((x * span / 2, 0 * x, depth * (x**2 - 1)), axis=1)
        run = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
        low, high = (depth, high) if run[-1] < length else (low, depth)
    even = np.linspace(0, run[-1], segments + 1)
    return np.stack([np.interp(even, run, curve[:, axis]) for axis in range(3)], axis=1)


def rope_bridge() -> None:
    """A bridge with hand ropes, a line of pennants and two loose ropes, let go from one side."""
    empty_scene(frame_end=120)
    wood, hemp = plain("Wood", WOOD), plain("Hemp", HEMP, roughness=0.9)
    for x in (-SPAN / 2, SPAN / 2):
        for y, height in ((-WIDTH / 2, DECK_HEIGHT + RAIL), (WIDTH / 2, BUNTING_HEIGHT)):
            rod("Post", length=height, radius=0.06, material=wood).location = (x, y, 0)
    planks = Pattern("Planks", translucency=0.0)
    gaps = planks.math("FRACT", planks.math("MULTIPLY", planks.u, 32), 0)
    deck = _add_net("Bridge", bridge(), planks.color(gaps, {0.0: (0.03, 0.02, 0.01), 0.12: WOOD}))
    damping = {"damping": 0.4, "inner_damping": 0.12}
    make_body(deck, "CLOTH", pinned=bridge().pinned, mass=60.0, bend_compliance=0.05, **damping)
    deck.modifiers.new("Thickness", "SOLIDIFY").thickness = 0.03
    show_edges(deck, radius=0.016, material=hemp)
    colors = Pattern("Pennants")
    third = colors.math("FRACT", colors.math("MULTIPLY", colors.u, 4), 0)
    red, white, blue = (0.75, 0.09, 0.06), (0.85, 0.82, 0.72), (0.02, 0.08, 0.25)
    looks = colors.color(third, {0.0: red, 0.34: white, 0.68: blue})
    line = _add_net("Bunting", bunting(), looks)
    make_body(line, "CLOTH", pinned=bunting().pinned, mass=0.5, damping=1.5)
    show_edges(line, radius=0.008, material=hemp)
    for x in (-SPAN / 2, SPAN / 2):
        loose = _add_chain("Loose Rope", 80, (x, -WIDTH / 2, DECK_HEIGHT + RAIL), (0.8, -0.3, -0.8))
        make_body(loose, "ROPE", pinned=np.array((0,)), mass=0.3)
        show_edges(loose, radius=0.014, material=hemp)
    light_and_ground()
    camera((3.4, -8.6, 3.1), (0.0, 0.0, 1.55), lens=45)


def _add_net(name: str, net: Net, material: Any) -> Any:
    """Adds a mesh of faces and ropes."""
    return add_mesh(
        name, net.vertices, edges=net.ropes, faces=net.faces, uv=net.uv, material=material
    )


def _add_chain(name: str, segments: int, start: Vector, way: Vector) -> Any:
    """Adds a straight rope from a point along a way."""
    share = np.linspace(0, 1, segments + 1)[:, None]
    number = np.arange(segments)
    edges = np.stack((number, number + 1), axis=1)
    return add_mesh(name, np.array(start) + share * np.array(way), edges=edges)


def beach_ball() -> None:
    """A beach ball that is thrown, bounces, and loses its air."""
    empty_scene(frame_end=120)
    stripes = Pattern("Stripes", translucency=0.1)
    sector = stripes.math("FRACT", stripes.math("MULTIPLY", stripes.u, 3), 0)
    red, white, blue = (0.75, 0.09, 0.06), (0.85, 0.82, 0.72), (0.02, 0.12, 0.35)
    looks = stripes.color(sector, {0.0: red, 0.25: white, 0.5: blue, 0.75: white})
    bpy.ops.mesh.primitive_uv_sphere_add(segments=48, ring_count=32, radius=0.4)
    bpy.ops.object.shade_smooth()
    obj: Any = bpy.context.object
    obj.name = "Beach Ball"
    obj.data.materials.append(looks)
    make_body(obj, "CLOTH", pinned=np.zeros(0, int), mass=0.3, bend_compliance=1e3)
    obj.verlet.damping, obj.verlet.inner_damping, obj.verlet.restitution = 0.2, 0.06, 0.5
    obj.rotation_euler = (radians(70), radians(20), 0.0)
    # It is let go at the first frame, as fast as it comes there: a line leads on to frame -1, for a
    # keyframe before frame 0 would delay everything in a glTF.
    animate(obj, "location", {0: (-1.43, 0.0, 1.41), 1: (-1.36, 0.0, 1.42), 2: (-1.36, 0.0, 1.42)})
    for curve in channels(obj).fcurves:
        curve.extrapolation = "LINEAR"
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    animate(obj.verlet, "pressure", {1: 300.0, 60: 300.0, 90: 0.0})
    light_and_ground()
    camera((0.2, -5.0, 1.4), (0.1, 0.0, 0.78), lens=42)


def pond() -> None:
    """A pond that a stone falls into, and across which a ball glides."""
    empty_scene(frame_end=96)
    size, count = 4.0, 120
    vertices, faces, uv = grid(
        count, count, lambda u, v: (size * (u - 0.5), size * (v - 0.5), 0 * u + 0.3)
    )
    water = plain("Water", (0.02, 0.12, 0.16), roughness=0.05)
    obj = add_mesh("Pond", vertices, faces=faces, uv=uv, material=water)
    make_body(obj, "WATER", pinned=np.zeros(0, int), wave_speed=1.2, damping=0.5)
    stone = _add_ball("Stone", 0.16, (0.25, 0.23, 0.2))
    fall = {1: 1.2, 14: 0.3, 20: 0.1, 34: 0.0}
    animate(stone, "location", {frame: (-0.7, 0.5, z) for frame, z in fall.items()})
    ball = _add_ball("Ball", 0.18, (0.75, 0.09, 0.06))
    way = {1: (1.6, -1.3), 12: (1.6, -1.3), 96: (0.3, -0.3)}
    animate(ball, "location", {frame: (x, y, 0.33) for frame, (x, y) in way.items()})
    stone = plain("Rim", (0.30, 0.27, 0.23), roughness=0.8)
    for number in range(4):
        rim = rod("Rim", length=size + 0.3, radius=0.13, material=stone)
        turn = radians(90) * number
        along, out = np.array((cos(turn), sin(turn), 0)), np.array((sin(turn), -cos(turn), 0))
        rim.location = (size / 2 + 0.1) * out - (size / 2 + 0.15) * along + (0, 0, 0.2)
        rim.rotation_euler = (0.0, radians(90), turn)
    light_and_ground()
    camera((0.9, -5.0, 2.7), (0.05, 0.0, 0.2), lens=42)


def _add_ball(name: str, radius: float, color: Vector) -> Any:
    """Adds a ball that bodies collide with."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=16, radius=radius)
    bpy.ops.object.shade_smooth()
    obj: Any = bpy.context.object
    obj.name = name
    obj.data.materials.append(plain(name, color))
    obj.modifiers.new("Collision", "COLLISION")
    return obj


SAMPLES = {
    "beach_ball": beach_ball,
    "dress": dress,
    "fabrics": fabrics,
    "flag": flag,
    "flag_in_wind": flag_in_wind,
    "curtain": curtain,
    "curls": curls,
    "long_hair": long_hair,
    "ponytail": ponytail,
    "fur": fur,
    "fox": fox,
    "girl": girl,
    "jumper": heavy,
    "seal": seal,
    "jellies": jellies,
    "rope": rope,
    "rope_bridge": rope_bridge,
    "covered_table": covered_table,
    "cape": cape,
    "dancer": dancer,
    "sitter": sitter,
    "winch": winch,
    "pile": pile,
    "pond": pond,
    "ragdoll": ragdoll,
    "torn_banner": torn_banner,
}

if __name__ == "__main__":
    main()
