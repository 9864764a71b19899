"""The overlay in each viewport: choice of marks and objects, and draw handlers."""

from collections.abc import Callable, Hashable, Iterator
from typing import Any, cast

import bpy
import gpu

from ...bake.bake import bodies
from ...scene.cache_modifiers import can_play
from ...scene.file_context import file_context
from ...scene.mesh_access import point_count
from ...scene.pin_weights import pin_group_of
from ...settings.overlay_properties import VERLET_PG_overlay, overlay_properties
from ...settings.properties import body_properties
from ..bake_progress import bake_in_progress
from .drawing_cache import kept, moment
from .legend import draw_legend
from .marks import Marks, attachment_marks, attachments_key, colliders_of, corner_lines, pin_marks
from .points import MarksDrawing, draw_lines, line_batch
from .strain_view import strain_view

_PINS = (1.0, 0.85, 0.1)
_ATTACHMENTS = (0.25, 0.85, 1.0)
_COLLIDERS = (0.55, 1.0, 0.55, 0.9)
_HOLE = 0.3
"""Open share of a mark's diameter in Edit Mode, which draws vertices itself."""

_handlers: list[Any] = []


def register_overlay() -> None:
    """Adds the draw handlers to all viewports."""
    if not bpy.app.background:
        for draw, when in ((_draw_scene, "POST_VIEW"), (_draw_legend, "POST_PIXEL")):
            _handlers.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", when))


def unregister_overlay() -> None:
    """Removes the draw handlers."""
    while _handlers:
        bpy.types.SpaceView3D.draw_handler_remove(_handlers.pop(), "WINDOW")


def _shown(context: bpy.types.Context) -> VERLET_PG_overlay | None:
    """The overlay settings of a viewport; None where it shows no overlays."""
    space = context.space_data
    if not isinstance(space, bpy.types.SpaceView3D) or not space.overlay.show_overlays:
        return None
    return overlay_properties(context.workspace)


def _draw_scene() -> None:
    """Draw handler for marks in scene space."""
    context = bpy.context
    shown, depsgraph = _shown(context), file_context(context).view_layer.depsgraph
    # During a bake the preview shows bodies, elsewhere than their meshes are.
    if shown is None or depsgraph is None or bake_in_progress() is not None:
        return
    gpu.state.blend_set("ALPHA")
    visible = list(_visible_bodies(context))
    if shown.show_strain:
        for obj in (each for each in visible if each.type == "MESH"):
            if (view := strain_view(obj, depsgraph, shown.strain_scale / 100.0)) is not None:
                view.draw(obj.matrix_world.translation)
    active = file_context(context).view_layer.objects.active
    if active in visible:
        _draw_colliders(active, context, depsgraph, shown)
        if active.type == "MESH":
            _draw_held(active, context, depsgraph, shown)
    gpu.state.blend_set("NONE")


def _visible_bodies(context: bpy.types.Context) -> Iterator[bpy.types.Object]:
    """Yields the bodies that are switched on, and visible in the viewport."""
    space = cast(bpy.types.SpaceView3D, context.space_data)
    for obj in bodies(file_context(context).scene):
        if can_play(obj) and obj.visible_in_viewport_get(space) and point_count(obj):
            yield obj


def _draw_held(
    obj: bpy.types.Object,
    context: bpy.types.Context,
    depsgraph: bpy.types.Depsgraph,
    shown: VERLET_PG_overlay,
) -> None:
    """Draws the attached and pinned vertices of a body."""
    body = body_properties(obj)
    pin_key = (obj.mode, pin_group_of(obj), body.pin_weight)
    attached_key = (obj.mode, *attachments_key(obj))
    pixel, hole = _pixel(context), _HOLE if obj.mode == "EDIT" else 0.0

    def draw(
        name: str,
        make: Callable[[bpy.types.Object, bpy.types.Depsgraph], Marks],
        key: tuple[Hashable, ...],
        color: tuple[float, float, float],
    ) -> None:
        drawing = kept(
            name, obj, moment(depsgraph, *key), lambda: MarksDrawing(make(obj, depsgraph))
        )
        drawing.draw(color, pixel=pixel, hole=hole)

    if shown.show_attachments:
        draw("attachments", attachment_marks, attached_key, _ATTACHMENTS)
    if shown.show_pins:
        draw("pins", pin_marks, pin_key, _PINS)


def _draw_colliders(
    obj: bpy.types.Object,
    context: bpy.types.Context,
    depsgraph: bpy.types.Depsgraph,
    shown: VERLET_PG_overlay,
) -> None:
    """Draws corners around the visible colliders that act on a body."""
    here, space = file_context(context), cast(bpy.types.SpaceView3D, context.space_data)
    if not shown.show_colliders:
        return
    gpu.state.depth_test_set("LESS_EQUAL")
    for collider in colliders_of(obj, here.scene, here.view_layer):
        if collider.visible_in_viewport_get(space):
            draw_lines(_corners(collider, depsgraph), _COLLIDERS, width=2.0 * _pixel(context))
    gpu.state.depth_test_set("NONE")


def _corners(collider: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> gpu.types.GPUBatch:
    """The corners around a collider."""

    def make() -> gpu.types.GPUBatch:
        return line_batch(corner_lines(collider, depsgraph))

    return kept("corners", collider, moment(depsgraph), make)


def _draw_legend() -> None:
    """Draw handler for the legend of strain."""
    context = bpy.context
    shown, depsgraph = _shown(context), file_context(context).view_layer.depsgraph
    if shown is None or not shown.show_strain or depsgraph is None:
        return
    scale, extremes = shown.strain_scale / 100.0, None
    if bake_in_progress() is None:
        views = [strain_view(obj, depsgraph, scale) for obj in _visible_bodies(context)]
        found = [view for view in views if view is not None]
        if not found:
            return
        extremes = min(each.lowest for each in found), max(each.highest for each in found)
    draw_legend(context, scale, extremes, pixel=_pixel(context))


def _pixel(context: bpy.types.Context) -> float:
    """The interface scale: pixels of the screen for one of Blender's."""
    return file_context(context).preferences.system.ui_scale
