"""Objects that take part in a view layer's physics, whatever the current frame.

Where the visibility in viewports is animated, Blender shows an object at some frames and hides it
at others, and does not evaluate it while it is hidden. Objects with such keys take part at every
frame; colliders and force fields act only while they are shown.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy

from ...core.errors import MeshError
from .action_channels import all_channels, channels
from .mesh_access import found_again

HIDDEN = "hide_viewport"
"""RNA path of the visibility of an object in all viewports."""


def enabled_objects(view_layer: bpy.types.ViewLayer) -> set[bpy.types.Object]:
    """Objects neither excluded from a view layer nor disabled in viewports at all frames.

    Objects hidden by the eye icon are included, as in Blender's own physics.
    """
    return set(_enabled(view_layer.layer_collection))


def _enabled(layer: bpy.types.LayerCollection) -> Iterator[bpy.types.Object]:
    """Lists the enabled objects in a collection and its children."""
    if not (layer.exclude or layer.collection.hide_viewport):
        objects = layer.collection.objects
        yield from (obj for obj in objects if not obj.hide_viewport or is_shown_sometimes(obj))
        for child in layer.children:
            yield from _enabled(child)


def is_shown(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> bool:
    """Whether an object is in a view layer and not hidden there at all frames."""
    if obj.name not in view_layer.objects:
        return False
    if not is_shown_sometimes(obj):
        return obj.visible_get(view_layer=view_layer)
    shown = _layers(view_layer.layer_collection)
    return not obj.hide_get(view_layer=view_layer) and any(
        layer.visible_get() and obj.name in layer.collection.objects for layer in shown
    )


def is_seen(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> bool:
    """Whether an object is in a view layer and not hidden there at the current frame."""
    return obj.name in view_layer.objects and obj.visible_get(view_layer=view_layer)


def seen(
    objects: Sequence[bpy.types.Object], view_layer: bpy.types.ViewLayer
) -> list[bpy.types.Object]:
    """Those of some objects that are seen; raises MeshError where none is."""
    found = [obj for obj in objects if is_seen(obj, view_layer)]
    if objects and not found:
        raise MeshError(
            f"{objects[0].name} is hidden at the current frame; show it, or go to a frame that "
            "shows it"
        )
    return found


def _layers(layer: bpy.types.LayerCollection) -> Iterator[bpy.types.LayerCollection]:
    """A collection of a view layer and those within it."""
    yield layer
    for child in layer.children:
        yield from _layers(child)


def is_shown_sometimes(obj: bpy.types.Object) -> bool:
    """Whether the visibility of an object in viewports changes with time."""
    return changes_with_time(obj, HIDDEN)


def changes_with_time(obj: bpy.types.Object, path: str) -> bool:
    """Whether keys, or a driver that reads the frame or keys, animate a property of an object."""
    animation: Any = obj.animation_data
    if animation is None:
        return False
    if (driver := animation.drivers.find(path)) is not None:
        return _reads_time(driver.driver)
    return any(held.fcurves.find(path) is not None for held in all_channels(obj))


def _reads_time(driver: Any) -> bool:
    """Whether a driver's expression names the frame, or a variable reads a keyed property."""
    if driver.type == "SCRIPTED" and "frame" in driver.expression:
        return True
    targets = [target for variable in driver.variables for target in variable.targets]
    return any(_is_keyed(target.id, target.data_path) for target in targets if target.id)


def _is_keyed(item: Any, path: str) -> bool:
    """Whether an F-curve of a datablock animates a property, or for no path any."""
    held = channels(item)
    curves = held.fcurves if held is not None else ()
    return any(not path or curve.data_path == path for curve in curves)


def is_hidden_now(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether an object is disabled in viewports at the current frame."""
    return bool(obj.evaluated_get(depsgraph).hide_viewport)


@contextmanager
def shown_throughout(objects: Iterable[bpy.types.Object]) -> Iterator[None]:
    """Shows objects at the frames at which keys hide them, so that Blender evaluates them there.

    Within the context the file may be undone or redone, and objects renamed.
    """
    with ExitStack() as passing:
        for obj in objects:
            if is_shown_sometimes(obj):
                passing.enter_context(_driven_to_show(obj))
        yield


@contextmanager
def _driven_to_show(obj: bpy.types.Object) -> Iterator[None]:
    """Shows an object by a driver, which acts after its keys, also after those in the NLA."""
    uid, animation, hidden = obj.session_uid, obj.animation_data, obj.hide_viewport
    own: Any = animation.drivers.find(HIDDEN) if animation is not None else None
    curve: Any = own if own is not None else obj.driver_add(HIDDEN)
    former = curve.driver.type, curve.driver.expression
    curve.driver.type, curve.driver.expression = "SCRIPTED", "0"
    try:
        yield
    finally:
        if (found := found_again(uid)) is not None and found.animation_data is not None:
            curve = found.animation_data.drivers.find(HIDDEN)
            if own is None:
                found.driver_remove(HIDDEN)
            elif curve is not None:
                curve.driver.type, curve.driver.expression = former
            found.hide_viewport = hidden


def instancers(depsgraph: bpy.types.Depsgraph) -> Iterator[str]:
    """Names of objects that show instances of others, once per instance."""
    for instance in depsgraph.object_instances:
        if instance.is_instance and instance.parent is not None:
            yield instance.parent.name
