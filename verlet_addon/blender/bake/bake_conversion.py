"""Conversion of bakes from one form to another, without a simulation."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.errors import SettingsError
from ..scene.cache_modifiers import bake_modifier, cache_path
from ..scene.curve_lines import curve_refusal, refuse_curve
from ..scene.curve_points import is_curve
from ..scene.file_errors import errors_named
from ..scene.hair_curves import refuse_hair
from ..scene.key_points import way_to_key
from ..scene.mesh_io import world_matrix
from ..scene.modifiers import check_order, read_deformed
from ..scene.pc2 import read_samples
from ..scene.sampling import Stage
from ..settings.properties import body_properties
from .bake import prepare_stage
from .bone_keys import key_bones
from .cache import Cache, read_cache, remove_cache
from .cache_bake import cached_bodies, show_cache
from .cache_checks import check_intact
from .cache_folder import new_folder
from .cache_record import CacheRecord
from .cache_writer import PointWriter
from .edit_names import refuse_edits
from .former_bake import all_keys_shown, former_bakes_hidden
from .forms import KeyForm, Plan, check_form, plan, write_plan
from .memory import check_room
from .motion import Deviation, Motion
from .record import BakeInputs, form_of, remember_bake
from .shape_keys import remove_bakes

_FORM = ("another form of a bake", "keep its shape keys")
"""The form that no curve shows, and the remedy, for `refuse_curve`."""


class Converted(NamedTuple):
    """Result of a conversion."""

    names: list[str]
    """Objects whose bakes have another form now."""
    keys: int = 0
    """Number of shape keys that were written."""
    deviation: Deviation = Deviation(0.0, 0.0)
    """Largest one of all objects from the forms before."""
    refusals: Sequence[str] = ()
    """A sentence for each object whose bake is as it was."""

    def describe(self, mode: str) -> str:
        """Sentence for the user."""
        what = self.names[0] if len(self.names) == 1 else f"{len(self.names)} objects"
        if mode == "CACHE":
            return f"Converted the bake of {what} to a cache"
        form = {"ABSOLUTE": "absolute keys", "COMPACT": "components"}.get(mode, "shape keys")
        off = f", off by {self.deviation.describe()}" if self.deviation.worst >= 1e-6 else ""
        return f"Converted the bake of {what} to {form}: {self.keys} keys{off}"


def convert_bakes(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
    form: KeyForm | Path,
    *,
    step: int | None = None,
) -> Converted:
    """Gives the bakes of objects another form, without a simulation.

    Curves keep theirs, which is refused for each of them, and an error if there are no others.

    Parameters
    ----------
    form : that of shape keys, or for caches the .blend file beside which they are written.
    step : frames from one shape key to the next; None for that of the bake.

    Raises
    ------
    MeshError, SettingsError, FileError, DiskFullError, OutOfMemoryError
        As `keys_to_cache` and `to_keys`, or a body has an edited frame.
    """
    refuse_edits(objects)
    for obj in objects if isinstance(form, KeyForm) else ():
        refuse_hair(obj, "shape keys", "leave it as a cache")
    meshes = [obj for obj in objects if not is_curve(obj)]
    chosen = meshes or objects
    if isinstance(form, Path):
        keys_to_cache(scene, view_layer, chosen, form)
        converted = Converted([obj.name for obj in chosen])
    else:
        converted = to_keys(scene, view_layer, chosen, form, step=step)
    curves = [curve_refusal(obj, *_FORM) for obj in objects if obj not in chosen]
    return converted._replace(refusals=[*converted.refusals, *curves])


def convertible(
    objects: Sequence[bpy.types.Object], mode: str, *, anew: bool
) -> list[bpy.types.Object]:
    """Lists the objects whose bakes a conversion to a form changes.

    Parameters
    ----------
    anew : whether shape keys are also written anew, such as with another step.
    """
    again = "" if anew and mode != "CACHE" else mode
    return [obj for obj in objects if form_of(obj) not in ("", again)]


class _Noted(NamedTuple):
    """The record of a body's bake."""

    frames: range
    loop: int
    step: int
    inputs: BakeInputs
    kernels: str
    deviation: Deviation


