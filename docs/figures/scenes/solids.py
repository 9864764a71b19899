"""Scenes of jelly, gas and water; docstrings are captions."""

from typing import Any

import bpy
import numpy as np

from docs.figures.scenes.parts import ball, body, checked, closed_ball, cloth, gradient, start
from sample_blends.stage import animate, camera, make_body, plain

GREEN, PALE_GREEN = (0.03, 0.30, 0.10), (0.35, 0.55, 0.25)


def cube(*, height: float = 0.01, size: float = 0.4) -> None:
    """A cube of jelly on the ground."""
    start()
    bpy.ops.mesh.primitive_cube_add(size=size, location=(0.0, 0.0, size / 2 + height))
    obj: Any = bpy.context.object
    obj.name = "Body"
    bevel = obj.modifiers.new("Bevel", "BEVEL")
    bevel.width, bevel.segments = 0.04, 3
    bpy.ops.object.modifier_apply(modifier=bevel.name)
    remesh = obj.modifiers.new("Remesh", "REMESH")
    remesh.mode, remesh.voxel_size, remesh.use_smooth_shade = "VOXEL", 0.025, True
    bpy.ops.object.modifier_apply(modifier=remesh.name)
    obj.data.materials.append(_squares())
    make_body(obj, "SOFT", pinned=np.zeros(0, np.int64), mass=3.0)
    gradient(obj)
    camera((0.8, -1.8, 0.75), (0.0, 0.0, 0.17), lens=58)


def dropped() -> None:
    """A cube of jelly that falls on the ground."""
    cube(height=0.15)
    body().verlet.damping = 0.0


def dented() -> None:
    """A cube of jelly that a ball presses on."""
    cube()
    pressing = ball((0.0, 0.0, 0.52), 0.1)
    animate(pressing, "location", {1: (0.0, 0.0, 0.52), 20: (0.0, 0.0, 0.36)})


def cushion() -> None:
    """A cushion: two round pieces of cloth, joined at their rims, that lie on the ground."""
    start()
    obj = closed_ball((0.0, 0.0, 0.08), (0.5, 0.5, 0.03))
    make_body(obj, "CLOTH", pinned=np.zeros(0, np.int64), mass=0.2)
    obj.verlet.use_self_collision = True
    gradient(obj)
    camera((0.5, -2.0, 0.9), (0.0, 0.0, 0.12), lens=55)


def pond() -> None:
    """A pond into which a ball has fallen."""
    start()
    n = 64
    obj = cloth(n, n, lambda u, v: (2.0 * (u - 0.5), 2.0 * (v - 0.5), 0 * u + 0.2))
    obj.data.materials[0] = plain("Water", (0.02, 0.14, 0.24), roughness=0.08)
    obj.verlet.body_type, obj.verlet.damping = "WATER", 0.3
    stone = ball((0.0, 0.0, 0.5), 0.14)
    places = {1: (0.0, 0.0, 0.5), 6: (0.0, 0.0, 0.2), 10: (0.0, 0.0, 0.0)}
    animate(stone, "location", places)
    camera((0.5, -2.3, 1.4), (0.0, 0.0, 0.15), lens=45)


def _squares() -> Any:
    """Squares over a jelly at rest, as its mesh has no UV map."""
    material = checked(4.0, GREEN, PALE_GREEN)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shift = nodes.new("ShaderNodeVectorMath")
    shift.inputs[1].default_value = (0.013, 0.017, 0.019)
    texture = next(node for node in nodes if node.type == "TEX_COORD")
    pattern = next(node for node in nodes if node.type == "TEX_CHECKER")
    links.new(texture.outputs["Generated"], shift.inputs[0])
    links.new(shift.outputs[0], pattern.inputs["Vector"])
    return material
