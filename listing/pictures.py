"""The pictures of the listing: which sample, at which frame, seen from where, in which light."""

from collections.abc import Mapping
from math import radians
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
from mathutils import Matrix

from verlet_addon.blender.cli.output_capture import quiet

from .shot import WARM, Shot
from .studio import build_studio, render_settings

SAMPLES = 4
"""Rays of each pixel; denoised they look like four times as many."""

PICTURES = {
    "featured": Shot(
        "dancer",
        60,
        (0.9, -4.0, 1.0),
        (0.0, 0.0, 0.86),
        41,
        1.5,
        (0.02, 0.10, 0.15),
        rim=WARM,
        key=1.4,
    ),
    "preview_1_cloth": Shot(
        "covered_table",
        60,
        (1.3, -2.6, 1.35),
        (0.0, 0.0, 0.47),
        50,
        1.1,
        (0.03, 0.13, 0.08),
        rim=WARM,
    ),
    "preview_2_jelly": Shot(
        "jellies", 12, (0.4, -3.6, 1.3), (0.05, 0.0, 0.60), 50, 1.3, (0.85, 0.45, 0.25)
    ),
    "preview_3_wind": Shot(
        "flag_in_wind",
        78,
        (0.2, -4.4, 1.7),
        (0.85, 0.0, 2.28),
        58,
        1.5,
        (0.75, 0.36, 0.13),
        rim=WARM,
        key=0.8,
        key_side=1,
    ),
    "preview_4_hair": Shot(
        "long_hair",
        66,
        (0.75, -1.2, 1.55),
        (0.0, 0.0, 1.46),
        58,
        0.45,
        (0.10, 0.05, 0.16),
        rim=WARM,
    ),
    "preview_5_bones": Shot(
        "fox", 32, (1.85, 0.7, 0.75), (0.0, -0.04, 0.43), 42, 0.8, (0.04, 0.17, 0.20), rim=WARM
    ),
}
"""Pictures, by the names of their files. The sixth preview is of Blender's window."""

GUESTS = (
    ("Bear", (0.86, 0.1), 0.42, -12),
    ("Cube", (-0.85, 0.35), 0.5, 25),
)
"""Jellies that stand beside the dancer: name, place on the floor [m], scale, turn [degrees]."""


def render_picture(name: str, baked: Path, output: Path, *, width: int, samples: int) -> None:
    """Renders a picture of the listing.

    Parameters
    ----------
    name
        Its name in PICTURES.
    baked
        Folder of the baked samples.
    output
        The file, a PNG.
    width
        Its width; it is nine sixteenths as high [pixels].
    samples
        Rays of each pixel.
    """
    shot = PICTURES[name]
    with quiet():
        bpy.ops.wm.open_mainfile(filepath=str(baked / f"{shot.sample}.blend"))
    build_studio(shot)
    scene: Any = bpy.context.scene
    scene.frame_set(shot.frame)
    if shot.sample == "dancer":
        _invite_guests(baked / "jellies.blend")
    _make_gelatin()
    _smooth()
    render_settings(width, width * 9 // 16, samples)
    scene.render.filepath = str(output)
    with quiet():
        bpy.ops.render.render(write_still=True)


def _invite_guests(file: Path) -> None:
    """Appends baked jellies, and puts them beside the dancer."""
    names = [name for name, *_ in GUESTS]
    data: Any = bpy.data
    with quiet(), data.libraries.load(str(file)) as (_, wanted):
        wanted.objects = names
    scene: Any = bpy.context.scene
    for name, place, scale, turn in GUESTS:
        obj: Any = bpy.data.objects[name]
        scene.collection.objects.link(obj)
        changed = Matrix.Rotation(radians(turn), 4, "Z") @ Matrix.Scale(scale, 4)
        obj.matrix_world = changed @ obj.matrix_basis
        scene.frame_set(scene.frame_current)  # keys of what was appended, too
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        corners = np.array([obj.matrix_world @ vertex.co for vertex in shown.data.vertices])
        low, high = corners.min(axis=0), corners.max(axis=0)
        moved = (*(np.array(place) - (low + high)[:2] / 2), -low[2])
        obj.location = np.array(obj.location) + moved


def _smooth() -> None:
    """Rounds outlines of what is baked to shape keys."""
    for obj in cast(Any, bpy.context.scene).objects:
        if obj.type == "MESH" and obj.data.shape_keys:
            obj.modifiers.new("Smooth", "SUBSURF").render_levels = 2


def _make_gelatin() -> None:
    """Makes bear and cube translucent, where they are."""
    for name, color in (("Bear", (0.90, 0.03, 0.05)), ("Cube", (0.16, 0.75, 0.10))):
        if name in bpy.data.materials:
            tree: Any = bpy.data.materials[name].node_tree
            _set(tree.nodes["Principled BSDF"], GELATIN | {"Base Color": (*color, 1)})


def _set(shader: Any, values: Mapping[str, object]) -> None:
    """Sets inputs of a shader."""
    for name, value in values.items():
        shader.inputs[name].default_value = value


GELATIN = {
    "Transmission Weight": 0.75,
    "Roughness": 0.12,
    "IOR": 1.36,
    "Coat Weight": 0.3,
    "Subsurface Weight": 0.6,
    "Subsurface Scale": 0.2,
}
"""Inputs of the shader of jelly, besides its colour."""
