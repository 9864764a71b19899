"""Files of former versions of the add-on, whose settings keep their effect as they are opened."""

from typing import Any

import bpy

from ...core.settings import BodySettings
from .properties import body_properties, is_body, scene_properties

CURRENT = 2
"""Version of the settings; 0 is that of files without a version. 1: steps per second. 2: inner
damping of cloth, which Damping up to 1/s was before."""


def keep_former_settings() -> None:
    """Gives scenes of former versions the steps, and their cloths the damping, that they had."""
    for scene in _own_scenes():
        settings = scene_properties(scene)
        if settings.settings_version < 1 and (
            settings.is_property_set("substeps") or any(map(is_body, scene.objects))
        ):
            settings.use_steps_per_second = False
        if settings.settings_version < 2:
            _keep_inner_damping(scene)
    note_version()


def _keep_inner_damping(scene: bpy.types.Scene) -> None:
    """Damps the bends of a scene's cloths as their Damping did, unless they have a value."""
    for obj in scene.objects:
        body = body_properties(obj)
        is_cloth = is_body(obj) and body.body_type == "CLOTH" and obj.library is None
        if is_cloth and body.damping < 1.0 and not body.is_property_set("inner_damping"):
            body.inner_damping = BodySettings.inner_damping * body.damping


def note_version() -> None:
    """Stores the version of the settings in each scene of the file."""
    for scene in _own_scenes():
        scene_properties(scene).settings_version = CURRENT


def _own_scenes() -> list[bpy.types.Scene]:
    """The scenes of the file itself, without those of linked files."""
    return [scene for scene in bpy.data.scenes if scene.library is None]


def _after_load(_path: Any = None, _other: Any = None) -> None:
    """Keeps the settings of a file that was opened."""
    keep_former_settings()


def _before_save(_path: Any = None, _other: Any = None) -> None:
    """Notes the version in a file that is about to be saved."""
    note_version()


HANDLERS: dict[str, Any] = {"load_post": _after_load, "save_pre": _before_save}


def keep_settings_of_open_file() -> None:
    """Keeps the settings of the file in which the add-on is enabled or updated.

    Blender hides its data from add-ons that it enables at its start, before any file is open.
    """
    if hasattr(bpy.data, "scenes"):
        keep_former_settings()
