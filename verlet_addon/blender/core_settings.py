"""The settings of objects and scenes, as the core takes them."""

from dataclasses import fields
from typing import Any

import bpy

from ..core.errors import SettingsError
from ..core.settings import BodySettings, SceneSettings
from .properties import body_properties, scene_properties


def body_settings(obj: bpy.types.Object) -> BodySettings:
    """An object's settings for the core.

    Raises
    ------
    SettingsError
        A value is out of range; the message names the object.
    """
    try:
        return BodySettings(**setting_values(body_properties(obj), BodySettings))
    except SettingsError as error:
        raise SettingsError(f"{obj.name}: {error}") from error


def scene_settings(scene: bpy.types.Scene) -> SceneSettings:
    """A scene's settings for the core.

    Raises
    ------
    SettingsError
        A value is out of range; the message names the scene.
    """
    try:
        return SceneSettings(**setting_values(scene_properties(scene), SceneSettings))
    except SettingsError as error:
        raise SettingsError(f"{scene.name}: {error}") from error


def setting_values(group: bpy.types.PropertyGroup, settings: type[Any]) -> dict[str, Any]:
    """What a group holds for each field of a settings class."""
    return {field.name: getattr(group, field.name) for field in fields(settings)}
