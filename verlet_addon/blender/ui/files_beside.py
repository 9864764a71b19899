"""Files that an export writes beside the one that its dialog names."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty

from ..export.written_files import check_others
from .panel_base import layout_of

if TYPE_CHECKING:
    _Operator = bpy.types.Operator
else:
    _Operator = object


class WritesBeside(_Operator):
    """Part of an operator whose export has further files, which it replaces only if told to."""

    replace: BoolProperty(
        name="Replace Others",
        description="Replace the files listed here that exist; the one that is named is replaced "
        "in any case",
        options={"SKIP_SAVE"},
    )

    def draw_others(self, others: Sequence[Path]) -> None:
        """Lists the further files, and has those that exist replaced."""
        if not others:
            return
        column = layout_of(self).column(align=True)
        column.label(text="Also written:")
        for path in others:
            column.label(text=path.name, icon="ERROR" if path.exists() else "FILE_BLANK")
        if any(path.exists() for path in others):
            column.prop(self, "replace")

    def check_others(self, others: Sequence[Path]) -> None:
        """Raises FileError where a further file exists, unless it is to be replaced."""
        if not self.replace:
            check_others(others)
