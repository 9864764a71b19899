"""Handlers of Blender's events, by which live simulations advance, restart and end."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import VerletError
from ..bake.bake import frame_range
from ..scene.cache_modifiers import live_modifier, remove_live_modifiers
from ..scene.handlers import add_handlers, listed, remove_handlers
from ..settings.properties import scene_properties
from .cache_files import Caches, copy_beside, find_moved, owners, remove_unused, show_caches
from .control import (
    end_live,
    end_lost,
    fail,
    forget,
    forget_all,
    is_idle,
    note_changes,
    note_render,
    session_of,
    start_or_tell,
    tell,
    working,
)
from .inputs import changed_inputs
from .playback import cancel_restarts, is_edited, is_playing, restart_soon
from .session import Session
from .updates import changed_objects, updated

_depth = [0]
"""Frame changes in progress: handlers of other add-ons may change frames within one."""


def before_frame(scene: bpy.types.Scene, _depsgraph: Any = None) -> None:
    """Prepares the evaluation of the next frame, and compares the settings."""
    _depth[0] += 1
    if _depth[0] > 1 or not is_idle() or (session := _session_wanted(scene)) is None:
        return
    _note_waiting(session)
    _enclose_others()
    if session.stale:
        if is_playing(scene) and not is_edited(scene):
            restart_soon(scene)
    elif session.is_next(scene) and not is_edited(scene):
        session.prepare_reading()


def after_frame(scene: bpy.types.Scene, _depsgraph: Any = None) -> None:
    """Simulates the next frame, or restarts a stale simulation at its first frame."""
    _depth[0] = max(_depth[0] - 1, 0)
    session = session_of(scene)
    if _depth[0] or session is None or not is_idle():
        return
    _note_followers(session)
    if session.reading is not None:
        _simulate(scene, session)
    elif session.stale and scene.frame_current == frame_range(scene)[0] and not is_edited(scene):
        start_or_tell(scene)


def _note_waiting(session: Session) -> None:
    """Compares the settings, and has changes noted that wait for an evaluation.

    While the timeline plays, the frame change evaluates them, and Blender reports no update.
    """
    note_changes(session)
    session.waiting = False
    if not session.stale and bpy.app.handlers.frame_change_pre[:1] == [listed(before_frame)]:
        depsgraph = session.stage.depsgraph
        session.waiting = len(depsgraph.updates) > 0
        if session.waiting:
            _note_update(session, depsgraph)


def _note_followers(session: Session) -> None:
    """Has a simulation stale if a change that waited has moved what time alone does not move.

    So it is noticed through drivers and nodes, too.
    """
    if session.stale:
        return
    changed = updated(session.stage.depsgraph)
    if not session.waiting:
        session.follows |= changed
    else:
        session.stale = changed_objects(session.stage, changed - session.follows)


def _session_wanted(scene: bpy.types.Scene) -> Session | None:
    """The live simulation of a scene, started or ended as its `use_live` was set."""
    wanted = scene_properties(scene).use_live
    if wanted and session_of(scene) is None:
        if is_playing(scene):
            restart_soon(scene)
        else:
            start_or_tell(scene)
    elif not wanted and session_of(scene) is not None:
        end_live(scene)
    return session_of(scene)


def _enclose_others() -> None:
    """Has `before_frame` called before the handlers of other add-ons, and `after_frame` after them.

    These may animate by changing objects: a bake reads the result, which is no change by the user.
    """
    before: list[Any] = bpy.app.handlers.frame_change_pre
    after: list[Any] = bpy.app.handlers.frame_change_post
    first, last = listed(before_frame), listed(after_frame)
    # In place, for Blender goes through the lists; other add-ons may have cleared them.
    if before[:1] != [first]:
        before[:] = [first, *(each for each in before if each is not first)]
    if after[-1:] != [last]:
        after[:] = [*(each for each in after if each is not last), last]


def _simulate(scene: bpy.types.Scene, session: Session) -> None:
    """Simulates the scene's current frame.

    Handlers of other add-ons may have changed the scene, and the frame change may be that of
    another view layer, so the layer is updated before and after.
    """
    layer = session.stage.view_layer
    try:
        with working():
            try:
                layer.update()
                if session.is_next(scene):
                    session.simulate_frame(scene.frame_current, session.stage.depsgraph)
            finally:
                session.end_reading()
                layer.update()
    except VerletError as error:
        fail(scene, error)
    except Exception:
        end_live(scene)  # a simulation cannot continue after that
        raise


def after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Notes what the user has changed between frames."""
    if not is_idle():
        return
    end_lost()
    session = session_of(scene)
    if session is None or session.reading is not None:
        return
    _remove_copies(scene, session)
    if not session.stale:
        _note_update(session, depsgraph)


