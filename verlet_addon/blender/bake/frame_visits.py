"""Detection of scenes that are alike at every frame, of which a bake samples only one frame."""

from collections.abc import Iterator
from typing import Any, cast

import bpy

from ..scene.action_channels import channels
from ..scene.attachments import acting_attachments
from ..scene.cache_modifiers import drivers_of
from ..scene.mesh_access import shape_keys_of
from ..scene.modifiers import has_carriers
from ..scene.sampling import Stage
from ..settings.bone_properties import armature_of
from ..settings.properties import scene_properties

Updated = dict[Any, bool]
"""Datablocks that Blender re-evaluates on a frame change; True where the transform is, too."""


def all_alike(stage: Stage, frame: int) -> bool:
    """Whether all that a bake reads is the same at every frame as at this one.

    Read from Blender's dependency graph, which knows all that depends on time: keys, drivers,
    constraints, parents and modifiers, also through other objects. False where a script acts on
    frame changes, since it may move anything.
    """
    if any(map(_is_foreign, (*_handlers("pre"), *_handlers("post")))):
        return False
    updated = _updated_by_time(stage, frame)
    fields = [obj for obj in stage.view_layer.objects if obj.field is not None]
    return (
        stage.scene not in updated
        and all(_stays(obj, updated) for obj in (*fields, *_read_objects(stage)))
        and not any(cast(Any, obj.field).noise for obj in fields)
    )


def _handlers(when: str) -> list[Any]:
    """The functions that Blender calls before or after a frame change."""
    return [*getattr(bpy.app.handlers, f"frame_change_{when}")]


def _is_foreign(handler: Any) -> bool:
    """Whether a function belongs to another add-on or script."""
    return not handler.__module__.startswith(__name__.removesuffix("bake.frame_visits"))


def _updated_by_time(stage: Stage, frame: int) -> Updated:
    """Datablocks that Blender re-evaluates when the scene is set to its current frame again."""
    updated: Updated = {}

    def note(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        for update in depsgraph.updates:
            updated[cast(bpy.types.ID, update.id).original] = update.is_updated_transform

    # Only handlers of frame changes see the list of updates.
    handlers: list[Any] = bpy.app.handlers.frame_change_post
    handlers.append(note)
    try:
        stage.at(frame)
    finally:
        handlers.remove(note)
    return updated


def _read_objects(stage: Stage) -> Iterator[bpy.types.Object]:
    """Objects of which a bake reads the transform or the mesh."""
    yield from (*stage.bodies, *stage.simulated, *stage.colliders)
    for obj in stage.bodies:
        yield from (item.target for _, item in acting_attachments(obj))
        yield from filter(None, [armature_of(obj)])
        yield from filter(None, (getattr(item, "mirror_object", None) for item in obj.modifiers))
    if (ground := scene_properties(stage.scene).ground_object) is not None:
        yield ground


def _stays(obj: bpy.types.Object, updated: Updated) -> bool:
    """Whether time does not change an object, or only by data without effect on its mesh.

    Collision modifiers and the muted curves of an earlier bake are such dependencies.
    """
    if obj not in updated:
        return True
    shown = (item.type for item in obj.modifiers if item.show_viewport)
    return (
        obj.type == "MESH"
        and not updated[obj]
        and not any(map(_plays, (obj, obj.data, shape_keys_of(obj))))
        and not has_carriers(obj)
        and all(kind == "COLLISION" for kind in shown)
    )


def _plays(animated: Any) -> bool:
    """Whether a datablock has drivers, NLA tracks or unmuted curves."""
    animation = animated.animation_data if animated is not None else None
    if animation is None:
        return False
    held = channels(animated)
    curves = held.fcurves if held is not None else ()
    drivers = drivers_of(animated) if isinstance(animated, bpy.types.Object) else animation.drivers
    return bool(
        len(drivers) or len(animation.nla_tracks) or not all(curve.mute for curve in curves)
    )
