"""Bodies whose bake no longer fits the scene, for panels: compared anew only after a change."""

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..bake.record import changed_since_bake, is_baked, settings_mark
from ..settings.properties import body_properties

_known: dict[int, tuple[tuple[str, ...], list[str]]] = {}
"""By `session_uid` of a scene: the settings when last compared, and the names found."""

_HANDLERS = ("depsgraph_update_post", "undo_post", "redo_post", "load_post")


def changed_bodies(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[str]:
    """Names of the bodies that have changed since their bake, as `changed_since_bake` has them.

    A rig of 60 bones takes 15 ms to compare, too long for every redraw. Blender reports changes
    through the handlers below, except those of our own settings, which are compared each time.
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
    """Has the next redraw compare again."""
    _known.clear()


def register_handlers() -> None:
    """Follows the changes that Blender reports."""
    for name in _HANDLERS:
        # Persistent: they stay when another file is opened.
        getattr(bpy.app.handlers, name).append(persistent(_forget))


def unregister_handlers() -> None:
    """Follows them no more."""
    _known.clear()
    for name in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(_forget)