def _note_update(session: Session, depsgraph: bpy.types.Depsgraph) -> None:
    """Has a simulation stale after an update that changes what it reads.

    Other view layers are updated too when a modifier is switched for reading.
    """
    stage = session.stage
    session.stale = "bodies or colliders were removed or renamed"
    with suppress(KeyError, VerletError):
        if depsgraph.view_layer != stage.view_layer:
            session.stale = ""
            return
        session.stale = changed_inputs(
            session.inputs, stage.scene, stage.view_layer
        ) or changed_objects(stage, updated(depsgraph))


def _remove_copies(scene: bpy.types.Scene, session: Session) -> None:
    """Takes the modifier from duplicates of bodies, which would show the cache of these."""
    copies = [
        obj
        for obj in scene.objects
        if obj.session_uid not in session.caches and live_modifier(obj) is not None
    ]
    if copies:
        with working():
            remove_live_modifiers(copies)


def after_undo(_scene: Any = None, _depsgraph: Any = None) -> None:
    """Drops simulations that were undone past their start, and starts those that are back."""
    end_lost()
    for scene in bpy.data.scenes:
        session = session_of(scene)
        if session is not None and not _is_shown(session):
            forget(scene)
        if scene_properties(scene).use_live and session_of(scene) is None:
            _start_again(scene)


def _is_shown(session: Session) -> bool:
    """Whether all bodies are there and show their caches."""
    found = owners(session.caches)
    return len(found) == len(session.caches) and all(
        live_modifier(obj) is not None for obj, _ in found
    )


def _start_again(scene: bpy.types.Scene) -> None:
    """Starts the simulation of a scene after undo; in the background at the next frame change."""
    if not bpy.app.background:
        restart_soon(scene)


def after_load(_path: Any = None, _other: Any = None) -> None:
    """Drops the live simulations of the file before."""
    forget_all()
    cancel_restarts()
    _depth[0] = 0
    for scene in bpy.data.scenes:
        scene_properties(scene).property_unset("use_live")
    if bpy.data.filepath:
        find_moved(Path(bpy.data.filepath))


def before_save(path: Any = None, _other: Any = None) -> None:
    """Copies caches beside the file that is about to be written, which reads them there."""
    if not isinstance(path, str) or not path:
        return
    for scene in bpy.data.scenes:
        if (session := session_of(scene)) is not None:
            try:
                _show(session, copy_beside(session.caches, Path(path)))
            except OSError as error:
                tell(scene, f"The live simulation is not saved: {error}; bake it to keep it")


def after_save(path: Any = None, _other: Any = None) -> None:
    """Has the open file read the temporary caches again, to which frames are added."""
    if isinstance(path, str) and path:
        remove_unused(Path(path))
    for scene in bpy.data.scenes:
        if (session := session_of(scene)) is not None:
            _show(session, session.caches)


def _show(session: Session, caches: Caches) -> None:
    """Has bodies show other files; evaluated at once, or it would count as a change."""
    with working():
        show_caches(caches)
        with suppress(KeyError):
            session.stage.view_layer.update()


def before_render(_scene: Any = None, _other: Any = None) -> None:
    """Leaves frame changes to Blender: caches play without the add-on."""
    note_render(True)


def before_rendered_frame(scene: bpy.types.Scene, _other: Any = None) -> None:
    """Warns of a frame that is rendered without being simulated."""
    session = session_of(scene)
    if session is None:
        return
    frame = scene.frame_current
    if session.stale:
        before = f"Frame {frame} was rendered as it was before {session.stale}"
        tell(scene, f"{before}; play from the start first")
    elif frame > session.last and session.last < frame_range(scene)[1]:
        tell(scene, f"Frames after {session.last} are rendered like it; play to the end first")


def after_render(_scene: Any = None, _other: Any = None) -> None:
    """Takes frame changes for the user's again."""
    note_render(False)


_HANDLERS: dict[str, Any] = {
    "frame_change_pre": before_frame,
    "frame_change_post": after_frame,
    "depsgraph_update_post": after_update,
    "undo_post": after_undo,
    "redo_post": after_undo,
    "load_post": after_load,
    "save_pre": before_save,
    "save_post": after_save,
    "save_post_fail": after_save,
    "render_init": before_render,
    "render_pre": before_rendered_frame,
    "render_complete": after_render,
    "render_cancel": after_render,
}


def register_handlers() -> None:
    """Has Blender call the functions above."""
    add_handlers(_HANDLERS)


def unregister_handlers() -> None:
    """Ends all live simulations, and undoes `register_handlers`."""
    cancel_restarts()
    for scene in bpy.data.scenes:
        if session_of(scene) is not None:
            end_live(scene)
    remove_handlers(_HANDLERS)
