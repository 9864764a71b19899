"""The operator that converts bakes from one form to another."""

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ...core.errors import MeshError
from ..bake.bake_conversion import convert_bakes, convertible
from ..bake.cache_bake import check_cache_step
from ..bake.cache_folder import saved_file
from ..bake.forms import KeyForm
from ..bake.record import baked_objects
from ..live.control import end_live, working
from ..scene.file_context import file_context
from ..settings.properties import scene_properties
from ..settings.scene_properties_group import BAKE_MODES
from .messages import report
from .operators import OfSelected, cancelled_by_errors, undoable_mode

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
    step: IntProperty(
        name="Step",
        description="Frames from one shape key to the next, which vertices pass in straight lines; "
        "that of the bake if not given",
        default=1,
        soft_min=1,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="How far components may leave any vertex from the bake at any frame; the "
        "scene's own if not given",
        default=0.001,
        precision=4,
        subtype="DISTANCE",
    )
    selected: BoolProperty(
        name="Selected",
        description="Convert the bakes of selected objects alone",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not baked_objects(file_context(context).scene):
            cls.poll_message_set("No soft body that is switched on has a bake")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here, given = file_context(context), self.properties.is_property_set
        if given("step") and self.mode == "CACHE":
            check_cache_step(self.step)
        objects = [
            obj
            for obj in convertible(baked_objects(here.scene), self.mode, anew=given("step"))
            if not self.selected or obj in here.selected_objects
        ]
        if not objects:
            forms = {item[0]: item[1] for item in BAKE_MODES}
            raise MeshError(
                f"No chosen bake has another form than {forms[self.mode]}; choose another form, or "
                "select other objects"
            )
        scene = scene_properties(here.scene)
        tolerance = self.tolerance if given("tolerance") else scene.component_tolerance
        blend = saved_file() if self.mode == "CACHE" else None
        end_live(here.scene)
        with working():
            converted = convert_bakes(
                here.scene,
                here.view_layer,
                objects,
                KeyForm(self.mode, tolerance) if blend is None else blend,
                step=self.step if given("step") else None,
            )
        for refusal in converted.refusals:
            report(self, "WARNING", refusal)
        if converted.names:
            report(self, "INFO", converted.describe(self.mode))
        return {"FINISHED"} if converted.names else {"CANCELLED"}
