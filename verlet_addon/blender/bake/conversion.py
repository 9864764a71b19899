"""Conversion of bakes from shape keys to caches and back, without a simulation."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.errors import FileError, MeshError
from ..scene.cache_modifiers import bake_modifier, cache_path
from ..scene.file_errors import errors_named
from ..scene.key_points import way_to_key
from ..scene.mesh_io import world_matrix
from ..scene.modifiers import check_order, read_deformed
from ..scene.pc2 import append_sample, read_samples
from ..scene.sampling import Stage
from ..settings.properties import body_properties
from .bake import prepare_stage
from .cache import Cache, read_cache, remove_cache
from .cache_bake import cached_bodies, show_cache
from .cache_checks import find_problem
from .cache_folder import new_folder
from .cache_record import Block, CachedBody, CacheRecord, write_record
from .former_bake import former_bakes_hidden
from .memory import check_room
from .record import BakeInputs, remember_bake
from .shape_keys import remove_bake, write_bake


class _Noted(NamedTuple):
    """The record of a body's bake."""

    frames: range
    inputs: BakeInputs
    kernels: str


def _noted(obj: bpy.types.Object) -> _Noted:
    """The record of the bake of an object."""
    body = body_properties(obj)
    return _Noted(
        range(body.baked_start, body.baked_end + 1),
        BakeInputs(body.baked_settings, body.baked_inputs),
        body.baked_kernels,
    )


def keys_to_cache(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
    blend: Path,
) -> None:
    """Writes what the baked keys of objects show to caches, which take the place of the keys.

    Bodies that were baked over the same frames have one cache. A bake cannot go on with it, since
    no simulation is stored.

    Raises
    ------
    MeshError, FileError, DiskFullError
        A body cannot show a cache, or a file cannot be written; the keys stay then.
    """
    for obj in objects:
        check_order(obj, "a cache", "keep its shape keys")
    stage = prepare_stage(scene, view_layer, objects)
    groups: dict[tuple[int, int], list[bpy.types.Object]] = {}
    for obj in objects:
        frames = _noted(obj).frames
        groups.setdefault((frames[0], frames[-1]), []).append(obj)
    caches: list[Cache] = []
    try:
        with stage.left_as_found(lambda _: nullcontext()):
            for group in groups.values():
                caches.append(_new_cache(scene, group, new_folder(blend)))
                _write_shown(stage, group, caches[-1])
    except BaseException:
        for cache in caches:
            remove_cache(cache.folder)
        raise
    for cache, group in zip(caches, groups.values(), strict=True):
        for obj, body in zip(group, cache.record.bodies, strict=True):
            noted = _noted(obj)
            remove_bake(obj)
            show_cache(obj, cache.points(body), cache.record.start, scene)
            remember_bake(obj, noted.frames, noted.inputs, noted.kernels)


def _new_cache(scene: bpy.types.Scene, objects: list[bpy.types.Object], folder: Path) -> Cache:
    """An empty cache of objects that were baked over the same frames."""
    noted = list(map(_noted, objects))
    bodies = cached_bodies(objects, [each.inputs for each in noted])
    return Cache(folder, CacheRecord(scene.name, noted[0].frames[0], noted[0].kernels, bodies))


def _write_shown(stage: Stage, objects: list[bpy.types.Object], cache: Cache) -> None:
    """Writes what objects show at each frame of their bakes."""
    record, frames = cache.record, _noted(objects[0]).frames
    checksums = [0] * len(objects)
    with errors_named("write", cache.folder):
        cache.create_points()
        for number, frame in enumerate(frames):
            depsgraph = stage.at(frame)
            for place, (obj, body) in enumerate(zip(objects, record.bodies, strict=True)):
                points = np.ascontiguousarray(read_deformed(obj, depsgraph), "<f4")
                append_sample(cache.points(body), points, number)
                checksums[place] = crc32(points.data, checksums[place])
        for body in record.bodies:
            body.written = cache.points(body).stat().st_mtime_ns
        record.blocks.append(Block(frames[-1], checksums))
        write_record(cache.folder, record)


def cache_to_keys(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, objects: Sequence[bpy.types.Object]
) -> None:
    """Writes the caches that objects show as shape keys, one per frame, which take their place.

    Raises
    ------
    MeshError, FileError, OutOfMemoryError
        A cache is missing, damaged or stale, or memory does not suffice; nothing is changed then.
    """
    stage = prepare_stage(scene, view_layer, objects)
    found = list(map(_intact, objects))
    for obj, (cache, _) in zip(objects, found, strict=True):
        check_room([obj], _frames(cache))
    keys: list[NDArray[np.float32]] = []
    with stage.left_as_found(former_bakes_hidden):
        for obj, (cache, body) in zip(objects, found, strict=True):
            keys.append(_read_keys(stage, obj, cache, body))
    # `pop` frees each body's array before Blender copies the next one.
    for obj, (cache, _) in zip(objects, found, strict=True):
        noted = _noted(obj)
        write_bake(obj, _frames(cache), keys.pop(0))
        remember_bake(obj, _frames(cache), noted.inputs, noted.kernels)


def _intact(obj: bpy.types.Object) -> tuple[Cache, CachedBody]:
    """The cache that an object shows, and its place there."""
    modifier = bake_modifier(obj)
    if modifier is None:
        raise MeshError(f"{obj.name} shows no cache; bake it to one first")
    path = cache_path(obj, modifier)
    if problem := find_problem(obj, path):
        raise FileError(problem, path)
    cache = read_cache(path.parent)
    return cache, next(body for body in cache.record.bodies if body.file == path.name)


def _frames(cache: Cache) -> range:
    """The frames of a cache."""
    return range(cache.record.start, cache.record.end + 1)


def _read_keys(
    stage: Stage, obj: bpy.types.Object, cache: Cache, body: CachedBody
) -> NDArray[np.float32]:
    """(frames, n, 3) coordinates of keys that show the point cache of a body."""
    frames = _frames(cache)
    keys = np.empty((len(frames), body.vertices, 3), np.float32)
    samples = read_samples(cache.points(body), 0, len(frames))
    for number, (frame, points) in enumerate(zip(frames, samples, strict=True)):
        depsgraph = stage.at(frame)
        linear, offset = world_matrix(obj, depsgraph)
        keys[number] = way_to_key(obj, depsgraph)(points.astype(np.float64) @ linear.T + offset)
    return keys
