"""The films of the listing: clips of samples as the viewport shows them, one after the other."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from verlet_addon.blender.cli.output_capture import quiet

from .clips import HEIGHT, WIDTH
from .shot import Shot
from .studio import build_studio

HAIR, LOCK, WATER = (0.30, 0.13, 0.05, 1.0), 0.0016, (0.04, 0.30, 0.42, 1.0)
"""Colour of hair and radius of a strand [m]; colour of water."""


def prepare(shot: Shot, baked: Path, folder: Path) -> Path:
    """Writes a sample as its clip shows it, with its patterns as textures; tells where."""
    with quiet():
        bpy.ops.wm.open_mainfile(filepath=str(baked))
    scene: Any = bpy.context.scene
    build_studio(shot)
    patterned = [obj for obj in scene.objects if obj.type == "MESH" and _has_pattern(obj)]
    for obj in patterned:
        _pattern_as_texture(obj)
    for hair in bpy.data.hair_curves:
        hair.materials[0].diffuse_color = HAIR
        _thicken(hair)
    if "Water" in bpy.data.materials:
        bpy.data.materials["Water"].diffuse_color = WATER
    _look(scene, "TEXTURE" if patterned else "MATERIAL")
    path = folder / f"clip_{shot.sample}.blend"
    with quiet():
        bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    return path


def _thicken(hair: Any) -> None:
    """Makes strands as thick as the locks that they stand for."""
    radii = hair.attributes.get("radius") or hair.attributes.new("radius", "FLOAT", "POINT")
    radii.data.foreach_set("value", np.full(len(hair.points), LOCK, np.float32))


def _has_pattern(obj: Any) -> bool:
    """Whether the colour of an object's material is worked out from its UV coordinates."""
    nodes = [node for each in obj.data.materials[:1] for node in each.node_tree.nodes]
    shaders = [node for node in nodes if node.type == "BSDF_PRINCIPLED"]
    return bool(obj.data.uv_layers) and any(node.inputs[0].is_linked for node in shaders)


def _pattern_as_texture(obj: Any) -> None:
    """Bakes the colours of a body's material into an image, which the viewport shows."""
    scene: Any = bpy.context.scene
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    image: Any = bpy.data.images.new(obj.name, 768, 768)
    nodes = obj.data.materials[0].node_tree.nodes
    nodes.active = nodes.new("ShaderNodeTexImage")
    nodes.active.image = image
    for other in scene.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj
    with quiet():
        bpy.ops.object.bake(type="DIFFUSE", pass_filter={"COLOR"}, margin=4)
    image.pack()


def _look(scene: Any, colors: str) -> None:
    """Sets how the viewport's renderer shades, and whether it shows textures or materials."""
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y = WIDTH, HEIGHT
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "JPEG"
    scene.render.image_settings.quality = 95
    scene.render.hair_type = "STRIP"
    scene.view_settings.view_transform = "Standard"
    scene.display.render_aa = scene.display.viewport_aa = "FXAA"
    scene.display.shadow_focus, scene.display.shadow_shift = 0.3, 0.05
    scene.display.light_direction = (-0.5, 0.35, 0.75)
    shading = scene.display.shading
    shading.light, shading.studio_light, shading.color_type = "STUDIO", "paint.sl", colors
    shading.show_shadows, shading.shadow_intensity = True, 0.45
    shading.show_cavity = False
    shading.show_object_outline = False
    shading.show_specular_highlight = True
