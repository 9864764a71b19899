"""Warnings of an open file whose animation may differ from its author's."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import bpy


def file_warnings() -> list[str]:
    """Newer files, missing libraries and caches, and blocked scripts: a sentence for each."""
    return [*_newer(), *_missing(), *_missing_caches(), *_blocked()]


def _newer() -> Iterator[str]:
    """Warnings of files saved by a newer Blender."""
    files = [(bpy.data.filepath, bpy.data.version)]
    files += [(_path(library), library.version) for library in bpy.data.libraries]
    for path, version in files:
        if tuple(version) > bpy.app.version_file:
            yield (
                f"{path} was saved by Blender {_version(version)}, and Blender "
                f"{_version(bpy.app.version)} may lose some of it; use the newer one"
            )


def _missing() -> Iterator[str]:
    """Warnings of missing libraries, and datablocks missing in libraries."""
    for library in bpy.data.libraries:
        if library.is_missing:
            yield (
                f"The library {_path(library)} cannot be read, and what is linked from it is "
                "missing; restore it, or relink it in Blender"
            )
        elif names := [item.name for item in library.users_id if item.is_missing]:
            yield (
                f"The library {_path(library)} no longer has {some(names)}; restore it, or relink "
                "it in Blender"
            )


def _missing_caches() -> Iterator[str]:
    """Warnings of missing cache files that animate objects: Alembic, USD and point caches."""
    files = [
        (modifier.filepath, obj.library)
        for obj in bpy.data.objects
        for modifier in obj.modifiers
        if isinstance(modifier, bpy.types.MeshCacheModifier) and modifier.filepath
    ]
    files += [(cache.filepath, cache.library) for cache in bpy.data.cache_files]
    paths = {str(bpy.path.abspath(path, library=library)) for path, library in files}
    for path in sorted(paths):
        if not Path(path).exists():
            yield (
                f"The cache {path} is missing, so objects that it animates do not move; restore "
                "it, or set its path in Blender"
            )


def _blocked() -> Iterator[str]:
    """Warnings of Python code of the file that Blender did not run."""
    if bpy.app.autoexec_fail:
        yield (
            f"Blender blocked the file's Python code ({bpy.app.autoexec_fail_message}), so objects "
            "that it animates do not move; if you trust the file, give the option -y"
        )


def _path(library: bpy.types.Library) -> str:
    """A library's absolute path."""
    return str(bpy.path.abspath(library.filepath))


def _version(version: Iterable[int]) -> str:
    """A version as major.minor."""
    major, minor, *_ = version
    return f"{major}.{minor}"


def some(names: Iterable[str]) -> str:
    """The first three distinct names, sorted, and the number of further ones, as text."""
    first, *rest = sorted(set(names))
    shown = ", ".join((first, *rest[:2]))
    return f"{shown} and {len(rest) - 2} more" if len(rest) > 2 else shown
