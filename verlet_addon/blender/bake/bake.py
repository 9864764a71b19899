"""The bake: samples the animated scene, simulates, and writes shape keys after the last frame."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, cast

import bpy

from ...core.errors import MeshError, SettingsError
from ...core.remark import Remark
from ...core.scene import Frame, Sample
from ...core.settings import BodySettings, SceneSettings
from ...core.simulate import advance_all
from ...core.simulation import Simulation, start_simulation
from ..scene.attachments import boneless_attachments
from ..scene.cages import Shapes, simulated_object
from ..scene.colliders import all_met, object_key
from ..scene.curve_lines import check_rope
from ..scene.mesh_access import point_count
from ..scene.mesh_dependencies import check_following
from ..scene.mesh_io import check_body
from ..scene.mirrors import find_joints
from ..scene.ownership import is_own
from ..scene.sampling import Stage, read_samples
from ..scene.starting_meshes import read_meshes
from ..scene.visibility import is_shown
from ..settings.core_settings import body_settings, scene_settings
from ..settings.properties import body_properties, scene_properties
from .bone_keys import check_bone_keys
from .cautions import why_nothing
from .edit_names import refuse_edits
from .former_bake import former_bakes_hidden
from .forms import RELATIVE, KeyForm, check_form
from .frame_visits import all_alike
from .key_collector import KeyCollector
from .memory import check_room, name_memory_errors
from .progress import Progress
from .record import bake_inputs, check_cage_without_bake
from .self_crossing import through_themselves
from .statistics import BakeStatistics, Extremes


class Simulated(Protocol):
    """A simulation whose first frames are known already, such as a live one."""

    simulation: Simulation
    frames: list[Frame]
    """One result per frame, from the first frame on."""

    def simulate_frame(self, frame: int, depsgraph: bpy.types.Depsgraph) -> None:
        """Simulates and appends the next frame, which is the scene's current one."""


def bodies(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Lists the bodies that are simulated in a scene, in the scene's order."""
    return [obj for obj in scene.objects if body_properties(obj).enabled]


def taking_part(
    objects: Sequence[bpy.types.Object], view_layer: bpy.types.ViewLayer
) -> Sequence[bpy.types.Object]:
    """Lists the bodies that are shown and this file's own; if none is, all, for their errors."""
    return [obj for obj in objects if is_shown(obj, view_layer) and is_own(obj)] or objects


def frame_range(scene: bpy.types.Scene) -> tuple[int, int]:
    """First and last frame that the scene plays: the preview range where it is in use."""
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
    form: KeyForm = RELATIVE,
) -> Generator[Progress, bool | None, None]:
    """Simulates bodies together and writes every `step`-th frame, and the last, as a shape key.

    Nothing is written before the last frame is simulated. Closing the generator cancels the bake;
    the current frame and an earlier bake stay as they were then, as they do after an error.
    Sending True ends the bake early and writes the frames simulated so far, at least one.

    Parameters
    ----------
    scene, view_layer
        The scene and view layer in which the bodies are evaluated.
    objects
        The bodies: mesh or curve objects that share no data.
    frame_start, frame_end
        First and last frame; the simulation starts at rest, or with the animation's velocity.
    step
        Frames from one shape key to the next; all frames between are simulated too.
    simulated
        A simulation of these bodies from the first frame on. The bake reuses its frames, and
        continues it up to `frame_end`.
    form
        How shape keys keep the motion. Bodies with too many components get a key per frame, and a
        remark in a last Progress says so.

    Returns
    -------
    Generator
        One Progress per simulated frame.

    Raises
    ------
    MeshError, SettingsError, DivergenceError, OutOfMemoryError
        The message names the object, the problem and the remedy.
    """
    if not objects:
        raise MeshError(why_nothing(scene, view_layer))
    refuse_edits(objects)
    frames = baked_frames(frame_start, frame_end, step)
    stage = prepare_stage(scene, view_layer, objects)
    check_form(objects, form)
    check_room(objects, frames)
    return name_memory_errors(_bake(stage, frames, simulated, form), objects, frames)


