"""The view in a grab: the vertex under the mouse, and drawing of the radius, pins and keys."""

from typing import Any

import bpy
import gpu
import numpy as np
from bpy_extras import view3d_utils
from gpu_extras.batch import batch_for_shader
from mathutils import Vector

from ...core.arrays import Floats
from ..live.grab import Grab
from ..live.picking import hit_vertex, nearest_on_screen
from ..translation.interface import translated

NEAR = 20.0
"""Largest distance of an edge from the mouse where there is no face [pixels]."""
_COLOR, _PIN_COLOR = (1.0, 1.0, 1.0, 0.9), (0.95, 0.55, 0.15, 1.0)
_CORNERS = 64
"""Number of corners of the circle that shows the radius."""
_HINTS = (
    ("MOUSE_LMB_DRAG", "Drag"),
    ("MOUSE_MMB", "Radius"),
    ("EVENT_P", "Pin or Unpin"),
    ("EVENT_SHIFT", ""),
    ("EVENT_P", "Pin for Good"),
    ("EVENT_RETURN", "Keep"),
    ("EVENT_ESC", "Cancel"),
)
"""Icons and words of the keys in the status bar."""


class GrabView:
    """The 3D view in which a grab takes place."""

    def __init__(self, context: bpy.types.Context) -> None:
        area: Any = context.area
        self._area = area
        self._region = next(each for each in area.regions if each.type == "WINDOW")
        self._view: Any = area.spaces.active.region_3d
        self._center = Vector((0.0, 0.0, 0.0))
        self._radius = 0.0
        self._mouse = (0.0, 0.0)
        self._held = False
        self._pins: list[Floats] = []
        self._handler = bpy.types.SpaceView3D.draw_handler_add(
            self._draw, (), "WINDOW", "POST_PIXEL"
        )
        workspace: Any = context.workspace
        workspace.status_text_set(_draw_hints)

    def close(self, context: bpy.types.Context) -> None:
        """Draws no more."""
        bpy.types.SpaceView3D.draw_handler_remove(self._handler, "WINDOW")
        workspace: Any = context.workspace
        workspace.status_text_set(None)
        self._area.tag_redraw()

    def pick(self, event: bpy.types.Event, grab: Grab) -> tuple[int, int] | None:
        """The number of the body and of its vertex under the mouse; None where there is none."""
        place = self._place(event)
        origin = np.array(view3d_utils.region_2d_to_origin_3d(self._region, self._view, place))
        ray = np.array(view3d_utils.region_2d_to_vector_3d(self._region, self._view, place))
        hits = [
            (*hit, number)
            for number, positions in enumerate(grab.positions)
            if (hit := hit_vertex(origin, ray, positions, grab.triangles(number))) is not None
            and grab.free[number][hit[1]]
        ]
        if hits:
            _, vertex, number = min(hits)
            return number, vertex
        size = np.array((self._region.width, self._region.height), np.float64)
        projection = np.array(self._view.perspective_matrix, np.float64)
        mouse = np.array(place)
        nearest = [
            (*nearest_on_screen(projection, size, mouse, positions, drag.mesh.edges, free), number)
            for number, (positions, drag, free) in enumerate(
                zip(grab.positions, grab.drags, grab.free, strict=True)
            )
        ]
        distance, vertex, number = min(nearest)
        return (number, vertex) if distance <= NEAR else None

    def location(self, event: bpy.types.Event, depth: Floats) -> Floats:
        """(3,) where the mouse is in the world, as far away as a place (3,)."""
        found = view3d_utils.region_2d_to_location_3d(
            self._region, self._view, self._place(event), Vector(depth.tolist())
        )
        return np.array(found, np.float64)

    def update(self, event: bpy.types.Event, grab: Grab, held: int, radius: float) -> None:
        """Sets what is drawn from the next redraw on."""
        self._mouse, self._radius, self._held = self._place(event), radius, held >= 0
        if held >= 0:
            self._center = Vector(grab.positions[held][grab.drags[held].vertex].tolist())
        self._pins = [place for drag in grab.drags for place in drag.pins.values()]
        self._area.tag_redraw()

    def _place(self, event: bpy.types.Event) -> tuple[float, float]:
        """Position of the mouse in the region [pixels]."""
        return event.mouse_x - self._region.x, event.mouse_y - self._region.y

    def _draw(self) -> None:
        """Draws in one viewport; Blender calls this."""
        if bpy.context.region != self._region:
            return
        center = self._on_screen(self._center) if self._held else self._mouse
        if center is None:
            return
        at = self._center if self._held else self._center_of_view()
        side = self._on_screen(at + self._right() * self._radius)
        middle = self._on_screen(at)
        if side is not None and middle is not None:
            size = float(np.hypot(side[0] - middle[0], side[1] - middle[1]))
            turns = np.linspace(0.0, 2.0 * np.pi, _CORNERS + 1)
            circle = np.stack([np.cos(turns), np.sin(turns)], axis=1) * size + center
            self._stroke("LINE_STRIP", circle, _COLOR)
        shown = [self._on_screen(Vector(place.tolist())) for place in self._pins]
        gpu.state.point_size_set(8.0)
        self._stroke("POINTS", [place for place in shown if place is not None], _PIN_COLOR)
        gpu.state.point_size_set(1.0)

    def _center_of_view(self) -> Vector:
        """The point around which the view turns."""
        return Vector(self._view.view_location)

    def _right(self) -> Vector:
        """The direction to the right of the view."""
        found: Vector = self._view.view_rotation @ Vector((1.0, 0.0, 0.0))
        return found

    def _on_screen(self, place: Vector) -> tuple[float, float] | None:
        """Position of a place in the region [pixels]; None behind the eye."""
        found = view3d_utils.location_3d_to_region_2d(self._region, self._view, place)
        return None if found is None else (found.x, found.y)

    def _stroke(self, kind: str, places: Any, color: tuple[float, ...]) -> None:
        """Draws lines or points at places in the region."""
        if not len(places):
            return
        gpu.state.blend_set("ALPHA")
        shader = gpu.shader.from_builtin("UNIFORM_COLOR")
        corners = [(float(x), float(y)) for x, y in places]
        batch = batch_for_shader(shader, kind, {"pos": corners})
        shader.uniform_float("color", color)
        batch.draw(shader)
        gpu.state.blend_set("NONE")


def _draw_hints(header: Any, _context: bpy.types.Context) -> None:
    """Draws the keys of a grab in the status bar."""
    row = header.layout.row(align=True)
    for icon, text in _HINTS:
        row.label(text=translated(text), icon=icon)
