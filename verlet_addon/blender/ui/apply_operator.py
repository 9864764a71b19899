"""The operator that keeps what the current frame shows of a simulation."""

from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty, EnumProperty

from ...core.errors import MeshError
from ..live.applied_shape import apply_shapes, simulated_objects
from ..scene.file_context import file_context
from .messages import report
from .operators import cancelled_by_errors, undoable_mode

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

_MODES = (
    (
        "MESH",
        "Mesh",
        "Make what you see now the mesh itself: it is a plain object again, without soft body, "
        "bake and drape",
    ),
    (
        "SHAPE_KEY",
        "Shape Key",
        "Keep what you see now as one shape key; the soft body stays, and simulations begin there",
    ),
)


class VERLET_OT_apply_shape(bpy.types.Operator):
    """Keep what the current frame shows of a drape, a live simulation or a bake"""

    bl_idname = "verlet.apply_shape"
    bl_label = "Apply Soft Body Shape"
    bl_options = {"REGISTER", "UNDO"}

    mode: EnumProperty(name="As", description="Where the shape is kept", items=_MODES)
    selected: BoolProperty(
        name="Selected",
        description="Apply the shapes of selected objects alone",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(
        cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties
    ) -> str:
        return dict(item[::2] for item in _MODES)[cast(Any, properties).mode]

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        here = file_context(context)
        if not simulated_objects(here.scene, here.view_layer):
            cls.poll_message_set("No soft body shows a drape, a live simulation or a bake")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        objects = [
            obj
            for obj in simulated_objects(here.scene, here.view_layer)
            if not self.selected or obj.select_get(view_layer=here.view_layer)
        ]
        if not objects:
            raise MeshError(
                "No selected object shows a simulation; select one that does, or apply all"
            )
        for sentence in apply_shapes(here.scene, here.view_layer, objects, self.mode):
            report(self, "WARNING", sentence)
        names = objects[0].name if len(objects) == 1 else f"{len(objects)} objects"
        where = "the mesh" if self.mode == "MESH" else "a shape key"
        report(self, "INFO", f"Applied the shape of {names} as {where}")
        return {"FINISHED"}


def draw_apply(
    column: bpy.types.UILayout, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> None:
    """Draws the two buttons, where anything shows a simulation."""
    if not simulated_objects(scene, view_layer):
        return
    buttons = column.column(align=True)
    for mode, name, _ in _MODES:
        icon: Any = "MESH_DATA" if mode == "MESH" else "SHAPEKEY_DATA"
        button = buttons.operator("verlet.apply_shape", text=f"Apply as {name}", icon=icon)
        cast(Any, button).mode = mode
