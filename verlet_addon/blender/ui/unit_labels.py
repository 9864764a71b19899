"""Labels of settings with their unit, where Blender has no unit of that kind to show."""

import bpy

from ...core.settings import DIMENSIONS, LINES
from ..settings.properties import VERLET_PG_body
from ..translation.interface import translated

_BY_DIMENSION = {1: "kg/m", 2: "kg/m²", 3: "kg/m³"}
_UNITS = {
    "pressure": "Pa",
    "stiffness": "Pa",
    "damping": "1/s",
    "strand_friction": "1/s",
    "sewing_force": "N",
    "tear_strength": "N/m",
    "yield_curvature": "1/m",
    "weft_compliance": "m/N",
    "shear_compliance": "m/N",
}


def unit_of(body: VERLET_PG_body, name: str) -> str:
    """Unit of a setting, which depends on the type of the body; empty if it has none."""
    if name == "density":
        return _BY_DIMENSION[DIMENSIONS[body.body_type]]
    if name == "stretch_compliance":
        return "1/N" if body.body_type in LINES else "m/N"
    if name == "bend_compliance":
        return "1/(N m²)" if body.body_type in LINES else "1/(N m)"
    return _UNITS.get(name, "")


def draw_with_unit(
    column: bpy.types.UILayout, body: VERLET_PG_body, name: str, label: str = ""
) -> None:
    """Draws a setting with the unit after its label; without a label, after its name."""
    label = label or body.bl_rna.properties[name].name
    column.prop(body, name, text=f"{translated(label)} ({unit_of(body, name)})")
