"""Values for drawing, kept until what they were made from changes.

Blender reports changes through the handlers below, except those of properties, which belong to the
keys under which values are kept.
"""

from collections.abc import Callable, Hashable
from time import monotonic
from typing import Any, NamedTuple, TypeVar, cast

import bpy

from ...live.control import is_idle
from ...scene.file_context import file_context
from ...scene.handlers import add_handlers, remove_handlers
from ...scene.mesh_access import mesh_of

Value = TypeVar("Value")


PATIENCE = 0.25
"""Time for which slow values may lag [s]."""
_SLOW = 0.001
"""Time from which on making a value is slow [s]."""


class _Kept(NamedTuple):
    """A value that is kept."""

    key: Hashable
    lag: Hashable
    value: Any
    made: float
    """Time when it was made [s]."""
    slow: bool
    """Whether making it was slow."""


class Changes:
    """Numbers that grow with each change of its kind."""

    edits = 0
    """Changes of any datablocks other than those from frame to frame."""
    updates = 0
    """Changes of any datablocks, also by the add-on, but not by changes of the frame."""
    frames = 0
    """Changes of any kind."""


_meshes: dict[int, int] = {}
"""Numbers of changes of meshes, without those from frame to frame, by `session_uid`."""
_kept: dict[tuple[str, int], "_Kept"] = {}
"""Values made, by their name and the `session_uid` of the object or the scene."""
_MOST = 2000
"""Number of values after which all are forgotten."""


def kept(
    name: str,
    owner: bpy.types.ID,
    key: Hashable,
    make: Callable[[], Value],
    *,
    lag: Hashable = None,
) -> Value:
    """A value of an object or a scene, made anew where the key is another one than before.

    Parameters
    ----------
    lag
        With it, a value that is slow to make is made only every PATIENCE seconds, as long as this
        stays the same: while a mesh is painted, or an object is dragged.
    """
    known = _kept.get((name, owner.session_uid))
    if known is None or (known.key != key and not _may_lag(known, lag)):
        if len(_kept) > _MOST:
            _kept.clear()  # most belong to objects that are no longer shown
        start = monotonic()
        value = make()
        end = monotonic()
        known = _kept[name, owner.session_uid] = _Kept(key, lag, value, end, end - start > _SLOW)
    found: Value = known.value
    return found


def _may_lag(known: "_Kept", lag: Hashable) -> bool:
    """Whether a value is to be used once more; the viewports are then redrawn a little later."""
    recent = known.slow and monotonic() - known.made < PATIENCE and not bpy.app.background
    if lag is None or known.lag != lag or not recent:
        return False
    if not bpy.app.timers.is_registered(_redraw):
        bpy.app.timers.register(_redraw, first_interval=PATIENCE)
    return True


def _redraw() -> None:
    """Timer: redraws all viewports."""
    for window in file_context(bpy.context).window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def mesh_changes(obj: bpy.types.Object) -> Hashable:
    """Key of values that depend on an object's mesh, and its vertex groups and shape keys."""
    uid = mesh_of(obj).session_uid
    return uid, _meshes.get(uid, 0)


def shape_changes(obj: bpy.types.Object) -> Hashable:
    """Key of values that depend on an object's mesh alone, which painting weights leaves alone."""
    if obj.mode == "WEIGHT_PAINT":
        return mesh_of(obj).session_uid, obj.mode
    return mesh_changes(obj)


def moment(depsgraph: bpy.types.Depsgraph, *more: Hashable) -> Hashable:
    """Key of values that may change from frame to frame, for a scene evaluated in a view layer."""
    scene, view_layer = cast(bpy.types.Scene, depsgraph.scene), depsgraph.view_layer
    return (Changes.frames, scene.session_uid, view_layer and view_layer.name, *more)


def _after_frame(_scene: Any = None, _depsgraph: Any = None) -> None:
    """Handler of frame changes."""
    Changes.frames += 1


def _after_update(_scene: Any, depsgraph: bpy.types.Depsgraph) -> None:
    """Handler of updates by the user or a script."""
    Changes.updates += 1
    Changes.frames += 1
    if not is_idle():
        return  # live simulation updates the scene at each frame, but edits nothing
    Changes.edits += 1
    for update in depsgraph.updates:
        # Of an object, geometry is updated also where it moves into a modifier's reach.
        if isinstance(update.id, bpy.types.Mesh) and update.is_updated_geometry:
            uid = cast(bpy.types.ID, update.id.original).session_uid
            _meshes[uid] = _meshes.get(uid, 0) + 1


def _forget(_scene: Any = None, _depsgraph: Any = None) -> None:
    """Handler of undo, redo and loading."""
    _kept.clear()


_HANDLERS: dict[str, Any] = {
    "frame_change_post": _after_frame,
    "depsgraph_update_post": _after_update,
    "undo_post": _forget,
    "redo_post": _forget,
    "load_post": _forget,
}


def register_handlers() -> None:
    """Adds the handlers."""
    add_handlers(_HANDLERS)


def unregister_handlers() -> None:
    """Removes the handlers and all values."""
    if bpy.app.timers.is_registered(_redraw):
        bpy.app.timers.unregister(_redraw)
    remove_handlers(_HANDLERS)
    _kept.clear()
