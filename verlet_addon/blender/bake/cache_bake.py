"""The bake to a cache: writes frames as they are simulated, and goes on where one has ended."""

import re
import shutil
from collections.abc import Generator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import bpy

from ...core.errors import DiskFullError, FileError, MeshError, SettingsError
from ...core.self_test import kernels
from ..scene.cache_modifiers import (
    BAKE_MODIFIER,
    add_cache_modifier,
    bake_modifier,
    play_as_loop,
    relative_path,
    remove_bake_modifiers,
    remove_live_modifiers,
)
from ..scene.file_errors import errors_named
from ..scene.mesh_access import point_count
from ..scene.modifiers import check_order, place_after_carriers
from ..scene.sampling import Stage
from ..settings.preferences import BESIDE, chosen_cache_folder
from ..settings.properties import body_properties
from ..settings.timing import animation_frame
from .bake import bake_statistics, baked_frames, follow, prepare_stage, start_anew
from .bone_keys import key_bones
from .cache import Cache, last_written
from .cache_folder import (
    caches_of,
    made_own,
    new_folder,
    replace_others,
)
from .cache_handlers import note_baked
from .cache_hold import release
from .cache_record import CachedBody, CacheRecord, write_record
from .cache_resume import continued, eased, end_to_keep, found_cache, go_on, held
from .cache_writer import CacheWriter
from .cautions import why_nothing
from .edit_names import refuse_edits
from .edited_frame import check_edits, edits_taken, keep_posed, remove_edits
from .former_bake import former_bakes_hidden
from .memory import name_memory_errors, size_in_words
from .progress import Progress
from .record import BakeInputs, bake_inputs, remember_bake
from .shape_keys import remove_bakes

EASE_FRAMES = 6
"""Number of frames, unless another is chosen, over which bodies are drawn to an edited frame."""


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
    edited: bool = False,
    ease_frames: int = EASE_FRAMES,
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
    edited
        Whether `from_frame` is an edited frame: the simulation goes on before it, and springs draw
        the bodies to it as far as their lengths allow.
    ease_frames
        Number of frames over which they do, 1 or more; fewer where the cache begins later.

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
        raise SettingsError(f"From Frame is {from_frame}, and Resume is off; turn on Resume too")
    if edited and not from_frame:
        raise SettingsError("Edited is on, and From Frame is 0; set From Frame, and turn on Resume")
    if edited:
        check_edits(objects, from_frame)
        keep_posed(scene, objects, from_frame)
    else:
        refuse_edits(objects)
    frames = baked_frames(frame_start, frame_end, 1)
    for obj in objects:
        check_order(obj, "a cache", "bake shape keys")
    cache, last = None, frame_start - 1
    if resume:
        cache = found_cache(scene, objects, blend)
        last = end_to_keep(cache, frame_start, from_frame)
        if edited:
            last = max(from_frame - ease_frames, frame_start)
        objects = sorted(objects, key=lambda obj: cache.record.names.index(obj.name))
    stage = prepare_stage(scene, view_layer, objects)
    _check_disk(objects, frame_end - last, blend)
    edit = from_frame if edited else 0
    running = _bake(stage, frames, blend, cache, last, again=from_frame != 0, edited_frame=edit)
    return name_memory_errors(running, objects, frames)


def check_cache_step(step: int) -> None:
    """Raises SettingsError for another step than one frame, since caches have all frames."""
    if step != 1:
        raise SettingsError(
            f"The frame step is {step}, and a cache has every frame; leave it out, or bake shape "
            "keys"
        )


def _check_disk(objects: Sequence[bpy.types.Object], frames: int, blend: Path) -> None:
    """Raises DiskFullError where the point caches cannot fit, and FileError without a folder."""
    folder = caches_of(blend)
    there = next(each for each in (folder, *folder.parents) if each.is_dir())
    need = 12 * max(frames, 0) * sum(point_count(obj) for obj in objects)
    with errors_named("write", folder):
        free = shutil.disk_usage(there).free
    if need > free:
        raise DiskFullError(
            f"The cache {folder} needs {size_in_words(need)}, and {size_in_words(free)} are left "
            "on the disk; make room there, or choose another Cache Folder in the preferences",
            folder,
        )


