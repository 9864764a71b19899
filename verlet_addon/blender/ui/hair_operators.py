"""The operator that makes hair of particles' hair and of meshes of guides."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError
from ..scene.body_creation import make_bodies
from ..scene.file_context import FileContext, file_context
from ..scene.hair_creation import (
    hair_systems,
    new_hair,
    strands_of_guides,
    surface_of_guides,
)
from ..scene.hair_curves import hair_of, read_ends, read_points
from .messages import report
from .operators import cancelled_by_errors, chosen_objects, undoable_mode

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class VERLET_OT_hair_from_guides(bpy.types.Operator):
    """Make hair of the hair particles of selected meshes, and of selected meshes of edges"""

    bl_idname = "verlet.hair_from_guides"
    bl_label = "Hair from Guides"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not any(obj.type == "MESH" for obj in chosen_objects(context)):
            cls.poll_message_set("Select a mesh with hair particles, or a mesh of guides")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        guides = [obj for obj in chosen_objects(context) if obj.type == "MESH"]
        grown = [obj for obj in guides if hair_systems(obj)]
        drawn = [obj for obj in guides if obj not in grown]
        if grown:  # beside these, plain meshes are what guides grow on
            drawn = [obj for obj in drawn if not len(cast(Any, obj.data).polygons)]
        depsgraph: Any = here.view_layer.depsgraph
        depsgraph.update()
        planned: list[tuple[str, list[Floats], bpy.types.Object | None]] = []
        for obj in drawn:
            surface = surface_of_guides(obj)
            planned.append((obj.name, strands_of_guides(obj, surface, depsgraph), surface))
        for obj in grown:
            for system, strands in _converted(context, here, obj):
                planned.append((f"{obj.name} {system}", strands, obj))
        made = [
            new_hair(f"{name} Hair", strands, surface, here.scene)
            for name, strands, surface in planned
        ]
        _attach(context, here, made)
        make_bodies(made, here.view_layer, body_type="AUTO", use_material=True)
        _switch_off(drawn, grown)
        count = sum(len(hair_of(obj).curves) for obj in made)
        what = ", ".join(obj.name for obj in made)
        report(self, "INFO", f"Made {count} strands: {what}; what they were made of is hidden")
        return {"FINISHED"}


def _converted(
    context: bpy.types.Context, here: FileContext, obj: bpy.types.Object
) -> Iterator[tuple[str, list[Floats]]]:
    """Name and strands (k, 3), in world places [m], of each hair particle system of an object.

    By Blender's own conversion, which makes an object of its own of the active one.
    """
    for number, system in enumerate(hair_systems(obj)):
        obj.particle_systems.active_index = list(obj.particle_systems).index(system)
        name, before = system.name, set(bpy.data.objects)
        with context.temp_override(active_object=obj, object=obj, selected_objects=[obj]):
            bpy.ops.curves.convert_from_particle_system()
        result = next(each for each in bpy.data.objects if each not in before)
        here.view_layer.update()
        curves, matrix = hair_of(result), np.array(result.matrix_world, np.float64)
        places = read_points(curves) @ matrix[:3, :3].T + matrix[:3, 3]
        strands = np.split(places, read_ends(curves)[1:-1])
        bpy.data.objects.remove(result)
        bpy.data.hair_curves.remove(curves)
        if not places.size:
            raise MeshError(f"The hair particles {name} of {obj.name} have no hairs; add some")
        yield (name if number or name != "ParticleSystem" else "Particles"), strands


def _attach(context: bpy.types.Context, here: FileContext, made: list[bpy.types.Object]) -> None:
    """Attaches the roots of new hair to its surface, and selects it alone."""
    here.view_layer.update()
    for obj in here.view_layer.objects:
        obj.select_set(obj in made)
    here.view_layer.objects.active = made[-1]
    for obj in made:
        if hair_of(obj).surface is not None and hair_of(obj).surface_uv_map:
            with context.temp_override(active_object=obj, object=obj, selected_objects=[obj]):
                bpy.ops.curves.snap_curves_to_surface(attach_mode="NEAREST")
    here.view_layer.update()


def _switch_off(drawn: list[bpy.types.Object], grown: list[bpy.types.Object]) -> None:
    """Hides what hair was made of, which would be seen beside it."""
    for obj in drawn:
        obj.hide_render = True
        obj.hide_set(True)
    for obj in grown:
        for modifier in obj.modifiers:
            system: Any = getattr(modifier, "particle_system", None)
            if modifier.type == "PARTICLE_SYSTEM" and system.settings.type == "HAIR":
                modifier.show_viewport = modifier.show_render = False
