"""Types of the context members that are never None while a file is open."""

from typing import Protocol, cast

import bpy


class FileContext(Protocol):
    """Context members that are never None; Blender's type stubs declare them optional."""

    scene: bpy.types.Scene
    view_layer: bpy.types.ViewLayer
    collection: bpy.types.Collection
    window_manager: bpy.types.WindowManager
    preferences: bpy.types.Preferences
    selected_objects: list[bpy.types.Object]


def file_context(context: bpy.types.Context) -> FileContext:
    """A context, typed as in an open file."""
    return cast(FileContext, context)
