"""Checks of the caches that a file shows: missing, cut, damaged, of another version, or stale."""

from collections.abc import Iterator
from pathlib import Path

import bpy

from ...core.errors import FileError
from ..scene.cache_modifiers import BAKE_MODIFIER, bake_modifier, cache_path, can_play
from ..scene.mesh_access import point_count
from ..scene.pc2 import Size, read_size
from ..settings.properties import body_properties
from .cache import Cache, read_cache
from .cache_record import CachedBody

_REMEDY = "press Resume, or bake again from the start"


def shown_caches() -> Iterator[tuple[bpy.types.Object, Path]]:
    """Yields the objects that show a bake to a cache, each with its point cache."""
    for obj in bpy.data.objects:
        if can_play(obj) and (modifier := bake_modifier(obj)) is not None:
            yield obj, cache_path(obj, modifier)


def check_intact(obj: bpy.types.Object) -> None:
    """Raises FileError if the cache that an object shows is missing, damaged or stale."""
    if (modifier := bake_modifier(obj)) is not None:
        path = cache_path(obj, modifier)
        if problem := find_problem(obj, path):
            raise FileError(problem, path)


def find_problem(obj: bpy.types.Object, path: Path) -> str:
    """Sentence on why an object cannot show its cache, or shows another one; empty if it can.

    A point cache is read as a whole only if it was written or copied since its record was.
    """
    if not path.is_file():
        return (
            f"The cache {path} of {obj.name} is missing; restore it, or set its path in the "
            f"modifier {BAKE_MODIFIER}, or bake again"
        )
    try:
        cache = read_cache(path.parent)
    except FileError as error:
        return str(error)
    body = next((each for each in cache.record.bodies if each.file == path.name), None)
    if body is None:
        return f"The record of the cache {path} of {obj.name} does not list it; bake again"
    return _damage(obj, cache, body) or _staleness(obj, body)


def _damage(obj: bpy.types.Object, cache: Cache, body: CachedBody) -> str:
    """Sentence on the point cache of an object that is not as its record says."""
    path, record = cache.points(body), cache.record
    try:
        size = read_size(path)
    except (OSError, ValueError) as error:
        return f"The cache {path} of {obj.name} is damaged: {error}; {_REMEDY}"
    wanted = record.end - record.start + 1
    if size < Size(body.vertices, wanted) or size.vertices != body.vertices:
        return f"The cache {path} of {obj.name} is damaged: frames are missing; {_REMEDY}"
    if body.vertices != point_count(obj):
        return (
            f"The cache {path} has {body.vertices} vertices, and {obj.name} has "
            f"{point_count(obj)}, so that it does not move; bake again"
        )
    changed = path.stat().st_mtime_ns != body.written or size.samples != wanted
    if changed and cache.intact_end(body) < record.end:
        return f"The cache {path} of {obj.name} is damaged: a checksum differs; {_REMEDY}"
    return ""


def _staleness(obj: bpy.types.Object, body: CachedBody) -> str:
    """Sentence on a cache that was written after the .blend file was saved, with other settings."""
    noted = body_properties(obj).baked_settings
    if noted in ("", body.settings):
        return ""
    return (
        f"The cache of {obj.name} was baked again, with other settings, after this file was saved; "
        "bake again"
    )
