"""Bakes as bones: an armature, and a copy of the mesh with a few weights a vertex."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import bpy
import numpy as np
from mathutils import Matrix

from ...core.arrays import Floats
from ...core.skinning.decomposition import Skinning
from ..bake.curves import play_again
from ..scene.action_channels import channels
from ..scene.modifiers import is_finishing
from ..settings.timing import animation_frame
from .bone_fit import BoneFit
from .scene_caches import alone_selected
from .skinning_errors import show_errors

_PATHS = (("location", 3), ("rotation_quaternion", 4))
"""Animated properties of a bone, and the number of their components."""


class BoneBake(NamedTuple):
    """The objects that play a bake by bones."""

    armature: bpy.types.Object
    skin: bpy.types.Object
    """The copy of the mesh."""
    skinning: Skinning


def add_bones(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    fit: BoneFit,
    *,
    offset: Sequence[float] = (0.0, 0.0, 0.0),
) -> BoneBake:
    """Adds an armature and a copy of an object's mesh that play its bake; the bake itself stays.

    Bones have no hierarchy and turn about the middle of the vertices that they move. The armature
    stands where the object is at the first frame. The copy keeps modifiers that finish the mesh.

    Parameters
    ----------
    offset : (3,) from there to where the armature stands instead [m].
    """
    obj, skinning = fit.obj, fit.skinning
    armature = bpy.data.objects.new(
        f"{obj.name} Bones", bpy.data.armatures.new(f"{obj.name} Bones")
    )
    armature.matrix_world = Matrix.Translation(offset) @ Matrix(fit.axes.tolist())
    skin = _copied(obj, skinning)
    for each in (armature, skin):
        for collection in _collections(obj, scene):
            collection.objects.link(each)
    heads = _middles(skinning)
    names = _add_bones(view_layer, armature, heads, f"{obj.name} Bone")
    _bind(skin, armature, names, skinning.weights)
    transforms, shown = skinning.transforms, [*fit.frames]
    if fit.repeats:
        transforms = np.concatenate([transforms, transforms[:, :1]], axis=1)
        shown.append(fit.frames[-1] + 1)
    times = [animation_frame(scene, number) for number in shown]
    _animate(armature, names, heads, transforms, times, repeat=fit.repeats)
    show_errors(skin, skinning)
    skin.select_set(False, view_layer=view_layer)
    return BoneBake(armature, skin, skinning)


def _collections(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Collection]:
    """Collections of this file that hold an object; the scene's own without any."""
    return [each for each in obj.users_collection if each.library is None] or [scene.collection]


def _copied(obj: bpy.types.Object, skinning: Skinning) -> bpy.types.Object:
    """A copy of an object with the rest positions, without what moves it or makes it a body."""
    mesh = bpy.data.meshes.new_from_object(obj)
    mesh.name = f"{obj.name} Skin"
    mesh.vertices.foreach_set("co", skinning.rest.astype(np.float32).ravel())
    copy = obj.copy()
    copy.name, copy.data = f"{obj.name} Skin", mesh
    copy.animation_data_clear()
    copy.property_unset("verlet")
    copy.constraints.clear()
    for modifier in [each for each in copy.modifiers if not is_finishing(each) or _caches(each)]:
        copy.modifiers.remove(modifier)
    if not copy.modifiers:
        copy.vertex_groups.clear()
    return copy


def _caches(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier replaces positions by those of a cache or of another simulation."""
    return modifier.type in ("MESH_CACHE", "MESH_SEQUENCE_CACHE", "CLOTH", "SOFT_BODY")


def _middles(skinning: Skinning) -> Floats:
    """(b, 3) middle of the rest positions that each bone moves, by its weights."""
    totals = skinning.weights.sum(axis=0)[:, None]
    return np.asarray(skinning.weights.T @ skinning.rest / totals)


def _add_bones(
    view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, heads: Floats, name: str
) -> list[str]:
    """Adds a bone at each head (b, 3), along Y so that it turns nothing; returns their names."""
    size = float(np.ptp(heads, axis=0).max()) if len(heads) > 1 else 1.0
    length = max(size, 1e-3) / (2 * len(heads) ** 0.5)
    with alone_selected(view_layer, [armature]):
        view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="EDIT")
        bones = cast(bpy.types.Armature, armature.data).edit_bones
        for number, head in enumerate(heads, start=1):
            bone = bones.new(f"{name} {number:02}")
            bone.head, bone.tail = head.tolist(), (head + length * np.eye(3)[1]).tolist()
        names = [bone.name for bone in bones]
        bpy.ops.object.mode_set(mode="OBJECT")
    return names


def _bind(
    skin: bpy.types.Object, armature: bpy.types.Object, names: list[str], weights: Floats
) -> None:
    """Gives a mesh vertex groups of weights (n, b), and has the armature deform it first."""
    for name, shares in zip(names, weights.T, strict=True):
        group = skin.vertex_groups.new(name=name)
        for vertex in np.flatnonzero(shares).tolist():
            group.add([vertex], float(shares[vertex]), "REPLACE")
    skin.parent, skin.parent_type = armature, "OBJECT"
    skin.matrix_parent_inverse.identity()
    skin.matrix_basis.identity()
    modifier = cast(Any, skin.modifiers.new("Armature", "ARMATURE"))
    modifier.object = armature
    skin.modifiers.move(len(skin.modifiers) - 1, 0)


def _animate(
    armature: bpy.types.Object,
    names: list[str],
    heads: Floats,
    transforms: Floats,
    times: list[float],
    *,
    repeat: bool,
) -> None:
    """Keys location and rotation of each bone linearly at each frame on F-curves.

    They may repeat before and after.
    """
    turned = transforms[..., :3]
    places = np.einsum("bfxy,by->bfx", turned, heads) + transforms[..., 3] - heads[:, None]
    quaternions = _quaternions(turned)
    pose = cast(bpy.types.Pose, armature.pose)
    for name in names:
        for path, _ in _PATHS:
            pose.bones[name].keyframe_insert(path, frame=times[0])
    curves = {(c.data_path, c.array_index): c for c in channels(armature).fcurves}
    linear = cast(Any, bpy.types.Keyframe.bl_rna.properties["interpolation"])
    linear = linear.enum_items["LINEAR"].value
    for bone, name in enumerate(names):
        for (path, size), values in zip(_PATHS, (places[bone], quaternions[bone]), strict=True):
            for index in range(size):
                data_path = pose.bones[name].path_from_id(path)
                points = curves[data_path, index].keyframe_points
                points.add(len(times) - 1)
                pairs = np.stack([times, values[:, index]], axis=1)
                points.foreach_set("co", pairs.astype(np.float32).ravel())
                points.foreach_set("interpolation", [linear] * len(times))
                if repeat:
                    play_again(curves[data_path, index])
                curves[data_path, index].update()


def _quaternions(turned: Floats) -> Floats:
    """(b, f, 4) unit quaternions of rotations (b, f, 3, 3), each nearest to the one before."""
    flat = turned.reshape(-1, 3, 3).tolist()
    found = np.array([Matrix(each).to_quaternion() for each in flat], np.float64)
    found = found.reshape(*turned.shape[:2], 4)
    for frame in range(1, found.shape[1]):
        opposite = np.einsum("bq,bq->b", found[:, frame], found[:, frame - 1]) < 0
        found[opposite, frame] *= -1
    return found
