"""Whether a bake visits its frames: where time changes nothing that it reads, one tells of all."""

from collections.abc import Iterator
from typing import Any, cast

import bpy

from ..scene.attachments import acting_attachments
from ..scene.mesh_access import shape_keys_of
from ..scene.modifiers import has_carriers
from ..scene.sampling import Stage
from ..settings.properties import scene_properties
from .actions import channels

Told = dict[Any, bool]
"""What Blender evaluates anew at each frame, and whether its transform too."""


def all_alike(stage: Stage, frame: int) -> bool:
    """Whether every frame shows a bake what this one does, however else the scene may move.

    Blender itself is asked, for its dependency graph knows what follows time: keys, drivers,
    constraints, parents and modifiers, and all of them through other objects. Scripts that act on
    frames may move anything.
    """
    if any(map(_is_foreign, (*_handlers("pre"), *_handlers("post")))):
        return False
    told = _told_by_time(stage, frame)
    fields = [obj for obj in stage.view_layer.objects if obj.field is not None]
    return (
        stage.scene not in told
        and all(_stays(obj, told) for obj in (*fields, *_read_objects(stage)))
        and not any(cast(Any, obj.field).noise for obj in fields)
    )


def _handlers(when: str) -> list[Any]:
    """The functions that Blender calls before or after a frame change."""
    return [*getattr(bpy.app.handlers, f"frame_change_{when}")]


def _is_foreign(handler: Any) -> bool:
    """Whether a function is not of this add-on."""
    return not handler.__module__.startswith(__name__.removesuffix("bake.frame_visits"))


def _told_by_time(stage: Stage, frame: int) -> Told:
    """What Blender evaluates anew where only time may have changed, and that is all that it did."""
    told: Told = {}

    def note(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        for update in depsgraph.updates:
            told[cast(bpy.types.ID, update.id).original] = update.is_updated_transform

    # Blender tells of it nowhere else.
    handlers: list[Any] = bpy.app.handlers.frame_change_post
    handlers.append(note)
    try:
        stage.at(frame)
    finally:
        handlers.remove(note)
    return told


def _read_objects(stage: Stage) -> Iterator[bpy.types.Object]:
    """Whose place or shape a bake reads."""
    yield from (*stage.bodies, *stage.colliders)
    for obj in stage.bodies:
        yield from (item.target for _, item in acting_attachments(obj))
        yield from filter(None, (getattr(item, "mirror_object", None) for item in obj.modifiers))
    if (ground := scene_properties(stage.scene).ground_object) is not None:
        yield ground


def _stays(obj: bpy.types.Object, told: Told) -> bool:
    """Whether an object does not follow time, or is told to for what does not change it.

    So it is with Collision modifiers, and with the muted curves of a former bake.
    """
    if obj not in told:
        return True
    shown = (item.type for item in obj.modifiers if item.show_viewport)
    return (
        obj.type == "MESH"
        and not told[obj]
        and not any(map(_plays, (obj, obj.data, shape_keys_of(obj))))
        and not has_carriers(obj)
        and all(kind == "COLLISION" for kind in shown)
    )


def _plays(animated: Any) -> bool:
    """Whether curves, drivers or the NLA change anything of a datablock."""
    animation = animated.animation_data if animated is not None else None
    if animation is None:
        return False
    held = channels(animated)
    curves = held.fcurves if held is not None else ()
    return bool(
        len(animation.drivers)
        or len(animation.nla_tracks)
        or not all(curve.mute for curve in curves)
    )
