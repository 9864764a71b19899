"""The operator that converts bakes from one form to another."""

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty

from ...core.errors import MeshError
from ..bake.cache_folder import saved_file
from ..bake.conversion import cache_to_keys, keys_to_cache
from ..live.control import end_live, working
from ..scene.cache_modifiers import bake_modifier
from ..scene.file_context import file_context
from ..settings.scene_properties_group import BAKE_MODES
from .operators import OfSelected, baked_objects, cancelled_by_errors, undoable_mode

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class VERLET_OT_convert_bake(OfSelected, bpy.types.Operator):
    """Keep the bakes of all bodies in another form, without simulating them again"""

    bl_idname = "verlet.convert_bake"
    bl_label = "Convert Bake"
    bl_options = {"UNDO"}

    mode: EnumProperty(
        name="Mode",
        description="Form in which the motion is to be kept",
        items=BAKE_MODES,
        default="CACHE",
        options={"SKIP_SAVE"},
    )
    selected: BoolProperty(
        name="Selected",
        description="Convert the bakes of selected objects alone",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not baked_objects(context):
            cls.poll_message_set("No soft body that is switched on has a bake")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        to_cache = self.mode == "CACHE"
        objects = [
            obj
            for obj in baked_objects(context)
            if (bake_modifier(obj) is None) == to_cache
            and (not self.selected or obj in here.selected_objects)
        ]
        if not objects:
            raise MeshError(
                "No bake is in another form than that; choose the other one, or bake bodies first"
            )
        blend = saved_file() if to_cache else None
        end_live(here.scene)
        with working():
            if blend is not None:
                keys_to_cache(here.scene, here.view_layer, objects, blend)
            else:
                cache_to_keys(here.scene, here.view_layer, objects)
        names = objects[0].name if len(objects) == 1 else f"{len(objects)} objects"
        form = "a cache" if to_cache else "shape keys"
        self.report({"INFO"}, f"Converted the bake of {names} to {form}")
        return {"FINISHED"}
