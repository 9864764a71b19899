"""The operator that paints flesh by the distance from bones to skin."""

from typing import TYPE_CHECKING, cast

import bpy
from bpy.props import FloatProperty

from ..scene.flesh_paint import paint_flesh
from ..scene.ownership import why_foreign
from ..settings.properties import body_properties, is_body
from ..settings.unit_texts import length_text
from ..translation.interface import translated
from .operators import cancelled_by_errors, undoable_mode

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class VERLET_OT_paint_flesh(bpy.types.Operator):
    """Paint the Flesh Group: the farther the skin is from the bones, the more fat is under it"""

    bl_idname = "verlet.paint_flesh"
    bl_label = "Paint from Bones"
    bl_options = {"REGISTER", "UNDO"}

    near: FloatProperty(
        name="Flesh From",
        description="Distance from bone to skin at which flesh begins; 0 chooses it by the body",
        min=0.0,
        soft_max=1.0,
        step=1,
        precision=3,
        subtype="DISTANCE",
        options={"SKIP_SAVE"},
    )
    far: FloatProperty(
        name="All Fat From",
        description="Distance from bone to skin from which on it is all fat; "
        "0 chooses it by the body",
        min=0.0,
        soft_max=1.0,
        step=1,
        precision=3,
        subtype="DISTANCE",
        options={"SKIP_SAVE"},
    )
    ends: FloatProperty(
        name="Ends",
        description="Length of the ends of limbs that stay bone, such as hands, feet and the head; "
        "0 chooses it by the body",
        min=0.0,
        soft_max=1.0,
        step=1,
        precision=3,
        subtype="DISTANCE",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.object
        if obj is None or not is_body(obj) or body_properties(obj).body_type != "FLESH":
            cls.poll_message_set("Make a soft body of the type Flesh first")
            return False
        if reason := why_foreign(obj):
            cls.poll_message_set(translated(reason))
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        obj = cast(bpy.types.Object, context.object)
        done = paint_flesh(obj, near=self.near, far=self.far, ends=self.ends)
        near = length_text(done.near)
        where = (
            f"{near} from the bones"
            if done.by_bones
            else f"{near} from its middle, as it has no armature,"
        )
        self.report(
            {"INFO"},
            translated(
                f"{done.count:,} vertices of {obj.name} have flesh, which begins "
                f"{where} and is all fat at {length_text(done.far)}"
            ),
        )
        return {"FINISHED"}
