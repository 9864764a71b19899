"""Where the point caches of live simulations are: in a temporary folder until the file is saved."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import bpy

from .cache_modifier import cache_modifier

_FOLDER = "verlet_live"


def cache_file(obj: bpy.types.Object) -> Path:
    """The point cache of a body: beside the saved file, or in Blender's temporary folder."""
    saved = bpy.data.filepath
    folder = beside(Path(saved)) if saved else Path(bpy.app.tempdir, _FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.-]", "_", obj.name)
    return folder / f"{name}_{obj.session_uid}.pc2"


def beside(blend: Path) -> Path:
    """The folder of the caches of a saved file."""
    return blend.with_name(f"{blend.stem}_{_FOLDER}")


def move_caches(caches: Iterable[Path], folder: Path) -> list[Path]:
    """Moves caches to a folder; their places there."""
    folder.mkdir(parents=True, exist_ok=True)
    return [Path(shutil.move(path, folder / path.name)) for path in caches]


def point_to(objects: Iterable[bpy.types.Object], caches: Iterable[Path]) -> None:
    """Has the modifiers of bodies read caches of these places."""
    for obj, path in zip(objects, caches, strict=True):
        if (modifier := cache_modifier(obj)) is not None:
            modifier.filepath = str(path)


def remove_caches(caches: Iterable[Path]) -> None:
    """Deletes caches, and their folder once it is empty."""
    for path in caches:
        path.unlink(missing_ok=True)
        if path.parent.is_dir() and not any(path.parent.iterdir()):
            path.parent.rmdir()
