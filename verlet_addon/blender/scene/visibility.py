"""Objects that are enabled in a view layer, and objects that show instances of others."""

from collections.abc import Iterator

import bpy


def enabled_objects(view_layer: bpy.types.ViewLayer) -> set[bpy.types.Object]:
    """Objects neither excluded from a view layer nor disabled in viewports.

    Objects hidden by the eye icon are included, as in Blender's own physics.
    """
    return set(_enabled(view_layer.layer_collection))


def _enabled(layer: bpy.types.LayerCollection) -> Iterator[bpy.types.Object]:
    """Lists the enabled objects in a collection and its children."""
    if not (layer.exclude or layer.collection.hide_viewport):
        yield from (obj for obj in layer.collection.objects if not obj.hide_viewport)
        for child in layer.children:
            yield from _enabled(child)


def instancers(depsgraph: bpy.types.Depsgraph) -> Iterator[str]:
    """Names of objects that show instances of others, once per instance."""
    for instance in depsgraph.object_instances:
        if instance.is_instance and instance.parent is not None:
            yield instance.parent.name