def prepare_stage(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
) -> Stage:
    """Checks the bodies and finds their colliders and mirrors.

    Returns
    -------
    Stage
        Names of all that a bake reads at each frame.

    Raises
    ------
    MeshError
        A body cannot be simulated as it is.
    """
    check_bone_keys(objects)
    for obj in objects:
        check_body(obj, view_layer)
        # Checked before anything is read: a shape key without points cannot be read.
        check_cage_without_bake(obj)
        if not point_count(obj):
            raise MeshError(f"{obj.name} has no vertices; add some, or remove its soft body")
        check_rope(obj)
        if obj == scene_properties(scene).ground_object:
            raise MeshError(f"{obj.name} cannot be its own ground; choose another ground object")
    colliders, met = all_met(objects, view_layer)
    stage = Stage(
        scene.name,
        view_layer.name,
        tuple(obj.name for obj in objects),
        tuple(find_joints(simulated_object(obj)) for obj in objects),
        tuple(map(object_key, colliders)),
        tuple(met),
    )
    check_following(objects, colliders, scene_properties(scene).ground_object, stage.depsgraph)
    return stage


def baked_frames(start: int, end: int, step: int) -> list[int]:
    """Lists the frames that get a shape key: every `step`-th, and the last."""
    if end < start:
        raise SettingsError(
            f"The frame range {start} to {end} ends before it starts; set its end to {start} or "
            "later"
        )
    if step < 1:
        raise SettingsError(f"The frame step is {step}; set it to 1 or more")
    limits = cast(bpy.types.IntProperty, bpy.types.Scene.bl_rna.properties["frame_current"])
    if start < limits.hard_min or end > limits.hard_max:
        raise SettingsError(
            f"The frame range {start} to {end} exceeds Blender's own, {limits.hard_min} to "
            f"{limits.hard_max}; choose a part of that"
        )
    return [*range(start, end, step), end]


def _bake(
    stage: Stage, frames: list[int], simulated: Simulated | None, form: KeyForm
) -> Generator[Progress, bool | None, None]:
    """Simulates, yielding progress, and then writes all keys of all bodies."""
    inputs = bake_inputs(stage.bodies, stage.scene, stage.view_layer)
    with stage.left_as_found(former_bakes_hidden):
        if simulated is None:
            start = start_anew(stage, frames)
        else:
            start = _take_over(stage, frames, simulated)
        keys = KeyCollector(stage, frames, alike=start.alike)
        last = yield from follow(stage, frames[0], start, keys)
    if refusals := keys.write(inputs, form):
        yield replace(last, remarks=(*last.remarks, *refusals))


class Start(NamedTuple):
    """The simulation of a bake, and the results that it yields."""

    simulation: Simulation
    alike: bool
    """Whether the scene's samples are the same at every frame."""
    total: int
    """Number of results."""
    results: Iterator[Frame]
    shapes: Shapes
    """Bindings of bodies to cages, by which these results are shown."""


Lead = Callable[[Simulation, Iterator[Sample]], Iterator[Sample]]
"""Changes samples on their way to a simulation, such as by springs that draw it."""


def bake_statistics(
    stage: Stage,
    simulation: Simulation,
    before: Extremes | None = None,
    earlier: Sequence[Remark] = (),
) -> BakeStatistics:
    """The statistics of a bake; of one that goes on, with extremes and warnings of before."""
    gauge = BakeStatistics(simulation.meshes, simulation.body_settings, before, earlier)
    gauge.boneless = {
        obj.name: item.target.name for obj in stage.bodies for _, item in boneless_attachments(obj)
    }
    return gauge


