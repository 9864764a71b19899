"""The motion that bakes show, read frame by frame."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError
from ..bake.bake import frame_range
from ..bake.cache_checks import check_intact
from ..bake.edit_names import refuse_edits
from ..bake.former_bake import all_keys_shown
from ..bake.record import is_baked
from ..scene.cache_modifiers import bake_modifier, can_play
from ..scene.curve_points import is_curve
from ..scene.mesh_access import mode_name, point_count
from ..scene.mesh_io import world_matrix
from ..scene.modifiers import bakes_alone, read_evaluated
from ..scene.visibility import is_shown, shown_throughout
from ..settings.properties import body_properties
from ..settings.timing import playhead


def check_shown(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> None:
    """Raises MeshError or FileError if the view layer does not show an object's bake."""
    if is_curve(obj):
        raise MeshError(
            f"{obj.name} is a curve, whose bake Blender's own exporters write; for other forms, "
            "make it a mesh by Rope Mesh from Curve and bake that"
        )
    if not can_play(obj) or not is_baked(obj):
        raise MeshError(f"{obj.name} has no bake; bake it first, or select an object that has one")
    if obj.mode in ("EDIT", "SCULPT"):
        raise MeshError(f"{obj.name} is in {mode_name(obj)} Mode; switch to Object Mode")
    if not point_count(obj):
        raise MeshError(f"{obj.name} has no vertices; bake a mesh that has some")
    if not is_shown(obj, view_layer):
        raise MeshError(f"{obj.name} is hidden; show it in the viewport")
    refuse_edits([obj])
    if (modifier := bake_modifier(obj)) is None:
        return
    check_intact(obj)
    if not modifier.show_viewport:
        raise MeshError(f"The modifier {modifier.name} of {obj.name} is turned off; turn it on")


def frames_of(objects: Sequence[bpy.types.Object], scene: bpy.types.Scene) -> range:
    """All frames of the bakes of objects; those of the scene for bakes of versions without."""
    noted = [body for body in map(body_properties, objects) if body.baked_settings]
    if not noted:
        start, end = frame_range(scene)
        return range(start, end + 1)
    return range(min(b.baked_start for b in noted), max(b.baked_end for b in noted) + 1)


@contextmanager
def bakes_shown(
    scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], *, finish: bool
) -> Iterator[None]:
    """Shows the bakes of objects, and restores modifiers, shown keys and the frame afterwards.

    Parameters
    ----------
    finish : whether the modifiers that finish the mesh act.
    """
    frame, subframe = playhead(scene)
    try:
        with (
            all_keys_shown(objects),
            bakes_alone(objects, finish=finish),
            shown_throughout(objects),
        ):
            yield
    finally:
        scene.frame_set(frame, subframe=subframe)


def read_axes(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(4, 4) location and rotation of an object at the current frame, without its scale."""
    matrix = obj.evaluated_get(depsgraph).matrix_world
    axes = np.eye(4)
    axes[:3, :3] = np.array(matrix.to_quaternion().to_matrix())
    axes[:3, 3] = np.array(matrix.translation)
    return axes


def in_axes(points: Floats, axes: Floats) -> Floats:
    """(…, 3) world positions in axes (4, 4) that `read_axes` reads [m]."""
    return np.asarray((points - axes[:3, 3]) @ axes[:3, :3])


def read_motion(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    frames: range,
    *,
    world: bool,
) -> Iterator[Floats]:
    """Yields (n, 3) positions of an object's own vertices at each frame [m], with its carriers.

    Parameters
    ----------
    world : whether in world space; else in the object's.
    """
    with bakes_shown(scene, [obj], finish=False):
        for frame in frames:
            scene.frame_set(frame)
            depsgraph = cast(bpy.types.Depsgraph, view_layer.depsgraph)
            points = read_evaluated(obj, depsgraph)
            if world:
                linear, offset = world_matrix(obj, depsgraph)
                points = points @ linear.T + offset
            if not np.isfinite(points).all():
                raise MeshError(
                    f"{obj.name} has vertices at invalid coordinates at frame {frame}; bake again"
                )
            yield points
