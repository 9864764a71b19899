"""Restarts of stale live simulations while the timeline plays."""

from collections.abc import Callable
from functools import partial

import bpy

from ..settings.properties import scene_properties
from .control import is_idle, session_of, start_or_tell, working

_EDITING = {"EDIT", "SCULPT"}
"""Modes in which a body cannot be read."""
_waiting: dict[int, Callable[[], None]] = {}
"""Restarts that wait for Blender's next timer event, by `session_uid` of the scene."""


def is_playing(scene: bpy.types.Scene) -> bool:
    """Whether the timeline of a scene plays in any window."""
    manager = bpy.context.window_manager
    windows = manager.windows if manager is not None else ()
    return any(window.scene == scene and window.screen.is_animation_playing for window in windows)


def is_edited(scene: bpy.types.Scene) -> bool:
    """Whether a mesh of the scene is in Edit or Sculpt Mode, so that bodies cannot be read."""
    return any(obj.mode in _EDITING for obj in scene.objects)


def restart_soon(scene: bpy.types.Scene) -> None:
    """Restarts a live simulation at the first frame, once the event in progress is over.

    A frame change within the handler of another one would evaluate the scene while it is evaluated.
    """
    uid = scene.session_uid
    if uid not in _waiting:
        _waiting[uid] = partial(_restart, uid)
        bpy.app.timers.register(_waiting[uid], first_interval=0.0)


def _restart(uid: int) -> None:
    """Restarts the live simulation of a scene, and goes to its first frame if it plays."""
    _waiting.pop(uid, None)
    scene = next((each for each in bpy.data.scenes if each.session_uid == uid), None)
    if scene is None or not is_idle() or is_edited(scene):
        return
    session = session_of(scene)
    if session.stale if session is not None else scene_properties(scene).use_live:
        start_or_tell(scene)
    if (session := session_of(scene)) is not None and is_playing(scene):
        with working():
            scene.frame_set(session.start)


def cancel_restarts() -> None:
    """Cancels all restarts that wait."""
    for timer in _waiting.values():
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    _waiting.clear()
