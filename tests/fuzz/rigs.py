"""One seed of production files: what rigs, libraries and imports do around a body, all at once.

Meshes are non-manifold, sizes go from a millimetre to a kilometre, parents shear, meshes have
several users, are instanced or overridden, geometry nodes stand above and below, view layers leave
parts out, and frames are mapped to others. The same promises hold as for any other scene.
"""

import os
from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from tests.blender.scenes import mesh_object
from tests.fuzz.bodies import groups, keys, motion, settings
from tests.fuzz.draw import Draw
from tests.fuzz.play import STEPS, bake_again
from tests.fuzz.shapes import Shape, box, fan, quads, rope, sphere, strewn
from tests.fuzz.surroundings import add_collider, time

FRAME_MAPS = ((100, 50), (100, 200), (100, 100), (1, 900), (900, 1), (24, 25))
FPS_BASES = (1.0, 1.001, 0.5, 1e-5, 1e5)


def play(seed: int, tell: Callable[[str], None]) -> None:
    """Plays a seed; tells the scene and each step before it begins, and raises as `play.play`."""
    draw = Draw(seed)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    said = [time(draw), mapped_frames(draw)]
    said += [add_collider(draw, number) for number in range(draw.one_of((0, 0, 1)))]
    bodies = []
    for number in range(draw.one_of((1, 1, 2, 3))):
        obj, kind = add_body(draw, number)
        bodies.append(obj)
        said.append(f"{obj.name}: {kind}")
    for obj in bodies:
        said += [around(draw, obj) for around in AROUND if draw.chance(0.3)]
    tell("; ".join(filter(None, said)))
    scene: Any = bpy.context.scene
    scene.frame_set(scene.frame_current)
    bake_again(draw)
    for _ in range(draw.whole(0, 2)):
        step = draw.one_of(STEPS)
        tell(step.__name__)
        step(draw)


def add_body(draw: Draw, number: int) -> tuple[Any, str]:
    """A body with a mesh that may be no manifold, of any size, and what to call it."""
    make = draw.one_of((*NON_MANIFOLD, *NON_MANIFOLD, quads, rope, sphere, box))
    points, edges, faces = make(draw)
    size = draw.magnitude(1e-3, 1e3)
    applied = size if draw.chance(0.5) else 1.0
    obj = mesh_object(f"Body {number}", (np.array(points) * applied).tolist(), edges, faces)
    obj.scale = (size / applied,) * 3
    obj.location = draw.vector(size)
    obj.rotation_euler = draw.vector(1.0)
    obj.verlet.enabled = True
    fitting = "ROPE" if not faces else draw.one_of(("CLOTH", "CLOTH", "SOFT"))
    obj.verlet.body_type = draw.one_of((fitting, fitting, "WATER"))
    said = [f"{obj.verlet.body_type} {make.__name__} {size:.2g} m"]
    for share, feature in ((0.6, groups), (0.4, keys), (0.5, settings), (0.3, motion)):
        if draw.chance(share):
            said.append(feature(draw, obj))
    return obj, ", ".join(filter(None, said))


def bow_tie(draw: Draw) -> Shape:
    """Two sheets that share one vertex."""
    points, _, faces = strewn(draw)
    count = len(points)
    others = [(-x, -y, z) for x, y, z in (np.array(points) - points[0]).tolist()]
    both = (np.array(points) - points[0]).tolist() + others[1:]
    second = [[0 if corner == 0 else corner + count - 1 for corner in face] for face in faces]
    return both, [], faces + second


def walled_box(_draw: Draw) -> Shape:
    """A closed box with a wall inside, at whose edges four faces meet."""
    corners = [(x, y, z) for z in (0, 1) for y in (0, 1, 2) for x in (0, 1)]
    faces = [[6 * z + 2 * y + k for k in (0, 1, 3, 2)] for z in (0, 1) for y in (0, 1)]
    faces += [[2 * y, 2 * y + 1, 2 * y + 7, 2 * y + 6] for y in (0, 1, 2)]
    faces += [
        [2 * y + x, 2 * y + x + 2, 2 * y + x + 8, 2 * y + x + 6] for y in (0, 1) for x in (0, 1)
    ]
    return corners, [], faces


def flipped(draw: Draw) -> Shape:
    """A surface whose faces look either way."""
    points, edges, faces = draw.one_of((quads, sphere, box))(draw)
    return points, edges, [face[::-1] if draw.chance(0.5) else face for face in faces]


def wire_on_faces(draw: Draw) -> Shape:
    """A surface with loose edges that end at it, or join vertices that faces join already."""
    points, _, faces = draw.one_of((quads, sphere))(draw)
    ends = [(draw.whole(0, len(points) - 1), len(points) + n) for n in range(draw.whole(1, 3))]
    tips = [(*draw.vector(0.3),) for _ in ends]
    return [*points, *tips], [*ends, (0, len(points) - 1)], faces


NON_MANIFOLD = (bow_tie, walled_box, flipped, wire_on_faces, fan)


def mapped_frames(draw: Draw) -> str:
    """Another length of a frame, and frames of animation that are mapped to others."""
    render: Any = bpy.context.scene.render
    if draw.chance(0.4):
        render.frame_map_old, render.frame_map_new = draw.one_of(FRAME_MAPS)
    if draw.chance(0.4):
        render.fps_base = draw.one_of(FPS_BASES)
    return f"map {render.frame_map_old}:{render.frame_map_new} base {render.fps_base:g}"


