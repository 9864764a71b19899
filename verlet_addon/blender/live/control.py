"""Live simulations in progress, and the application handlers that advance or end them."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import bpy
from bpy.app.handlers import persistent

from ...core.errors import VerletError
from ..bake.bake import frame_range
from ..scene.file_context import file_context
from ..settings.properties import scene_properties
from .cache_files import beside, move_caches, point_to, remove_caches
from .cache_modifier import cache_modifier, remove_cache_modifiers
from .session import Session, acting_bodies, begin_session, current_marks
from .watching import changed_objects

_sessions: dict[int, Session] = {}
"""By `session_uid` of the scene."""
_messages: dict[int, str] = {}
"""Why a live simulation ended by itself, likewise."""
_busy = [False]
"""Whether a handler of ours, or a render, is at work: then frame changes are not the user's."""


def session_of(scene: bpy.types.Scene) -> Session | None:
    """The live simulation of a scene, if there is one."""
    return _sessions.get(scene.session_uid)


def message_of(scene: bpy.types.Scene) -> str:
    """Why the last live simulation of a scene ended by itself; empty if it did not."""
    return _messages.get(scene.session_uid, "")


def start_live(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Session:
    """Starts to simulate a scene as its frames change; a former live simulation ends.

    Raises
    ------
    VerletError
        As a bake does; there is no live simulation then.
    """
    end_live(scene)
    _messages.pop(scene.session_uid, None)
    _busy[0] = True
    try:
        session = begin_session(scene, view_layer)
    finally:
        _busy[0] = False
    _sessions[scene.session_uid] = session
    scene_properties(scene).use_live = True
    return session


def end_live(scene: bpy.types.Scene) -> None:
    """Ends the live simulation of a scene, and removes all that it added."""
    session = _sessions.pop(scene.session_uid, None)
    remove_cache_modifiers(scene.objects)
    scene_properties(scene).property_unset("use_live")
    if session is not None:
        remove_caches(session.caches)


def take_over(
    scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], start: int
) -> Session | None:
    """The live simulation, for a bake of bodies from a frame on to go on with; None without one.

    One that no longer holds, or is of other bodies or frames, is ended, for it would hide the bake.
    """
    session = session_of(scene)
    if session is None:
        return None
    session.stale = session.stale or _why_stale(scene, session)
    if session.stale or session.start != start or session.stage.bodies != [*objects]:
        end_live(scene)
        return None
    _busy[0] = True
    return session


def hand_back(scene: bpy.types.Scene, *, baked: bool) -> None:
    """Ends what `take_over` began; a live simulation ends with it once it is baked."""
    if session_of(scene) is not None:
        _busy[0] = False
        if baked:
            end_live(scene)


def _follow_property(scene: bpy.types.Scene) -> Session | None:
    """The live simulation of a scene, started or ended as `use_live` has it."""
    session, wanted = session_of(scene), scene_properties(scene).use_live
    if session is not None and not wanted:
        end_live(scene)
    if session is None and wanted:
        _start_or_tell(scene, _view_layer_of(scene))
    return session_of(scene)


