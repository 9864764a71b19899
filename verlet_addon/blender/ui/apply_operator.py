"""The operator that keeps what the current frame shows of a simulation."""

from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty, EnumProperty

from ...core.errors import MeshError
from ..live.applied_shape import Mode, apply_poses, apply_shapes, simulated_objects
from ..scene.file_context import file_context
from ..translation.interface import translated
from .messages import report, report_poses
from .operators import cancelled_by_errors, is_selected, undoable_mode

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

_MODES: tuple[tuple[Mode, str, str], ...] = (
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
    (
        "POSE",
        "Pose",
        "Keep what you see now as the pose of soft bones at this frame, keyed where they have keys "
        "or Auto Keying is on; their bake, drape or live simulation ends",
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
        return translated({mode: text for mode, _, text in _MODES}[cast(Any, properties).mode])

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        here = file_context(context)
        if not any(simulated_objects(here.scene, here.view_layer, each[0]) for each in _MODES):
            cls.poll_message_set("No soft body shows a drape, a live simulation or a bake")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        objects = [
            obj
            for obj in simulated_objects(here.scene, here.view_layer, self.mode)
            if not self.selected or is_selected(obj, here.view_layer)
        ]
        if not objects:
            what = "soft bones show" if self.mode == "POSE" else "mesh shows"
            raise MeshError(
                f"No selected {what} a simulation; select one that does, or apply all"
                if self.selected
                else f"No {what} a simulation; select one that does, or apply all"
            )
        if self.mode == "POSE":
            report_poses(self, apply_poses(here.scene, here.view_layer, objects))
            return {"FINISHED"}
        for sentence in apply_shapes(here.scene, here.view_layer, objects, self.mode):
            report(self, "WARNING", sentence)
        names = objects[0].name if len(objects) == 1 else f"{len(objects)} objects"
        where = "the mesh" if self.mode == "MESH" else "a shape key"
        report(self, "INFO", f"Applied the shape of {names} as {where}")
        return {"FINISHED"}


def draw_apply(
    column: bpy.types.UILayout, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> None:
    """Draws a button for each form in which what shows a simulation can be kept."""
    buttons = column.column(align=True)
    for mode, name, _ in _MODES:
        if not simulated_objects(scene, view_layer, mode):
            continue
        icon: Any = {"MESH": "MESH_DATA", "POSE": "ARMATURE_DATA"}.get(mode, "SHAPEKEY_DATA")
        button = buttons.operator(
            "verlet.apply_shape", text=translated(f"Apply as {name}"), icon=icon
        )
        cast(Any, button).mode = mode
