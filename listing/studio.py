"""A photographer's studio around a sample: a seamless backdrop, three lights and a camera."""

from math import pi
from typing import Any, cast

import bpy
import numpy as np
from mathutils import Vector

from sample_blends.stage import add_mesh, camera, link, plain

from .shot import WHITE, Color, Shot


def build_studio(shot: Shot) -> None:
    """Replaces ground, light and camera of the open sample by a studio."""
    scene: Any = bpy.context.scene
    for obj in list(scene.objects):
        if obj.type in ("LIGHT", "CAMERA") or obj.name == "Ground":
            bpy.data.objects.remove(obj)
    camera(shot.eye, shot.target, lens=shot.lens)
    away = Vector(shot.target) - Vector(shot.eye)
    forward = Vector((away.x, away.y, 0.0)).normalized()
    right = Vector((forward.y, -forward.x, 0.0))
    _backdrop(shot, forward, right)
    _lights(shot, forward, right)
    _world(shot.backdrop)


def _backdrop(shot: Shot, forward: Vector, right: Vector) -> None:
    """Adds a floor that curves up into a wall, a few sizes behind the subject."""
    size = shot.size
    near, behind, bend = 8 * size, 2.2 * size, 1.6 * size
    turn = np.linspace(0, pi / 2, 17)
    along = [-near, *(behind + bend * np.sin(turn)), behind + bend]
    up = [0.0, *(bend * (1 - np.cos(turn))), 9 * size]
    center = Vector((shot.target[0], shot.target[1], 0.0))
    corners = [
        center + forward * float(y) + right * x + Vector((0, 0, float(z)))
        for y, z in zip(along, up, strict=True)
        for x in (-14 * size, 14 * size)
    ]
    first = np.arange(len(along) - 1)[:, None] * 2
    add_mesh(
        "Backdrop",
        np.array([corner[:] for corner in corners]),
        faces=first + np.array([0, 1, 3, 2]),
        material=plain("Backdrop", shot.backdrop, roughness=0.7),
    )


def _lights(shot: Shot, forward: Vector, right: Vector) -> None:
    """Adds a large light in front, a coloured one behind, and one on the wall."""
    target, size, up = Vector(shot.target), shot.size, Vector((0, 0, 1))
    side = right * shot.key_side
    key = target + size * (1.5 * side - 1.1 * forward + 1.7 * up)
    rim = target + size * (-1.5 * side + 1.3 * forward + 1.2 * up)
    high = target + size * (1.7 * forward + 2.6 * up)
    wall = target + size * (3.6 * forward + 0.2 * up)
    bright = 62 * size * size
    _area("Key", key, target, 1.3 * size, shot.key * 1.5 * bright, WHITE)
    _area("Rim", rim, target, 0.9 * size, 1.5 * bright, shot.rim)
    _area("Wall", high, wall, 1.0 * size, 1.2 * bright, shot.glow)


def _area(name: str, place: Vector, target: Vector, size: float, power: float, color: Any) -> None:
    """Adds a square light that looks at a point and is not seen itself."""
    lamp: Any = bpy.data.lights.new(name, "AREA")
    lamp.size, lamp.energy, lamp.color = size, power, color
    obj = link(bpy.data.objects.new(name, lamp))
    obj.location = place
    obj.rotation_euler = (target - place).to_track_quat("-Z", "Y").to_euler()
    obj.visible_camera = False


def _world(color: Color) -> None:
    """Gives the world a dim light of the backdrop's colour."""
    world: Any = bpy.data.worlds.new("Studio")
    cast(Any, bpy.context.scene).world = world
    world.use_nodes = True
    background = world.node_tree.nodes["Background"]
    background.inputs["Color"].default_value = (*(0.5 * each + 0.25 for each in color), 1)
    background.inputs["Strength"].default_value = 0.25


def render_settings(width: int, height: int, samples: int) -> None:
    """Sets Cycles to a number of samples, denoised, on as little work as looks good."""
    scene: Any = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.render.resolution_x, scene.render.resolution_y = width, height
    scene.render.resolution_percentage = 100
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Medium High Contrast"
    cycles = scene.cycles
    cycles.samples, cycles.use_denoising, cycles.denoising_quality = samples, True, "BALANCED"
    cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 6, 2, 2
    cycles.caustics_reflective = cycles.caustics_refractive = False
    scene.render.image_settings.file_format = "PNG"
