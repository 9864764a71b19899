"""Handlers that check caches as a file is opened, and delete replaced ones as it is saved."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import FileError
from ..scene.cache_modifiers import bake_modifier
from ..scene.handlers import add_handlers, remove_handlers
from .cache_checks import find_problem, shown_caches
from .cache_folder import delete_replaced, forget_replaced
from .cache_hold import release_all

_problems: dict[int, str] = {}
"""Problems of caches found as the file was opened, by `session_uid` of the object."""


def problems() -> list[str]:
    """One sentence for each cache of the open file that is not as it was baked."""
    return [_problems[obj.session_uid] for obj, _ in shown_caches() if obj.session_uid in _problems]


def check_caches() -> list[str]:
    """Checks the caches that the open file shows, and turns off those that would play wrongly.

    Returns one sentence for each that is not as it was baked.
    """
    _problems.clear()
    for obj, path in shown_caches():
        if problem := find_problem(obj, path):
            _problems[obj.session_uid] = problem
            modifier = bake_modifier(obj)
            # A file that is missing plays nothing, and plays again once it is restored.
            if obj.library is None and modifier is not None and path.is_file():
                modifier.show_viewport = modifier.show_render = False
    return problems()


def note_baked(obj: bpy.types.Object) -> None:
    """Notes that the cache of an object was written anew."""
    _problems.pop(obj.session_uid, None)


def after_load(_path: Any = None, _other: Any = None) -> None:
    """Checks the caches of a file that was opened, and prints what is wrong with them."""
    forget_replaced()
    release_all()
    for problem in check_caches():
        print(f"Verlet: {problem}", file=sys.stderr)


def after_save(path: Any = None, _other: Any = None) -> None:
    """Deletes caches that other bakes have replaced; not as a copy of the file is saved."""
    if isinstance(path, str) and path and path == bpy.data.filepath:
        with suppress(FileError):
            delete_replaced(Path(path))
        release_all()


_HANDLERS: dict[str, Any] = {"load_post": after_load, "save_post": after_save}


def register_handlers() -> None:
    """Adds the handlers."""
    add_handlers(_HANDLERS)


def unregister_handlers() -> None:
    """Removes the handlers."""
    remove_handlers(_HANDLERS)
