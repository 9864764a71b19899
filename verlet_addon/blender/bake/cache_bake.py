"""The bake to a cache: writes frames as they are simulated, and goes on where one has ended."""

import re
import shutil
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import bpy

from ...core.errors import DiskFullError, FileError, MeshError, SettingsError
from ...core.scene import Sample
from ...core.self_test import kernels
from ...core.simulate import advance_all
from ..scene.cache_modifiers import (
    BAKE_MODIFIER,
    add_cache_modifier,
    remove_bake_modifiers,
    remove_live_modifiers,
)
from ..scene.file_errors import errors_named
from ..scene.mesh_access import mesh_of
from ..scene.modifiers import check_order, place_after_carriers
from ..scene.sampling import SampleReader, Stage, read_meshes
from ..scene.timing import animation_frame
from ..settings.preferences import BESIDE, chosen_cache_folder
from .bake import Start, baked_frames, follow, prepare_stage, read_settings, start_anew
from .cache import Cache
from .cache_changes import check_goes_on
from .cache_folder import (
    caches_of,
    find_cache,
    made_own,
    new_folder,
    replace_others,
)
from .cache_handlers import note_baked
from .cache_record import CachedBody, CacheRecord, write_record
from .cache_writer import CacheWriter
from .cautions import why_nothing
from .former_bake import former_bakes_hidden
from .frame_visits import all_alike
from .memory import name_memory_errors, size_in_words
from .progress import Progress
from .record import BakeInputs, bake_inputs, remember_bake
from .shape_keys import remove_bake


def bake_cache(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
    *,
    frame_start: int,
    frame_end: int,
    blend: Path,
    resume: bool = False,
    from_frame: int = 0,
) -> Generator[Progress, bool | None, None]:
    """Simulates bodies together, and writes each frame to the point caches of the bodies.

    Closing the generator keeps the frames so far in a cache that is not shown; sending True keeps
    and shows them. After an error, the cache has the frames up to the last one that was stored.

    Parameters
    ----------
    scene, view_layer, objects, frame_start, frame_end
        As for `bake`.
    blend
        The .blend file beside which the cache is written.
    resume
        Whether to go on with the cache of these bodies, to the same bits as a bake without a break.
    from_frame
        First frame that is simulated again, with the scene as it is now; 0 is the one after the
        last of the cache.

    Returns
    -------
    Generator
        One Progress per simulated frame.

    Raises
    ------
    MeshError, SettingsError, DivergenceError, OutOfMemoryError, FileError, DiskFullError
        The message names the object or file, the problem and the remedy.
    """
    if not objects:
        raise MeshError(why_nothing(scene, view_layer))
    if from_frame and not resume:
        raise SettingsError(f"from_frame is {from_frame} without resume; set resume too")
    frames = baked_frames(frame_start, frame_end, 1)
    for obj in objects:
        check_order(obj, "a cache", "bake shape keys")
    cache, last = None, frame_start - 1
    if resume:
        cache = _found(scene, objects, blend)
        last = _end_to_keep(cache, frame_start, from_frame)
        objects = sorted(objects, key=lambda obj: cache.record.names.index(obj.name))
    stage = prepare_stage(scene, view_layer, objects)
    _check_disk(objects, frame_end - last, blend)
    running = _bake(stage, frames, blend, cache, last, again=from_frame != 0)
    return name_memory_errors(running, objects, frames)


def check_cache_step(step: int) -> None:
    """Raises SettingsError for another step than one frame, since caches have all frames."""
    if step != 1:
        raise SettingsError(
            f"The frame step is {step}, and a cache has every frame; leave it out, or bake shape "
            "keys"
        )


def _found(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], blend: Path) -> Cache:
    """The cache of some bodies to go on with."""
    names = [obj.name for obj in objects]
    cache = find_cache(scene.name, names, blend)
    if cache is None or {*cache.record.names} != {*names}:
        raise FileError(
            f"There is no cache of {', '.join(names)} alone to resume in {caches_of(blend)}; bake "
            "without resume",
            caches_of(blend),
        )
    return cache


def _end_to_keep(cache: Cache, start: int, from_frame: int) -> int:
    """The last frame of a cache to keep; raises an error where none can be."""
    record = cache.record
    if start != record.start:
        raise SettingsError(
            f"The cache {cache.folder} begins at frame {record.start}, and the range at {start}; "
            f"set its start to {record.start}, or bake without resume"
        )
    intact = cache.intact_end()
    if from_frame > intact + 1:
        raise SettingsError(
            f"from_frame is {from_frame}, and the cache {cache.folder} has intact frames up to "
            f"{intact}; set it to {intact + 1} or earlier"
        )
    if from_frame and from_frame <= start:
        raise SettingsError(
            f"from_frame is {from_frame}, where the range begins; bake without resume"
        )
    if kernels() != record.kernels:
        raise SettingsError(
            f"The cache {cache.folder} was baked with {record.kernels} kernels, and {kernels()} "
            "ones are in use now, which differ in the last digits; bake without resume"
        )
    return from_frame - 1 if from_frame else intact


def _check_disk(objects: Sequence[bpy.types.Object], frames: int, blend: Path) -> None:
    """Raises DiskFullError where the point caches cannot fit, and FileError without a folder."""
    folder = caches_of(blend)
    there = next(each for each in (folder, *folder.parents) if each.is_dir())
    need = 12 * max(frames, 0) * sum(len(mesh_of(obj).vertices) for obj in objects)
    with errors_named("write", folder):
        free = shutil.disk_usage(there).free
    if need > free:
        raise DiskFullError(
            f"The cache {folder} needs {size_in_words(need)}, and {size_in_words(free)} are left "
            "on the disk; make room there, or choose another Cache Folder in the preferences",
            folder,
        )


