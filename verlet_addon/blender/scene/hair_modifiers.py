"""Modifiers of hair: those that move its points, and those that make other curves of them.

All are Geometry Nodes, whose names tell nothing. So those that leave the number of points move it,
up to the first that does not: hair is simulated as they leave it, and the others act on the result.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import bpy

from ...core.arrays import Floats
from ...core.errors import MeshError
from .hair_curves import hair_of, read_ends, read_points
from .hair_player import player_of, surface_modifier


def finishing(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers of hair from that on which shows its simulation, or where it would be."""
    return list(obj.modifiers)[place_of_player(obj) :]


def place_of_player(obj: bpy.types.Object) -> int:
    """Number of the modifier that shows a simulation, or where one is to be put.

    That is before the first modifier that is on and changes the number of points.
    """
    if (player := player_of(obj)) is not None:
        return obj.modifiers.find(player.name)
    shown = [each for each in obj.modifiers if each.show_viewport]
    if not shown or _has_all_points(obj):
        return len(obj.modifiers)
    with _turned_off(shown):
        for modifier in shown:
            modifier.show_viewport = True
            if not _has_all_points(obj):
                return obj.modifiers.find(modifier.name)
    return len(obj.modifiers)


def check_hair_order(obj: bpy.types.Object) -> None:
    """Raises MeshError where hair is deformed on its surface after its number of points changes."""
    place = place_of_player(obj)
    if late := surface_modifier(obj, place):
        first = obj.modifiers[place].name
        raise MeshError(
            f"The modifier {late} of {obj.name}, which moves it with its surface, comes after "
            f"{first}; move {late} up, before it"
        )


def read_hair(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(n, 3) points of hair as its evaluated modifiers leave them, in the object's space.

    Raises
    ------
    MeshError
        They change its curves.
    """
    curves = hair_of(obj.evaluated_get(depsgraph))
    own = hair_of(obj)
    if len(curves.points) != len(own.points) or len(curves.curves) != len(own.curves):
        raise MeshError(
            f"{obj.name} has {len(own.points)} points and a modifier before the simulation makes "
            f"{len(curves.points)} of them; apply or turn off that modifier, or move it below "
            "those that leave the number of points"
        )
    return read_points(curves)


def _has_all_points(obj: bpy.types.Object) -> bool:
    """Whether the modifiers that are on leave the number of points of each curve."""
    depsgraph: Any = cast(Any, bpy.context).view_layer.depsgraph
    depsgraph.update()
    shown, own = hair_of(obj.evaluated_get(depsgraph)), hair_of(obj)
    return len(shown.points) == len(own.points) and bool(
        len(shown.curves) == len(own.curves) and (read_ends(shown) == read_ends(own)).all()
    )


@contextmanager
def _turned_off(modifiers: list[bpy.types.Modifier]) -> Iterator[None]:
    """Turns modifiers off, and on again afterwards."""
    for each in modifiers:
        each.show_viewport = False
    try:
        yield
    finally:
        for each in modifiers:
            each.show_viewport = True
