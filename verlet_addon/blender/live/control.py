"""Live simulations in progress: started, restarted, ended, and continued by a bake."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import bpy

from ...core.errors import VerletError
from ..scene.cache_modifiers import remove_live_modifiers
from ..scene.file_context import file_context
from ..settings.properties import scene_properties
from .cache_files import owners, remove_caches
from .inputs import acting_bodies, changed_settings
from .session import Session, begin_session

_sessions: dict[int, Session] = {}
"""Live simulations in progress, by `session_uid` of the scene."""
_messages: dict[int, str] = {}
"""Errors that ended live simulations, and warnings of renders, by `session_uid` of the scene."""
_working, _rendering = [False], [False]
"""Whether the add-on itself changes frames and modifiers; whether Blender renders."""


def session_of(scene: bpy.types.Scene) -> Session | None:
    """The live simulation of a scene; None without one."""
    return _sessions.get(scene.session_uid)


def message_of(scene: bpy.types.Scene) -> str:
    """The error that ended a scene's last live simulation, or a warning; empty without either."""
    return _messages.get(scene.session_uid, "")


def tell(scene: bpy.types.Scene, message: str) -> None:
    """Shows a message in the panel, and prints it, for nobody may be looking."""
    _messages[scene.session_uid] = message
    print(f"Verlet: {message}", file=sys.stderr)


def is_idle() -> bool:
    """Whether changes of frames and modifiers are the user's.

    Not while the add-on makes them, nor while Blender renders, in a thread of its own.
    """
    return not (_working[0] or _rendering[0])


def note_render(begins: bool) -> None:
    """Notes that Blender begins or ends to render."""
    _rendering[0] = begins


@contextmanager
def working() -> Iterator[None]:
    """Marks changes of frames and modifiers as the add-on's own."""
    before, _working[0] = _working[0], True
    try:
        yield
    finally:
        _working[0] = before


def start_live(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Session:
    """Starts to simulate a scene as its frames change; an earlier live simulation ends.

    Live simulations of other scenes that have bodies in common end too: a body shows one cache.

    Raises
    ------
    VerletError
        As for a bake; there is no live simulation then.
    """
    end_live(scene)
    _messages.pop(scene.session_uid, None)
    with working():
        _end_others(scene, acting_bodies(scene, view_layer))
        session = begin_session(scene, view_layer)
    _sessions[scene.session_uid] = session
    scene_properties(scene).use_live = True
    return session


def restart_live(scene: bpy.types.Scene) -> Session:
    """Starts a stale live simulation again, or one whose `use_live` alone is set.

    Raises
    ------
    VerletError
        As `start_live` does.
    """
    former = session_of(scene)
    session = start_live(scene, view_layer_of(scene, former))
    if former is not None:
        session.restarted = former.stale
    return session


def start_or_tell(scene: bpy.types.Scene) -> None:
    """Restarts or starts a live simulation; if that fails, ends it with a message."""
    try:
        restart_live(scene)
    except VerletError as error:
        fail(scene, error)


def fail(scene: bpy.types.Scene, error: VerletError) -> None:
    """Ends a live simulation after an error, which the panel shows."""
    end_live(scene)
    tell(scene, str(error))


def end_live(scene: bpy.types.Scene) -> None:
    """Ends the live simulation of a scene, and removes all that it added."""
    session = _sessions.pop(scene.session_uid, None)
    scene_properties(scene).property_unset("use_live")
    with working():
        others = {uid for other in _sessions.values() for uid in other.caches}
        remove_live_modifiers(
            obj for obj in bpy.data.objects if obj.library is None and obj.session_uid not in others
        )
    if session is not None:
        remove_caches(session.caches.values())


def end_lost() -> None:
    """Ends live simulations whose scene was deleted."""
    scenes = {scene.session_uid for scene in bpy.data.scenes}
    for uid in _sessions.keys() - scenes:
        session = _sessions.pop(uid)
        with working():
            remove_live_modifiers(obj for obj, _ in owners(session.caches))
        remove_caches(session.caches.values())


def forget_all() -> None:
    """Drops the live simulations of a file that is no longer open."""
    for session in _sessions.values():
        remove_caches(session.caches.values())
    _sessions.clear()
    _messages.clear()
    _working[0] = _rendering[0] = False


def forget(scene: bpy.types.Scene) -> None:
    """Drops a live simulation that undo has taken the modifiers of."""
    if (session := _sessions.pop(scene.session_uid, None)) is not None:
        remove_caches(session.caches.values())


def note_changes(session: Session) -> None:
    """Compares the settings with those of the start; the simulation is stale if they differ."""
    if not session.stale:
        session.stale = "its scene or view layer was renamed"
        with suppress(KeyError):
            stage = session.stage
            session.stale = changed_settings(session.inputs, stage.scene, stage.view_layer)


def take_over(
    scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], start: int
) -> Session | None:
    """The live simulation, for a bake of bodies from a frame on to continue; None without one.

    One that is stale, or has other bodies or another first frame, ends.
    """
    session = session_of(scene)
    if session is None:
        return None
    note_changes(session)
    if session.stale or session.start != start or session.stage.bodies != [*objects]:
        end_live(scene)
        return None
    _working[0] = True
    return session


def hand_back(scene: bpy.types.Scene, *, baked: bool) -> None:
    """Undoes `take_over` at the end of a bake, which replaces the live simulation once written."""
    _working[0] = False
    if baked:
        end_live(scene)


def view_layer_of(scene: bpy.types.Scene, session: Session | None) -> bpy.types.ViewLayer:
    """The view layer of a live simulation or, without one, the layer that shows the scene."""
    if session is not None:
        with suppress(KeyError):
            return session.stage.view_layer
    here = file_context(bpy.context)
    return here.view_layer if here.scene == scene else scene.view_layers[0]


def _end_others(scene: bpy.types.Scene, objects: Iterable[bpy.types.Object]) -> None:
    """Ends the live simulations of other scenes that have some of these bodies."""
    names = {obj.session_uid: obj.name for obj in objects}
    for other in bpy.data.scenes:
        session = session_of(other)
        if session is None or other == scene:
            continue
        if shared := [name for uid, name in names.items() if uid in session.caches]:
            end_live(other)
            tell(other, f"{shared[0]} is simulated in {scene.name}; end Live there first")