def _bake(
    stage: Stage, frames: list[int], blend: Path, cache: Cache | None, last: int, *, again: bool
) -> Generator[Progress, bool | None, None]:
    """Simulates the frames after the last one that is kept, yielding progress, and shows all."""
    inputs = bake_inputs(stage.bodies, stage.scene, stage.view_layer)
    with stage.left_as_found(former_bakes_hidden):
        if cache is None or last < frames[0]:
            start = start_anew(stage, frames)
            begin = partial(_new_cache, stage, frames[0], blend, inputs)
        else:
            cache = made_own(cache, blend)
            start = _go_on(stage, frames, cache, last, inputs, again=again)
            begin = partial(_continued, cache, last, inputs, again=again)
        writer = CacheWriter(stage, start.simulation, last, begin)
        try:
            yield from follow(stage, frames[0], start, writer)
        except GeneratorExit:
            with suppress(FileError):
                writer.save()
            raise
        writer.save()
    written = writer.cache or cache
    assert written is not None
    _show(stage, written, blend)


def _new_cache(stage: Stage, start: int, blend: Path, inputs: Sequence[BakeInputs]) -> Cache:
    """An empty cache of the bodies of a stage."""
    folder = new_folder(blend)
    bodies = cached_bodies(stage.bodies, inputs)
    cache = Cache(folder, CacheRecord(stage.scene_name, start, kernels(), bodies))
    with errors_named("write", folder):
        cache.create_points()
        write_record(folder, cache.record)
    return cache


def _go_on(
    stage: Stage,
    frames: list[int],
    cache: Cache,
    last: int,
    inputs: Sequence[BakeInputs],
    *,
    again: bool,
) -> Start:
    """Start of a bake that goes on with a cache after a frame of it.

    Raises
    ------
    MeshError, SettingsError, FileError
        The scene has changed so that it cannot, or a file is damaged.
    """
    meshes = read_meshes(stage, frames[0])
    shapes = stage.bind([mesh.positions for mesh in meshes])
    settings, scene = read_settings(stage)
    colliders = stage.read_colliders()
    alike = all_alike(stage, frames[0])
    simulation = cache.read_state(last)
    check_goes_on(cache.record, simulation, meshes, settings, colliders, inputs, again=again)
    simulation.scene_settings = scene
    if again:
        cache.write_state(last, simulation)
    samples = _samples_after(stage, frames, last, alike=alike, again=again)
    total = max(frames[-1] - last, 0) + 1
    return Start(simulation, alike, total, advance_all(simulation, samples), shapes)


def _samples_after(
    stage: Stage, frames: list[int], last: int, *, alike: bool, again: bool
) -> Iterator[Sample]:
    """Yields a sample per frame after the last one that is kept, as `read_samples` does.

    The frames before are visited too: scripts and Blender's own physics may go on from them.
    """
    start, end = frames[0], frames[-1]
    reader = SampleReader(stage, start)
    # Keys that are gone may have changed the weights of pins before.
    reader.gives_weights |= again
    first = reader.read(start, stage.at(start))
    if alike:
        yield from (replace(first, frame=frame) for frame in range(last + 1, end + 1))
        return
    for frame in range(start + 1, last):
        stage.at(frame)
    if last > start:
        reader.read(last, stage.at(last))
    for frame in range(last + 1, end + 1):
        yield reader.read(frame, stage.at(frame))


def _continued(cache: Cache, last: int, inputs: Sequence[BakeInputs], *, again: bool) -> Cache:
    """A cache without the frames after the last one that is kept."""
    cache.record.set_inputs(inputs)
    cache.keep(last)
    if again:
        cache.record.cuts.append(last + 1)
    return cache


def _show(stage: Stage, cache: Cache, blend: Path) -> None:
    """Shows a cache on the bodies in place of all former bakes, and notes its inputs."""
    record = cache.record
    remove_live_modifiers(stage.bodies)
    # In reverse order, so that keys which shared an action share it again.
    for obj in reversed(stage.bodies):
        remove_bake(obj)
    for obj, body, inputs in zip(stage.bodies, record.bodies, record.inputs, strict=True):
        show_cache(obj, cache.points(body), record.start, stage.scene)
        note_baked(obj)
        remember_bake(obj, [record.start, record.end], inputs, record.kernels)
    replace_others(cache, blend)


def show_cache(obj: bpy.types.Object, path: Path, start: int, scene: bpy.types.Scene) -> None:
    """Plays the point cache of a bake on a body, by a relative path if the folder is chosen so."""
    remove_bake_modifiers([obj])
    shown = str(path)
    if chosen_cache_folder().startswith(BESIDE):
        # Blender cannot lead from one drive to another.
        with suppress(ValueError):
            shown = bpy.path.relpath(shown)
    add_cache_modifier(
        obj,
        BAKE_MODIFIER,
        shown,
        start,
        place_after_carriers(obj),
        stretch=animation_frame(scene, 1),
    )


def cached_bodies(
    objects: Sequence[bpy.types.Object], inputs: Sequence[BakeInputs]
) -> list[CachedBody]:
    """The entries of bodies in the record of a new cache."""
    names = [obj.name for obj in objects]
    return [
        CachedBody(name, file, len(mesh_of(obj).vertices), its.settings, its.read)
        for obj, name, file, its in zip(objects, names, _file_names(names), inputs, strict=True)
    ]


def _file_names(bodies: Sequence[str]) -> list[str]:
    """Names of files for bodies, each another one, also where upper and lower case are one."""
    clean = [re.sub(r"[^\w.-]", "_", name) for name in bodies]
    folded = [name.casefold() for name in clean]
    return [
        f"{name}_{number}.pc2" if folded.count(name.casefold()) > 1 else f"{name}.pc2"
        for number, name in enumerate(clean)
    ]
