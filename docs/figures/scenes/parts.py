"""What scenes of pictures are made of: bodies named Body, colliders, looks and light."""

from collections.abc import Callable, Sequence
from math import radians
from typing import Any, cast

import bpy
import numpy as np
from mathutils import Matrix

from sample_blends.stage import (
    Color,
    Points,
    add_mesh,
    animate,
    empty_scene,
    grid,
    link,
    make_body,
    plain,
)

Vector = Sequence[float]
CLOTH: Color = (0.62, 0.13, 0.03)
PALE: Color = (0.70, 0.55, 0.36)
STONE: Color = (0.22, 0.27, 0.33)


def start() -> Any:
    """An empty scene with a sun, a pale sky of one colour and a ground."""
    scene = empty_scene(frame_end=1)
    lamp: Any = bpy.data.lights.new("Sun", "SUN")
    lamp.energy, lamp.angle, lamp.color = 3.2, radians(3), (1.0, 0.93, 0.82)
    link(bpy.data.objects.new("Sun", lamp)).rotation_euler = (radians(48), 0, radians(-28))
    world: Any = bpy.data.worlds.new("Sky")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.58, 0.70, 0.86, 1.0)
    scene.world = world
    corners = np.array([(-30, -30, 0), (30, -30, 0), (30, 30, 0), (-30, 30, 0)], float)
    look = plain("Ground", (0.40, 0.40, 0.38), roughness=0.9)
    add_mesh("Ground", corners, faces=np.array([(0, 1, 2, 3)]), material=look)
    return scene


def cloth(
    columns: int,
    rows: int,
    place: Callable[[Points, Points], Sequence[Points]],
    *,
    pinned: Sequence[int] | np.ndarray[Any, Any] = (),
    squares: float = 8.0,
    name: str = "Body",
    **settings: Any,
) -> Any:
    """A checked cloth over (u, v), a grid of quads."""
    vertices, faces, uv = grid(columns, rows, place)
    obj = add_mesh(name, vertices, faces=faces, uv=uv, material=checked(squares))
    make_body(obj, "CLOTH", pinned=np.asarray(pinned, np.int64), **settings)
    return obj


def checked(squares: float, first: Color = CLOTH, second: Color = PALE) -> Any:
    """A material of squares, which show how cloth stretches and shears."""
    material = plain("Checked", first, roughness=0.85)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    pattern = nodes.new("ShaderNodeTexChecker")
    pattern.inputs["Scale"].default_value = squares
    for name, color in (("Color1", first), ("Color2", second)):
        pattern.inputs[name].default_value = (*color, 1.0)
    links.new(nodes.new("ShaderNodeTexCoord").outputs["UV"], pattern.inputs["Vector"])
    links.new(pattern.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])
    return material


def checked_at_rest(
    obj: Any, first: Color, second: Color, *, scale: Vector = (10.0, 10.0, 10.0)
) -> None:
    """Gives a body squares, so many a metre at rest, which need no UV map; rings along one axis."""
    obj.add_rest_position_attribute = True
    material = checked(1.0, first, second)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    place = nodes.new("ShaderNodeAttribute")
    place.attribute_name = "rest_position"
    squares = nodes.new("ShaderNodeVectorMath")
    squares.operation = "MULTIPLY_ADD"
    squares.inputs[1].default_value, squares.inputs[2].default_value = scale, (0.05, 0.06, 0.07)
    pattern = next(node for node in nodes if node.type == "TEX_CHECKER")
    links.new(place.outputs["Vector"], squares.inputs[0])
    links.new(squares.outputs[0], pattern.inputs["Vector"])
    obj.data.materials.append(material)


def closed_ball(
    place: Vector, radii: Vector, *, look: Any = None, name: str = "Body", cells: int = 48
) -> Any:
    """An ellipsoid of quads, without settings."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=cells, ring_count=cells // 2, location=place)
    obj: Any = bpy.context.object
    obj.name = name
    obj.data.transform(Matrix.Diagonal((*radii, 1.0)))
    obj.data.materials.append(look or checked(12.0))
    bpy.ops.object.shade_smooth()
    return obj


def body() -> Any:
    """The body of a scene."""
    return bpy.data.objects["Body"]


def gradient(obj: Any, *, axis: int = 0) -> None:
    """A vertex group, 0 to 1, whose weights are those along an axis."""
    places = np.array([vertex.co[axis] for vertex in obj.data.vertices])
    group = obj.vertex_groups.new(name="0 to 1")
    for vertex, share in enumerate((places - places.min()) / np.ptp(places)):
        group.add([vertex], float(share), "REPLACE")


def keyed_shape(
    obj: Any, away: Callable[[Any], Vector], *, frames: tuple[int, int], name: str = "Shape"
) -> None:
    """A shape key in which vertices are moved, whose value goes from 0 to 1."""
    obj.shape_key_add(name="Basis")
    shape = obj.shape_key_add(name=name)
    for point in shape.data:
        point.co = [a + b for a, b in zip(point.co, away(point.co), strict=True)]
    animate(shape, "value", dict(zip(frames, (0.0, 1.0), strict=True)))


def collected(obj: Any, name: str) -> None:
    """Puts an object into a collection of its own too."""
    collection = bpy.data.collections.new(name)
    cast(Any, bpy.context.scene).collection.children.link(collection)
    collection.objects.link(obj)


def ball(place: Vector, radius: float, *, name: str = "Ball", segments: int = 32) -> Any:
    """A ball that bodies collide with."""
    bpy.ops.mesh.primitive_uv_sphere_add(
        segments=segments, ring_count=segments * 5 // 8, radius=radius, location=place
    )
    bpy.ops.object.shade_smooth()
    return _collider(name)


def box(place: Vector, size: Vector, *, turned: Vector = (0, 0, 0), name: str = "Box") -> Any:
    """A box that bodies collide with."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=place, rotation=turned, scale=size)
    return _collider(name)


def board(
    place: Vector, size: tuple[float, float], *, turned: Vector = (0, 0, 0), name: str = "Board"
) -> None:
    """A rectangle that nothing collides with."""
    bpy.ops.mesh.primitive_plane_add(size=1.0, location=place, rotation=turned, scale=(*size, 1.0))
    obj: Any = bpy.context.object
    obj.scale, obj.name = (*size, 1.0), name
    obj.data.materials.append(plain(name, STONE, roughness=0.7))


def _collider(name: str) -> Any:
    """The active object, made a collider of stone."""
    obj: Any = bpy.context.object
    obj.name = name
    obj.data.materials.append(plain(name, STONE, roughness=0.7))
    obj.modifiers.new("Collision", "COLLISION")
    obj.collision.thickness_outer = 0.001
    obj.verlet_collider_friction = 0.8
    return obj
