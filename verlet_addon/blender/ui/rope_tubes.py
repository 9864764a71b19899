"""Tubes along the edges of ropes, by geometry nodes, since renders do not show edges."""

from typing import TYPE_CHECKING, Any, cast

import bpy

from ..scene.mesh_access import mesh_of
from ..scene.shown_mesh import TUBE
from ..settings.properties import body_properties, is_body
from .operators import cancelled_by_errors, undoable_mode

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

NAME = TUBE
RADIUS = 0.005
"""Default radius of a tube [m], equal to the default contact thickness of bodies."""
_THICK = ("NODES", "SCREW", "SKIN")
"""Types of modifiers that may make faces from edges."""


class VERLET_OT_show_tube(bpy.types.Operator):
    """Show the edges of the rope as a round tube, since renders do not show edges"""

    bl_idname = "verlet.show_tube"
    bl_label = "Show as Tube"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.object
        if obj is None or not is_body(obj) or not is_unseen(obj) or obj.library is not None:
            cls.poll_message_set("Make a rope without faces the active object first")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        show_tube(cast(bpy.types.Object, context.object))
        return {"FINISHED"}


def is_unseen(obj: bpy.types.Object) -> bool:
    """Whether an object is a rope without faces, which renders do not show."""
    if obj.type != "MESH" or body_properties(obj).body_type != "ROPE" or mesh_of(obj).polygons:
        return False
    return not any(modifier.type in _THICK for modifier in obj.modifiers)


def show_tube(obj: bpy.types.Object, radius: float = RADIUS) -> None:
    """Adds the modifier that shows a tube of a radius [m], with the object's first material."""
    modifier: Any = obj.modifiers.new(NAME, "NODES")
    tree = modifier.node_group = bpy.data.node_groups.get(NAME) or _tube_nodes()
    items = (each for each in tree.interface.items_tree if each.in_out == "INPUT")
    if (name := next((each.identifier for each in items if each.name == "Radius"), "")) == "":
        return
    if bpy.app.version >= (5, 2, 0):  # no custom properties any more
        getattr(modifier.properties.inputs, name).value = radius
    else:
        modifier[name] = radius


def _tube_nodes() -> Any:
    """A node tree that joins to a mesh tubes along its edges, with an input for their radius."""
    tree: Any = bpy.data.node_groups.new(NAME, "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Mesh", in_out=way, socket_type="NodeSocketGeometry")
    radius = tree.interface.new_socket("Radius", in_out="INPUT", socket_type="NodeSocketFloat")
    radius.subtype, radius.default_value, radius.min_value = "DISTANCE", RADIUS, 0.0

    def add(kind: str, **inputs: Any) -> Any:
        node = tree.nodes.new(kind)
        node.location.x = 180 * len(tree.nodes)
        for name, value in inputs.items():
            socket = node.inputs[name.replace("_", " ")]
            if isinstance(value, bpy.types.NodeSocket):
                tree.links.new(value, socket)
            else:
                socket.default_value = value
        return node

    given = add("NodeGroupInput").outputs
    ring = add("GeometryNodeCurvePrimitiveCircle", Resolution=10, Radius=given["Radius"])
    curve = add("GeometryNodeMeshToCurve", Mesh=given["Mesh"])
    tube = add("GeometryNodeCurveToMesh", Curve=curve.outputs[0], Fill_Caps=True)
    tree.links.new(ring.outputs[0], tube.inputs["Profile Curve"])
    both = add("GeometryNodeJoinGeometry", Geometry=tube.outputs[0])
    # The last link comes first in the join: the result has the mesh's materials.
    tree.links.new(given["Mesh"], both.inputs[0])
    looks = add("GeometryNodeSetMaterialIndex", Geometry=both.outputs[0])
    add("NodeGroupOutput", Mesh=looks.outputs[0])
    return tree
