"""Forms of a bake as shape keys: one per frame, relative or absolute, or principal components."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...core.errors import MeshError, SettingsError
from ..scene.action_channels import channels
from ..scene.curve_lines import refuse_curve
from ..scene.hair_curves import refuse_hair
from ..scene.mesh_access import (
    blocks_named,
    mesh_of,
    read_coordinates,
    read_vertices,
    shape_keys_of,
)
from ..scene.ownership import check_data
from ..settings.properties import body_properties
from . import curves
from .motion import Deviation, Motion, deviation
from .principal_components import Components, find_components
from .shape_keys import (
    add_baked_keys,
    baked_names,
    frame_names,
    moments_of,
    now_within,
    write_bake,
)


@dataclass(frozen=True)
class KeyForm:
    """A form of a bake as shape keys."""

    mode: str = "RELATIVE"
    """`RELATIVE`, `ABSOLUTE` or `COMPACT`."""
    tolerance: float = 1e-3
    """Largest distance of any vertex at any frame with `COMPACT` [m]."""


RELATIVE = KeyForm()


def check_form(objects: Iterable[bpy.types.Object], form: KeyForm) -> None:
    """Raises an error where objects cannot have a bake of a form, whatever the motion.

    Raises
    ------
    SettingsError
        The tolerance is not above 0.
    MeshError
        A mesh is linked, absolute keys would turn off shape keys of the user's, or an object is a
        curve, or hair, which has no shape keys.
    """
    for obj in objects:
        refuse_hair(obj, "shape keys", "bake it to a cache")
        check_data(obj)
    for obj in objects if form.mode != "RELATIVE" else ():
        refuse_curve(obj, "this form of a bake", "bake it to a shape key per frame")
    if form.mode == "COMPACT" and not form.tolerance > 0.0:
        raise SettingsError(
            f"The tolerance of components is {form.tolerance:g} m; set it to more than 0"
        )
    for obj in objects if form.mode == "ABSOLUTE" else ():
        if own := _own_keys(obj):
            raise MeshError(
                f"{obj.name} has {own[0]}, which absolute keys would turn off; bake it to a cache "
                "or to a shape key per frame"
            )


def _own_keys(obj: bpy.types.Object) -> list[str]:
    """Names of what absolute keys would turn off: own keys beside the Basis, evaluation times."""
    if (key := shape_keys_of(obj)) is None:
        return []
    baked = {*baked_names(obj), key.reference_key.name}
    held = channels(key)
    drivers = key.animation_data.drivers if key.animation_data is not None else ()
    paths = [
        curve.data_path
        for curve in (*(held.fcurves if held is not None else ()), *drivers)
        if curves.key_of_curve(curve) != curves.EVAL_TIME
    ]
    timed = ["an animated evaluation time of its shape keys"] if "eval_time" in paths else []
    own = [block.name for block in key.key_blocks if block.name not in baked]
    return [*(f"the shape key {name} of its own" for name in own), *timed]


@dataclass(frozen=True, eq=False)
class Plan:
    """A motion in a form that is not written yet."""

    motion: Motion
    """The frames that the form keeps."""
    form: KeyForm
    step: int
    """Frames from one of them to the next."""
    deviation: Deviation
    components: Components | None = None
    """Components of a `COMPACT` form."""
    refusal: str = ""
    """Sentence on why components are of no use."""


def plan(obj: bpy.types.Object, motion: Motion, form: KeyForm, step: int = 1) -> Plan:
    """A motion in a form, for `write_plan`; nothing is changed.

    Parameters
    ----------
    motion : all known frames; its form is compared with all of them.
    step : frames from one that the form keeps to the next.
    """
    kept = motion.stepped(step)
    step = kept.frames[1] - kept.frames[0] if len(kept.frames) > 1 else 1
    if form.mode != "COMPACT":
        return Plan(kept, form, step, deviation(motion, kept))
    basis = _basis(obj)
    components = find_components(kept.points - basis, kept.linear, form.tolerance)
    shown = replace(kept, points=_mixed(basis, components))
    refusal = _no_gain(obj.name, len(components.shapes), len(kept.frames), form.tolerance)
    rounded = deviation(kept, shown).worst
    if not refusal and rounded > form.tolerance:
        refusal = (
            f"{obj.name} is so large that shape keys are rounded to {rounded:.2g} m, and the "
            f"Tolerance of components is {form.tolerance:g} m; raise the Tolerance"
        )
    return Plan(kept, form, step, deviation(motion, shown), components, refusal)


def _no_gain(name: str, count: int, frames: int, tolerance: float) -> str:
    """Sentence on components that are too many to be of use; empty for fewer."""
    if 2 * count < frames:
        return ""
    return (
        f"{name} takes {count} components for {frames} frames within {1000 * tolerance:g} mm, too "
        "many to play and load as fast as a shape key per frame; raise Tolerance, or choose "
        "another form"
    )


def write_plan(obj: bpy.types.Object, chosen: Plan) -> None:
    """Writes a motion in its form, in place of an earlier bake, and records form and deviation."""
    motion = chosen.motion
    match chosen.form.mode:
        case "ABSOLUTE":
            _write_absolute(obj, motion)
        case "COMPACT":
            assert chosen.components is not None
            _write_components(obj, motion, chosen.components)
        case _:
            write_bake(obj, motion.frames, motion.points, loop=motion.loop)
    body = body_properties(obj)
    if chosen.form.mode != "RELATIVE":
        body.baked_form = chosen.form.mode
    body.baked_step, body.baked_loop = chosen.step, motion.loop
    body.baked_worst, body.baked_rms = chosen.deviation


def _write_absolute(obj: bpy.types.Object, motion: Motion) -> None:
    """Writes absolute keys, and the curve of the evaluation time that plays them.

    Blender's own way to show keys one after the other finds each by a number instead of its name.
    A loop has another key at its end, which equals the first.
    """
    moments, body = moments_of(motion.frames, motion.loop), body_properties(obj)
    names = frame_names(motion.frames)
    names += [f"{names[0]}_again"] if motion.loop else []
    points = chain(motion.points, motion.points[: 1 if motion.loop else 0])
    added = add_baked_keys(obj, names, points, [0.0] * len(names))
    key = cast(bpy.types.Key, shape_keys_of(obj))
    times = []
    for block in blocks_named(obj, added):
        block.interpolation = "KEY_LINEAR"
        times.append(block.frame)
    body.own_eval_time = key.eval_time
    key.use_relative = False
    curves.write_eval_time(obj, moments, times, repeat=motion.loop > 0)
    key.eval_time = float(np.interp(now_within(moments, motion.loop), moments, times))


def _write_components(obj: bpy.types.Object, motion: Motion, components: Components) -> None:
    """Writes principal components as relative keys, and curves of their weights."""
    moments = moments_of(motion.frames, motion.loop)
    weights = components.weights
    if motion.loop:
        weights = np.concatenate([weights, weights[:1]])
    now = now_within(moments, motion.loop)
    names = [f"verlet_part_{number:03d}" for number in range(1, len(components.shapes) + 1)]
    values = [float(np.interp(now, moments, each)) for each in weights.T]
    points = _basis(obj) + components.shapes
    added = add_baked_keys(obj, names, points.astype(np.float32), values)
    curves.write_weights(obj, added, moments, weights, repeat=motion.loop > 0)


def _mixed(basis: Floats, components: Components) -> NDArray[np.float32]:
    """(frames, n, 3) points that keys of components show, to the precision of the keys."""
    shapes = (basis + components.shapes).astype(np.float32) - basis
    flat = components.weights.astype(np.float64) @ shapes.reshape(len(shapes), -1)
    return np.asarray(basis + flat.reshape(-1, *basis.shape), np.float32)


def _basis(obj: bpy.types.Object) -> Floats:
    """(n, 3) coordinates from which keys displace vertices."""
    key, mesh = shape_keys_of(obj), mesh_of(obj)
    return read_coordinates(key.reference_key.points) if key else read_vertices(mesh)
