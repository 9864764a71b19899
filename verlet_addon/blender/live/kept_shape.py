"""Shapes that stay once a simulation off the timeline has ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...core.arrays import Floats
from ..bake.bone_pose import Pose, keep_pose
from ..bake.former_bake import former_bakes_hidden, relative_keys
from ..bake.record import is_baked
from ..bake.shape_keys import remove_bakes
from ..scene.bone_joints import skeleton_of
from ..scene.carrier_inverse import invert_carriers
from ..scene.hair_curves import is_hair
from ..scene.key_points import local_positions, way_to_key
from ..scene.mesh_access import add_key, made_keys, read_shape, write_shape
from ..scene.modifiers import finish_hidden
from ..scene.pins import pin_group
from ..settings.bone_properties import armature_of, set_bone
from ..settings.properties import body_properties

KEY = "Grab"
"""Name of the shape keys of a grab."""


@dataclass(frozen=True)
class Shape:
    """The shape of one body at the end of a grab."""

    name: str
    """Name of the body."""
    positions: Floats
    """(n, 3) vertices in the world [m]."""
    pose: Pose
    """The pose of soft bones; empty for other bodies."""
    pins: list[int]
    """Vertices to be pinned from now on."""


def keep_grab(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    shapes: Sequence[Shape],
    *,
    starting: bool,
) -> list[tuple[str, str]]:
    """Keeps what bodies show at the current frame: meshes as shape keys, soft bones as their pose.

    A bake of soft bones, which would hide their pose, is removed; `starting` is that of
    `keep_shapes`. Returns the sentences of `keep_pose` for each body of bones.
    """
    every = [(scene.objects[its.name], its) for its in shapes]
    meshes = [each for each in every if armature_of(each[0]) is None]
    keep_shapes(
        [obj for obj, _ in meshes],
        view_layer,
        [its.positions for _, its in meshes],
        starting=starting,
    )
    for obj, its in every:
        if its.pins:
            add_pins(obj, its.pins)
    posed = [each for each in every if each[1].pose]
    remove_bakes([obj for obj, _ in posed])
    return [keep_pose(scene, view_layer, obj, its.pose) for obj, its in posed]


def keep_shapes(
    objects: Sequence[bpy.types.Object],
    view_layer: bpy.types.ViewLayer,
    positions: Sequence[Floats],
    *,
    starting: bool,
) -> None:
    """Adds a shape key to each body that shows it at world positions (n, 3) at the current frame.

    Hair, which has no keys, gets another groom.

    Parameters
    ----------
    starting : simulations start there: a bake is removed, and the Basis becomes the rest shape of
        bodies without one. Else a baked body keeps its bake, and the value of its new key is 0.
    """
    with former_bakes_hidden(objects), finish_hidden(objects):
        view_layer.update()
        depsgraph: Any = view_layer.depsgraph
        shapes = [
            _groom(obj, depsgraph, places) if is_hair(obj) else way_to_key(obj, depsgraph)(places)
            for obj, places in zip(objects, positions, strict=True)
        ]
    for obj, points in zip(objects, shapes, strict=True):
        if starting and is_baked(obj):
            remove_bakes([obj])
        if is_hair(obj):
            write_shape(obj, points.astype(np.float64))
            continue
        key = made_keys(obj)
        with relative_keys(obj):
            add_key(obj, KEY, points, 0.0 if is_baked(obj) else 1.0)
        if starting:
            set_rest_key(obj, key)
    view_layer.update()


def set_rest_key(obj: bpy.types.Object, key: bpy.types.Key) -> None:
    """Makes the Basis of a body its rest shape, where none is chosen."""
    body = body_properties(obj)
    if not body.rest_key:
        body.rest_key = key.reference_key.name


def add_pins(obj: bpy.types.Object, vertices: Sequence[int]) -> None:
    """Gives vertices weight 1 in the pin group; a body without one gets a group named Pin.

    Soft bones at these joints follow their pose instead, and flesh becomes bone there.
    """
    body = body_properties(obj)
    if body.body_type == "FLESH":
        obj.vertex_groups[body.flesh_group].add(list(vertices), 0.0, "REPLACE")
        return
    if (skeleton := skeleton_of(obj)) is not None:
        bones: Any = skeleton.armature.pose
        for vertex in vertices:
            set_bone(bones.bones[skeleton.joints[vertex].bone], follow_pose=1.0)
        return
    pin_group(obj).add(list(vertices), 1.0, "REPLACE")


def _groom(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, places: Floats) -> Floats:
    """(n, 3) points of hair with which its modifiers show it at world positions (n, 3)."""
    before = read_shape(obj)
    wanted = local_positions(obj, depsgraph, places)
    try:
        return invert_carriers(
            obj, depsgraph, wanted, before, lambda points: write_shape(obj, points)
        )
    finally:
        write_shape(obj, before)