def _start_or_tell(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> None:
    """Starts a live simulation, or leaves a message that says why there is none."""
    try:
        start_live(scene, view_layer)
    except VerletError as error:
        _fail(scene, error)


def _fail(scene: bpy.types.Scene, error: VerletError) -> None:
    """Ends a live simulation that cannot go on; the panel says why."""
    end_live(scene)
    _messages[scene.session_uid] = str(error)
    print(f"Verlet: {error}", file=sys.stderr)


def _view_layer_of(scene: bpy.types.Scene) -> bpy.types.ViewLayer:
    """The view layer that a scene is shown with."""
    here = file_context(bpy.context)
    return here.view_layer if here.scene == scene else scene.view_layers[0]


def before_frame(scene: bpy.types.Scene, _depsgraph: Any = None) -> None:
    """Has the next frame evaluated as a bake would see it, and notes changed settings."""
    if _busy[0] or (session := _follow_property(scene)) is None:
        return
    if not session.stale:
        session.stale = _why_stale(scene, session)
    _, end = frame_range(scene)
    if not session.stale and scene.frame_current == session.last + 1 <= end:
        session.prepare_reading()


def after_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Simulates the next frame, or restarts a stale simulation at its first frame."""
    session = session_of(scene)
    if session is None or _busy[0]:
        return
    try:
        if session.reading is not None:
            try:
                session.simulate_frame(scene.frame_current, depsgraph)
            finally:
                session.end_reading()
        elif session.stale and scene.frame_current == session.start:
            start_live(scene, session.stage.view_layer)
    except VerletError as error:
        _fail(scene, error)


def _why_stale(scene: bpy.types.Scene, session: Session) -> str:
    """Why frames simulated so far no longer hold; empty while they do."""
    with suppress(KeyError, VerletError):
        stage = session.stage
        objects = acting_bodies(stage.scene, stage.view_layer)
        if current_marks(scene, objects) == session.marks:
            return ""
    return "settings or bodies have changed"


def after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Notes what the user has changed between frames."""
    session = session_of(scene)
    if session is None or _busy[0] or session.stale:
        return
    if names := changed_objects(session.stage, depsgraph):
        session.stale = f"{', '.join(names)} changed"


def after_undo(_scene: Any = None, _depsgraph: Any = None) -> None:
    """Ends what was undone past its start; what else is undone may have changed anything."""
    for scene in bpy.data.scenes:
        session = session_of(scene)
        if session is None:
            continue
        with suppress(VerletError):
            if all(cache_modifier(obj) is not None for obj in session.stage.bodies):
                continue
        _sessions.pop(scene.session_uid)
        remove_caches(session.caches)


def after_load(_path: Any = None, _other: Any = None) -> None:
    """Forgets the live simulations of the file before."""
    for session in _sessions.values():
        if session.caches and Path(bpy.app.tempdir) in session.caches[0].parents:
            remove_caches(session.caches)
    _sessions.clear()
    _messages.clear()
    for scene in bpy.data.scenes:
        scene_properties(scene).property_unset("use_live")
    _busy[0] = False


def before_save(path: Any = None, _other: Any = None) -> None:
    """Puts caches beside the file that is about to be written."""
    if not isinstance(path, str) or not path:
        return
    for scene in bpy.data.scenes:
        if (session := session_of(scene)) is not None:
            session.caches = move_caches(session.caches, beside(Path(path)))
            _busy[0] = True  # or the next update tells of bodies that the user has not changed
            point_to(session.stage.bodies, session.caches)
            session.stage.view_layer.update()
            _busy[0] = False


def before_render(_scene: Any = None, _other: Any = None) -> None:
    """Leaves frames to Blender: rendering runs in another thread, and caches play by themselves."""
    _busy[0] = True


def after_render(_scene: Any = None, _other: Any = None) -> None:
    """Takes frame changes for the user's again."""
    _busy[0] = False


_HANDLERS: dict[str, Any] = {
    "frame_change_pre": before_frame,
    "frame_change_post": after_frame,
    "depsgraph_update_post": after_update,
    "undo_post": after_undo,
    "redo_post": after_undo,
    "load_post": after_load,
    "save_pre": before_save,
    "render_init": before_render,
    "render_complete": after_render,
    "render_cancel": after_render,
}


def register_handlers() -> None:
    """Has Blender call the functions above."""
    for name, handler in _HANDLERS.items():
        # Persistent: they stay when another file is opened.
        getattr(bpy.app.handlers, name).append(persistent(handler))


def unregister_handlers() -> None:
    """Ends all live simulations, and takes back what `register_handlers` did."""
    for scene in bpy.data.scenes:
        if session_of(scene) is not None:
            end_live(scene)
    for name, handler in _HANDLERS.items():
        handlers = cast(list[Any], getattr(bpy.app.handlers, name))
        if handler in handlers:
            handlers.remove(handler)
