"""The one bake: samples the animated scene, simulates, and writes shape keys at the very end."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, cast

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError, SettingsError
from ...core.mesh import MeshData
from ...core.scene import Collider, Frame, Sample
from ...core.self_test import kernels
from ...core.settings import BodySettings, SceneSettings
from ...core.simulate import simulate
from ...core.simulation import Simulation
from ..scene.colliders import all_met, object_key
from ..scene.mesh_access import mesh_of
from ..scene.mesh_dependencies import check_following
from ..scene.mesh_io import WayToKey, check_body, is_own, is_shown, way_to_key
from ..scene.mirrors import find_joints
from ..scene.modifiers import has_carriers
from ..scene.sampling import Stage, read_meshes, read_samples
from ..settings.core_settings import body_settings, scene_settings
from ..settings.properties import body_properties, scene_properties
from .cautions import why_nothing
from .former_bake import former_bakes_hidden
from .frame_visits import all_alike
from .memory import check_room, check_room_to_write, told_throughout
from .record import BakeInputs, bake_inputs, remember_bake
from .self_crossing import through_themselves
from .shape_keys import write_bake
from .statistics import BakeStatistics


@dataclass(frozen=True)
class Progress:
    """Where a bake stands after one more simulated frame."""

    frame: int
    """Scene frame just simulated."""
    done: int
    """Simulated frames so far."""
    total: int
    """Frames to simulate altogether."""
    worst_stretch: float
    """Largest strain of any edge of any body so far."""
    most_stretched: str = ""
    """The body of that edge."""
    worst_penetration: float | None = None
    """How much nearer than its distance any body came to anything so far [m]; None without any."""
    colliders: int = 0
    """How many take part."""
    remarks: tuple[str, ...] = ()
    """What the user should know of what happened so far, in one sentence each."""
    positions: Sequence[Floats] = ()
    """Per body, (n, 3) where its vertices are now [m]."""

    def describe(self, *, seconds: float) -> str:
        """Says how far the bake is and, so many seconds after its first frame, what is left.

        Before the first frame, bodies were read and made ready, which tells nothing of the others.
        """
        so_far = f"frame {self.done} of {self.total}"
        if self.done == 1:
            return so_far
        minutes, rest = divmod(round(seconds / (self.done - 1) * (self.total - self.done)), 60)
        return f"{so_far}, {minutes}:{rest:02} left"


class Simulated(Protocol):
    """A simulation of which the first frames are known, such as a live one."""

    simulation: Simulation
    frames: list[Frame]
    """The results from the first frame on, one for each."""

    def simulate_frame(self, frame: int, depsgraph: bpy.types.Depsgraph) -> None:
        """Adds the result at the next frame, at which the scene stands."""


def bodies(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Lists the bodies that take part in a scene's simulation, in the scene's order."""
    return [obj for obj in scene.objects if body_properties(obj).enabled]


def taking_part(
    objects: Sequence[bpy.types.Object], view_layer: bpy.types.ViewLayer
) -> Sequence[bpy.types.Object]:
    """Lists the bodies that are shown and of this file; all if none is, so that a bake says so."""
    return [obj for obj in objects if is_shown(obj, view_layer) and is_own(obj)] or objects


def frame_range(scene: bpy.types.Scene) -> tuple[int, int]:
    """Gives the first and last frame that the scene plays: its preview range, if it uses one."""
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


