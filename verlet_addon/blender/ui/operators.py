"""Operators that make and release bodies, set materials and clear bakes."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty

from ...core.errors import MeshError, VerletError
from ...core.materials import MATERIALS
from ..bake.bake import bodies
from ..bake.cache_folder import clear_caches, folders_of, hidden_caches
from ..bake.cautions import why_nothing
from ..bake.memory import memory_errors_named
from ..bake.record import baked_objects
from ..bake.shape_keys import remove_bakes
from ..live.drape_files import end_drapes
from ..scene.body_creation import make_bodies, open_edges, release
from ..scene.file_context import file_context
from ..scene.mesh_access import mesh_of, mode_name
from ..scene.mesh_io import BODIES
from ..scene.ownership import is_own, why_foreign
from ..settings.bone_properties import armature_of
from ..settings.faults import faults_kept
from ..settings.materials import set_material
from ..settings.properties import BODY_TYPES, MATERIAL_ITEMS, is_body
from ..translation.interface import translated
from .bake_progress import bake_in_progress
from .cache_buttons import part_of_cache
from .messages import report
from .panel_base import layout_of

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

    Operator = TypeVar("Operator", bound=bpy.types.Operator)
    Execute = Callable[[Operator, bpy.types.Context], set[OperatorReturnItems]]

# Undo in the other modes does not restore objects and shape keys.
_MODES = {"OBJECT", "POSE", "WEIGHT_PAINT"}


def undoable_mode(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Whether undo in the active object's mode restores objects; else sets the poll message.

    False during a modal bake or drape, which receives all events of mouse and keyboard.
    """
    if (progress := bake_in_progress()) is not None:
        operator.poll_message_set(
            translated(f"{progress.task.name} is in progress; press Esc to cancel it")
        )
        return False
    active = file_context(context).view_layer.objects.active
    if active is None or active.mode in _MODES:
        return True
    mode = mode_name(active)
    operator.poll_message_set(
        translated(f"{active.name} is in {mode} Mode; switch to Object Mode first")
    )
    return False


