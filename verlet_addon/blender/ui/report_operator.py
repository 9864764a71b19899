"""The operator that copies a report of faults, without names of the user."""

from typing import TYPE_CHECKING

import bpy

from ..bake.fault_report import fault_report
from ..scene.file_context import file_context
from ..translation.interface import translated
from .messages import last_messages
from .operators import cancelled_by_errors

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class VERLET_OT_copy_report(bpy.types.Operator):
    """Copy versions, settings, messages and exceptions to report a fault, without your names"""

    bl_idname = "verlet.copy_report"
    bl_label = "Copy Report"

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        text = fault_report(here.scene, last_messages())
        copy(here.window_manager, text)
        # Not kept for the next report, as messages of other operators are.
        self.report(
            {"INFO"}, translated(f"Copied {len(text.splitlines())} lines, without names and paths")
        )
        return {"FINISHED"}


def copy(manager: bpy.types.WindowManager, text: str) -> None:
    """Puts a text on the clipboard."""
    manager.clipboard = text
