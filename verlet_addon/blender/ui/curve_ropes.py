"""Ropes that are curves: their part of the panel, and the operator that makes meshes of them."""

from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty

from ..bake.record import forget_bake
from ..scene.body_creation import make_bodies
from ..scene.curve_lines import check_curve, draw_line, held_point, line_pins
from ..scene.curve_points import curve_of, is_curve, write_controls
from ..scene.file_context import file_context
from ..scene.mesh_access import add_key, mesh_of, read_key, read_shape, shape_keys_of
from ..scene.mesh_io import check_body
from ..scene.modifiers import is_carrier
from ..settings.curve_properties import CURVE_NAMES
from ..settings.properties import VERLET_PG_body, body_properties, is_body
from .operators import cancelled_by_errors, chosen_objects, undoable_mode
from .panel_base import draw_wrapped
from .rope_tubes import show_tube

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

GROUP = "Pin"
"""Vertex group of the points that hold a rope."""


class VERLET_OT_curve_to_mesh(bpy.types.Operator):
    """Make a rope of each selected curve: a mesh held as the curve is, with a tube for its bevel"""

    bl_idname = "verlet.curve_to_mesh"
    bl_label = "Rope Mesh from Curve"
    bl_options = {"REGISTER", "UNDO"}

    hide_curve: BoolProperty(
        name="Hide Curve",
        description="Hide the curve itself, also in renders",
        default=True,
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not any(map(is_curve, chosen_objects(context))):
            cls.poll_message_set("Select a curve first")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        view_layer = file_context(context).view_layer
        curves = [obj for obj in chosen_objects(context) if is_curve(obj)]
        for obj in curves:
            check_body(obj, view_layer)
            check_curve(obj)
        ropes = [rope_from_curve(context, obj) for obj in curves]
        for obj, rope in zip(curves, ropes, strict=True):
            body_properties(obj).enabled = False
            obj.select_set(False, view_layer=view_layer)
            rope.select_set(True, view_layer=view_layer)
            if self.hide_curve:
                obj.hide_render = True
                obj.hide_set(True, view_layer=view_layer)
        view_layer.objects.active = ropes[-1]
        return {"FINISHED"}


def rope_from_curve(context: bpy.types.Context, obj: bpy.types.Object) -> bpy.types.Object:
    """A new body, a mesh with the points of a curve's lines; the curve stays as it is.

    It has the curve's transform, parents, constraints, animation, carriers, shape keys and
    materials. Hooks and pinned points hold the points that they hold of the curve.
    """
    key = shape_keys_of(obj)
    controls = read_key(key.reference_key) if key else read_shape(obj)
    rope, radius = obj.copy(), _radius(curve_of(obj))
    rope.name, data = f"{obj.name} Rope", curve_of(obj).copy()
    rope.data = data
    for collection in obj.users_collection:
        collection.objects.link(rope)
    rope.modifiers.clear()
    if key is not None:
        rope.shape_key_clear()
    write_controls(data, controls)
    data.bevel_mode, data.bevel_depth, data.extrude = "ROUND", 0.0, 0.0
    # Blender's own conversion keeps all that belongs to the object.
    with _alone(context, rope):
        bpy.ops.object.convert(target="MESH")
    if not data.users:
        bpy.data.curves.remove(data)
    mesh_of(rope).name = rope.name
    # That of lines leaves materials out, which a tube has.
    mesh_of(rope).materials.clear()
    for material in curve_of(obj).materials:
        mesh_of(rope).materials.append(material)
    _make_body(context, obj, rope)
    _copy_keys(obj, rope)
    _copy_carriers(obj, rope)
    if radius:
        show_tube(rope, radius)
    return rope


def _alone(context: bpy.types.Context, obj: bpy.types.Object) -> Any:
    """Context in which one object is active and alone selected."""
    its: Any = {
        "active_object": obj,
        "object": obj,
        "selected_objects": [obj],
        "selected_editable_objects": [obj],
    }
    return context.temp_override(**its)


def _radius(curve: bpy.types.Curve) -> float:
    """Radius of the tube that a curve is drawn as [m]; 0 for lines."""
    if curve.bevel_mode == "OBJECT":
        profile = curve.bevel_object
        return 0.5 * max(profile.dimensions[:]) if profile is not None else 0.0
    return curve.bevel_depth + curve.extrude


def _make_body(context: bpy.types.Context, obj: bpy.types.Object, rope: bpy.types.Object) -> None:
    """Makes a mesh a rope with the settings of a curve, pinned where that is held."""
    body, pins = body_properties(rope), line_pins(obj).nonzero()[0]
    for name in (*CURVE_NAMES, "handle_types", "made_basis"):
        body.property_unset(name)
    body.baked_keys.clear()
    forget_bake(rope)
    make_bodies(
        [rope], file_context(context).view_layer, body_type="ROPE", use_material=not is_body(obj)
    )
    if len(pins):
        rope.vertex_groups.new(name=GROUP).add(pins.tolist(), 1.0, "REPLACE")
        body.pin_group = GROUP


def _copy_keys(obj: bpy.types.Object, rope: bpy.types.Object) -> None:
    """Gives a mesh the shape keys of a curve but those of a bake, with their animation."""
    key = shape_keys_of(obj)
    baked = {item.name for item in body_properties(obj).baked_keys}
    own = [block for block in key.key_blocks if block.name not in baked] if key else []
    if key is None or (body_properties(obj).made_basis and len(own) == 1):
        return
    for block in own:
        copy = add_key(rope, block.name, draw_line(obj, read_key(block)), block.value)
        copy.slider_min, copy.slider_max, copy.mute = block.slider_min, block.slider_max, block.mute
    copied = cast(bpy.types.Key, shape_keys_of(rope))
    for block in own:
        copied.key_blocks[block.name].relative_key = copied.key_blocks[block.relative_key.name]
    animation: Any = key.animation_data
    if animation is not None and animation.action is not None:
        played: Any = copied.animation_data_create()
        played.action = animation.action
        if hasattr(animation, "action_slot"):
            played.action_slot = animation.action_slot


def _copy_carriers(obj: bpy.types.Object, rope: bpy.types.Object) -> None:
    """Gives a mesh the carriers of a curve; hooks hold the points that they hold of it."""
    for modifier in filter(is_carrier, obj.modifiers):
        copy: Any = rope.modifiers.new(modifier.name, modifier.type)
        names = [item.identifier for item in modifier.bl_rna.properties if not item.is_readonly]
        for name in names:
            setattr(copy, name, getattr(modifier, name))
        if isinstance(modifier, bpy.types.HookModifier):
            found = (held_point(obj, control) for control in modifier.vertex_indices)
            copy.vertex_indices_set([point for point in found if point is not None])
            copy.matrix_inverse = modifier.matrix_inverse


def draw_curve(column: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Draws how near a curve comes to its rope, and the button that makes it a mesh."""
    exact = all(spline.type == "POLY" for spline in curve_of(obj).splines)
    text = "Rope" if exact else "Approximate; exact as a mesh"
    draw_wrapped(column, text, icon="CURVE_PATH")
    column.operator("verlet.curve_to_mesh", icon="OUTLINER_OB_MESH")


def draw_holds(column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
    """Draws which points hold a curve."""
    row = column.row(heading="Hold", align=True)
    row.prop(body, "hold_start", text="Start", toggle=True)
    row.prop(body, "hold_end", text="End", toggle=True)
    column.prop(body, "pinned_points")
