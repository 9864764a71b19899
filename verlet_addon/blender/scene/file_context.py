"""What a context always holds while a file is open, which Blender's own types leave open."""

from typing import Protocol, cast

import bpy


class FileContext(Protocol):
    """The context's members that are never missing."""

    scene: bpy.types.Scene
    view_layer: bpy.types.ViewLayer
    collection: bpy.types.Collection
    window_manager: bpy.types.WindowManager
    preferences: bpy.types.Preferences
    selected_objects: list[bpy.types.Object]


def file_context(context: bpy.types.Context) -> FileContext:
    """Gives the same context with the types it has in an open file."""
    return cast(FileContext, context)
