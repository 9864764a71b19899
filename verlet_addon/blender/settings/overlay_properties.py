"""Property group on workspaces: overlays of soft bodies in the viewports.

Blender keeps its own overlays in each viewport, where add-ons cannot; a workspace also has them in
the file, out of undo, and keeps them while an area fills the window.
"""

from typing import Any, cast

import bpy
from bpy.props import BoolProperty, FloatProperty


class VERLET_PG_overlay(bpy.types.PropertyGroup):
    """Overlays of soft bodies in the viewports of one workspace."""

    show_pins: BoolProperty(
        name="Pins",
        description="Pinned vertices of the active soft body; the less firmly one is held, the "
        "thinner its ring",
        default=True,
        options=set(),
    )
    show_attachments: BoolProperty(
        name="Attachments",
        description="Attached vertices of the active soft body, with lines to what they follow",
        default=True,
        options=set(),
    )
    show_colliders: BoolProperty(
        name="Colliders",
        description="Corners around the colliders that the active soft body collides with",
        default=True,
        options=set(),
    )
    show_strain: BoolProperty(
        name="Strain",
        description="Colors of how far the edges of all soft bodies are stretched or compressed, "
        "also during a bake",
        default=False,
        options=set(),
    )
    strain_scale: FloatProperty(
        name="Scale",
        description="Strain at both ends of the color scale",
        default=5.0,
        min=0.01,
        soft_min=0.1,
        soft_max=100.0,
        max=1000.0,
        precision=1,
        step=10,
        subtype="PERCENTAGE",
        options=set(),
    )


def overlay_properties(workspace: bpy.types.WorkSpace | None) -> VERLET_PG_overlay:
    """The overlay settings of a workspace; a window always has one."""
    holder: Any = workspace
    return cast(VERLET_PG_overlay, holder.verlet_overlay)
