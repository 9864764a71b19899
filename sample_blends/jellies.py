"""Samples of jelly: a bear and a cube that drop and wobble."""

from typing import Any, cast

import bpy

from sample_blends.stage import camera, empty_scene, light_and_ground, plain

Vector = tuple[float, float, float]
BEAR: tuple[tuple[Vector, Vector], ...] = (
    ((0.0, 0.0, 0.42), (0.27, 0.22, 0.32)),  # belly
    ((0.0, 0.17, 0.15), (0.20, 0.17, 0.14)),  # seat
    ((0.0, -0.02, 0.86), (0.22, 0.20, 0.20)),  # head
    ((0.0, -0.20, 0.82), (0.09, 0.08, 0.07)),  # snout
    ((0.16, 0.0, 1.03), (0.08, 0.05, 0.08)),  # ears
    ((-0.16, 0.0, 1.03), (0.08, 0.05, 0.08)),
    ((0.28, -0.10, 0.52), (0.18, 0.09, 0.09)),  # arms
    ((-0.28, -0.10, 0.52), (0.18, 0.09, 0.09)),
    ((0.15, -0.16, 0.14), (0.12, 0.20, 0.13)),  # legs
    ((-0.15, -0.16, 0.14), (0.12, 0.20, 0.13)),
)
"""Centres and radii of the ellipsoids that a bear is made of [m]."""


def jellies() -> None:
    """A bear and a cube of jelly that drop, wobble and come to rest."""
    empty_scene(frame_end=72)
    bear = _bear()
    bear.location = (-0.5, 0.0, 0.42)
    bear.rotation_euler = (0.2, 0.08, 0.3)
    _fill(bear, (0.75, 0.08, 0.05), mass=60.0, stiffness=5e4)
    bpy.ops.mesh.primitive_cube_add(size=0.7, location=(0.65, 0.1, 0.95), rotation=(0.15, 0.1, 0.6))
    cube: Any = bpy.context.object
    cube.name = cube.data.name = "Cube"
    round_cube(cube, bevel=0.08, voxel=0.04)
    _fill(cube, (0.10, 0.45, 0.12), mass=300.0, stiffness=8e4)
    light_and_ground()
    camera((0.5, -3.7, 1.5), (0.05, 0.0, 0.7), lens=40)


def _bear() -> Any:
    """Adds a sitting bear: the surface around its parts."""
    for place, radii in BEAR:
        bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=16, radius=1, location=place)
        cast(Any, bpy.context.object).scale = radii
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.join()
    bpy.ops.object.transform_apply(location=True, rotation=True, scale=True)
    bear: Any = bpy.context.object
    bear.name = bear.data.name = "Bear"
    remesh(bear, 0.035)
    smooth = bear.modifiers.new("Smooth", "CORRECTIVE_SMOOTH")
    smooth.use_only_smooth, smooth.iterations = True, 4
    bpy.ops.object.modifier_apply(modifier=smooth.name)
    return bear


def round_cube(cube: Any, *, bevel: float, voxel: float) -> None:
    """Bevels the edges of a cube and cuts up its faces [m]."""
    rounded = cube.modifiers.new("Bevel", "BEVEL")
    rounded.width, rounded.segments = bevel, 3
    bpy.ops.object.modifier_apply(modifier=rounded.name)
    remesh(cube, voxel)


def remesh(obj: Any, voxel: float) -> None:
    """Replaces the mesh of an object by voxels of its volume [m]."""
    voxels = obj.modifiers.new("Remesh", "REMESH")
    voxels.mode, voxels.voxel_size, voxels.use_smooth_shade = "VOXEL", voxel, True
    bpy.ops.object.modifier_apply(modifier=voxels.name)


def _fill(obj: Any, color: Vector, *, mass: float, stiffness: float) -> None:
    """Makes an object jelly that light shines through."""
    material = plain(obj.name, color, roughness=0.15)
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Transmission Weight"].default_value = 0.35
    shader.inputs["IOR"].default_value = 1.35
    obj.data.materials.append(material)
    body = obj.verlet
    body.enabled, body.body_type = True, "SOFT"
    body.mass, body.stiffness = mass, stiffness