def has_bodies(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Whether any body of the scene is switched on; else sets the poll message."""
    here = file_context(context)
    if there := bodies(here.scene):
        return any_own(operator, there)
    operator.poll_message_set(translated(why_nothing(here.scene, here.view_layer)))
    return False


def any_own(operator: type[bpy.types.Operator], objects: Sequence[bpy.types.Object]) -> bool:
    """Whether any of these objects belongs to this file; else sets the poll message."""
    if any(map(is_own, objects)):
        return True
    operator.poll_message_set(translated(why_foreign(objects[0])))
    return False


def chosen_bodies(
    context: bpy.types.Context, *, selected: bool, otherwise: str
) -> list[bpy.types.Object]:
    """Lists the bodies that are switched on, or the selected ones among them, also hidden ones.

    Raises
    ------
    MeshError
        There are none; the sentence says what to do otherwise than to select one.
    """
    here = file_context(context)
    chosen = [
        obj for obj in bodies(here.scene) if not selected or is_selected(obj, here.view_layer)
    ]
    if not chosen:
        raise MeshError(f"No soft body that is switched on is selected; select one, or {otherwise}")
    return chosen


def is_selected(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> bool:
    """Whether a body is selected, or the armature whose soft bones it moves."""
    shown = armature_of(obj) or obj
    there = view_layer.objects.get(shown.name) == shown
    return there and shown.select_get(view_layer=view_layer)


def chosen_objects(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Objects that a button acts on: the shown one in the properties editor, else those selected.

    The properties editor shows the active or a pinned object, selected or not.
    """
    if isinstance(context.space_data, bpy.types.SpaceProperties):
        return [context.object] if context.object is not None else []
    return list(context.selected_objects)


class OfSelected:
    """Operators with a property `selected`, whose description is the tooltip where it is on."""

    @classmethod
    def description(
        cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties
    ) -> str:
        selected = properties.bl_rna.properties["selected"].description
        return translated(selected) if cast(Any, properties).selected else ""


def cancelled_by_errors(execute: "Execute[Operator]") -> "Execute[Operator]":
    """Decorator: an operator reports a VerletError and is cancelled, instead of raising it.

    All other exceptions are kept for a report of a fault.
    """

    @wraps(execute)
    def reporting(self: "Operator", context: bpy.types.Context) -> "set[OperatorReturnItems]":
        try:
            with faults_kept(), memory_errors_named(self.bl_label):
                return execute(self, context)
        except VerletError as error:
            report(self, "ERROR", str(error))
            return {"CANCELLED"}

    return reporting


_TYPES = (
    ("AUTO", "Automatic", "Rope without faces, jelly if closed, otherwise cloth; Curves are hair"),
    *(item[:3] for item in BODY_TYPES),
    ("BALLOON", "Balloon", "A skin filled with gas: cloth of the material Balloon"),
)
"""Items of `convert` in the interface."""


class VERLET_OT_convert(bpy.types.Operator):
    """Turn meshes into cloth, ropes, jelly, balloons or water, curves into ropes, or into hair"""

    bl_idname = "verlet.convert"
    bl_label = "Make Soft Body"
    bl_options = {"REGISTER", "UNDO"}

    body_type: EnumProperty(
        name="Type",
        description="Type of the new bodies",
        # JELLY lets scripts use the name in the interface; the panel shows it only once.
        items=(*_TYPES, ("JELLY", "Jelly", "", [item[0] for item in _TYPES].index("SOFT"))),
        default="AUTO",
        options={"SKIP_SAVE"},
    )
    use_material: BoolProperty(
        name="Fitting Material",
        description="Also set a material of the type, and a Thickness that suits the mesh",
        default=True,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        suitable = [obj for obj in chosen_objects(context) if obj.type in BODIES]
        if not suitable:
            cls.poll_message_set("Select a mesh, a curve or hair first")
            return False
        return any_own(cls, suitable) and undoable_mode(cls, context)

    def draw(self, context: bpy.types.Context) -> None:
        column = layout_of(self).column()
        types = column.row(align=True)
        for item in _TYPES:
            types.prop_enum(self, "body_type", item[0])
        column.prop(self, "use_material")

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        objects = chosen_objects(context)
        others = make_bodies(
            objects,
            here.view_layer,
            body_type=self.body_type,
            use_material=self.use_material,
        )
        if others:
            names = ", ".join(obj.name for obj in others)
            report(
                self,
                "WARNING",
                f"{len(others)} of {len(objects)} objects left out, since they are no meshes, "
                f"curves or hair: {names}",
            )
        return {"FINISHED"}


class VERLET_OT_set_material(bpy.types.Operator):
    """Give the selected bodies a material, with the type that goes with it"""

    bl_idname = "verlet.set_material"
    bl_label = "Set Soft Body Material"
    bl_options = {"REGISTER", "UNDO"}

    material: EnumProperty(
        name="Material",
        description="Material of the bodies",
        items=[item[:3] for item in MATERIAL_ITEMS[1:]],
        default="COTTON",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(
        cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties
    ) -> str:
        return translated(MATERIALS[cast(Any, properties).material].example)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _any_selected(cls, context) and undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        set_material(_selected_bodies(context), self.material)
        return {"FINISHED"}


class VERLET_OT_select_open_edges(bpy.types.Operator):
    """Show where the active mesh is open, in Edit Mode: edges that have no faces or just one"""

    bl_idname = "verlet.select_open_edges"
    bl_label = "Select Open Edges"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.object
        if obj is None or obj.type != "MESH" or obj.library is not None:
            cls.poll_message_set("Make a mesh of this file the active object first")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        mesh = mesh_of(cast(bpy.types.Object, context.object))
        edges = open_edges(mesh)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_mode(type="EDGE")
        bpy.ops.mesh.select_all(action="DESELECT")
        bpy.ops.object.mode_set(mode="OBJECT")
        mesh.edges.foreach_set("select", edges)
        bpy.ops.object.mode_set(mode="EDIT")
        report(self, "INFO", f"{np.count_nonzero(edges)} open edges")
        return {"FINISHED"}


class VERLET_OT_release(bpy.types.Operator):
    """Make selected bodies ordinary objects again; Adjust Last Operation can remove bakes too"""

    bl_idname = "verlet.release"
    bl_label = "Remove Soft Body"
    bl_options = {"REGISTER", "UNDO"}

    keep_motion: BoolProperty(
        name="Keep Motion",
        description="Leave baked shape keys and drapes; otherwise the objects show their own "
        "shapes again",
        default=True,
        # Saved, the next removal would also remove bakes, without a question.
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _any_selected(cls, context) and undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        released = _selected_bodies(context)
        if not self.keep_motion:
            end_drapes(released)
            remove_bakes(released)
        release(released)
        return {"FINISHED"}


class VERLET_OT_clear_bake(OfSelected, bpy.types.Operator):
    """Remove the bakes of all bodies that are switched on. Undo brings no files of caches back"""

    bl_idname = "verlet.clear_bake"
    bl_label = "Clear Bake"
    bl_options = {"REGISTER", "UNDO"}

    selected: BoolProperty(
        name="Selected",
        description="Clear the bakes of selected objects alone",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not (baked_objects(file_context(context).scene) or part_of_cache(context)):
            cls.poll_message_set("No soft body that is switched on has a bake")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        cleared = baked_objects(file_context(context).scene)
        if self.selected:
            layer = file_context(context).view_layer
            cleared = [obj for obj in cleared if is_selected(obj, layer)]
        scene = file_context(context).scene
        parts = [] if self.selected else hidden_caches(scene.name, [o.name for o in bodies(scene)])
        if not (cleared or parts):
            raise MeshError("No selected object is baked; select one that is, or clear all bakes")
        folders = folders_of(cleared) | {cache.folder for cache in parts}
        remove_bakes(cleared)
        for sentence in clear_caches(scene.name, cleared, folders):
            report(self, "INFO", sentence)
        return {"FINISHED"}


def _any_selected(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Whether a body of this file is selected; else sets the poll message."""
    if selected := _selected_bodies(context):
        return any_own(operator, selected)
    operator.poll_message_set("None of the selected objects is a soft body")
    return False


def _selected_bodies(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Lists the selected objects that are bodies, enabled or not."""
    return [obj for obj in chosen_objects(context) if is_body(obj)]
