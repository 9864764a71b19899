"""Shapes that stay once a simulation off the timeline has ended."""

from collections.abc import Sequence
from typing import Any

import bpy

from ...core.arrays import Floats
from ..bake.former_bake import former_bakes_hidden
from ..bake.record import is_baked
from ..bake.shape_keys import remove_bake
from ..scene.key_points import way_to_key
from ..scene.mesh_access import shape_keys_of, write_coordinates
from ..scene.modifiers import finish_hidden
from ..settings.properties import body_properties

KEY = "Grab"
"""Name of the shape keys."""


def keep_shapes(
    objects: Sequence[bpy.types.Object],
    view_layer: bpy.types.ViewLayer,
    positions: Sequence[Floats],
    *,
    starting: bool,
) -> None:
    """Adds a shape key to each body that shows it at world positions (n, 3) at the current frame.

    Parameters
    ----------
    starting : simulations start there: a bake is removed, and the Basis becomes the rest shape of
        bodies without one. Else a baked body keeps its bake, and the value of its new key is 0.
    """
    with former_bakes_hidden(objects), finish_hidden(objects):
        view_layer.update()
        depsgraph: Any = view_layer.depsgraph
        shapes = [
            way_to_key(obj, depsgraph)(places)
            for obj, places in zip(objects, positions, strict=True)
        ]
    for obj, points in zip(objects, shapes, strict=True):
        if starting and is_baked(obj):
            remove_bake(obj)
        if shape_keys_of(obj) is None:
            obj.shape_key_add(name="Basis", from_mix=False)
        block = obj.shape_key_add(name=KEY, from_mix=False)
        write_coordinates(block.points, points)
        block.value = 0.0 if is_baked(obj) else 1.0
        body, key = body_properties(obj), shape_keys_of(obj)
        if starting and not body.rest_key and key is not None:
            body.rest_key = key.reference_key.name
    view_layer.update()


def add_pins(obj: bpy.types.Object, vertices: Sequence[int]) -> None:
    """Gives vertices weight 1 in the pin group; a body without one gets a group named Pin."""
    body = body_properties(obj)
    group = obj.vertex_groups.get(body.pin_group) or obj.vertex_groups.new(name="Pin")
    body.pin_group = group.name
    group.add(list(vertices), 1.0, "REPLACE")
