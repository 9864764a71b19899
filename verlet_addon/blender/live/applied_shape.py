"""Shapes that bodies show at the current frame, kept as meshes, shape keys or poses."""

from collections.abc import Sequence
from typing import Literal, cast

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError
from ..bake.bone_pose import keep_pose, read_pose
from ..bake.record import form_of, is_baked
from ..bake.shape_keys import remove_bakes
from ..scene.body_creation import release
from ..scene.cache_modifiers import bake_modifier, drape_modifier, live_modifier
from ..scene.carrier_inverse import undo_carriers
from ..scene.hair_curves import refuse_hair
from ..scene.mesh_access import (
    add_key,
    fits,
    made_keys,
    mesh_of,
    mode_name,
    read_coordinates,
    shape_keys_of,
    write_coordinates,
)
from ..scene.modifiers import has_carriers, read_mix, read_shown
from ..scene.ownership import check_data, has_own_data
from ..scene.surfaces import read_points
from ..scene.visibility import is_seen
from ..settings.bone_properties import armature_of
from ..settings.properties import body_properties, is_body, scene_properties
from ..settings.unit_texts import length_text
from .control import end_live, working
from .drape_files import end_drapes
from .kept_shape import set_rest_key

KEY = "Draped"
"""Name of the shape keys of a drape."""
SEEN = 1e-5
"""Distances up to this share of a body's size are rounding."""

Mode = Literal["MESH", "SHAPE_KEY", "POSE"]


def simulated_objects(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, mode: Mode
) -> list[bpy.types.Object]:
    """Objects that show a drape, a live simulation or a bake, without bodies that are switched off.

    They are bodies of bones for poses, and others for meshes and shape keys. Those with linked
    meshes are listed only where there are no others, so that errors name them.
    """
    found = [
        obj
        for obj in scene.objects
        if (mode == "POSE") == (armature_of(obj) is not None)
        and _is_simulated(obj)
        and is_seen(obj, view_layer)
    ]
    return list(filter(has_own_data, found)) or found


def _is_simulated(obj: bpy.types.Object) -> bool:
    """Whether an object shows a simulation that can be kept."""
    if obj.type != "MESH" or (is_body(obj) and not body_properties(obj).enabled):
        return False
    return bool(drape_modifier(obj) or live_modifier(obj) or is_baked(obj))


def apply_shapes(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
    mode: Mode,
) -> list[str]:
    """Keeps what objects show at the current frame, and removes all else of their simulation.

    As their mesh they are no longer bodies, and keys of the user's move along with the Basis. As a
    shape key they remain bodies, and the Basis becomes the rest shape of those without one.

    Returns
    -------
    list
        One sentence for each object that looks otherwise than before.

    Raises
    ------
    MeshError
        An object cannot be written to, or its modifiers cannot be undone; nothing is changed then.
    """
    for obj in objects:
        check_shape(obj, mode)
    with working():
        view_layer.update()
        seen = [_read_seen(obj, view_layer) for obj in objects]
        shapes = [before_modifiers(obj, view_layer) for obj in objects]
        end_live(scene)
        end_drapes(objects)
        remove_bakes(objects)
        for obj, shape in zip(objects, shapes, strict=True):
            (_write_mesh if mode == "MESH" else _write_key)(obj, shape)
        if mode == "MESH":
            release(objects)
        if not any(map(is_baked, scene.objects)):
            scene_properties(scene).property_unset("baked_remarks")
        view_layer.update()
        return [
            sentence
            for obj, before in zip(objects, seen, strict=True)
            if (sentence := _difference(obj, before, _read_seen(obj, view_layer)))
        ]


def apply_poses(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, objects: Sequence[bpy.types.Object]
) -> list[tuple[str, str]]:
    """Keeps what soft bones show at the current frame as their pose, without the simulation.

    Returns the sentences of `keep_pose` for each body.
    """
    with working():
        view_layer.update()
        poses = [read_pose(obj, view_layer) for obj in objects]
        end_live(scene)
        end_drapes(objects)
        remove_bakes(objects)
        return [
            keep_pose(scene, view_layer, obj, pose)
            for obj, pose in zip(objects, poses, strict=True)
        ]


