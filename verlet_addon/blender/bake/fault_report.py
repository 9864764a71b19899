"""A report of faults: versions, settings, messages and exceptions, without names of the user."""

from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from ...core.errors import VerletError
from ...core.remark import Remark, graded
from ...core.team.threads import thread_count
from ..scene.anonymous import Anonymous
from ..scene.colliders import is_collider
from ..scene.mesh_access import point_count
from ..settings.bone_properties import BONE_SETTINGS, bone_setting, soft_bones
from ..settings.core_settings import steps_per_frame
from ..settings.faults import last_faults
from ..settings.preferences import speed
from ..settings.properties import body_properties, is_body, scene_properties
from ..settings.versions import versions
from .bake import frame_range
from .record import baked_remarks, form_of, is_baked


def fault_report(scene: bpy.types.Scene, messages: Sequence[str] = ()) -> str:
    """A report of the open file for those who mend faults, which anyone may read.

    Parameters
    ----------
    scene
        The scene whose bodies it describes.
    messages
        Further messages than those that the scene keeps of its last bake, the newest first.
    """
    anonymous = Anonymous()
    lines = [versions(), f"{speed()}; {_threads()}", *_scene(scene)]
    for obj in scene.objects:
        if is_body(obj):
            lines += _body(obj)
        elif is_collider(obj):
            lines.append(f"Collider {obj.name}: {obj.type}, {_size(obj)}")
    told = [_told(remark) for remark in baked_remarks(scene)]
    lines += ["Remarks of the last bake:", *told] if told else []
    lines += ["Last messages:", *map(_told, map(graded, messages))] if messages else []
    return "\n".join([lines[0], *map(anonymous, lines[1:]), *_faults(anonymous)])


def _faults(anonymous: Anonymous) -> Iterator[str]:
    """The last exceptions, what they say without names; the modules of calls are the add-on's."""
    faults = last_faults()
    if faults:
        yield "Last exceptions:"
    for fault in faults:
        yield f"- {anonymous(fault.kind)}: {anonymous(fault.message)}"
        yield from (f"  {call}" for call in fault.calls)


def _threads() -> str:
    """The number of threads that a bake takes at most, or why there is none."""
    try:
        return f"threads: {thread_count()}"
    except VerletError as error:
        return str(error)


def _scene(scene: bpy.types.Scene) -> Iterator[str]:
    """Frames, steps, the number of objects and the settings of a scene."""
    start, end = frame_range(scene)
    rate = scene.render.fps / scene.render.fps_base
    yield (
        f"{scene.name}: frames {start} to {end} at {rate:g} a second, {steps_per_frame(scene)} "
        f"steps a frame, {len(scene.objects)} objects"
    )
    yield _settings(scene_properties(scene))


def _body(obj: bpy.types.Object) -> Iterator[str]:
    """Size, modifiers, bake and settings of a body."""
    body = body_properties(obj)
    switched = "" if body.enabled else ", switched off"
    modifiers = ", ".join(modifier.type for modifier in obj.modifiers) or "none"
    baked = ""
    if is_baked(obj):
        frames, kernels = f"{body.baked_start} to {body.baked_end}", body.baked_kernels.split()
        baked = f"; baked frames {frames}, {form_of(obj)}, kernels {' '.join(kernels[:1])}"
    yield f"{obj.name}: {body.body_type}{switched}, {_size(obj)}; modifiers {modifiers}{baked}"
    yield _settings(body)
    for name, values in _bones(obj).items():
        yield f"  bones {name}: {' '.join(values)}"
    for item in body.attachments:
        yield f"  attached to {item.target.name if item.target else 'nothing'}"


def _bones(obj: bpy.types.Object) -> dict[str, list[str]]:
    """By name, the different values that the soft bones of a body have of each setting."""
    bones = soft_bones(obj)
    names = BONE_SETTINGS if bones else ()
    return {name: sorted({f"{bone_setting(bone, name):.6g}" for bone in bones}) for name in names}


def _size(obj: bpy.types.Object) -> str:
    """Numbers of points and faces, and the scale of an object."""
    faces = f", {len(obj.data.polygons)} faces" if isinstance(obj.data, bpy.types.Mesh) else ""
    points = f"{point_count(obj)} points" if obj.type in ("MESH", "CURVE", "CURVES") else "no mesh"
    return f"{points}{faces}, scale {' '.join(f'{each:g}' for each in obj.scale[:])}"


def _settings(group: bpy.types.PropertyGroup) -> str:
    """The settings of a group that are not the default ones, by name."""
    shown = [
        f"{each.identifier}={_value(group, each)}"
        for each in group.bl_rna.properties
        if not each.identifier.startswith("baked_")
        and not each.is_hidden
        and each.type != "COLLECTION"
        and group.is_property_set(each.identifier)
        and _value(group, each) != str(getattr(each, "default", None))
    ]
    return f"  {' '.join(shown) or 'default settings'}"


def _value(group: bpy.types.PropertyGroup, setting: Any) -> str:
    """The value of a setting as text; of a pointer the name of what it points to."""
    value = getattr(group, setting.identifier)
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value.name if isinstance(value, bpy.types.ID) else value)


def _told(remark: Remark) -> str:
    """A remark with its grade."""
    return f"- {remark.grade.lower()}: {remark}"
