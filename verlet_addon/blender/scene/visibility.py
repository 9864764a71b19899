"""Which objects take part in a view layer's physics, and which show others."""

from collections.abc import Iterator

import bpy


def enabled_objects(view_layer: bpy.types.ViewLayer) -> set[bpy.types.Object]:
    """What a view layer does not leave out and viewports do not disable; eyes may be shut.

    Blender moves these, and its own physics meets them.
    """
    return set(_enabled(view_layer.layer_collection))


def _enabled(layer: bpy.types.LayerCollection) -> Iterator[bpy.types.Object]:
    """Lists what is enabled in a collection and those within it."""
    if not (layer.exclude or layer.collection.hide_viewport):
        yield from (obj for obj in layer.collection.objects if not obj.hide_viewport)
        for child in layer.children:
            yield from _enabled(child)


def instancers(depsgraph: bpy.types.Depsgraph) -> Iterator[str]:
    """The names of objects that show instances of others, once for each."""
    for instance in depsgraph.object_instances:
        if instance.is_instance and instance.parent is not None:
            yield instance.parent.name
