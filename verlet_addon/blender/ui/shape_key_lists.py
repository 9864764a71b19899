"""Below Blender's list of shape keys: the user's own alone, and the baked frames, folded away."""

from typing import Any, cast

import bpy

from ..scene.mesh_access import shape_keys_of
from ..settings.properties import body_properties
from ..translation.interface import translated
from .panel_base import layout_of


class _KeyList(bpy.types.UIList):
    """A list of some of the shape keys of the active object."""

    for_baked = False
    """Whether it has the baked ones."""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        icon: int | None,
        _active_data: Any,
        _active_property: str | None,
        index: int | None,
        _flag: int | None,
    ) -> None:
        split = layout.split(factor=0.66)
        split.active = not item.mute
        split.prop(item, "name", text="", emboss=False, icon_value=icon or 0)
        row = split.row(align=True)
        row.emboss = "NONE_OR_STATUS"
        if index or not data.use_relative:
            row.prop(item, "value" if data.use_relative else "frame", text="")
        else:
            row.label()
        row.prop(item, "mute", text="", emboss=False)

    def filter_items(self, context: bpy.types.Context, data: Any, name: str) -> Any:
        """Flags of the keys that are shown, and no order of their own."""
        keys, shown = getattr(data, name), self.bitflag_filter_item
        helper: Any = bpy.types.UI_UL_list
        flags = helper.filter_items_by_name(self.filter_name, shown, keys) or [shown] * len(keys)
        baked = _names_of_bake(cast(bpy.types.Object, context.object))
        chosen = [(key.name in baked) == self.for_baked for key in keys]
        return [flag if its else 0 for flag, its in zip(flags, chosen, strict=True)], []


class VERLET_UL_own_keys(_KeyList):
    """Shape keys that no bake has made"""


class VERLET_UL_baked_keys(_KeyList):
    """Shape keys that a bake has made"""

    for_baked = True


class VERLET_PT_shape_keys(bpy.types.Panel):
    """Shape keys of a baked object in two lists, for its bake fills Blender's own"""

    bl_label = "Own Keys and Baked Frames"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "data"
    bl_parent_id = "DATA_PT_shape_keys"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.object
        return obj is not None and bool(body_properties(obj).baked_keys)

    def draw(self, context: bpy.types.Context) -> None:
        obj = cast(bpy.types.Object, context.object)
        if (key := shape_keys_of(obj)) is None:
            return
        layout = layout_of(self)
        row = layout.row()
        _draw_list(row, VERLET_UL_own_keys, key, obj)
        column = row.column(align=True)
        cast(Any, column.operator("object.shape_key_add", icon="ADD", text="")).from_mix = False
        cast(Any, column.operator("object.shape_key_remove", icon="REMOVE", text="")).all = False
        header, body = layout.panel("verlet_baked_frames", default_closed=True)
        there = {block.name for block in key.key_blocks}
        header.label(text=translated(f"Baked Frames ({len(there & _names_of_bake(obj))})"))
        if body is not None:
            _draw_list(body, VERLET_UL_baked_keys, key, obj)


def _names_of_bake(obj: bpy.types.Object) -> set[str]:
    """Names that the bake gave to its keys: a key that the user renamed is listed as an own one.

    To find that by its curve takes 10 ms for a thousand keys, and this is read at every redraw.
    """
    return {item.name for item in body_properties(obj).baked_keys}


def _draw_list(
    layout: bpy.types.UILayout,
    kind: type[_KeyList],
    key: bpy.types.Key,
    obj: bpy.types.Object,
) -> None:
    """Draws a list of shape keys, in which the active key of the object can be chosen."""
    layout.template_list(kind.__name__, "", key, "key_blocks", obj, "active_shape_key_index")
