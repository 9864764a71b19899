"""Properties ▸ Physics: the button that adds a body, and the panels of the sidebar tab."""

from typing import Any

import bpy

from ..scene.mesh_io import BODIES
from ..settings.properties import is_body
from .bake_panel import VERLET_PT_bake, VERLET_PT_bake_options
from .collisions_panel import VERLET_PT_collisions
from .direction_panel import VERLET_PT_cage, VERLET_PT_direction
from .export_panel import VERLET_PT_export
from .flesh_panel import VERLET_PT_muscles
from .panel_base import active_body, layout_of
from .panels import (
    VERLET_PT_attachments,
    VERLET_PT_body,
    VERLET_PT_field_weights,
    VERLET_PT_forces,
    VERLET_PT_ground,
    VERLET_PT_material,
)
from .shape_panels import VERLET_PT_plasticity, VERLET_PT_shape, VERLET_PT_weights
from .simulation_panel import VERLET_PT_advanced, VERLET_PT_simulation

_SIDEBAR: tuple[type[Any], ...] = (
    VERLET_PT_body,
    VERLET_PT_bake,
    VERLET_PT_bake_options,
    VERLET_PT_export,
    VERLET_PT_material,
    VERLET_PT_muscles,
    VERLET_PT_attachments,
    VERLET_PT_collisions,
    VERLET_PT_forces,
    VERLET_PT_field_weights,
    VERLET_PT_shape,
    VERLET_PT_plasticity,
    VERLET_PT_weights,
    VERLET_PT_direction,
    VERLET_PT_cage,
    VERLET_PT_simulation,
    VERLET_PT_advanced,
    VERLET_PT_ground,
)
"""Panels of the sidebar tab that the Physics tab shows too, parents first."""

_NOT_COPIED = ("__dict__", "__weakref__")


def _in_physics(name: str) -> str:
    """Name of the panel in the Physics tab for one of the sidebar."""
    return name.replace("VERLET_PT_", "VERLET_PT_physics_")


def _physics_panel(panel: type[Any]) -> type[Any]:
    """A panel for the Physics tab: a part of the body's panel, which has the add-on's name.

    Without a body that tab has the button of `draw_add_button` alone. The class is a copy, not a
    subclass: Blender loses the class of a panel that others are derived from.
    """
    content: dict[str, Any] = {
        **{name: value for name, value in vars(panel).items() if name not in _NOT_COPIED},
        "bl_space_type": "PROPERTIES",
        "bl_region_type": "WINDOW",
        "bl_context": "physics",
    }
    if panel is VERLET_PT_body:
        content |= {"bl_label": "Verlet", "poll": classmethod(_has_body)}
    else:
        parent = getattr(panel, "bl_parent_id", VERLET_PT_body.__name__)
        content["bl_parent_id"] = _in_physics(parent)
    return type(_in_physics(panel.__name__), panel.__bases__, content)


def _has_body(_panel: type[Any], context: bpy.types.Context) -> bool:
    """Poll of the panel that holds the others."""
    return active_body(context) is not None


PANELS = tuple(map(_physics_panel, _SIDEBAR))
"""Panels of the Physics tab, parents first."""


def draw_add_button(self: bpy.types.Panel, context: bpy.types.Context) -> None:
    """Adds our button to those with which Blender adds physics to an object."""
    obj = context.object
    if obj is None or obj.type not in BODIES:
        return
    row = layout_of(self).row()
    if is_body(obj):
        row.operator("verlet.release", text="Verlet", icon="X")
    else:
        row.operator("verlet.convert", text="Verlet", icon="MOD_SOFT")
