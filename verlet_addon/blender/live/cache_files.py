"""Point caches of live simulations: temporary files, copied beside the .blend file by a save.

The copies are written by saves alone, so a .blend file on the disk always has the caches with which
it was saved.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import bpy

from ..scene.cache_modifiers import drape_modifier, live_modifier

_FOLDER = "verlet_live"

Caches = dict[int, Path]
"""Files of point caches, by the `session_uid` of the object that each belongs to."""


def temporary_cache(obj: bpy.types.Object, ending: str = "") -> Path:
    """Path of the point cache of a body, in Blender's temporary folder."""
    name = re.sub(r"[^\w.-]", "_", obj.name)
    return temporary_folder() / f"{name}_{obj.session_uid}{ending}.pc2"


def temporary_folder() -> Path:
    """The folder of temporary caches, which Blender deletes when it quits."""
    folder = Path(bpy.app.tempdir, _FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def owners(caches: Caches) -> list[tuple[bpy.types.Object, Path]]:
    """Objects that caches belong to and that still exist, each with its cache."""
    found = (obj for obj in bpy.data.objects if obj.session_uid in caches)
    return [(obj, caches[obj.session_uid]) for obj in found]


def show_caches(caches: Caches) -> None:
    """Has the modifiers of bodies read these files, by relative paths within the file's folder."""
    saved = Path(bpy.data.filepath).parent if bpy.data.filepath else None
    for obj, path in owners(caches):
        if (modifier := live_modifier(obj)) is not None:
            inside = saved is not None and saved in path.parents
            modifier.filepath = bpy.path.relpath(str(path)) if inside else str(path)


def copy_beside(caches: Caches, blend: Path) -> Caches:
    """Copies caches to the folder of a .blend file; their paths there.

    Raises
    ------
    OSError
        A file cannot be written.
    """
    folder = beside(blend)
    folder.mkdir(parents=True, exist_ok=True)
    return {uid: Path(shutil.copyfile(path, folder / path.name)) for uid, path in caches.items()}


def remove_unused(blend: Path) -> None:
    """Deletes the copies beside a .blend file that no modifier of the open file reads."""
    folder = beside(blend)
    used = {path for _, path in _shown_files()}
    if folder.is_dir():
        remove_caches(path for path in folder.glob("*.pc2") if path not in used)


def find_moved(blend: Path) -> None:
    """Has modifiers read the copies beside a .blend file that was moved together with them."""
    for modifier, path in _shown_files():
        here = beside(blend) / path.name
        if not path.is_file() and here.is_file():
            modifier.filepath = str(here)


def remove_caches(paths: Iterable[Path]) -> None:
    """Deletes files, and their folder once it is empty."""
    for path in paths:
        path.unlink(missing_ok=True)
        if path.parent.is_dir() and not any(path.parent.iterdir()):
            path.parent.rmdir()


def beside(blend: Path) -> Path:
    """The folder of the caches of a .blend file."""
    return blend.with_name(f"{blend.stem}_{_FOLDER}")


def _shown_files() -> Iterator[tuple[bpy.types.MeshCacheModifier, Path]]:
    """Modifiers that show live simulations and drapes, each with the file that it reads."""
    for obj in bpy.data.objects:
        if obj.library is not None:
            continue
        for modifier in (live_modifier(obj), drape_modifier(obj)):
            if modifier is not None:
                yield modifier, Path(bpy.path.abspath(modifier.filepath))
