"""A bake that goes on with a cache: where it can, and the simulation from there on."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import bpy

from ...core.arrays import Floats
from ...core.edit_springs import edit_springs
from ...core.errors import FileError, MeshError, SettingsError
from ...core.scene import Sample
from ...core.self_test import kernels
from ...core.simulate import advance_all
from ...core.simulation import Simulation
from ..scene.file_errors import errors_named
from ..scene.sampling import SampleReader, Stage
from ..scene.starting_meshes import read_meshes
from .bake import Lead, Start, read_settings
from .cache import Cache
from .cache_changes import check_goes_on
from .cache_folder import caches_of, find_cache
from .cache_hold import hold
from .frame_visits import all_alike
from .record import BakeInputs


def found_cache(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], blend: Path) -> Cache:
    """The cache of some bodies to go on with."""
    names = [obj.name for obj in objects]
    cache = find_cache(scene.name, names, blend)
    if cache is None or {*cache.record.names} != {*names}:
        raise FileError(
            f"There is no cache of {', '.join(names)} alone to go on with in {caches_of(blend)}; "
            "bake again from the start",
            caches_of(blend),
        )
    return cache


def end_to_keep(cache: Cache, start: int, from_frame: int) -> int:
    """The last frame of a cache to keep; raises an error where none can be."""
    record = cache.record
    if start != record.start:
        raise SettingsError(
            f"The cache {cache.folder} begins at frame {record.start}, and the range at {start}; "
            f"set the start of the range to {record.start}, or bake again from the start"
        )
    intact = cache.intact_end()
    if from_frame > intact + 1:
        raise SettingsError(
            f"From Frame is {from_frame}, and the cache {cache.folder} has intact frames up to "
            f"{intact}; set it to {intact + 1} or earlier"
        )
    if from_frame and from_frame <= start:
        raise SettingsError(
            f"From Frame is {from_frame}, where the range begins; bake again from the start"
        )
    if kernels() != record.kernels:
        raise SettingsError(
            f"The cache {cache.folder} was baked on kernels ({record.kernels}) whose results "
            f"differ, if only in the last digits, from those in use now ({kernels()}); bake "
            "again from the start"
        )
    return from_frame - 1 if from_frame else intact


def held(cache: Cache) -> Cache:
    """A cache, held by this process; raises FileError if another one holds it.

    Files that a process was writing when it was killed are deleted: their names are of frames that
    no later bake may store.
    """
    with errors_named("write", cache.folder):
        if hold(cache.folder):
            cache.remove_unfinished()
            return cache
    raise FileError(
        f"Another process writes the cache {cache.folder}; wait until it has ended, or bake "
        "again from the start",
        cache.folder,
    )


def go_on(
    stage: Stage,
    frames: list[int],
    cache: Cache,
    last: int,
    inputs: Sequence[BakeInputs],
    *,
    again: bool,
    lead: Lead | None = None,
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
    if lead is not None:
        samples = lead(simulation, samples)
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


def continued(cache: Cache, last: int, inputs: Sequence[BakeInputs], *, again: bool) -> Cache:
    """A cache without the frames after the last one that is kept."""
    cache.record.set_inputs(inputs)
    cache.keep(last)
    if again:
        cache.record.cuts.append(last + 1)
    return cache


def eased(cache: Cache, last: int, edited: int, shapes: Sequence[Floats | None]) -> Lead:
    """Springs that draw bodies from where a cache has them to shapes of a later, edited frame."""

    def lead(_simulation: Simulation, samples: Iterator[Sample]) -> Iterator[Sample]:
        former, way = cache.read_state(last), list(cache.samples(last, edited))
        track = [former.frame().positions, *(former.advance(each).positions for each in way)]
        if not former.bodies:
            raise MeshError("No frame is simulated yet; change the mesh itself, and bake anew")
        models, durations = [model for model, _ in former.bodies], [s.duration for s in way]
        each_body = [
            (model, places, durations, shape)
            for model, places, shape in zip(models, zip(*track, strict=True), shapes, strict=True)
        ]
        springs = zip(*(edit_springs(*each) for each in each_body), strict=True)
        for sample in samples:
            yield replace(sample, goal_springs=next(springs, ()))

    return lead
