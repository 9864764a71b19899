"""The operator that plays bakes by bones."""

from typing import TYPE_CHECKING

import bpy
from bpy.props import FloatProperty, IntProperty

from ..bake.motion import Deviation
from ..export.bones import BoneBake, bake_bones
from ..live.control import working
from ..scene.file_context import file_context
from .cache_exchange import chosen_baked, has_bake
from .messages import report
from .operators import cancelled_by_errors

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

_NOTICEABLE = 0.004
"""Share of an object's size from which the rms error of bones is a warning."""


class VERLET_OT_bake_bones(bpy.types.Operator):
    """Play the bakes of selected objects by bones: an armature, and a copy with vertex groups"""

    bl_idname = "verlet.bake_bones"
    bl_label = "Bake to Bones"
    bl_options = {"REGISTER", "UNDO"}

    count: IntProperty(
        name="Bones", description="Number of bones, at most", default=32, soft_min=1, soft_max=128
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Root mean square of the error that the fewest bones are to reach; 0 takes all",
        default=0.0,
        soft_min=0.0,
        soft_max=0.1,
        step=0.1,
        precision=4,
        unit="LENGTH",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_bake(cls, context)

    def invoke(
        self, context: bpy.types.Context, _event: bpy.types.Event
    ) -> "set[OperatorReturnItems]":
        return file_context(context).window_manager.invoke_props_dialog(self)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        manager = here.window_manager
        manager.progress_begin(0, 1)
        try:
            with working():
                for obj in chosen_baked(context):
                    made = bake_bones(
                        here.scene,
                        here.view_layer,
                        obj,
                        count=self.count,
                        tolerance=self.tolerance,
                        told=manager.progress_update,
                    )
                    self.tell(made)
        finally:
            manager.progress_end()
        return {"FINISHED"}

    def tell(self, made: BoneBake) -> None:
        """Reports how far off the bones are."""
        skinning = made.skinning
        count = skinning.weights.shape[1]
        bones = "1 bone is" if count == 1 else f"{count} bones are"
        off = Deviation(skinning.worst, skinning.rms).describe()
        sentence = f"{made.skin.name}: {bones} off by {off}"
        size = float((skinning.rest.max(axis=0) - skinning.rest.min(axis=0)).max())
        if 0 < self.tolerance < skinning.rms:
            sentence += "; more bones come nearer"
        elif skinning.rms > _NOTICEABLE * size:
            sentence += "; folds finer than the bones are lost, so take more, or another form"
        else:
            report(self, "INFO", sentence)
            return
        report(self, "WARNING", sentence)
