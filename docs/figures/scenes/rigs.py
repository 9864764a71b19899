"""Scenes of soft bones and of flesh; docstrings are captions."""

from typing import Any, cast

import bpy
import numpy as np

from docs.figures.scenes.parts import ball, checked_at_rest, start
from sample_blends.rigged import add_bones, chain, limb, straight
from sample_blends.stage import Points, animate, camera, link, plain
from verlet_addon.blender.scene.flesh_paint import paint_flesh
from verlet_addon.blender.settings.materials import give_material

FUR, SKIN, PALE_SKIN = (0.55, 0.20, 0.05), (0.62, 0.36, 0.26), (0.78, 0.56, 0.44)


def tail() -> None:
    """A tail of eight soft bones, whose root moves up and stops."""
    rig = _tail(height=0.55)
    animate(rig, "location", {1: (0.0, 0.0, -0.25), 4: (0.0, 0.0, -0.25), 8: (0.0, 0.0, 0.0)})
    camera((2.2, 0.2, 0.8), (0.0, 0.4, 0.5), lens=48)


def tail_on_ball() -> None:
    """A tail of eight soft bones over a ball."""
    rig = _tail(height=0.42)
    ball((0.0, 0.5, 0.2), 0.2)
    for bone in rig.pose.bones:
        bone.verlet_frequency = 0.4
    camera((2.0, 0.2, 0.7), (0.0, 0.4, 0.3), lens=50)


def arm() -> None:
    """An arm of flesh that has moved up and stopped; the bone lies near its upper side."""
    obj = _limb()
    rig = obj.parent
    animate(rig, "location", {1: (0.0, 0.0, -0.2), 4: (0.0, 0.0, -0.2), 8: (0.0, 0.0, 0.0)})


def still_arm() -> None:
    """An arm of soft flesh that is held level."""
    _limb().verlet.stiffness = 800.0


def thinned() -> None:
    """An arm of flesh whose rig makes its right half thin."""
    obj = _limb(height=0.5)
    obj.verlet.flesh_depth = 0.1
    bone = obj.parent.pose.bones["Bone.1"]
    animate(bone, "scale", {1: (1.0, 1.0, 1.0), 14: (0.25, 1.0, 0.25)})


def muscle() -> None:
    """An arm of flesh with a muscle on its lower side."""
    obj = _limb()
    places = np.array([vertex.co[:] for vertex in obj.data.vertices])
    group = obj.vertex_groups.new(name="Muscle")
    for vertex in np.flatnonzero((places[:, 2] < 0.52) & (abs(places[:, 1] - 0.3) < 0.2)).tolist():
        group.add([vertex], 1.0, "REPLACE")
    along = obj.data.uv_layers.new(name="Along").uv
    at = places[[loop.vertex_index for loop in obj.data.loops]]
    angle = np.arctan2(at[:, 0], at[:, 2] - 0.5)
    along.foreach_set("vector", np.stack((angle, at[:, 1]), axis=1).astype(np.float32).ravel())
    obj.verlet.muscle_group, obj.verlet.muscle_map = "Muscle", "Along"
    obj.verlet.flesh_depth = 0.12


def _tail(*, height: float) -> Any:
    """A tail of soft bones along Y; its armature is the body."""
    start()
    rig: Any = link(bpy.data.objects.new("Body", bpy.data.armatures.new("Body")))
    begin = np.array((0.0, 0.0, height))
    places = straight(begin, np.array((0.0, 0.8, 0.0)), 8)
    add_bones(rig, [("Root", "", begin - (0.0, 0.1, 0.0), begin), *chain("Tail", "Root", places)])
    bones = [bone for bone in rig.data.bones if bone.name != "Root"]
    radii = np.interp(np.linspace(0, 1, 24), (0.0, 0.6, 1.0), (0.04, 0.06, 0.01))
    looks = plain("Fur", FUR, roughness=0.8)
    limb(rig, "Tail", straight(begin, np.array((0.0, 0.82, 0.0)), 23), radii, bones, looks)
    cast(Any, bpy.context.view_layer).objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        _select(bone, bone.name == "Tail.0")
    operators: Any = bpy.ops
    operators.verlet.make_soft_bones()
    return rig


def _select(bone: Any, on: bool) -> None:
    """Selects a pose bone, which Blender 5 stores in the pose, and 4 in the armature."""
    if hasattr(bone, "select"):
        bone.select = on
    else:
        bone.bone.select = on


def _limb(*, height: float = 0.54) -> Any:
    """A limb of flesh of two bones along Y, near its upper side; its middle is at 0.5 m."""
    start()
    rig: Any = link(bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig")))
    joints = np.array([(0.0, 0.0, height), (0.0, 0.3, height), (0.0, 0.62, height)])
    add_bones(rig, chain("Bone", "", joints))
    along = np.linspace(0.0, 0.62, 18)
    places: Points = np.stack((0 * along, along, 0 * along + 0.5), axis=1)
    radii = np.interp(along, (0.0, 0.2, 0.4, 0.62), (0.1, 0.13, 0.11, 0.07))
    obj = limb(rig, "Body", places, radii, list(rig.data.bones), None)
    checked_at_rest(obj, SKIN, PALE_SKIN, scale=(0.0, 20.0, 0.0))
    obj.verlet.enabled, obj.verlet.body_type = True, "FLESH"
    give_material(obj.verlet, "FAT")
    obj.verlet.stiffness, obj.verlet.flesh_depth = 4000.0, 0.07
    paint_flesh(obj, near=0.03, far=0.12)
    half = obj.vertex_groups.new(name="Half")
    flesh = obj.vertex_groups[obj.verlet.flesh_group]
    for vertex in obj.data.vertices:
        weight = next((each.weight for each in vertex.groups if each.group == flesh.index), 0.0)
        half.add([vertex.index], 0.5 * weight, "REPLACE")
    camera((1.7, 0.2, 0.7), (0.0, 0.3, 0.48), lens=72)
    return obj
