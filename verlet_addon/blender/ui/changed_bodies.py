"""Cached names of the bodies that have changed since their bake, for the panel."""

from typing import Any

import bpy

from ..bake.record import changed_since_bake, is_baked, settings_mark
from ..scene.handlers import add_handlers, remove_handlers
from ..settings.properties import body_properties

_known: dict[int, tuple[tuple[str, ...], list[str]]] = {}
"""By `session_uid` of a scene: the settings at the last comparison, and its result."""


def changed_bodies(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[str]:
    """Names of the bodies that have changed since their bake, cached from `changed_since_bake`.

    Comparing a rig of 60 bones takes 15 ms, too long for every redraw. Blender reports changes
    through the handlers below, except those of the add-on's settings, which are compared each time.
    """
    settings = tuple(
        body_properties(obj).baked_settings + settings_mark(obj, scene)
        for obj in scene.objects
        if is_baked(obj)
    )
    known = _known.get(scene.session_uid)
    if known is None or known[0] != settings:
        known = _known[scene.session_uid] = settings, changed_since_bake(scene, view_layer)
    return known[1]


def _forget(_scene: Any = None, _depsgraph: Any = None) -> None:
    """Handler of changes: clears the cache, so that the next redraw compares again."""
    _known.clear()


_HANDLERS = dict.fromkeys(("depsgraph_update_post", "undo_post", "redo_post", "load_post"), _forget)


def register_handlers() -> None:
    """Adds the handlers that clear the cache."""
    add_handlers(_HANDLERS)


def unregister_handlers() -> None:
    """Removes the handlers and clears the cache."""
    _known.clear()
    remove_handlers(_HANDLERS)
