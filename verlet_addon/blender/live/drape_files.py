"""Point caches of drapes: temporary files, copied beside the .blend file by a save.

A file is written once and never changed, so each state that undo leads to has its own. Files of
drapes that ended are kept in memory, in case undo brings the drape back.
"""

import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, cast

import bpy

from ..scene.cache_modifiers import can_play, drape_modifier, remove_drape_modifiers
from ..scene.handlers import add_handlers, remove_handlers
from ..scene.mesh_access import mesh_of
from .cache_files import beside, temporary_folder
from .control import tell

_SUFFIX = "_drape.pc2"
_numbers = count(1)
_ended: dict[Path, bytes] = {}
"""Content of files of drapes that ended."""
_copied: dict[int, Path] = {}
"""Temporary files of drapes that are being saved, by `session_uid` of the object."""


def new_file(obj: bpy.types.Object) -> Path:
    """A path for the drape of a body, in Blender's temporary folder."""
    name = re.sub(r"[^\w.-]", "_", obj.name)
    return temporary_folder() / f"{name}_{next(_numbers)}{_SUFFIX}"


def is_draped(obj: bpy.types.Object) -> bool:
    """Whether an object shows a drape."""
    return can_play(obj) and drape_modifier(obj) is not None


def end_drapes(objects: Iterable[bpy.types.Object]) -> None:
    """Removes the drapes of objects, which show their own shapes again."""
    for obj in objects:
        if (path := _file_of(obj)) is not None:
            with suppress(OSError):
                _ended[path] = path.read_bytes()
            remove_drape_modifiers([obj])
    remove_unused_files()


def _file_of(obj: bpy.types.Object) -> Path | None:
    """The file that shows the drape of an object; None without a drape, or if it is linked."""
    if not can_play(obj) or obj.library is not None or (shown := drape_modifier(obj)) is None:
        return None
    return Path(bpy.path.abspath(shown.filepath))


def remove_unused_files() -> None:
    """Deletes temporary files of drapes that no object shows."""
    used = {_file_of(obj) for obj in bpy.data.objects}
    for path in Path(bpy.app.tempdir).glob(f"*/*{_SUFFIX}"):
        if path not in used:
            with suppress(OSError):
                _ended[path] = path.read_bytes()
                path.unlink()


def after_undo(_scene: Any = None, _depsgraph: Any = None) -> None:
    """Writes the files of drapes that undo or redo has brought back, and deletes the others."""
    for obj in bpy.data.objects:
        path = _file_of(obj)
        if path is not None and path in _ended and not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_ended[path])
            mesh_of(obj).update_tag()
    remove_unused_files()


def after_load(_path: Any = None, _other: Any = None) -> None:
    """Drops the files of the .blend file before."""
    _ended.clear()
    _copied.clear()
    remove_unused_files()
    _ended.clear()


def before_save(path: Any = None, _other: Any = None) -> None:
    """Copies the files of drapes beside the .blend file that is about to be written."""
    if not isinstance(path, str) or not path:
        return
    folder = beside(Path(path))
    for obj in bpy.data.objects:
        source = _file_of(obj)
        if source is None or source.parent == folder or not source.is_file():
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / source.name)
        except OSError as error:
            tell(
                cast(Any, bpy.context.scene),
                f"The drape is not saved: {error}; apply it to keep it",
            )
            return
        if source.parent == temporary_folder():
            _copied[obj.session_uid] = source
        _show(obj, folder / source.name)


def after_save(_path: Any = None, _other: Any = None) -> None:
    """Has the open file read the temporary files again, as former states of it do."""
    for obj in bpy.data.objects:
        if (source := _copied.get(obj.session_uid)) is not None:
            _show(obj, source)
    _copied.clear()


def _show(obj: bpy.types.Object, path: Path) -> None:
    """Has the modifier of a draped object read a file, by a relative path within the folder."""
    modifier = cast(bpy.types.MeshCacheModifier, drape_modifier(obj))
    saved = Path(bpy.data.filepath).parent if bpy.data.filepath else None
    inside = saved is not None and saved in path.parents
    modifier.filepath = bpy.path.relpath(str(path)) if inside else str(path)


_HANDLERS: dict[str, Any] = {
    "undo_post": after_undo,
    "redo_post": after_undo,
    "load_post": after_load,
    "save_pre": before_save,
    "save_post": after_save,
    "save_post_fail": after_save,
}


def register_handlers() -> None:
    """Adds the handlers, after those of live simulation, which look for unused files."""
    add_handlers(_HANDLERS)


def unregister_handlers() -> None:
    """Removes the handlers, and ends all drapes."""
    end_drapes(bpy.data.objects)
    remove_handlers(_HANDLERS)
