"""Choice of materials: a menu, the body type with its default material, and presets of the user.

`Object.verlet_type` is not in the property group, since Blender 4.2 as a Python module crashes at
exit where a group has getters or setters.
"""

from collections.abc import Sequence
from typing import Any, cast

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel

from ...core.materials import MATERIAL_SETTINGS, MATERIALS
from ..settings.materials import give_fitting_material, material_label
from ..settings.properties import (
    BODY_TYPES,
    HAIR_TYPES,
    MESH_TYPES,
    VERLET_PG_body,
    body_properties,
)

# Blender's type stubs do not allow a property to be assigned to a name.
_blender: Any = bpy

_NUMBERS = [item[4] for item in BODY_TYPES]
_NAMES = [item[0] for item in BODY_TYPES]


def _types_of(obj: bpy.types.Object, _context: bpy.types.Context) -> Sequence[Any]:
    """The types that an object can have, as items of an enumeration."""
    return HAIR_TYPES if obj.type == "CURVES" else MESH_TYPES


def _read_type(obj: bpy.types.Object) -> int:
    """Getter: the number of a body's type."""
    return _NUMBERS[_NAMES.index(body_properties(obj).body_type)]


def _write_type(obj: bpy.types.Object, number: int) -> None:
    """Setter: a body's type, and its default material."""
    body = body_properties(obj)
    body.body_type = _NAMES[_NUMBERS.index(number)]
    give_fitting_material(obj)


TYPE = _blender.props.EnumProperty(
    name="Type",
    description="Type of body; another type sets a material of that type",
    items=_types_of,
    get=_read_type,
    set=_write_type,
    options=set(),
)


class VERLET_MT_material(bpy.types.Menu):
    """Set the material of the selected bodies"""

    bl_label = "Material"

    def draw(self, context: bpy.types.Context) -> None:
        layout = cast(bpy.types.UILayout, self.layout)
        body_type = body_properties(cast(bpy.types.Object, context.object)).body_type
        for name, material in MATERIALS.items():
            if material.settings.body_type == body_type:
                layout.operator("verlet.set_material", text=material.label).material = name


def draw_material(column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
    """Draws a body's material as a menu of those of its type."""
    if any(material.settings.body_type == body.body_type for material in MATERIALS.values()):
        line = column.row(align=True)
        row = line.split(factor=0.4)
        label = row.row()
        label.alignment = "RIGHT"
        label.label(text="Material")
        row.menu("VERLET_MT_material", text=material_label(body))
        line.label(icon="BLANK1")  # in place of the dot that inserts keyframes


class VERLET_PT_material_presets(PresetPanel, bpy.types.Panel):
    """Own materials"""

    bl_label = "Materials"
    preset_subdir = "verlet_material"
    preset_operator = "script.execute_preset"
    preset_add_operator = "verlet.add_material_preset"


_PRESET = ("body_type", "material", *MATERIAL_SETTINGS, "stiffness", "flesh_damping")


# Blender's own mixin declares `self` differently from the stubs.
class VERLET_OT_add_material_preset(AddPresetBase, bpy.types.Operator):  # type: ignore[misc]
    """Keep these settings as a material of your own, or remove one"""

    bl_idname = "verlet.add_material_preset"
    bl_label = "Add Material Preset"
    preset_menu = "VERLET_PT_material_presets"
    preset_subdir = "verlet_material"
    preset_defines = ["body = bpy.context.object.verlet"]
    preset_values = [f"body.{name}" for name in _PRESET]