def bake(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
    *,
    frame_start: int,
    frame_end: int,
    step: int = 1,
    simulated: Simulated | None = None,
) -> Generator[Progress, bool | None, None]:
    """Simulates bodies together and writes every `step`-th frame, and the last, as a shape key.

    Nothing is written before the last frame is simulated; close the generator to cancel. The
    current frame and a former bake are then as they were, and so they are after an error.
    Send it True to have it write what it has, as soon as that is a frame, and end.

    Parameters
    ----------
    scene, view_layer
        Where the bodies are evaluated.
    objects
        The bodies, each a mesh object of its own.
    frame_start, frame_end
        First and last frame; the simulation starts at rest, or with the animation's velocity.
    step
        Frames from one shape key to the next; all frames between are simulated too.
    simulated
        A simulation of these bodies from the first frame on: its frames are taken over, and it is
        led on where the bake goes further.

    Returns
    -------
    Generator
        One Progress per simulated frame.

    Raises
    ------
    MeshError, SettingsError, DivergenceError, OutOfMemoryError
        Each names the object, what is wrong and the remedy.
    """
    if not objects:
        raise MeshError(why_nothing(scene, view_layer))
    frames = baked_frames(frame_start, frame_end, step)
    stage = prepare_stage(scene, view_layer, objects)
    check_room(objects, frames)
    return told_throughout(_bake(stage, frames, simulated), objects, frames)


def prepare_stage(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
) -> Stage:
    """What of a scene is simulated, and what is read of it.

    Raises
    ------
    MeshError
        A body cannot be simulated as it is.
    """
    for obj in objects:
        check_body(obj, view_layer)
        # Before anything is read: a key for none has no points that could be read.
        if not mesh_of(obj).vertices:
            raise MeshError(f"{obj.name} has no vertices; add some, or remove its soft body")
        if obj == scene_properties(scene).ground_object:
            raise MeshError(f"{obj.name} cannot be its own ground; choose another ground object")
    colliders, met = all_met(objects, view_layer)
    stage = Stage(
        scene.name,
        view_layer.name,
        tuple(obj.name for obj in objects),
        tuple(map(find_joints, objects)),
        tuple(map(object_key, colliders)),
        tuple(met),
    )
    check_following(objects, colliders, scene_properties(scene).ground_object, stage.depsgraph)
    return stage


def baked_frames(start: int, end: int, step: int) -> list[int]:
    """Lists the frames that get a shape key; without the last, motion would end before it."""
    if end < start:
        raise SettingsError(
            f"The frame range {start} to {end} runs backwards; set the end to {start} or later"
        )
    if step < 1:
        raise SettingsError(f"The frame step is {step}; set it to 1 or more")
    limits = cast(bpy.types.IntProperty, bpy.types.Scene.bl_rna.properties["frame_current"])
    if start < limits.hard_min or end > limits.hard_max:
        raise SettingsError(
            f"The frame range {start} to {end} is longer than Blender's own, {limits.hard_min} to "
            f"{limits.hard_max}; choose a part of that"
        )
    return [*range(start, end, step), end]


def _bake(
    stage: Stage, frames: list[int], simulated: Simulated | None
) -> Generator[Progress, bool | None, None]:
    """Simulates, yielding progress, and then writes all keys of all bodies."""
    inputs = bake_inputs(stage.bodies, stage.scene, stage.view_layer)
    with stage.left_as_found(former_bakes_hidden):
        if simulated is None:
            start = _start_anew(stage, frames)
        else:
            start = _take_over(stage, frames, simulated)
        meshes, settings, colliders = start.meshes, start.settings, start.colliders
        gauge, keys = (
            BakeStatistics(meshes, settings),
            _Keys(stage, frames, meshes, alike=start.alike),
        )
        total = start.settling + frames[-1] - frames[0] + 1
        for done, result in enumerate(start.results, start=1):
            gauge.measure(result)
            if done == total:
                gauge.remarks += through_themselves(meshes, settings, result)
            keys.collect(result)
            enough = yield Progress(
                result.frame,
                done,
                total,
                gauge.stretch,
                gauge.most_stretched,
                gauge.penetration,
                len(colliders),
                tuple(gauge.remarks),
                result.positions,
            )
            if enough and result.frame >= frames[0]:
                keys.end_at(result.frame)
                break
        # Again, for what makes one follow may be animated from nothing.
        ground = scene_properties(stage.scene).ground_object
        check_following(stage.bodies, stage.colliders, ground, stage.depsgraph)
    keys.write(inputs)


class _Start(NamedTuple):
    """What a bake simulates, and the results that follow."""

    meshes: Sequence[MeshData]
    settings: Sequence[BodySettings]
    colliders: Sequence[Collider]
    alike: bool
    """Whether every frame shows the bake what the first one does."""
    settling: int
    """How many results come before the first frame."""
    results: Iterator[Frame]


