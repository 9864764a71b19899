"""Conversion of the property groups to the core's settings."""

from dataclasses import fields, replace
from functools import cache
from math import ceil
from typing import Any

import bpy

from ...core.errors import SettingsError
from ...core.settings import BodySettings, SceneSettings
from .bone_properties import armature_of, largest_radius
from .properties import VERLET_PG_body, body_properties, scene_properties
from .scene_properties_group import VERLET_PG_scene
from .timing import seconds_per_frame

SURPLUS = 0.05
"""Share of a step that is not rounded up: 240 steps a second are 10.01 a frame at 23.976 frames a
second."""


def body_settings(obj: bpy.types.Object) -> BodySettings:
    """An object's settings for the core.

    Raises
    ------
    SettingsError
        A value is out of range; the message names the object.
    """
    try:
        values = setting_values(body_properties(obj), BodySettings)
        if armature_of(obj) is not None:
            values["thickness"] = largest_radius(obj)
        return BodySettings(**values)
    except SettingsError as error:
        raise SettingsError(f"{obj.name}: {error}") from error


@cache
def animatable() -> tuple[str, ...]:
    """Names of the body settings that can be animated; a bake reads these at every frame."""
    shown = VERLET_PG_body.bl_rna.properties
    return tuple(each.name for each in fields(BodySettings) if shown[each.name].is_animatable)


@cache
def animatable_of_scene() -> tuple[str, ...]:
    """Names of the scene settings that can be animated; a bake reads these at every frame."""
    shown = VERLET_PG_scene.bl_rna.properties
    names = (*(each.name for each in fields(SceneSettings)), "steps_per_second")
    return tuple(name for name in names if shown[name].is_animatable)


def animated_settings(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, before: BodySettings
) -> BodySettings:
    """An object's settings at the current frame; the object `before` itself if nothing differs.

    Raises
    ------
    SettingsError
        A value is out of range; the message names the object.
    """
    body = body_properties(obj.evaluated_get(depsgraph))
    now = {name: getattr(body, name) for name in animatable()}
    if all(value == getattr(before, name) for name, value in now.items()):
        return before
    try:
        return replace(before, **now)
    except SettingsError as error:
        raise SettingsError(f"{obj.name}: {error}") from error


def scene_settings(scene: bpy.types.Scene) -> SceneSettings:
    """A scene's settings for the core.

    Raises
    ------
    SettingsError
        A value is out of range; the message names the scene.
    """
    values = setting_values(scene_properties(scene), SceneSettings)
    try:
        return SceneSettings(**values | {"substeps": steps_per_frame(scene)})
    except SettingsError as error:
        raise SettingsError(f"{scene.name}: {error}") from error


def steps_per_frame(scene: bpy.types.Scene) -> int:
    """Number of steps from one frame of a scene to the next, at any time scale."""
    settings: Any = scene_properties(scene)
    if not settings.use_steps_per_second:
        return int(settings.substeps)
    steps = int(settings.steps_per_second)
    return max(1, ceil(steps * seconds_per_frame(scene) - SURPLUS))


def setting_values(group: bpy.types.PropertyGroup, settings: type[Any]) -> dict[str, Any]:
    """A property group's value for each field of a settings class, by name."""
    return {field.name: getattr(group, field.name) for field in fields(settings)}
