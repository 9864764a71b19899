"""Colliders: objects with Blender's Collision modifier, converted to the core's `Collider`."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError
from ...core.mesh import MAX_COORDINATE
from ...core.scene import Collider
from ..settings.collider_friction import PER_COEFFICIENT
from ..settings.properties import body_properties
from .cages import simulated_object
from .surfaces import read_points, read_triangles
from .visibility import changes_with_time, enabled_objects, is_hidden_now

POINT_SIZE = 1e-9
"""Rounding: size of a collider that is a point [m], whose triangles have no area for the core, and
still form a BVH."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Geometry of a collider at one frame."""

    points: Floats
    """(v, 3) evaluated vertices [m]; the identical array from frame to frame while at rest."""
    sizes: tuple[int, int]
    """Numbers of vertices and face corners, which must not change between frames."""

    def shrunk(self) -> "Surface":
        """The surface shrunk to a point, which touches nothing; itself if it is one."""
        centre, size = self.points.mean(axis=0), np.ptp(self.points, axis=0).max(initial=0.0)
        if size <= POINT_SIZE:
            return self
        return Surface(centre + (self.points - centre) * (POINT_SIZE / size / 2), self.sizes)


def make_collider(obj: bpy.types.Object) -> None:
    """Adds a Collision modifier: 1 mm thick, friction as the ground's, and double-sided.

    Blender's own defaults are 2 cm, low friction and single-sided.
    """
    obj.modifiers.new("Collision", "COLLISION")
    settings: Any = obj.collision
    settings.use = True
    settings.thickness_outer = 0.001
    settings.cloth_friction = 50.0
    settings.use_culling = settings.use_normal = False


def has_modifier(obj: bpy.types.Object) -> bool:
    """Whether an object has Blender's Collision modifier, enabled or not."""
    return any(item.type == "COLLISION" for item in obj.modifiers)


def is_collider(obj: bpy.types.Object) -> bool:
    """Whether an object has a Collision modifier that is enabled, at least at some frames."""
    settings = obj.collision
    return (
        obj.type == "MESH"
        and settings is not None
        and settings.use
        and any(item.type == "COLLISION" and _is_on(obj, item) for item in obj.modifiers)
    )


def _is_on(obj: bpy.types.Object, modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier is shown in viewports, at least at some frames."""
    name = bpy.utils.escape_identifier(modifier.name)
    return modifier.show_viewport or changes_with_time(obj, f'modifiers["{name}"].show_viewport')


def is_away(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether a collider is disabled in viewports at the current frame, or its modifier is."""
    modifiers = obj.evaluated_get(depsgraph).modifiers
    on = any(item.type == "COLLISION" and item.show_viewport for item in modifiers)
    return not on or is_hidden_now(obj, depsgraph)


def met_colliders(
    obj: bpy.types.Object, bodies: Sequence[bpy.types.Object], view_layer: bpy.types.ViewLayer
) -> list[bpy.types.Object]:
    """Lists the colliders that a body collides with; bodies are left out, even with a modifier."""
    together = {*bodies, *map(simulated_object, bodies)}
    return _met(obj, together, _acting_colliders(view_layer))


def all_met(
    bodies: Sequence[bpy.types.Object], view_layer: bpy.types.ViewLayer
) -> tuple[list[bpy.types.Object], list[tuple[int, ...]]]:
    """Lists all colliders that any of the bodies collides with, and per body their indices."""
    acting = _acting_colliders(view_layer)
    together = {*bodies, *map(simulated_object, bodies)}
    met = [_met(obj, together, acting) for obj in bodies]
    numbers = {obj: number for number, obj in enumerate(dict.fromkeys(chain(*met)))}
    return list(numbers), [tuple(numbers[collider] for collider in its) for its in met]


def _acting_colliders(view_layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    """Lists the colliders of a view layer, as Blender's own physics does.

    Objects hidden by the eye icon collide; objects disabled in viewports do not, at the frames at
    which they are.
    """
    found = [obj for obj in view_layer.objects if is_collider(obj)]
    enabled = enabled_objects(view_layer) if found else ()
    return [obj for obj in found if obj in enabled]


def _met(
    obj: bpy.types.Object, bodies: Set[bpy.types.Object], acting: Sequence[bpy.types.Object]
) -> list[bpy.types.Object]:
    """Lists the acting colliders in the body's collision collection that are no bodies."""
    chosen = body_properties(obj).collision_collection
    meant = None if chosen is None else set(chosen.all_objects)
    others = [other for other in acting if other != obj and other not in bodies]
    return [other for other in others if meant is None or other in meant]


def object_key(obj: bpy.types.Object) -> tuple[str, str | None]:
    """Key of an object in `bpy.data.objects`: its name, and its library's path if linked."""
    return obj.name, obj.library.filepath if obj.library is not None else None


def read_collider(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Collider:
    """Reads a collider's faces and contact settings, which a bake takes as constant.

    The coefficient of friction is a hundredth of Blender's value, as measured on its Cloth.
    """
    settings: Any = obj.evaluated_get(depsgraph).collision
    return Collider(
        name=obj.name_full,  # distinguishes linked objects from local ones
        triangles=read_triangles(obj, depsgraph),
        outer=settings.thickness_outer,
        friction=settings.cloth_friction / PER_COEFFICIENT,
        restitution=1.0 - settings.damping,
        single_sided=settings.use_culling or settings.use_normal,
    )


def read_surface(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, before: Surface | None = None
) -> Surface:
    """Reads a collider's vertices at the current frame; where it is away, those before, shrunk.

    Raises
    ------
    MeshError
        A coordinate is not finite or too large, or the topology has changed.
    """
    if before is not None and is_away(obj, depsgraph):
        return before.shrunk()
    mesh: Any = obj.evaluated_get(depsgraph).data
    points = read_points(obj, depsgraph)
    surface = Surface(points, (len(points), len(mesh.loops)))
    if not (np.abs(points) < MAX_COORDINATE).all():
        raise MeshError(
            f"The collider {obj.name} has vertices at invalid coordinates, or farther than "
            f"{MAX_COORDINATE / 1000:.0f} km from the origin; clear its location, rotation and "
            "scale by Object ▸ Clear, or correct its mesh"
        )
    if before is None:
        return surface
    if surface.sizes != before.sizes:
        scene: Any = depsgraph.scene
        raise MeshError(
            f"The collider {obj.name} has {len(points)} vertices at frame {scene.frame_current} "
            f"and had {len(before.points)} before, so its surface cannot be followed; turn off the "
            "modifier that changes its faces, or its Collision"
        )
    return before if np.array_equal(points, before.points) else surface