class Collector(Protocol):
    """Receiver of the results of a bake."""

    def collect(self, result: Frame) -> None:
        """Takes a result, at whose frame the scene is."""

    def end_at(self, frame: int) -> None:
        """Ends with a frame, which is the last one collected."""

    def remarks(self) -> list[str]:
        """One sentence for each body that shows its motion otherwise than it was simulated."""


def follow(
    stage: Stage,
    first: int,
    start: Start,
    collector: Collector,
    gauge: BakeStatistics | None = None,
) -> Generator[Progress, bool | None, Progress]:
    """Passes results on, from the first frame or before it, and yields the progress of each.

    Sending True ends the bake at the first frame or later. The last progress is returned too.

    Parameters
    ----------
    gauge
        The statistics, where they begin with those of earlier frames.
    """
    meshes, settings = start.simulation.meshes, start.simulation.body_settings
    gauge = gauge or bake_statistics(stage, start.simulation)
    for done, result in enumerate(start.results, start=1):
        gauge.measure(result)
        if done == start.total:
            gauge.remarks += through_themselves(meshes, settings, result)
            gauge.remarks += gauge.at_end(done)
        shown = start.shapes.carry(result)
        collector.collect(shown)
        if done == start.total:
            gauge.remarks += collector.remarks()
        now = Progress(
            result.frame,
            done,
            start.total,
            gauge.extremes.stretch,
            gauge.extremes.stretched,
            gauge.extremes.penetration,
            len(start.simulation.colliders),
            tuple(dict.fromkeys(gauge.remarks)),
            shown.positions,
            start.shapes.own(gauge.rest_lengths),
            gauge.contact_searches,
            result.threads,
        )
        enough = yield now
        if enough and result.frame >= first:
            collector.end_at(result.frame)
            break
    # Checked again, since dependencies may be animated, such as an influence that was 0.
    ground = scene_properties(stage.scene).ground_object
    check_following(stage.bodies, stage.colliders, ground, stage.depsgraph)
    return now


def start_anew(stage: Stage, frames: Sequence[int], lead: Lead | None = None) -> Start:
    """Start of a bake that simulates all frames, with samples that `lead` may change."""
    meshes = read_meshes(stage, frames[0])
    shapes = stage.bind([mesh.positions for mesh in meshes])
    settings, scene = read_settings(stage)
    colliders = stage.read_colliders()
    samples = read_samples(stage, frames[0], frames[-1])
    if alike := all_alike(stage, frames[0]):
        samples = _repeated(samples, frames[-1])
    simulation = start_simulation(meshes, settings, scene, next(samples), colliders)
    if lead is not None:
        samples = lead(simulation, samples)
    total = scene_properties(stage.scene).settle_frames + frames[-1] - frames[0] + 1
    return Start(simulation, alike, total, advance_all(simulation, samples), shapes)


def _take_over(stage: Stage, frames: list[int], simulated: Simulated) -> Start:
    """Start of a bake that reuses the frames of another simulation and continues it."""
    stage.at(frames[0])  # so that only time changes when `all_alike` visits this frame again
    shapes = stage.bind([mesh.positions for mesh in simulated.simulation.meshes])
    alike = all_alike(stage, frames[0])
    results = _known_first(stage, simulated, frames[-1], alike=alike)
    return Start(simulated.simulation, alike, frames[-1] - frames[0] + 1, results, shapes)


def _known_first(stage: Stage, simulated: Simulated, end: int, *, alike: bool) -> Iterator[Frame]:
    """Yields a simulation's known frames, then its further ones, each at its scene frame."""
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
    """Settings of the bodies and the scene at the current frame, which has to be the first one."""
    shown = stage.depsgraph
    settings = [body_settings(obj.evaluated_get(shown)) for obj in stage.bodies]
    return settings, scene_settings(cast(bpy.types.Scene, shown.scene_eval))


def _repeated(samples: Iterator[Sample], end: int) -> Iterator[Sample]:
    """Repeats the first sample for every frame up to the end."""
    first = next(samples)
    return (replace(first, frame=frame) for frame in range(first.frame, end + 1))
