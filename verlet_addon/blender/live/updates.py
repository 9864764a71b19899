"""Changes, in the updates that Blender reports, of the inputs of a live simulation."""

from collections.abc import Iterator
from typing import Any, cast

import bpy

from ..bake.input_digest import with_carriers
from ..scene.attachments import acting_attachments
from ..scene.file_warnings import some
from ..scene.force_fields import enabled_fields
from ..scene.mesh_access import shape_keys_of
from ..scene.sampling import Stage
from ..settings.properties import scene_properties

Updated = set[tuple[bpy.types.ID, str]]
"""Datablocks that are evaluated again, each with what of it: geometry, transform, or an action."""


def updated(depsgraph: bpy.types.Depsgraph) -> Updated:
    """The datablocks of the last update; before an evaluation, those that wait for it."""
    found = set()
    for update in depsgraph.updates:
        item = cast(bpy.types.ID, cast(bpy.types.ID, update.id).original)
        if update.is_updated_geometry:
            found.add((item, "geometry"))
        if update.is_updated_transform:
            found.add((item, "transform"))
        if isinstance(item, bpy.types.Action):
            found.add((item, "action"))
    return found


def changed_objects(stage: Stage, changed: Updated) -> str:
    """Names of the read objects, and of the actions, that have changed; empty if none have.

    Actions of any object count: Blender does not say which objects they animate.
    """
    if not changed:
        return ""
    watched: dict[bpy.types.ID, str] = {}
    for obj in with_carriers(_read_objects(stage)):
        watched |= dict.fromkeys(filter(None, (obj, obj.data, shape_keys_of(obj))), obj.name)
    names = [watched[item] for item, _ in changed if item in watched]
    names += [item.name for item, what in changed if what == "action"]
    return f"{some(names)} changed" if names else ""


def _read_objects(stage: Stage) -> Iterator[bpy.types.Object]:
    """The objects whose transform or shape a bake reads."""
    yield from (*stage.bodies, *stage.simulated, *stage.colliders)
    yield from enabled_fields(stage.view_layer)
    for obj in stage.bodies:
        yield from (item.target for _, item in acting_attachments(obj))
        mirrors: Any = (getattr(item, "mirror_object", None) for item in obj.modifiers)
        yield from filter(None, mirrors)
    if (ground := scene_properties(stage.scene).ground_object) is not None:
        yield ground
