"""The record of a bake: its frames, remarks and kernels, and digests of its inputs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import lcm
from typing import Any

import bpy

from ...core.errors import MeshError
from ...core.remark import Remark, graded, worst_first
from ...core.settings import BodySettings, SceneSettings
from ..scene.action_channels import channels
from ..scene.cache_modifiers import bake_modifier, can_play, is_animated
from ..scene.cages import simulated_object
from ..scene.mesh_access import point_count, shape_keys_of
from ..scene.ownership import is_own
from ..settings.bone_properties import bone_values
from ..settings.core_settings import (
    animatable,
    animatable_of_scene,
    setting_values,
    steps_per_frame,
)
from ..settings.curve_properties import CURVE_NAMES
from ..settings.hair_properties import HAIR_NAMES
from ..settings.properties import body_properties, is_body, scene_properties
from ..settings.rest_shape_properties import NAMES
from ..settings.timing import animation_frame
from .input_digest import changed_inputs, input_digests


def is_baked(obj: bpy.types.Object) -> bool:
    """Whether an object has a bake, as keys or as a cache; fast enough for every redraw."""
    if body_properties(obj).baked_keys and shape_keys_of(obj) is not None:
        return True
    return can_play(obj) and bake_modifier(obj) is not None


def baked_objects(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Lists a scene's objects with a bake of this file, also released ones; no disabled bodies."""
    return [
        obj
        for obj in scene.objects
        if is_baked(obj) and (body_properties(obj).enabled or not is_body(obj)) and is_own(obj)
    ]


def check_cage_without_bake(obj: bpy.types.Object) -> None:
    """Raises MeshError where the cage of a body shows a bake of its own."""
    cage = simulated_object(obj)
    if cage != obj and is_baked(cage):
        raise MeshError(
            f"{obj.name} cannot be simulated as {cage.name}, which has a bake of its own; select "
            f"{cage.name} and use Clear Selected"
        )


def form_of(obj: bpy.types.Object) -> str:
    """Form of an object's bake, by the names of `BAKE_MODES`; empty without a bake."""
    if not is_baked(obj):
        return ""
    if bake_modifier(obj) is not None:
        return "CACHE"
    return body_properties(obj).baked_form or "RELATIVE"


