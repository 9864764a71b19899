"""Hair made of guides: of hair particles, and of meshes of edges."""

from collections.abc import Sequence
from typing import Any, cast

import bpy
import numpy as np

from ...core.arrays import Floats, Integers
from ...core.errors import MeshError
from ...core.geometry.graph import find_components
from ..settings.properties import body_properties
from .hair_curves import hair_of, write_points
from .mesh_access import group_weights, mesh_of, read_vertices
from .mesh_io import world_matrix
from .modifiers import read_deformed
from .surfaces import find_nearest, read_triangles

SURFACE_DEFORM = "Surface Deform"
"""Name of the modifier that moves hair with its surface, as Blender names it."""


def hair_systems(obj: bpy.types.Object) -> list[bpy.types.ParticleSystem]:
    """The hair particles of an object."""
    return [each for each in obj.particle_systems if each.settings.type == "HAIR"]


def surface_of_guides(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The mesh that a mesh of guides grows on, its parent; None if that is none."""
    parent = obj.parent
    return parent if parent is not None and parent.type == "MESH" else None


def strands_of_guides(
    obj: bpy.types.Object, surface: bpy.types.Object | None, depsgraph: bpy.types.Depsgraph
) -> list[Floats]:
    """Per strand (k, 3) world places of a mesh of edges, from the root on [m].

    The root is the end that is nearer to the surface; without one, the end that weighs more in the
    pin group of the mesh, and else the one with the lower number.

    Raises
    ------
    MeshError
        The mesh has faces, branches or rings.
    """
    mesh = mesh_of(obj)
    edges = np.array([each.vertices[:] for each in mesh.edges], np.int64).reshape(-1, 2)
    degrees = np.bincount(edges.ravel(), minlength=len(mesh.vertices))
    if len(mesh.polygons) or (degrees > 2).any() or not len(edges):
        raise MeshError(
            f"{obj.name} is no mesh of guides, which is edges one after the other without faces "
            "and branches; choose another mesh, or one with hair particles"
        )
    chains = _chains(edges, degrees)
    if sum(map(len, chains)) < np.count_nonzero(degrees):
        raise MeshError(f"{obj.name} has edges in a ring, which no strand can be; open that")
    linear, offset = world_matrix(obj, depsgraph)
    places = read_deformed(obj, depsgraph) @ linear.T + offset
    height = -group_weights(obj, body_properties(obj).pin_group)
    if surface is not None:
        height = _distances(surface, places, depsgraph)
    return [
        places[chain if height[chain[0]] <= height[chain[-1]] else chain[::-1]] for chain in chains
    ]


def _chains(edges: Integers, degrees: Integers) -> list[Integers]:
    """The vertices of each chain of edges in their order, from the end with the lower number."""
    labels = find_components(len(degrees), edges)
    beside: dict[int, list[int]] = {}
    for one, other in edges.tolist():
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    chains, done = [], set[int]()
    for end in np.flatnonzero(degrees == 1).tolist():
        if int(labels[end]) in done:
            continue
        done.add(int(labels[end]))
        chain, before = [end], -1
        while further := [each for each in beside[chain[-1]] if each != before]:
            before = chain[-1]
            chain.append(further[0])
        chains.append(np.array(chain))
    return chains


def _distances(surface: bpy.types.Object, places: Floats, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(n,) distances of world places (n, 3) from a surface [m]."""
    linear, offset = world_matrix(surface, depsgraph)
    vertices = read_vertices(mesh_of(surface.evaluated_get(depsgraph))) @ linear.T + offset
    _, nearest = find_nearest(vertices, read_triangles(surface, depsgraph), places)
    return np.asarray(np.linalg.norm(places - nearest, axis=1))


def new_hair(
    name: str,
    strands: Sequence[Floats],
    surface: bpy.types.Object | None,
    scene: bpy.types.Scene,
) -> bpy.types.Object:
    """A Curves object with strands (k, 3) at world places [m], on a surface if there is one.

    It follows the surface by its parent and by the modifier Surface Deform, as hair does that
    Blender adds; its roots are yet to be attached there.
    """
    curves: Any = bpy.data.hair_curves.new(name)
    curves.add_curves(list(map(len, strands)))
    obj = bpy.data.objects.new(name, curves)
    users = surface.users_collection if surface is not None else ()
    own = (each for each in users if not (each.library or each.override_library))
    next(own, scene.collection).objects.link(obj)
    places = np.concatenate([np.empty((0, 3)), *strands])
    if surface is not None:
        matrix = np.array(surface.matrix_world, np.float64)
        places = np.linalg.solve(matrix[:3, :3], (places - matrix[:3, 3]).T).T
        obj.parent, curves.surface = surface, surface
        _follow_surface(obj, surface)
    write_points(hair_of(obj), places)
    return obj


def _follow_surface(obj: bpy.types.Object, surface: bpy.types.Object) -> None:
    """Has hair move with the deformation of its surface, if that has a UV map."""
    layer = mesh_of(surface).uv_layers.active
    if layer is None:
        return
    cast(Any, obj.data).surface_uv_map = layer.name
    cast(Any, surface).add_rest_position_attribute = True
    group: Any = bpy.data.node_groups.new(SURFACE_DEFORM, "GeometryNodeTree")
    group.is_modifier = True
    for way in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    nodes = group.nodes
    entry, leave = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    deform = nodes.new("GeometryNodeDeformCurvesOnSurface")
    entry.location.x, leave.location.x = -200, 200
    group.links.new(entry.outputs[0], deform.inputs[0])
    group.links.new(deform.outputs[0], leave.inputs[0])
    cast(Any, obj.modifiers.new(SURFACE_DEFORM, "NODES")).node_group = group