def _bake(
    stage: Stage,
    frames: list[int],
    blend: Path,
    cache: Cache | None,
    last: int,
    *,
    again: bool,
    edited_frame: int,
) -> Generator[Progress, bool | None, None]:
    """Simulates the frames after the last one that is kept, yielding progress, and shows all."""
    inputs = bake_inputs(stage.bodies, stage.scene, stage.view_layer)
    with stage.left_as_found(former_bakes_hidden), ExitStack() as taken:
        shapes = taken.enter_context(edits_taken(stage, edited_frame)) if edited_frame else None
        if cache is None or last < frames[0]:
            start = start_anew(stage, frames)
            begin = partial(new_cache, stage, frames[0], blend, inputs)
            before, earlier = None, []
        else:
            cache = held(made_own(cache, blend))
            lead = eased(cache, last, edited_frame, shapes) if shapes is not None else None
            start = go_on(stage, frames, cache, last, inputs, again=again, lead=lead)
            begin = partial(continued, cache, last, inputs, again=again)
            before, earlier = cache.record.extremes_at(last), cache.record.remarks_at(last)
        gauge = bake_statistics(stage, start.simulation, before, earlier)
        writer = CacheWriter(stage, start.simulation, gauge, last, begin)
        try:
            yield from follow(stage, frames[0], start, writer, gauge)
        except BaseException as error:
            if isinstance(error, GeneratorExit):
                with suppress(FileError):
                    writer.save()
            if (stopped := writer.cache or cache) is not None:
                release(stopped.folder)  # for whoever goes on with it
            raise
        writer.save()
    written = writer.cache or cache
    assert written is not None
    show_caches(stage, written, blend)
    if edited_frame:
        remove_edits(stage.bodies)


def new_cache(stage: Stage, start: int, blend: Path, inputs: Sequence[BakeInputs]) -> Cache:
    """An empty cache of the bodies of a stage."""
    folder = new_folder(blend)
    bodies = cached_bodies(stage.bodies, inputs)
    cache = Cache(folder, CacheRecord(stage.scene_name, start, kernels(), bodies))
    with errors_named("write", folder):
        cache.create_points()
        write_record(folder, cache.record)
        cache.begun = last_written(folder)
    return cache


def show_caches(stage: Stage, cache: Cache, blend: Path, *, loop: int = 0) -> None:
    """Shows a cache on the bodies in place of all former bakes, and notes its inputs.

    A loop has a number of frames, and another sample that equals the first.
    """
    record = cache.record
    remove_live_modifiers(stage.bodies)
    remove_bakes(stage.bodies)
    for obj, body, inputs in zip(stage.bodies, record.bodies, record.inputs, strict=True):
        show_cache(obj, cache.points(body), record.start, stage.scene, loop=loop)
        note_baked(obj)
        end = record.end - 1 if loop else record.end
        remember_bake(obj, [record.start, end], inputs, record.kernels)
    key_bones(stage.scene, stage.view_layer, stage.bodies)
    replace_others(cache, blend)


def show_cache(
    obj: bpy.types.Object, path: Path, start: int, scene: bpy.types.Scene, *, loop: int = 0
) -> None:
    """Plays the point cache of a bake on a body, by a relative path if the folder is chosen so.

    A loop has a number of frames, and another sample that equals the first.
    """
    remove_bake_modifiers([obj])
    shown = relative_path(path) if chosen_cache_folder().startswith(BESIDE) else str(path)
    add_cache_modifier(
        obj,
        BAKE_MODIFIER,
        shown,
        start,
        place_after_carriers(obj),
        stretch=(stretch := animation_frame(scene, 1)),
    )
    if loop and (shown_by := bake_modifier(obj)) is not None:
        play_as_loop(shown_by, start * stretch, loop, stretch=stretch)
        body_properties(obj).baked_loop = loop


def cached_bodies(
    objects: Sequence[bpy.types.Object], inputs: Sequence[BakeInputs]
) -> list[CachedBody]:
    """The entries of bodies in the record of a new cache."""
    names = [obj.name for obj in objects]
    return [
        CachedBody(name, file, point_count(obj), its.settings, its.read)
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
