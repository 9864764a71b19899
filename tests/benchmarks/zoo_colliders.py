"""Colliders for scenes of contact, and how they move.

Each function returns new mesh objects that stand on the floor, within 2 m around the origin.
"""

from collections.abc import Callable
from typing import Any

import bpy as blender
import numpy as np

from tests.benchmarks import meshes
from tests.benchmarks.zoo_bodies import Random
from tests.benchmarks.zoo_figure import make_figure
from tests.benchmarks.zoo_person import make_person
from verlet_addon.blender.scene.colliders import make_collider

bpy: Any = blender

Objects = list[Any]
STOPS = 1.0
"""When motion ends, but for that of figures [s]."""


def _active() -> Any:
    """The object that an operator has made."""
    return bpy.context.object


def sphere(_random: Random) -> Objects:
    """A UV sphere of a metre."""
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5, location=(0, 0, 0.5))
    return [_active()]


def sphere_and_cube(random: Random) -> Objects:
    """The same, and a cube of half a metre beside it."""
    found = sphere(random)
    bpy.ops.mesh.primitive_cube_add(size=0.5, location=(0.8, 0.1, 0.25))
    return [*found, _active()]


def cone(_random: Random) -> Objects:
    """A cone with a sharp tip."""
    bpy.ops.mesh.primitive_cone_add(vertices=24, radius1=0.5, depth=1.0, location=(0, 0, 0.5))
    return [_active()]


def bar(_random: Random) -> Objects:
    """A cylinder that lies."""
    bpy.ops.mesh.primitive_cylinder_add(
        radius=0.15, depth=2.4, location=(0, 0, 0.8), rotation=(0, np.pi / 2, 0.3)
    )
    return [_active()]


def torus(_random: Random) -> Objects:
    """A torus above the floor."""
    bpy.ops.mesh.primitive_torus_add(major_radius=0.6, minor_radius=0.2, location=(0, 0, 0.5))
    return [_active()]


def suzanne(_random: Random) -> Objects:
    """Suzanne, subdivided, tilted."""
    bpy.ops.mesh.primitive_monkey_add(size=1.2, location=(0, 0, 0.7), rotation=(-0.6, 0.2, 0.3))
    meshes.apply("SUBSURF", levels=1)
    return [_active()]


def text(_random: Random) -> Objects:
    """Raised letters, upright."""
    bpy.ops.object.text_add(rotation=(np.pi / 2, 0, 0))
    letters = _active()
    letters.data.body, letters.data.extrude, letters.data.size = "Zoo", 0.1, 0.8
    letters.data.align_x = "CENTER"
    bpy.ops.object.convert(target="MESH")
    return [_active()]


def stairs(_random: Random) -> Objects:
    """Five steps."""
    found = []
    for step in range(5):
        height = 0.2 * (step + 1)
        bpy.ops.mesh.primitive_cube_add(size=1, location=(0.3 * step - 0.6, 0, height / 2))
        _active().scale = (0.3, 1.6, height)
        found.append(_active())
    return found


def plates(random: Random) -> Objects:
    """Upright plates, 4 mm thick."""
    found = []
    for number in range(4):
        bpy.ops.mesh.primitive_cube_add(size=1, location=(0.4 * number - 0.6, 0, 0.4))
        _active().scale = (0.004, 1.2, 0.6 + 0.2 * random.random())
        _active().rotation_euler[2] = random.uniform(-0.5, 0.5)
        found.append(_active())
    return found


COLLIDERS: dict[str, Callable[[Random], Objects]] = {
    "floor": lambda _: [],
    "sphere": sphere,
    "sphere and cube": sphere_and_cube,
    "cone": cone,
    "bar": bar,
    "torus": torus,
    "Suzanne": suzanne,
    "text": text,
    "stairs": stairs,
    "plates": plates,
}


def make_colliders(name: str, motion: str, *, stock: bool, fps: float, random: Random) -> Objects:
    """Colliders of that name and a floor; `stock` leaves Blender's own Collision settings."""
    if name == "figure":
        found = [make_figure(fps, motion)]
    elif name == "person":
        found = [make_person(fps, motion)]
    else:
        found = COLLIDERS[name](random)
        for obj in found:
            shuffle_faces(obj.data, random)
            MOTIONS[motion](obj, fps)
    bpy.ops.mesh.primitive_plane_add(size=20.0)
    found.append(_active())
    for obj in found:
        if stock:
            obj.modifiers.new("Collision", "COLLISION")
        else:
            make_collider(obj)
    return found


def shuffle_faces(mesh: Any, random: Random) -> None:
    """Puts the faces of a mesh in another order; Blender's own is left to chance in some shapes."""
    places = [vertex.co[:] for vertex in mesh.vertices]
    faces = sorted(tuple(face.vertices) for face in mesh.polygons)
    order = random.permutation(len(faces)).tolist()
    mesh.clear_geometry()
    mesh.from_pydata(places, [], [faces[k] for k in order])


def still(_obj: Any, _fps: float) -> None:
    """No motion."""


def moving(obj: Any, fps: float) -> None:
    """To the side, and back half of the way."""
    start = obj.location.x
    for seconds, away in ((0.0, 0.0), (STOPS / 2, 0.8), (STOPS, 0.4)):
        obj.location.x = start + away
        obj.keyframe_insert("location", frame=1 + round(seconds * fps))


def spinning(obj: Any, fps: float) -> None:
    """One turn and a half about the vertical through its own middle."""
    obj.rotation_mode = "XYZ"
    start = obj.rotation_euler.z
    for seconds, turn in ((0.0, 0.0), (STOPS, 3 * np.pi)):
        obj.rotation_euler.z = start + turn
        obj.keyframe_insert("rotation_euler", frame=1 + round(seconds * fps))


def deforming(obj: Any, fps: float) -> None:
    """Bent and straight again."""
    bend = obj.modifiers.new("Bend", "SIMPLE_DEFORM")
    bend.deform_method, bend.deform_axis = "TWIST", "Z"
    for seconds, turn in ((0.0, 0.0), (STOPS / 2, 1.0), (STOPS, 0.3)):
        bend.angle = turn
        bend.keyframe_insert("angle", frame=1 + round(seconds * fps))


MOTIONS: dict[str, Callable[[Any, float], None]] = {
    "still": still,
    "moving": moving,
    "spinning": spinning,
    "deforming": deforming,
}
