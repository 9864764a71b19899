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

Identity = tuple[str, str]
"""Type and full name of a datablock."""
Updated = set[tuple[Identity, str]]
"""Datablocks that are evaluated again, each with what of it: geometry, transform, or an action."""


def updated(depsgraph: bpy.types.Depsgraph) -> Updated:
    """The datablocks of the last update; before an evaluation, those that wait for it.

    Some of the latter may have been deleted meanwhile, so that only Blender's evaluated copies are
    read: whoever follows them to the originals crashes. Copies have no `session_uid`.
    """
    found = set()
    for update in depsgraph.updates:
        item = cast(bpy.types.ID, update.id)
        kinds = {
            "geometry": update.is_updated_geometry,
            "transform": update.is_updated_transform,
            "action": isinstance(item, bpy.types.Action),
        }
        found |= {(identity(item), kind) for kind, is_so in kinds.items() if is_so}
    return found


def identity(item: bpy.types.ID) -> Identity:
    """Type and full name of a datablock, the same as those of its evaluated copy."""
    return item.id_type, item.name_full


def changed_objects(stage: Stage, changed: Updated) -> str:
    """Names of the read objects, and of the actions, that have changed; empty if none have.

    Actions of any object count: Blender does not say which objects they animate.
    """
    if not changed:
        return ""
    watched: dict[Identity, str] = {}
    for obj in with_carriers(_read_objects(stage)):
        own = filter(None, (obj, obj.data, shape_keys_of(obj)))
        watched |= dict.fromkeys(map(identity, own), obj.name)
    names = [watched[item] for item, _ in changed if item in watched]
    names += [name for (_, name), what in changed if what == "action"]
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
