"""The last messages of operators, in full: the status bar cuts them, and drops them."""

from collections import deque
from collections.abc import Iterable
from typing import Any

import bpy

from ...core.remark import Grade, Remark
from ..translation.interface import translated
from .panel_base import draw_wrapped, layout_of

LETTERS = 80
"""Number of characters in a line of a message."""
ICONS: dict[str, Any] = {"INFO": "INFO", "WARNING": "ERROR", "ERROR": "CANCEL"}
"""By the type of a report."""

_last: deque[tuple[str, str]] = deque(maxlen=10)
"""Types and texts of the last reports, the newest first."""


def report(operator: bpy.types.Operator, kind: str, text: str) -> None:
    """Reports a message as an operator does, and keeps it for the panel."""
    operator.report({kind}, translated(text))  # type: ignore[arg-type]
    _last.appendleft((kind, text))


def report_poses(operator: bpy.types.Operator, sentences: Iterable[tuple[str, str]]) -> None:
    """Reports what `keep_pose` says of each body of soft bones."""
    for done, lost in sentences:
        report(operator, "INFO", done)
        if lost:
            report(operator, "WARNING", lost)


def last_messages() -> list[Remark]:
    """The last messages, the newest first; those of errors are serious."""
    grades: dict[str, Grade] = {"INFO": "INFO", "ERROR": "SERIOUS"}
    return [Remark(text, grade=grades.get(kind, "WARNING")) for kind, text in _last]


def draw_messages(column: bpy.types.UILayout) -> None:
    """Draws the button that shows the last messages, once there are some, and one to report them.

    The latter has its name where the last command failed.
    """
    if not _last:
        return
    row = column.row(align=True)
    row.popover("VERLET_PT_messages", text="Last Messages", icon="TEXT")
    failed = _last[0][0] == "ERROR"
    row.operator("verlet.copy_report", text="Copy Report" if failed else "", icon="COPYDOWN")


class VERLET_PT_messages(bpy.types.Panel):
    """Messages of the last commands, which the status bar shows only for seconds"""

    bl_label = "Last Messages"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = 24

    def draw(self, _context: bpy.types.Context) -> None:
        column = layout_of(self).column()
        for kind, text in _last:
            draw_wrapped(column, text, icon=ICONS[kind], letters=LETTERS)
        column.operator("verlet.copy_report", icon="COPYDOWN")
