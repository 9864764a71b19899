"""Folders of caches beside .blend files: where they are, which are found there, which go.

Each bake has a folder of its own. One that another bake has replaced stays until the .blend file
is saved, so that the file on the disk has the cache with which it was saved.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from shutil import copytree

import bpy

from ...core.errors import FileError
from ..scene.cache_modifiers import bake_modifier, cache_path, can_play
from ..scene.file_errors import errors_named
from ..settings.preferences import chosen_cache_folder
from .cache import Cache, last_written, read_cache, remove_cache
from .cache_hold import hold, is_held_elsewhere, release
from .cache_record import NAME, CacheRecord

_replaced: set[Path] = set()
"""Folders of caches that other bakes have replaced, or none shows any more."""


def caches_of(blend: Path) -> Path:
    """The folder of the caches of a .blend file: beside it, or where the preferences say.

    In a folder of the preferences, files of the same name from different places are told apart.
    """
    name = f"{blend.stem}_verlet_cache"
    folder = Path(bpy.path.abspath(chosen_cache_folder(), start=str(blend.parent)))
    if folder.resolve() == blend.parent.resolve():
        return blend.parent / name
    mark = sha256(str(blend.parent.resolve()).encode()).hexdigest()[:8]
    return folder / f"{name}_{mark}"


def saved_file() -> Path:
    """Path of the open .blend file.

    Raises
    ------
    FileError
        It was never saved.
    """
    if not bpy.data.filepath:
        raise FileError(
            "The file was never saved, and a cache is written beside it; save it first, or bake "
            "shape keys",
            Path(),
        )
    return Path(bpy.data.filepath)


def new_folder(blend: Path) -> Path:
    """Makes an empty folder for a cache of a .blend file, which this process holds."""
    number = 1
    while True:
        folder = caches_of(blend) / f"bake_{number:03}"
        with errors_named("write", folder):
            try:
                folder.mkdir(parents=True)
            except FileExistsError:
                number += 1
            else:
                release(folder)  # of one of that name, which is gone
                hold(folder)
                return folder


def find_cache(scene: str, names: Sequence[str], blend: Path) -> Cache | None:
    """The newest cache of these bodies among those that they show and those of a .blend file."""
    shown = folders_of(obj for obj in bpy.data.objects if obj.name in names)
    found = [*found_caches(blend), *_readable(shown)]
    return max(
        (cache for cache in found if _is_of(cache.record, scene, names)),
        key=lambda cache: (cache.folder / NAME).stat().st_mtime_ns,
        default=None,
    )


def found_caches(blend: Path) -> Iterator[Cache]:
    """Yields the caches in the folder of a .blend file whose record can be read."""
    return _readable(path.parent for path in caches_of(blend).glob(f"*/{NAME}"))


def _readable(folders: Iterable[Path]) -> Iterator[Cache]:
    """Yields the caches in folders whose record can be read."""
    for folder in folders:
        with suppress(FileError):
            yield read_cache(folder)


def is_own(folder: Path, blend: Path) -> bool:
    """Whether a cache belongs to a .blend file, and not to one that it was saved from."""
    return folder.resolve().parent == caches_of(blend).resolve()


def _is_of(record: CacheRecord, scene: str, names: Sequence[str]) -> bool:
    """Whether a cache is of these bodies."""
    return record.scene == scene and set(record.names) == set(names)


def _shown(obj: bpy.types.Object) -> list[Path]:
    """The folder of the cache that an object shows, if any."""
    if not can_play(obj) or obj.library is not None or (shown := bake_modifier(obj)) is None:
        return []
    return [cache_path(obj, shown).parent]


def made_own(cache: Cache, blend: Path) -> Cache:
    """The cache, or a copy of it where it belongs to another .blend file than this one."""
    if is_own(cache.folder, blend):
        return cache
    folder = new_folder(blend)
    with errors_named("write", folder):
        copytree(cache.folder, folder, dirs_exist_ok=True)
    return read_cache(folder)


def shown_folders() -> set[Path]:
    """Folders of the caches that objects of the open file show."""
    return folders_of(bpy.data.objects)


def folders_of(objects: Iterable[bpy.types.Object]) -> set[Path]:
    """Folders of the caches that objects show."""
    return {folder for obj in objects for folder in _shown(obj)}


def replace_folders(folders: Iterable[Path]) -> None:
    """Notes folders that no longer count, for the next save to delete."""
    _replaced.update(folders)


def replace_others(cache: Cache, blend: Path) -> None:
    """Notes the folders of all former caches of the bodies of one.

    One that was written since this bake began is that of another job on the same file, which may
    show it by now. It stays until a later bake replaces it.
    """
    names = set(cache.record.names)
    replace_folders(
        other.folder
        for other in found_caches(blend)
        if other.folder != cache.folder
        and other.record.scene == cache.record.scene
        and set(other.record.names) <= names
        and last_written(other.folder) < cache.begun
    )


def hidden_caches(scene: str, names: Iterable[str]) -> list[Cache]:
    """Caches beside the open file that nothing shows, of some bodies or of a part of them."""
    if not bpy.data.filepath:
        return []
    bodies, shown = set(names), {folder.resolve() for folder in shown_folders()}
    return [
        cache
        for cache in found_caches(Path(bpy.data.filepath))
        if cache.folder.resolve() not in shown
        and cache.record.scene == scene
        and set(cache.record.names) <= bodies
    ]


def clear_caches(scene: str, objects: Iterable[bpy.types.Object], folders: set[Path]) -> list[str]:
    """Deletes the caches that objects showed, and those of them that nothing shows.

    Parameters
    ----------
    folders : folders of the caches that they showed.

    Returns
    -------
    list
        A sentence for each cache that stays, since it belongs to another file, other bodies or
        another process.

    Raises
    ------
    FileError
        A file cannot be deleted.
    """
    names = [obj.name for obj in objects]
    folders |= {cache.folder for cache in hidden_caches(scene, names)}
    blend = Path(bpy.data.filepath)
    free = folders - shown_folders()
    delete_caches(free, blend)
    return [
        f"The files in {folder} stay, since {_why_kept(folder, free, blend)}"
        for folder in sorted(folders)
        if folder.is_dir()
    ]


def _why_kept(folder: Path, free: set[Path], blend: Path) -> str:
    """Why a cache was not deleted; nothing in the open file shows those that are free."""
    if folder not in free:
        return "other bodies show them"
    return "another process writes them" if is_own(folder, blend) else "another file made them"


def forget_replaced() -> None:
    """Drops the folders noted; their files stay."""
    _replaced.clear()


def delete_replaced(blend: Path) -> None:
    """Deletes the folders noted that belong to a .blend file and that no object shows."""
    delete_caches(_replaced - shown_folders(), blend)
    _replaced.clear()


def delete_caches(folders: Iterable[Path], blend: Path) -> None:
    """Deletes caches that belong to a .blend file, but none that another process holds.

    Raises
    ------
    FileError
        A file cannot be deleted.
    """
    for folder in folders:
        with errors_named("delete", folder):
            own = is_own(folder, blend) and folder.is_dir()
            free = own and not is_held_elsewhere(folder)
        if free:
            remove_cache(folder)