def sheared(draw: Draw, obj: Any) -> str:
    """Turned below a parent, and a parent of that, with scales that differ by axis."""
    parent: Any = None
    for number in range(draw.whole(1, 2)):
        empty: Any = bpy.data.objects.new(f"Shear {number}", None)
        bpy.context.scene.collection.objects.link(empty)
        empty.parent, empty.rotation_euler = parent, draw.vector(1.0)
        empty.scale = [draw.one_of((1.0, draw.magnitude(0.05, 20.0), -1.0)) for _ in range(3)]
        parent = empty
    obj.parent = parent
    return "sheared"


def shared_mesh(draw: Draw, obj: Any) -> str:
    """A mesh with other users, which are bodies, colliders or nothing of the kind."""
    for _ in range(draw.whole(1, 2)):
        other = obj.copy()
        other.location.x += 3.0 * max(obj.dimensions[:])
        other.verlet.enabled = draw.chance(0.5)
        bpy.context.scene.collection.objects.link(other)
        if draw.chance(0.2):
            other.modifiers.new("Collision", "COLLISION")
    return "several users"


def instanced(draw: Draw, obj: Any) -> str:
    """An instance of the body's collection, or the body on each vertex of another mesh."""
    if draw.chance(0.5):
        away: Any = bpy.data.collections.new("Instanced")
        away.objects.link(obj)
        empty: Any = bpy.data.objects.new("Instance", None)
        empty.instance_type, empty.instance_collection = "COLLECTION", away
        bpy.context.scene.collection.objects.link(empty)
        if draw.chance(0.5):
            bpy.context.scene.collection.objects.unlink(obj)
        return "collection instance"
    carrier = mesh_object("Carrier", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    carrier.instance_type = draw.one_of(("VERTS", "FACES"))
    obj.parent = carrier
    return f"on {carrier.instance_type}"


def geometry_nodes(draw: Draw, obj: Any) -> str:
    """Nodes above and below other modifiers, which move, add, drop or replace vertices."""
    kinds = []
    for _ in range(draw.whole(1, 3)):
        kind = draw.one_of(
            ("MOVE", "SUBDIVIDE", "DUAL", "TRIANGULATE", "INSTANCE", "NOTHING", "SUBSURF", "HOOK")
        )
        kinds.append(kind)
        if kind in ("SUBSURF", "HOOK"):
            obj.modifiers.new(kind.title(), kind)
        else:
            obj.modifiers.new(kind.title(), "NODES").node_group = _node_group(kind)
    return "nodes " + "+".join(kinds)


NODES = {
    "MOVE": "GeometryNodeSetPosition",
    "SUBDIVIDE": "GeometryNodeSubdivideMesh",
    "DUAL": "GeometryNodeDualMesh",
    "TRIANGULATE": "GeometryNodeTriangulate",
    "INSTANCE": "GeometryNodeGeometryToInstance",
}


def _node_group(kind: str) -> Any:
    """Nodes that pass geometry through one node, or give nothing."""
    tree: Any = bpy.data.node_groups.new(kind, "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    given, result = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    if kind in NODES:
        node = tree.nodes.new(NODES[kind])
        if kind == "MOVE":
            node.inputs["Offset"].default_value = (0.1, 0.0, 0.2)
        tree.links.new(given.outputs[0], node.inputs[0])
        tree.links.new(node.outputs[0], result.inputs[0])
    return tree


def view_layers(draw: Draw, obj: Any) -> str:
    """A collection that one view layer leaves out, holds out or shows to its rays alone."""
    away: Any = bpy.data.collections.new("Layered")
    bpy.context.scene.collection.children.link(away)
    away.objects.link(obj)
    for held in [each for each in obj.users_collection if each != away]:
        held.objects.unlink(obj)
    layers: Any = bpy.context.scene.view_layers
    layer = draw.one_of((layers[0], layers.new("Second")))
    child = layer.layer_collection.children[away.name]
    flag = draw.one_of(("exclude", "holdout", "indirect_only", "hide_viewport"))
    setattr(child, flag, True)
    return f"{flag} in {layer.name}"


def overridden(draw: Draw, obj: Any) -> str:
    """The body, or a part of it, from another file: linked, or a library override of that."""
    away: Any = bpy.data.collections.new("Library")
    libraries: Any = bpy.data.libraries
    path = os.path.join(bpy.app.tempdir, f"{obj.name}.blend")
    away.objects.link(obj)
    libraries.write(path, {away})
    name, wanted_name = obj.name, away.name
    bpy.data.objects.remove(obj)
    bpy.data.collections.remove(away)
    with libraries.load(path, link=True) as (_, wanted):
        wanted.collections = [wanted_name]
    linked: Any = wanted.collections[0]
    if draw.chance(0.7):
        linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
        return f"{name} overridden"
    bpy.context.scene.collection.children.link(linked)
    return f"{name} linked"


AROUND: tuple[Callable[[Draw, Any], str], ...] = (
    *(sheared, shared_mesh, instanced, geometry_nodes, view_layers, overridden),
)
"""What is done to a body, in this order; the last of it replaces the body's object."""
