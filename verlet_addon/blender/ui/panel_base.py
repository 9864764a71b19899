"""Base classes of the panels in the sidebar tab."""

from collections.abc import Collection
from typing import Any, cast, get_args

import bpy

from ...core.settings import BodyType
from ..scene.file_context import file_context
from ..settings.bone_properties import armature_of
from ..settings.properties import VERLET_PG_body, body_properties, is_body
from ..translation.interface import translated
from ..translation.line_breaks import wrapped
from .bake_progress import bake_in_progress


def active_body(context: bpy.types.Context) -> VERLET_PG_body | None:
    """The settings of the active object if it is a body, enabled or not; else None."""
    obj = context.object
    return body_properties(obj) if obj is not None and is_body(obj) else None


def layout_of(
    owner: bpy.types.Panel | bpy.types.Menu | bpy.types.Operator,
) -> bpy.types.UILayout:
    """The layout of a panel, menu or operator, which is never None while Blender draws it."""
    return cast(bpy.types.UILayout, owner.layout)


MARGINS, LETTER = 85, 6.1
"""Width of what surrounds a line of a panel, and of its letters on average [Blender's pixels]."""
NARROW = 33
"""Letters in a line of the sidebar as wide as it opens."""


def letters_across() -> int:
    """Number of letters in a line of the panel that is drawn, at least NARROW."""
    if (region := bpy.context.region) is None:
        return NARROW
    width = region.width / file_context(bpy.context).preferences.system.ui_scale
    return max(int((width - MARGINS) / LETTER), NARROW)


def draw_wrapped(
    column: bpy.types.UILayout, text: str, *, icon: Any, letters: int = 0, alert: bool = False
) -> None:
    """Draws a text, in the language of the interface, in as many lines as it needs.

    The first has an icon; there is none if the text is empty.
    """
    lines = column.column(align=True)
    lines.alert = alert
    for number, line in enumerate(wrapped(translated(text), letters or letters_across())):
        lines.label(text=line, icon="BLANK1" if number else icon)


class SidebarPanel(bpy.types.Panel):
    """Panel of the sidebar tab: labels left, values right, and dots that insert keyframes."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Verlet"

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        # A modal bake takes all events, so that nothing here would answer.
        layout.enabled = bake_in_progress() is None
        self.fill(layout.column(), context)

    def fill(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        """Draws the panel's rows."""
        raise NotImplementedError


class BodyPanel(SidebarPanel):
    """Panel with a part of the active body's settings."""

    bl_parent_id = "VERLET_PT_body"
    types: Collection[str] = get_args(BodyType)
    """Body types for which the panel is shown."""
    for_curves = True
    """Whether it is shown for curves and hair, which have no vertex groups."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        body = active_body(context)
        if body is None or body.body_type not in cls.types:
            return False
        if armature_of(cast(bpy.types.Object, body.id_data)) is not None:
            return False  # the panel of soft bones has the settings of their body
        return cls.for_curves or cast(bpy.types.Object, body.id_data).type == "MESH"

    def fill(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        if (body := active_body(context)) is not None:
            column.active = body.enabled
            self.fill_for(column, body)

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        """Draws the rows for a body."""
        raise NotImplementedError
