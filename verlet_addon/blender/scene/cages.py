"""Cages: light meshes that are simulated in place of bodies, which follow them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError
from ...core.geometry.surface_binding import SurfaceBinding, bind_to_surface
from ...core.scene import Frame
from ..settings.properties import body_properties
from ..settings.unit_texts import length_text
from .mesh_access import mesh_of, mode_name
from .surfaces import find_nearest, read_triangles, with_area
from .visibility import enabled_objects

FARTHEST = 0.25
"""Largest distance of a body from its cage, as a share of the cage's size: farther away, a small
turn of the cage would swing the body about."""


def simulated_object(obj: bpy.types.Object) -> bpy.types.Object:
    """The object whose mesh and vertex groups are simulated for a body: its cage, or itself."""
    cage: bpy.types.Object | None = body_properties(obj).simulate_as
    return cage if cage is not None and cage.type == "MESH" else obj


def check_cage(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> None:
    """Raises MeshError where a body cannot be simulated as its cage; bodies without one can."""
    cage = body_properties(obj).simulate_as
    if cage is None:
        return
    if cage == obj:
        raise MeshError(
            f"{obj.name} cannot be simulated as itself; choose another mesh for Simulate As, or "
            "none"
        )
    if problem := _problem(cage, view_layer):
        raise MeshError(f"{obj.name} cannot be simulated as {cage.name}, which {problem}")


def _problem(cage: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> str:
    """Words on a fault of a cage, with the remedy; empty if it has none."""
    if cage.type != "MESH":
        return "is not a mesh; choose a mesh"
    if body_properties(cage).enabled:
        return "is a soft body too; switch that off, for a cage lends its mesh alone"
    if cage not in enabled_objects(view_layer):
        return (
            f"is disabled in viewports or left out of the view layer {view_layer.name}; enable it"
        )
    if cage.mode in ("EDIT", "SCULPT"):
        return f"is in {mode_name(cage)} Mode; switch to Object Mode"
    if not mesh_of(cage).polygons:
        return "has no faces to follow; choose a mesh with faces"
    return ""


def refuse_cages(objects: Sequence[bpy.types.Object], work: str) -> None:
    """Raises MeshError for bodies with a cage, by which some work does not move them."""
    for obj in objects:
        cage = body_properties(obj).simulate_as
        if cage is not None:
            raise MeshError(
                f"{obj.name} follows {cage.name}, its Simulate As, which {work} does not support; "
                f"clear Simulate As, or switch {obj.name} off by the checkbox of its panel"
            )


@dataclass(frozen=True, eq=False)
class Shapes:
    """Bindings of bodies to the meshes that are simulated for them."""

    bindings: tuple[SurfaceBinding | None, ...]
    """Per body, the binding of its mesh to its cage; None if it is simulated itself."""

    def carry(self, result: Frame) -> Frame:
        """A result with the vertices of the bodies in place of those of their cages."""
        if not any(self.bindings):
            return result
        return replace(result, positions=self.of_bodies(result.positions))

    def of_bodies(self, positions: Sequence[Floats]) -> list[Floats]:
        """Per body (n, 3) vertices, given those (v, 3) that are simulated [m]."""
        return [
            places if binding is None else binding.carry(places)
            for binding, places in zip(self.bindings, positions, strict=True)
        ]

    def own(self, rest_lengths: Sequence[Floats]) -> list[Floats]:
        """Per body (m,) rest lengths of its edges [m]; none of bodies with a cage."""
        each = zip(self.bindings, rest_lengths, strict=True)
        return [rest if binding is None else np.zeros(0) for binding, rest in each]


def bind(
    obj: bpy.types.Object, points: Floats, surface: Floats, depsgraph: bpy.types.Depsgraph
) -> SurfaceBinding | None:
    """Binds a body to its cage as both are now; None for a body without a cage.

    Parameters
    ----------
    points, surface : (n, 3) vertices of the body, and (v, 3) of its cage [m].

    Raises
    ------
    MeshError
        The cage has no face with an area, or is too far away.
    """
    cage = simulated_object(obj)
    if cage == obj:
        return None
    triangles = with_area(surface, read_triangles(cage, depsgraph))
    if not len(triangles):
        raise MeshError(
            f"{obj.name} cannot be simulated as {cage.name}, whose faces have no area; give them "
            "one, or choose another mesh"
        )
    chosen, nearest = find_nearest(surface, triangles, points)
    away = float(np.linalg.norm(points - nearest, axis=1).max(initial=0.0))
    size = float(np.linalg.norm(np.ptp(surface, axis=0)))
    if away > FARTHEST * size:
        raise MeshError(
            f"{obj.name} is up to {length_text(away)} away from {cage.name}, as which it is "
            "simulated, at the first frame; move one of them onto the other, or choose another mesh"
        )
    return bind_to_surface(points, surface, triangles, chosen, nearest)
