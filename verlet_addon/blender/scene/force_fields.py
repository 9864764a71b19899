"""Blender's force-field objects, converted to the core's `Field`."""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any, cast, get_args

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.field import Field, Kind, Shape
from ...core.forces.fields import gust_factor
from ...core.settings import weight_name
from ..settings.properties import body_properties
from .visibility import enabled_objects


def enabled_fields(view_layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    """Lists the objects of a view layer with a force field, as Blender's own physics does.

    Objects hidden by the eye icon act; objects disabled in viewports do not.
    """
    fields = [obj for obj in view_layer.objects if _has_field(obj)]
    enabled = enabled_objects(view_layer) if fields else ()
    return [field for field in fields if field in enabled]


def acting_fields(
    obj: bpy.types.Object, fields: Sequence[bpy.types.Object]
) -> list[bpy.types.Object]:
    """Lists the enabled fields that act on a body: supported, and with a weight above 0."""
    meant = fields_in_reach(obj, fields)
    return [field for field in meant if _is_felt(obj, field) and not why_without_effect(field)]


def _is_felt(obj: bpy.types.Object, field: bpy.types.Object) -> bool:
    """Whether the body's weight for this field type is not 0; True for types without a weight."""
    return bool(getattr(body_properties(obj), weight_name(_settings(field).type), True))


def fields_in_reach(
    obj: bpy.types.Object, fields: Sequence[bpy.types.Object]
) -> list[bpy.types.Object]:
    """Lists the enabled fields in the body's field collection; never the body's own field."""
    if body_properties(obj).wind == 0.0:
        return []
    chosen = body_properties(obj).effector_collection
    meant = None if chosen is None else set(chosen.all_objects)
    return [field for field in fields if field != obj and (meant is None or field in meant)]


def why_without_effect(obj: bpy.types.Object) -> str:
    """The reason why a force field has no effect on soft bodies, and the remedy; else empty."""
    settings = _settings(obj)
    if settings.type not in get_args(Kind):
        return f"its type is {_label(settings, 'type')}; choose another type"
    if settings.shape not in get_args(Shape):
        return f"its shape is {_label(settings, 'shape')}; choose another shape"
    return ""


def particles_with_fields(view_layer: bpy.types.ViewLayer) -> Iterator[tuple[str, str]]:
    """Object and name of each particle system that carries a force field."""
    for obj in view_layer.objects:
        for system in obj.particle_systems:
            carried = (system.settings.force_field_1, system.settings.force_field_2)
            if any(field is not None and field.type != "NONE" for field in carried):
                yield obj.name, system.name


def read_field(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Field:
    """Reads a force field at the current frame."""
    evaluated = obj.evaluated_get(depsgraph)
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    settings = _settings(evaluated)
    frame = cast(bpy.types.Scene, depsgraph.scene_eval).frame_current
    return Field(
        name=obj.name_full,  # distinguishes linked objects from local ones
        kind=settings.type,
        shape=settings.shape,
        origin=matrix[:3, 3],
        axis=_unit(matrix[:3, 2]),
        strength=settings.strength + settings.noise * gust_factor(settings.seed, frame),
        flow=settings.flow,
        wind_factor=settings.wind_factor,
        damping=settings.harmonic_damping,
        size=settings.size,
        falloff=settings.falloff_type,
        side=settings.z_direction,
        power=settings.falloff_power,
        nearest=settings.distance_min if settings.use_min_distance else 0.0,
        farthest=settings.distance_max if settings.use_max_distance else inf,
        radial_power=settings.radial_falloff,
        radial_nearest=settings.radial_min if settings.use_radial_min else 0.0,
        radial_farthest=settings.radial_max if settings.use_radial_max else inf,
        inverse_square=settings.use_gravity_falloff,
        in_world=settings.use_global_coords,
    )


def _has_field(obj: bpy.types.Object) -> bool:
    """Whether an object has a force field that affects location."""
    settings = _settings(obj)
    return settings is not None and settings.type != "NONE" and settings.apply_to_location


def _unit(vector: Floats) -> Floats:
    """The normalized vector; a zero vector stays zero."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else vector


def _settings(obj: bpy.types.Object) -> Any:
    """An object's force-field settings, untyped."""
    return obj.field


def _label(settings: Any, name: str) -> str:
    """The interface name of an enum property's value."""
    choices = settings.bl_rna.properties[name].enum_items
    return str(choices[getattr(settings, name)].name)