def _noted(obj: bpy.types.Object) -> _Noted:
    """The record of the bake of an object."""
    body = body_properties(obj)
    return _Noted(
        range(body.baked_start, body.baked_end + 1),
        body.baked_loop,
        body.baked_step,
        BakeInputs(body.baked_settings, body.baked_inputs),
        body.baked_kernels,
        Deviation(body.baked_worst, body.baked_rms),
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
    groups: dict[tuple[int, int, int], list[bpy.types.Object]] = {}
    for obj in objects:
        noted = _noted(obj)
        groups.setdefault((noted.frames[0], noted.frames[-1], noted.loop), []).append(obj)
    caches: list[Cache] = []
    try:
        with stage.left_as_found(all_keys_shown):
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
            remove_bakes([obj])
            show_cache(obj, cache.points(body), cache.record.start, scene, loop=noted.loop)
            remember_bake(obj, noted.frames, noted.inputs, noted.kernels)
            _add_deviation(obj, noted.deviation)
    key_bones(scene, view_layer, objects)


def _new_cache(scene: bpy.types.Scene, objects: list[bpy.types.Object], folder: Path) -> Cache:
    """An empty cache of objects that were baked over the same frames."""
    noted = list(map(_noted, objects))
    bodies = cached_bodies(objects, [each.inputs for each in noted])
    return Cache(folder, CacheRecord(scene.name, noted[0].frames[0], noted[0].kernels, bodies))


def _write_shown(stage: Stage, objects: list[bpy.types.Object], cache: Cache) -> None:
    """Writes what objects show at each frame of their bakes, and a loop's first frame once more."""
    noted = _noted(objects[0])
    frames = [*noted.frames, *noted.frames[: 1 if noted.loop else 0]]
    with errors_named("write", cache.folder):
        cache.create_points()
        writer = PointWriter(cache)
        for frame in frames:
            depsgraph = stage.at(frame)
            writer.append([read_deformed(obj, depsgraph) for obj in objects])
        writer.close()


def to_keys(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
    form: KeyForm,
    *,
    step: int | None = None,
) -> Converted:
    """Writes what the bakes of objects show as shape keys in a form, which take their place.

    Parameters
    ----------
    step : frames from one shape key to the next; None for that of the bake.

    Raises
    ------
    MeshError, SettingsError, FileError, OutOfMemoryError
        A cache is missing, damaged or stale, the form does not suit an object, or memory does not
        suffice; nothing is changed then.
    """
    if step is not None and step < 1:
        raise SettingsError(f"The frame step is {step}; set it to 1 or more")
    check_form(objects, form)
    for obj in objects:
        refuse_curve(obj, *_FORM)
    stage = prepare_stage(scene, view_layer, objects)
    for obj in objects:
        check_intact(obj)
    frames = [_frames(obj, step) for obj in objects]
    for obj, its in zip(objects, frames, strict=True):
        check_room([obj], its)
    with stage.left_as_found(all_keys_shown):
        shown = [_shown(stage, *each) for each in zip(objects, frames, strict=True)]
    plans = list[Plan]()
    with stage.left_as_found(former_bakes_hidden):
        for obj, its in zip(objects, frames, strict=True):
            motion = _read_motion(stage, obj, its, shown.pop(0))
            plans.append(plan(obj, motion, form, step or 1))
    converted = _write_all(objects, plans)
    key_bones(scene, view_layer, objects)
    return converted


def _write_all(objects: Sequence[bpy.types.Object], plans: Sequence[Plan]) -> Converted:
    """Writes the motion of all objects but those whose components are of no use."""
    written = [pair for pair in zip(objects, plans, strict=True) if not pair[1].refusal]
    for obj, chosen in written:
        noted = _noted(obj)
        write_plan(obj, chosen)
        remember_bake(obj, noted.frames, noted.inputs, noted.kernels)
        _add_deviation(obj, noted.deviation)
    return Converted(
        [obj.name for obj, _ in written],
        sum(len(body_properties(obj).baked_keys) for obj, _ in written),
        Deviation(
            max((each.deviation.worst for _, each in written), default=0.0),
            max((each.deviation.rms for _, each in written), default=0.0),
        ),
        [each.refusal for each in plans if each.refusal],
    )


def _frames(obj: bpy.types.Object, step: int | None) -> list[int]:
    """The frames of a bake to read: those of its keys, or all of which some are left out."""
    noted = _noted(obj)
    kept = noted.frames[:: noted.step if step is None else 1]
    return [*kept] if noted.loop else sorted({*kept, noted.frames[-1]})


def _add_deviation(obj: bpy.types.Object, former: Deviation) -> None:
    """Adds the distances of a former form, so that the sum is that from the simulation at most."""
    body = body_properties(obj)
    body.baked_worst += former.worst
    body.baked_rms += former.rms


def _shown(stage: Stage, obj: bpy.types.Object, frames: Sequence[int]) -> list[NDArray[np.float32]]:
    """Per frame, (n, 3) what a body shows after its carriers, in its own space."""
    if (modifier := bake_modifier(obj)) is None:
        return [read_deformed(obj, stage.at(frame)).astype(np.float32) for frame in frames]
    path = cache_path(obj, modifier)
    start = read_cache(path.parent).record.start
    samples = read_samples(path, frames[0] - start, frames[-1] - frames[0] + 1)
    wanted = set(frames)
    return [points for frame, points in enumerate(samples, start=frames[0]) if frame in wanted]


def _read_motion(
    stage: Stage,
    obj: bpy.types.Object,
    frames: Sequence[int],
    shown: list[NDArray[np.float32]],
) -> Motion:
    """The motion of a body without its bake that shows the same, `shown`, which it empties."""
    points = np.empty((len(frames), *shown[0].shape), np.float32)
    linears = np.empty((len(frames), 3, 3))
    for number, frame in enumerate(frames):
        depsgraph = stage.at(frame)
        linear, offset = world_matrix(obj, depsgraph)
        places = shown.pop(0).astype(np.float64) @ linear.T + offset
        points[number] = way_to_key(obj, depsgraph)(places)
        linears[number] = linear
    return Motion(frames, points, linears, _noted(obj).loop)
