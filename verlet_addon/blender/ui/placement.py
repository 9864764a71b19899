"""Placement of new objects by Align, Location and Rotation, as in Blender's Add operators."""

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatVectorProperty
from mathutils import Euler, Vector

from ..scene.file_context import file_context
from ..settings.properties import scene_properties

_CLEARANCE = 1.1
"""Height of the lowest pin above the ground, in lengths of the hanging material."""


def _align_anew(properties: Any, _context: bpy.types.Context) -> None:
    """Update callback of Align: resets the rotation, which then follows from Align."""
    properties.property_unset("rotation")


class Placement:
    """Properties of an operator that adds an object."""

    align: EnumProperty(
        name="Align",
        description="Alignment of the new object",
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
    """Sets location and rotation of a new object from an operator's `Placement` properties.

    Without a given location, it is the 3D cursor, raised until the material that hangs from the
    lowest pin clears the ground.

    Parameters
    ----------
    pins
        Pinned points in the object's own space [m].
    reach
        Length of the material that hangs down from a pin [m].
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
    """The rotation for a choice of Align; none where there is no 3D view."""
    if align == "VIEW" and context.region_data is not None:
        return context.region_data.view_rotation.to_euler()
    if align == "CURSOR":
        return file_context(context).scene.cursor.matrix.to_euler()
    return Euler()


def _clear_of_ground(context: bpy.types.Context, *, depth: float) -> Vector:
    """The 3D cursor, raised to `depth` above the ground [m], unless a ground object tilts it."""
    scene = file_context(context).scene
    location, ground = scene.cursor.location.copy(), scene_properties(scene)
    if ground.use_ground and ground.ground_object is None:
        location.z = max(location.z, ground.ground_height + depth)
    return location