def _start_anew(stage: Stage, frames: list[int]) -> _Start:
    """A bake that simulates all frames."""
    meshes = read_meshes(stage, frames[0])
    settings, scene = read_settings(stage)
    colliders = stage.read_colliders()
    samples = read_samples(stage, frames[0], frames[-1])
    if alike := all_alike(stage, frames[0]):
        samples = _repeated(samples, frames[-1])
    results = simulate(meshes, settings, scene, samples, colliders)
    settling = scene_properties(stage.scene).settle_frames
    return _Start(meshes, settings, colliders, alike, settling, results)


def _take_over(stage: Stage, frames: list[int], simulated: Simulated) -> _Start:
    """A bake that simulates only what no simulation has come to yet."""
    known = simulated.simulation
    stage.at(frames[0])  # so that nothing but time changes when it is visited again
    alike = all_alike(stage, frames[0])
    results = _known_first(stage, simulated, frames[-1], alike=alike)
    return _Start(known.meshes, known.body_settings, known.colliders, alike, 0, results)


def _known_first(stage: Stage, simulated: Simulated, end: int, *, alike: bool) -> Iterator[Frame]:
    """The frames of a simulation, at which the scene then stands, and those after them."""
    for result in tuple(simulated.frames):
        if result.frame > end:
            return
        if not alike:
            stage.at(result.frame)
        yield result
    for frame in range(simulated.frames[-1].frame + 1, end + 1):
        simulated.simulate_frame(frame, stage.at(frame))
        yield simulated.frames[-1]


def read_settings(stage: Stage) -> tuple[list[BodySettings], SceneSettings]:
    """The settings of the bodies and of the scene at the current frame, which is the first one.

    At another frame, animated values may make no sense.
    """
    shown = stage.depsgraph
    settings = [body_settings(obj.evaluated_get(shown)) for obj in stage.bodies]
    return settings, scene_settings(cast(bpy.types.Scene, shown.scene_eval))


def _repeated(samples: Iterator[Sample], end: int) -> Iterator[Sample]:
    """The first sample for every frame up to the end."""
    first = next(samples)
    return (replace(first, frame=frame) for frame in range(first.frame, end + 1))


class _Keys:
    """Collects the frames that get a shape key, and writes them."""

    def __init__(
        self, stage: Stage, frames: list[int], meshes: Sequence[MeshData], *, alike: bool
    ) -> None:
        self._stage, self._frames = stage, frames
        self._places = {frame: place for place, frame in enumerate(frames)}
        self._keys = [np.empty((len(frames), *mesh.positions.shape), np.float32) for mesh in meshes]
        lasting = alike and not any(map(has_carriers, stage.bodies))
        self._ways = self._read_ways() if lasting else None

    def _read_ways(self) -> list[WayToKey]:
        """The way from each body's world positions to a key, at the current frame."""
        return [way_to_key(obj, self._stage.depsgraph) for obj in self._stage.bodies]

    def collect(self, result: Frame) -> None:
        """Takes another frame, at which the scene stands."""
        place = self._places.get(result.frame)
        if place is None:
            return
        ways = self._ways or self._read_ways()
        for coordinates, way, positions in zip(self._keys, ways, result.positions, strict=True):
            coordinates[place] = way(positions)

    def end_at(self, frame: int) -> None:
        """Leaves out what comes after a frame."""
        self._frames = [each for each in self._frames if each <= frame]

    def write(self, inputs: Sequence[BakeInputs]) -> None:
        """Writes all keys of all bodies, and the record of their inputs."""
        check_room_to_write(self._stage.bodies, self._frames)
        served = kernels()
        for obj, read in zip(self._stage.bodies, inputs, strict=True):
            # What is written makes room for what Blender keeps of it.
            write_bake(obj, self._frames, self._keys.pop(0)[: len(self._frames)])
            remember_bake(obj, self._frames, read, served)
