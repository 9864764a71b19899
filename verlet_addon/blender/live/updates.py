"""Changes, in the updates that Blender reports, of what a live simulation reads."""

from collections.abc import Iterator
from typing import Any, cast

import bpy

from ..scene.attachments import acting_attachments
from ..scene.force_fields import enabled_fields
from ..scene.mesh_access import shape_keys_of
from ..scene.sampling import Stage
from ..settings.properties import scene_properties


def read_objects(stage: Stage) -> Iterator[bpy.types.Object]:
    """The objects whose transform or shape a bake reads."""
    yield from (*stage.bodies, *stage.colliders)
    yield from enabled_fields(stage.view_layer)
    for obj in stage.bodies:
        yield from (item.target for _, item in acting_attachments(obj))
        yield from filter(None, (getattr(item, "mirror_object", None) for item in obj.modifiers))
    if (ground := scene_properties(stage.scene).ground_object) is not None:
        yield ground


def changed_objects(stage: Stage, depsgraph: bpy.types.Depsgraph) -> str:
    """Names of the read objects, and of the actions, that an update has changed; empty if none.

    Actions of any object count: Blender does not say which objects they animate.
    """
    watched: dict[Any, str] = {}
    for obj in read_objects(stage):
        watched[obj] = obj.name
        for data in (obj.data, shape_keys_of(obj)):
            if data is not None:
                watched[data] = obj.name
    names = set()
    for update in depsgraph.updates:
        item = cast(bpy.types.ID, update.id).original
        if isinstance(item, bpy.types.Action):
            names.add(item.name)
        elif item in watched and (update.is_updated_geometry or update.is_updated_transform):
            names.add(watched[item])
    return f"{', '.join(sorted(names))} changed" if names else ""
