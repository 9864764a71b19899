"""Colors of strain over a body in the viewports, kept from redraw to redraw."""

from dataclasses import dataclass

import bpy
from mathutils import Vector

from ....core.errors import SettingsError
from ...settings.properties import body_properties
from ..drawing import SurfaceDrawing
from .body_strain import strained, surface_of
from .drawing_cache import kept, moment


@dataclass(frozen=True, eq=False)
class StrainView:
    """The picture of a body's strain at one moment."""

    drawing: SurfaceDrawing
    cover: float
    """Length by which it is drawn nearer to the eye [m]."""
    lowest: float
    """Smallest strain of an edge, at most 0."""
    highest: float
    """Largest strain of an edge, at least 0."""

    def draw(self, center: Vector) -> None:
        """Draws over the body, whose origin is given."""
        self.drawing.draw(center=center, length=self.cover)


def strain_view(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, scale: float
) -> StrainView | None:
    """The picture of a body's strain; None for water and flesh, in Edit Mode and if invalid.

    Edges of water are not constrained, a pose stretches those of flesh, and in Edit Mode the rest
    shape itself is edited.

    Parameters
    ----------
    scale
        Strain at both ends of the color scale.
    """
    if body_properties(obj).body_type in ("WATER", "FLESH") or obj.mode == "EDIT":
        return None
    return kept("strain", obj, moment(depsgraph, scale), lambda: _make(obj, depsgraph, scale))


def _make(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, scale: float) -> StrainView | None:
    """The picture of a body's strain; None with invalid settings."""
    try:
        found = strained(obj, depsgraph, scale)
    except SettingsError:
        return None
    if found is None:
        return None
    surface = surface_of(obj)
    drawing = kept(
        "surface drawing",
        obj,
        id(surface),
        lambda: SurfaceDrawing(surface.triangles, surface.loose),
    )
    drawing.fill(found.positions, found.colors)
    return StrainView(drawing, found.cover, found.lowest, found.highest)
