"""Assignment of materials to bodies, and the label of a body's material."""

from collections.abc import Sequence
from math import isclose

import bpy
from mathutils import Vector

from ...core.contacts.solve.solid_diagnostics import SELF_WEIGHT_STIFFNESS
from ...core.errors import MeshError
from ...core.materials import FITTING, MATERIAL_SETTINGS, MATERIALS, material_settings
from .properties import NO_MATERIAL, VERLET_PG_body, body_properties

MELTS = 5.0
"""Least stiffness of jelly, as a multiple of the pressure of its own weight on its base.

A softer body collapses under its weight; it gets `SELF_WEIGHT_STIFFNESS` times that pressure
instead, with which it bulges a little and oscillates."""

MAX_BALLOON_STRETCH = 0.08
"""Largest share by which the skin of a new balloon is stretched by the gas."""


def set_material(objects: Sequence[bpy.types.Object], name: str) -> None:
    """Gives every body a material.

    Raises
    ------
    MeshError
        An object belongs to another file; then none has been changed.
    """
    for obj in objects:
        if obj.library is not None:
            raise MeshError(f"{obj.name} is linked from another file; set its material there")
        if (MATERIALS[name].settings.body_type == "HAIR") != (obj.type == "CURVES"):
            label = MATERIALS[name].label
            raise MeshError(
                f"{obj.name} is hair, and {label} is not meant for it; choose another material"
                if obj.type == "CURVES"
                else f"{obj.name} is no hair, and {label} is hair; choose another material"
            )
    for obj in objects:
        give_material(body_properties(obj), name)


def give_material(body: VERLET_PG_body, name: str) -> None:
    """Sets a body's settings and type to those of a material."""
    settings = MATERIALS[name].settings
    body.material = name
    body.body_type = settings.body_type
    for setting in material_settings(name):
        setattr(body, setting, getattr(settings, setting))


def give_fitting_material(obj: bpy.types.Object) -> None:
    """Gives a body the default material of its type, unless it already has one of that type.

    Types without materials get default settings. Jelly that is so tall that it would collapse under
    its own weight is made stiffer.
    """
    body = body_properties(obj)
    name = body.material
    if name != NO_MATERIAL and MATERIALS[name].settings.body_type == body.body_type:
        return
    if body.body_type in FITTING:
        give_material(body, FITTING[body.body_type])
        load = body.density * 9.81 * _height(obj)
        if body.body_type == "SOFT" and body.stiffness < MELTS * load:
            body.stiffness = SELF_WEIGHT_STIFFNESS * load
    else:
        for setting in ("material", *MATERIAL_SETTINGS):
            body.property_unset(setting)


def give_balloon(obj: bpy.types.Object) -> None:
    """Makes a body a balloon, at a pressure that suits its size.

    A ball of radius r stretches by the share p r c / 2 under pressure p, where c is the stretch
    compliance of its skin (Laplace); so large ones get less than the pressure of the material.
    """
    body = body_properties(obj)
    give_material(body, "BALLOON")
    sides = [max(side) - min(side) for side in _world_corners(obj)]
    most = 2.0 * MAX_BALLOON_STRETCH / (body.stretch_compliance * max(*sides, 1e-3) / 2.0)
    body.pressure = min(body.pressure, most)


def _height(obj: bpy.types.Object) -> float:
    """Height of an object's bounding box [m]."""
    heights = _world_corners(obj)[2]
    return max(heights) - min(heights)


def _world_corners(obj: bpy.types.Object) -> list[tuple[float, ...]]:
    """x, y and z of the corners of an object's bounding box [m]."""
    return list(zip(*(obj.matrix_world @ Vector(corner) for corner in obj.bound_box), strict=True))


def material_label(body: VERLET_PG_body) -> str:
    """Label of a body's material in the panel."""
    if body.material == NO_MATERIAL:
        return "None"
    material = MATERIALS[body.material]
    changed = _changed(body)
    if not changed:
        return material.label
    stiffer = changed == {"stiffness"} and body.stiffness > material.settings.stiffness
    return f"{material.label} ({'stiffer' if stiffer else 'changed'})"


def _changed(body: VERLET_PG_body) -> set[str]:
    """Names of a body's settings that differ from those of its material."""
    settings = MATERIALS[body.material].settings
    changed = {
        name
        for name in material_settings(body.material)
        if not isclose(getattr(body, name), getattr(settings, name), rel_tol=1e-6)
        and (name != "weft_compliance" or body.thread_map)
    }
    return changed if body.body_type == settings.body_type else changed | {"body_type"}
