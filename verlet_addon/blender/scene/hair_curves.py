"""Curves objects as hair: the points of their curves are the particles of rods, in their order."""

from typing import Any, cast

import bpy
import numpy as np

from ...core.arrays import Floats, Integers
from ...core.errors import MeshError
from ...core.mesh import Paint
from ..settings.properties import body_properties, is_body

ROOT_POINTS = 2
"""Number of points of a curve that its root holds: with two it holds their direction too."""


def is_hair(obj: bpy.types.Object) -> bool:
    """Whether an object is a Curves object, which holds hair."""
    return obj.type == "CURVES"


def refuse_hair(obj: bpy.types.Object, shown: str, instead: str) -> None:
    """Raises MeshError for hair, on which something cannot be shown, with what to do instead."""
    if is_hair(obj):
        raise MeshError(f"{obj.name} is hair, on which {shown} cannot be shown; {instead}")


def hair_of(obj: bpy.types.Object) -> bpy.types.Curves:
    """The curves of a Curves object."""
    return cast(bpy.types.Curves, obj.data)


def read_points(curves: bpy.types.Curves) -> Floats:
    """(n, 3) points of curves in their object's space."""
    points = np.empty(3 * len(curves.points), np.float32)
    if len(points):
        attribute: Any = curves.attributes["position"]
        attribute.data.foreach_get("vector", points)
    return points.reshape(-1, 3).astype(np.float64)


def write_points(curves: bpy.types.Curves, points: Floats) -> None:
    """Sets the points that `read_points` reads."""
    attribute: Any = curves.attributes["position"]
    attribute.data.foreach_set("vector", np.ascontiguousarray(points, np.float32).ravel())
    curves.update_tag()


def read_ends(curves: bpy.types.Curves) -> Integers:
    """(c + 1,) number of the first point of each curve; the last entry is n."""
    ends = np.zeros(len(curves.curves) + 1, np.int32)
    if len(curves.curves):
        cast(Any, curves.curve_offset_data).foreach_get("value", ends)
    return ends.astype(np.int64)


def read_strand_edges(obj: bpy.types.Object) -> Integers:
    """(m, 2) pairs of points that follow each other on a curve."""
    curves = hair_of(obj)
    numbers = np.arange(max(len(curves.points) - 1, 0))
    within = np.ones(len(numbers), bool)
    within[read_ends(curves)[1:-1] - 1] = False
    first = numbers[within]
    return np.stack((first, first + 1), axis=1)


def places_along(obj: bpy.types.Object) -> Integers:
    """(n,) number of each point on its curve, 0 at the root."""
    ends = read_ends(hair_of(obj))
    return np.arange(ends[-1]) - np.repeat(ends[:-1], np.diff(ends))


def root_weights(obj: bpy.types.Object) -> Floats:
    """(n,) pin weights: 1 for the points that the root holds, 0 for all others."""
    return (places_along(obj) < ROOT_POINTS).astype(np.float64)


def follow_shares(obj: bpy.types.Object) -> Floats:
    """(n,) shares of Follow Groom at each point, by the attribute that the hair names; or 1."""
    curves, name = hair_of(obj), body_properties(obj).follow_attribute
    count = len(curves.points)
    attribute: Any = curves.attributes.get(name) if name else None
    if attribute is None:
        return np.ones(count)
    values = np.empty(len(attribute.data), np.float32)
    attribute.data.foreach_get("value", values)
    if attribute.domain == "CURVE":
        values = np.repeat(values, np.diff(read_ends(curves)))
    return np.clip(values.astype(np.float64), 0.0, 1.0)


def root_paint(obj: bpy.types.Object) -> Paint:
    """Exemption of the points that the root holds from collision, as the skin is around them."""
    held = root_weights(obj)
    return Paint(object_collisions=held, self_collisions=held)


def check_hair(obj: bpy.types.Object) -> None:
    """Raises MeshError where a Curves object cannot be simulated as hair."""
    curves, body = hair_of(obj), body_properties(obj)
    if not len(curves.points):
        raise MeshError(f"{obj.name} has no points; add curves, or remove its soft body")
    if is_body(obj) and body.body_type != "HAIR":
        raise MeshError(
            f"{obj.name} is a Curves object, which can be hair alone; set its type to Hair"
        )
    _check_attribute(obj)
    cyclic: Any = curves.attributes.get("cyclic")
    if cyclic is not None and any(each.value for each in cyclic.data):
        raise MeshError(
            f"{obj.name} has closed curves, which hair cannot have; open them by Toggle Cyclic"
        )


def _check_attribute(obj: bpy.types.Object) -> None:
    """Raises MeshError where hair has no attribute of numbers with the name that is set."""
    name = body_properties(obj).follow_attribute
    if not name:
        return
    attribute = hair_of(obj).attributes.get(name)
    if attribute is None or attribute.data_type != "FLOAT":
        raise MeshError(
            f"{obj.name} has no attribute {name} of numbers; choose another Follow Attribute or "
            "none"
        )
