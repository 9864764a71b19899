"""Cached names of the bodies that have changed since their bake, for the panel."""

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..bake.record import changed_since_bake, is_baked, settings_mark
from ..settings.properties import body_properties

_known: dict[int, tuple[tuple[str, ...], list[str]]] = {}
"""By `session_uid` of a scene: the settings at the last comparison, and its result."""

_HANDLERS = ("depsgraph_update_post", "undo_post", "redo_post", "load_post")


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


def register_handlers() -> None:
    """Adds the handlers that clear the cache."""
    for name in _HANDLERS:
        # Persistent handlers stay when another file is opened.
        getattr(bpy.app.handlers, name).append(persistent(_forget))


def unregister_handlers() -> None:
    """Removes the handlers and clears the cache."""
    _known.clear()
    for name in _HANDLERS:
        handlers = getattr(bpy.app.handlers, name)
        if _forget in handlers:  # other add-ons clear these lists
            handlers.remove(_forget)