def settings_mark(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Hash of the settings and the vertex count on which a bake of a body depends."""
    return sha256(repr(bake_settings(obj, scene)).encode()).hexdigest()


def bake_settings(obj: bpy.types.Object, scene: bpy.types.Scene) -> dict[str, Any]:
    """Settings of a body and its scene, and its vertex count, on which its bake depends, by name.

    Animated settings of the body are left out, and in an animated scene all animatable ones.
    """
    body, settings = body_properties(obj), scene_properties(scene)
    ground = settings.ground_object
    values = setting_values(body, BodySettings) | setting_values(settings, SceneSettings)
    values |= {name: getattr(body, name) for name in (*NAMES, *CURVE_NAMES, *HAIR_NAMES)}
    values["substeps"] = steps_per_frame(scene)
    values["vertices"] = point_count(obj)
    for name in _animated(obj):
        del values[name]
    values["attachments"] = [_attachment(obj, item) for item in body.attachments]
    if bones := bone_values(obj):
        values |= {"bones": bones, "use_pose_gravity": body.use_pose_gravity}
    if body.body_type == "HAIR":
        values["use_pose_gravity"] = body.use_pose_gravity
    for name in ("collision_collection", "effector_collection", "simulate_as"):
        chosen = getattr(body, name)
        values[name] = chosen.name if chosen is not None else ""
    values["ground_object"] = ground.name if ground is not None else ""
    values["settle_frames"] = settings.settle_frames
    values["scene_gravity"] = scene.gravity.to_tuple() if scene.use_gravity else ()
    values["frame_rate"] = (scene.render.fps, scene.render.fps_base)
    if (stretched := animation_frame(scene, 1)) != 1:
        values["stretched"] = stretched
    if scene.animation_data is not None:
        for name in (*animatable_of_scene(), "scene_gravity"):
            values.pop(name, None)
    return values


def _animated(obj: bpy.types.Object) -> set[str]:
    """Names of a body's settings with curves or drivers; all animatable ones with NLA tracks."""
    animation: Any = obj.animation_data
    if animation is None:
        return set()
    names = {*animatable(), "pin_weight", "follow_groom"}
    if animation.nla_tracks:
        return names
    held = channels(obj)
    curves = [*animation.drivers, *(held.fcurves if held is not None else ())]
    paths = {curve.data_path for curve in curves}
    return {name for name in names if f"verlet.{name}" in paths}


def _attachment(obj: bpy.types.Object, item: Any) -> tuple[object, ...]:
    """Target, bone, vertex group and weight of an attachment; no weight on an animated object."""
    target = item.target.name if item.target is not None else ""
    weight = None if is_animated(obj) else item.weight
    return (target, item.bone, item.vertex_group, weight)


@dataclass(frozen=True)
class BakeInputs:
    """Digests of the inputs of a body's bake."""

    settings: str
    """Digest of settings and vertex count, by `settings_mark`."""
    read: str
    """Digest of meshes, animation, colliders and fields, by `input_digests`."""


def bake_inputs(
    bodies: Sequence[bpy.types.Object], scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> list[BakeInputs]:
    """Per body, the digests of its inputs in the scene's current state."""
    read = input_digests(bodies, scene, view_layer)
    return [
        BakeInputs(settings_mark(obj, scene), digest)
        for obj, digest in zip(bodies, read, strict=True)
    ]


def remember_bake(
    obj: bpy.types.Object, frames: Sequence[int], inputs: BakeInputs, kernels: str
) -> None:
    """Stores the frames of an object's bake, the digests of its inputs, and its kernels."""
    body = body_properties(obj)
    body.baked_start, body.baked_end, body.baked_settings = frames[0], frames[-1], inputs.settings
    body.baked_inputs, body.baked_kernels = inputs.read, kernels


def forget_bake(obj: bpy.types.Object) -> None:
    """Removes the values that `remember_bake` stored."""
    for name in (
        *("baked_start", "baked_end", "baked_settings", "baked_inputs", "baked_kernels"),
        *("baked_form", "baked_step", "baked_loop", "baked_worst", "baked_rms", "own_eval_time"),
    ):
        body_properties(obj).property_unset(name)


def baked_range(scene: bpy.types.Scene) -> tuple[int, int] | None:
    """First and last frame of a scene's bakes; None without any."""
    noted = list(map(body_properties, _recorded(scene)))
    if not noted:
        return None
    return min(body.baked_start for body in noted), max(body.baked_end for body in noted)


def baked_loops(scene: bpy.types.Scene) -> list[str]:
    """Lengths of the loops among a scene's bakes, each once."""
    lengths = {body_properties(obj).baked_loop for obj in _recorded(scene)} - {0}
    return list(map(str, sorted(lengths)))


def loop_turn(scene: bpy.types.Scene) -> tuple[int, int] | None:
    """First frame of a turn of a scene's loops, and the one that shows it again; None without one.

    Loops of several lengths have a turn together that is a multiple of each. Scenes begin at frame
    0 or later.
    """
    loops = [body for body in map(body_properties, _recorded(scene)) if body.baked_loop]
    if not loops:
        return None
    length = lcm(*(body.baked_loop for body in loops))
    start = max(body.baked_start for body in loops)
    start = start if start >= 0 else start % length
    return start, start + length


def baked_deviation(scene: bpy.types.Scene) -> tuple[float, float]:
    """Largest distance of a scene's bakes from their simulations, and largest rms of a body [m]."""
    noted = list(map(body_properties, _recorded(scene)))
    return (
        max((body.baked_worst for body in noted), default=0.0),
        max((body.baked_rms for body in noted), default=0.0),
    )


def remember_remarks(scene: bpy.types.Scene, remarks: Sequence[str]) -> None:
    """Stores the warnings and diagnostics of a bake, one sentence each, the worst first."""
    told = [[str(each), each.grade, each.body, each.vertices] for each in worst_first(remarks)]
    scene_properties(scene).baked_remarks = json.dumps(told, ensure_ascii=False) if told else ""


def baked_remarks(scene: bpy.types.Scene) -> list[Remark]:
    """Warnings and diagnostics of the last bake, the worst first; none without a bake.

    Files of older versions have one sentence per line, without a grade.
    """
    kept = scene_properties(scene).baked_remarks if baked_range(scene) else ""
    if not kept.startswith("["):
        return list(map(graded, kept.splitlines()))
    return [
        Remark(text, grade=grade, body=body, vertices=vertices)
        for text, grade, body, vertices in json.loads(kept)
    ]


def changed_since_bake(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[str]:
    """Names of the enabled bodies whose inputs have changed since they were baked."""
    return list(changes_since_bake(scene, view_layer))


def changes_since_bake(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> dict[str, list[str]]:
    """By the names of the enabled bodies whose inputs have changed since their bake, what changed.

    Bakes of older versions do not name what they read; only settings are compared then.
    """
    recorded = [obj for obj in _recorded(scene) if body_properties(obj).enabled]
    changes = {}
    for obj, now in zip(recorded, bake_inputs(recorded, scene, view_layer), strict=True):
        body = body_properties(obj)
        reasons = ["settings changed"] * (body.baked_settings != now.settings)
        if reasons := [*reasons, *changed_inputs(body.baked_inputs, now.read)]:
            changes[obj.name] = reasons
    return changes


def _recorded(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Lists the baked objects with a record; bakes of older versions have none."""
    return [obj for obj in scene.objects if is_baked(obj) and body_properties(obj).baked_settings]
