"""Where a new object goes: Align, Location and Rotation, as every Add operator has them."""

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatVectorProperty
from mathutils import Euler, Vector

from ..scene.file_context import file_context
from ..settings.properties import scene_properties

# Room for the swing below the pins, in lengths of the material.
_CLEARANCE = 1.1


def _align_anew(properties: Any, _context: bpy.types.Context) -> None:
    """Lets a new choice of Align decide the rotation again."""
    properties.property_unset("rotation")


class Placement:
    """The properties of an operator that adds an object."""

    align: EnumProperty(
        name="Align",
        description="What the new object is aligned to",
        items=(
            ("WORLD", "World", "Align the new object to the world"),
            ("VIEW", "View", "Align the new object to the view"),
            ("CURSOR", "3D Cursor", "Use the 3D cursor's orientation for the new object"),
        ),
        update=_align_anew,
    )
    location: FloatVectorProperty(
        name="Location",
        description="Place of the new object",
        subtype="TRANSLATION",
    )
    rotation: FloatVectorProperty(
        name="Rotation",
        description="Rotation of the new object",
        subtype="EULER",
    )
    chosen_location: FloatVectorProperty(
        description="Location that was chosen for the object, until another one is given",
        subtype="TRANSLATION",
        options={"HIDDEN", "SKIP_SAVE"},
    )


def place(
    obj: bpy.types.Object,
    context: bpy.types.Context,
    operator: Any,
    *,
    pins: list[Vector],
    reach: float,
) -> None:
    """Puts a new object where an operator with the properties of `Placement` says.

    Unless a location is given, it is the 3D cursor, but so high that what hangs from the lowest
    pin clears the ground.

    Parameters
    ----------
    pins
        Where the object is held, in its own space [m].
    reach
        How far the material hangs down from a pin [m].
    """
    given = operator.properties.is_property_set
    if not given("rotation"):
        if not given("align"):
            operator.align = file_context(context).preferences.edit.object_align
        operator.rotation = _aligned(context, operator.align)
    rotation = Euler(operator.rotation)
    if not given("location") or (
        given("chosen_location") and operator.location == operator.chosen_location
    ):
        lowest = min((rotation.to_matrix() @ pin).z for pin in pins)
        operator.location = _clear_of_ground(context, depth=_CLEARANCE * reach - lowest)
        operator.chosen_location = operator.location
    obj.location, obj.rotation_euler = operator.location, rotation


def _aligned(context: bpy.types.Context, align: str) -> Euler:
    """The rotation that a choice of Align stands for; without a view, the world's."""
    if align == "VIEW" and context.region_data is not None:
        return context.region_data.view_rotation.to_euler()
    if align == "CURSOR":
        return file_context(context).scene.cursor.matrix.to_euler()
    return Euler()


def _clear_of_ground(context: bpy.types.Context, *, depth: float) -> Vector:
    """The 3D cursor, or above it where what reaches so deep would touch a level ground."""
    scene = file_context(context).scene
    location, ground = scene.cursor.location.copy(), scene_properties(scene)
    if ground.use_ground and ground.ground_object is None:
        location.z = max(location.z, ground.ground_height + depth)
    return location