def check_shape(obj: bpy.types.Object, mode: Mode) -> None:
    """Raises MeshError where a shape cannot be written to an object."""
    refuse_hair(obj, "a shape of its own", "edit its groom")
    check_data(obj)
    key = shape_keys_of(obj)
    if obj.mode in ("EDIT", "SCULPT"):
        raise MeshError(f"{obj.name} is in {mode_name(obj)} Mode; switch to Object Mode")
    if key is None:
        return
    if not key.use_relative and form_of(obj) != "ABSOLUTE":
        raise MeshError(f"{obj.name} has absolute shape keys; turn on Relative for them")
    if not fits(key.reference_key, obj):
        raise MeshError(
            f"{obj.name} has {len(mesh_of(obj).vertices)} vertices and shape keys of "
            f"{len(key.reference_key.points)}; remove those keys"
        )
    if mode == "SHAPE_KEY" and obj.show_only_shape_key:
        label = obj.bl_rna.properties["show_only_shape_key"].name
        raise MeshError(
            f"{obj.name} shows one shape key alone, which would hide the new one; turn off {label} "
            "under its list of shape keys"
        )


def before_modifiers(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> Floats:
    """(n, 3) coordinates with which a mesh without its simulation shows what it shows now."""
    depsgraph = cast(bpy.types.Depsgraph, view_layer.depsgraph)
    if drape_modifier(obj) is not None or form_of(obj) == "ABSOLUTE":
        return read_shown(obj, depsgraph, carriers=False)
    if live_modifier(obj) is None and bake_modifier(obj) is None:
        return read_mix(obj)
    shown = read_shown(obj, depsgraph)
    if not has_carriers(obj):
        return shown
    return read_mix(obj) + undo_carriers(obj, depsgraph, shown)


def _write_mesh(obj: bpy.types.Object, shape: Floats) -> None:
    """Gives a mesh its shape (n, 3); the user's keys stay as far from the Basis as they are."""
    mesh, key = mesh_of(obj), shape_keys_of(obj)
    if key is not None:
        shift = shape - read_mix(obj)
        for block in key.key_blocks:
            write_coordinates(block.points, read_coordinates(block.points) + shift)
        shape = read_coordinates(key.reference_key.points)
    write_coordinates(mesh.vertices, shape)
    mesh.update()


def _write_key(obj: bpy.types.Object, shape: Floats) -> None:
    """Adds a shape key that shows (n, 3) beside the user's keys, and makes it the active one."""
    mix, key = read_mix(obj), made_keys(obj)
    add_key(obj, KEY, read_coordinates(key.reference_key.points) + (shape - mix), 1.0)
    obj.active_shape_key_index = len(key.key_blocks) - 1
    if is_body(obj):
        set_rest_key(obj, key)


def _read_seen(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> Floats:
    """(m, 3) world positions of the evaluated mesh [m]."""
    return read_points(obj, cast(bpy.types.Depsgraph, view_layer.depsgraph))


def _difference(obj: bpy.types.Object, before: Floats, after: Floats) -> str:
    """Sentence on how far an object is from where it was seen; empty within rounding."""
    if len(before) != len(after):
        return (
            f"{obj.name} has another number of vertices than it showed, since its modifiers act on "
            "the new shape; undo, and apply or turn off those that change its vertices"
        )
    off = np.linalg.norm(after - before, axis=1).max(initial=0.0)
    if off <= SEEN * np.linalg.norm(np.ptp(before, axis=0)):
        return ""
    return (
        f"{obj.name} is up to {length_text(off)} from where it was shown, since its modifiers act "
        "on the new shape; undo, and apply or turn off those that deform it"
    )
