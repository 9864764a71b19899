"""A limb of flesh around a bone, and its weights."""

from typing import Any

import bpy
import numpy as np

from tests.blender.scenes import body, mesh_object, select
from tests.core.bodies import tube
from verlet_addon.core.arrays import Floats

SIDES, ROWS = 12, 16


def rig(bones: dict[str, tuple[str, Any, Any]]) -> Any:
    """An armature, by parent, head and tail of each bone."""
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    select(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (parent, head, tail) in bones.items():
        new = armature.data.edit_bones.new(name)
        new.head, new.tail = head, tail
        new.parent = armature.data.edit_bones.get(parent)
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def limb(radius: float = 0.1, length: float = 0.4, *, bone: float = 0.0) -> Any:
    """A closed tube along Z, of flesh, around a bone that is `bone` off its middle."""
    around = tube(SIDES, ROWS, radius=radius, length=length)
    places = around.positions - (0.0, 0.0, length / 2)
    faces = [each.tolist() for each in np.split(around.face_vertices, around.face_starts[1:-1])]
    faces += [list(range(SIDES))[::-1], list(range(SIDES * ROWS, SIDES * (ROWS + 1)))]
    obj = mesh_object("Limb", places.tolist(), [], faces)
    low, high = places[:, 2].min(), places[:, 2].max()
    armature = rig({"Bone": ("", (bone, 0, low), (bone, 0, high))})
    obj.vertex_groups.new(name="Bone").add(range(len(places)), 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = armature
    select(obj)
    return body(obj, body_type="FLESH")


def painted(obj: Any) -> Floats:
    """(n,) weights of the flesh group."""
    group = obj.vertex_groups[obj.verlet.flesh_group].index
    return np.array(
        [
            sum(each.weight for each in vertex.groups if each.group == group)
            for vertex in obj.data.vertices
        ]
    )


def places(obj: Any) -> Floats:
    """(n, 3) vertices of an object's mesh."""
    found = np.empty(3 * len(obj.data.vertices), np.float32)
    obj.data.vertices.foreach_get("co", found)
    return found.reshape(-1, 3).astype(float)


def shaken_limb() -> Any:
    """A limb whose bone moves aside by 10 cm within two frames; it is fat away from the bone."""
    obj = limb(0.1, 0.3, bone=-0.05)
    obj.verlet.flesh_depth, obj.verlet.flesh_resolution, obj.verlet.stiffness = 0.1, 1, 5e3
    obj.verlet.use_density, obj.verlet.density = True, 950.0
    paint_by_side(obj)
    bone = obj.modifiers[0].object.pose.bones["Bone"]
    for frame, way in ((1, 0.0), (3, 0.1)):
        bone.location.x = way
        bone.keyframe_insert("location", frame=frame)
    return obj


def paint_by_side(obj: Any) -> None:
    """Paints fat on the side of +X, and bone on the other."""
    group = obj.vertex_groups.new(name="Flesh")
    share = np.clip(places(obj)[:, 0] / 0.1 + 0.2, 0.0, 1.0)
    for number in np.flatnonzero(share).tolist():
        group.add([number], float(share[number]), "REPLACE")
    obj.verlet.flesh_group = "Flesh"
