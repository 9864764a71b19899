"""The bodies that have changed since their bake, and what changed, for the panel."""

import bpy

from ..bake.record import changes_since_bake, is_baked, settings_mark
from ..settings.properties import body_properties
from .overlay.drawing_cache import Changes, kept


def changed_bodies(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> dict[str, list[str]]:
    """What has changed of each body since its bake, kept from `changes_since_bake`.

    Comparing a rig of 60 bones takes 15 ms, too long for every redraw. Blender reports changes,
    except those of the add-on's settings, which are compared each time.
    """
    settings = tuple(
        body_properties(obj).baked_settings + settings_mark(obj, scene)
        for obj in scene.objects
        if is_baked(obj)
    )
    key = (Changes.updates, settings)
    return kept("changed bodies", scene, key, lambda: changes_since_bake(scene, view_layer))
