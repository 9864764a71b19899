"""What plays a simulation on hair: a hidden mesh with a vertex a point, and nodes that read it.

Curves objects take no Mesh Cache modifier. So a mesh beside them, their carrier, plays the point
cache, and a Geometry Nodes modifier sets their points to its vertices, in plain Blender too.
"""

from typing import Any, cast

import bpy

from ..settings.properties import body_properties
from .hair_curves import hair_of, read_points

PLAYER = "Verlet Hair"
"""Name of the modifier of hair that shows a simulation."""
_CARRIER = "Carrier"
"""Name of the node with the mesh that plays the cache."""


def player_of(obj: bpy.types.Object) -> bpy.types.NodesModifier | None:
    """The modifier of hair that shows a simulation; None without one."""
    return next(
        (cast(bpy.types.NodesModifier, each) for each in obj.modifiers if is_player(each)), None
    )


def is_player(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier shows a simulation on hair."""
    return modifier.name.split(".")[0] == PLAYER and _node(modifier) is not None


def carrier_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The mesh that plays the simulation of hair; None without one."""
    node = _node(player_of(obj))
    return None if node is None else node.inputs["Object"].default_value


def _node(modifier: bpy.types.Modifier | None) -> Any:
    """The node of a modifier with the carrier; None without one."""
    group: Any = getattr(modifier, "node_group", None)
    return group.nodes.get(_CARRIER) if group is not None else None


def made_carrier(obj: bpy.types.Object, place: int) -> bpy.types.Object:
    """The carrier of hair, made with the modifier that reads it where there is none.

    A copy of hair, which shares these with it, gets its own.

    Parameters
    ----------
    place : number of a new modifier among those of the hair.
    """
    player, carrier = player_of(obj), carrier_of(obj)
    if player is None or carrier is None or is_shared(obj):
        carrier = _new_carrier(obj)
        if player is None:
            player = _new_player(obj, place)
        player.node_group = _new_group(obj, carrier)
    if len(cast(bpy.types.Mesh, carrier.data).vertices) != len(hair_of(obj).points):
        _shape(carrier, obj)
    return carrier


def remove_player(obj: bpy.types.Object) -> None:
    """Removes the modifier that shows a simulation on hair, and its nodes and carrier.

    Those that a copy of the hair shows too stay.
    """
    while (player := player_of(obj)) is not None:
        group, carrier = cast(Any, player.node_group), carrier_of(obj)
        active: Any = obj.modifiers.active
        name = active.name if active is not None else ""
        obj.modifiers.remove(player)
        if name in obj.modifiers:
            obj.modifiers.active = obj.modifiers[name]
        if group.users or group.library is not None:
            continue
        bpy.data.node_groups.remove(group)
        if carrier is not None:
            mesh: Any = carrier.data
            bpy.data.objects.remove(carrier)
            if not mesh.users:
                bpy.data.meshes.remove(mesh)


def is_shared(obj: bpy.types.Object) -> bool:
    """Whether other hair, as a copy, shows its simulation by the same nodes and carrier."""
    player = player_of(obj)
    group: Any = player.node_group if player is not None else None
    return group is not None and (group.users > 1 or group.library is not None)


def _new_carrier(obj: bpy.types.Object) -> bpy.types.Object:
    """A mesh with a vertex a point, which goes with hair and is neither seen nor rendered."""
    name = f"{obj.name} Hair"
    carrier = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    _shape(carrier, obj)
    own = (each for each in obj.users_collection if not (each.library or each.override_library))
    scene = cast(bpy.types.Scene, bpy.context.scene)
    next(own, scene.collection).objects.link(carrier)
    body_properties(carrier).is_hair_carrier = True
    carrier.parent = obj
    carrier.hide_render = carrier.hide_select = carrier.hide_viewport = True
    return carrier


def _shape(carrier: bpy.types.Object, obj: bpy.types.Object) -> None:
    """Gives a carrier a vertex for each point of hair."""
    mesh = cast(bpy.types.Mesh, carrier.data)
    mesh.clear_geometry()
    mesh.from_pydata(read_points(hair_of(obj)).tolist(), [], [])


def _new_player(obj: bpy.types.Object, place: int) -> bpy.types.NodesModifier:
    """A modifier at a place among those of hair; the active one stays active."""
    active: Any = obj.modifiers.active
    player: Any = obj.modifiers.new(PLAYER, "NODES")
    player.show_expanded = False
    obj.modifiers.move(obj.modifiers.find(player.name), place)
    if active is not None:
        obj.modifiers.active = active
    return cast(bpy.types.NodesModifier, player)


def _new_group(obj: bpy.types.Object, carrier: bpy.types.Object) -> bpy.types.GeometryNodeTree:
    """Nodes that set points to the vertices of a carrier, unless their numbers differ."""
    group: Any = bpy.data.node_groups.new(f"{PLAYER} {obj.name}", "GeometryNodeTree")
    group.is_modifier = True
    for way in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")

    def node(kind: str, row: int, column: int, **values: Any) -> Any:
        made = group.nodes.new(kind)
        made.location = (200 * column, -200 * row)
        for name, value in values.items():
            setattr(made, name, value)
        return made

    entry, leave = node("NodeGroupInput", 0, 0), node("NodeGroupOutput", 0, 4)
    held = node("GeometryNodeObjectInfo", 1, 0, name=_CARRIER, transform_space="ORIGINAL")
    held.inputs["Object"].default_value = carrier
    sample = node("GeometryNodeSampleIndex", 1, 2, data_type="FLOAT_VECTOR", domain="POINT")
    place, index = node("GeometryNodeInputPosition", 2, 1), node("GeometryNodeInputIndex", 3, 1)
    there = node("GeometryNodeAttributeDomainSize", 4, 0, component="MESH")
    here = node("GeometryNodeAttributeDomainSize", 5, 0, component="CURVE")
    alike = node("FunctionNodeCompare", 4, 2, data_type="INT", operation="EQUAL")
    move = node("GeometryNodeSetPosition", 0, 3)
    vertices = held.outputs["Geometry"]
    for start, end in (
        (entry.outputs[0], move.inputs["Geometry"]),
        (vertices, sample.inputs["Geometry"]),
        (place.outputs[0], _open(sample.inputs, "Value")),
        (index.outputs[0], sample.inputs["Index"]),
        (vertices, there.inputs[0]),
        (entry.outputs[0], here.inputs[0]),
        (there.outputs["Point Count"], _open(alike.inputs, "A")),
        (here.outputs["Point Count"], _open(alike.inputs, "B")),
        (alike.outputs["Result"], move.inputs["Selection"]),
        (_open(sample.outputs, "Value"), move.inputs["Position"]),
        (move.outputs[0], leave.inputs[0]),
    ):
        group.links.new(start, end)
    return cast(bpy.types.GeometryNodeTree, group)


def _open(sockets: Any, name: str) -> Any:
    """The socket of a name that is in use, of those that a node has for each type of data."""
    return next(each for each in sockets if each.name == name and each.enabled)


def surface_modifier(obj: bpy.types.Object, first: int) -> str:
    """Name of the first modifier from a number on that deforms curves on a surface; or empty."""
    for modifier in list(obj.modifiers)[first:]:
        group: Any = getattr(modifier, "node_group", None)
        if modifier.show_viewport and group is not None and _deforms(group):
            return modifier.name
    return ""


def _deforms(group: Any) -> bool:
    """Whether nodes deform curves on their surface."""
    inner = (getattr(each, "node_tree", None) for each in group.nodes)
    return any(
        each.bl_idname == "GeometryNodeDeformCurvesOnSurface" for each in group.nodes
    ) or any(map(_deforms, filter(None, inner)))
