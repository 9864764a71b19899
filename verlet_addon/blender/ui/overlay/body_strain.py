"""Strain of bodies as the viewport shows them, kept from redraw to redraw."""

from dataclasses import dataclass, replace
from typing import Any, cast

import bpy
import numpy as np
from mathutils import Vector

from ....core.arrays import Floats, Integers, Singles
from ....core.geometry.rest_shape import rest_lengths
from ...live.control import session_of
from ...scene.mesh_access import mesh_of, shape_keys_of
from ...scene.rest_lengths import read_edges, read_rest_lengths, user_keys
from ...scene.shown_mesh import is_covered, shown_normals
from ...scene.surfaces import mesh_triangles
from ...settings.properties import body_properties
from ..drawing import brightness, vertex_normals
from .drawing_cache import kept, mesh_changes, shape_changes
from .positions import positions_of
from .strain import (
    EdgeSet,
    edge_set,
    edge_strains,
    inverse_lengths,
    strain_colors,
    vertex_strains,
)


@dataclass(frozen=True, eq=False)
class Surface:
    """Faces and edges of a mesh."""

    triangles: Integers
    """(t, 3)"""
    loose: Integers
    """(l, 2) edges without faces."""
    edges: EdgeSet


@dataclass(frozen=True, eq=False)
class Strained:
    """A body's vertices as shown, colored by their strain."""

    positions: Singles
    """(n, 3) in world space [m]"""
    colors: Singles
    """(n, 4)"""
    lowest: float
    """Smallest strain of an edge, at most 0."""
    highest: float
    """Largest strain of an edge, at least 0."""
    cover: float
    """Length by which the colors have to be drawn nearer to the eye, to be seen over what a
    modifier makes of the mesh [m]."""


def surface_of(obj: bpy.types.Object) -> Surface:
    """Faces and edges of an object's mesh."""
    mesh = mesh_of(obj)
    sizes = len(mesh.vertices), len(mesh.edges), len(mesh.polygons)
    key = (shape_changes(obj), sizes)
    return kept("surface", obj, key, lambda: read_surface(mesh), lag=sizes)


def read_surface(mesh: bpy.types.Mesh) -> Surface:
    """Faces and edges of a mesh."""
    loose, edges = np.empty(len(mesh.edges), bool), read_edges(mesh)
    mesh.edges.foreach_get("is_loose", loose)
    return Surface(mesh_triangles(mesh), edges[loose], edge_set(edges, len(mesh.vertices)))


def strained(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, scale: float
) -> Strained | None:
    """A body's vertices, colored by the strain of the edges around them.

    None where a modifier orders vertices anew and others move them before.

    Parameters
    ----------
    scale
        Strain at both ends of the color scale.

    Raises
    ------
    SettingsError
        A setting of the body is out of its range.
    """
    surface, rest = surface_of(obj), _rest_lengths(obj, depsgraph)
    if (positions := positions_of(obj, depsgraph)) is None:
        return None
    strains = edge_strains(positions.near, surface.edges, rest.inverse)
    normals: Floats | Singles | None = shown_normals(obj, depsgraph)
    if normals is None:
        normals = vertex_normals(positions.near, surface.triangles)
    return Strained(
        positions.world,
        colored(surface, strains, normals, scale),
        float(strains.min(initial=0.0)),
        float(strains.max(initial=0.0)),
        rest.mean if is_covered(obj, depsgraph) else 0.0,
    )


def colored(surface: Surface, strains: Singles, normals: Floats | Singles, scale: float) -> Singles:
    """(n, 4) shaded colors of vertices with normals (n, 3), by strains (m,) of the edges."""
    colors = strain_colors(vertex_strains(surface.edges, strains), scale)
    colors *= brightness(normals)[:, None]
    colors[:, 3] = 1.0
    return colors


@dataclass(frozen=True, eq=False)
class Rest:
    """Rest lengths of a body's edges."""

    inverse: Singles
    """(m,) inverse lengths [1/m]; 0 for edges of no length."""
    mean: float
    """Mean length [m]."""


def rest_of(lengths: Floats) -> Rest:
    """Rest lengths (m,) of edges [m]."""
    return Rest(inverse_lengths(lengths), float(lengths.mean()) if len(lengths) else 0.0)


def _rest_lengths(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Rest:
    """Rest lengths of a body's edges: those of the live simulation, if it is in one."""
    edge_count = len(mesh_of(obj).edges)
    live = _live_rest(obj, cast(bpy.types.Scene, depsgraph.scene))
    if live is not None and len(live.inverse) == edge_count:
        return live
    linear = obj.evaluated_get(depsgraph).matrix_world.to_3x3()
    body = body_properties(obj)
    own = (
        # Lengths depend on the scale of an object, not on its rotation.
        tuple(round(one.dot(other), 6) for one, other in _pairs(linear.col)),
        _key_values(obj),
        (body.rest_key, body.shrinking, body.shrinking_group),
        edge_count,
    )
    key = (mesh_changes(obj) if body.shrinking_group else shape_changes(obj), own)
    return kept("rest", obj, key, lambda: rest_of(read_rest_lengths(obj, depsgraph)), lag=own)


def _pairs(columns: Any) -> list[tuple[Vector, Vector]]:
    """All pairs of a matrix's columns."""
    return [(columns[one], columns[other]) for one in range(3) for other in range(one, 3)]


def _live_rest(obj: bpy.types.Object, scene: bpy.types.Scene) -> Rest | None:
    """Rest lengths of a body's edges in the live simulation; None where it is in none."""
    session = session_of(scene)
    if session is None or obj not in session.stage.bodies:
        return None
    number, known = session.stage.bodies.index(obj), session.simulation
    mesh, shrinking = known.meshes[number], body_properties(obj).shrinking
    settings = replace(known.body_settings[number], shrinking=shrinking)
    key = (id(mesh), shrinking)
    return kept("live rest", obj, key, lambda: rest_of(rest_lengths(mesh, settings)))


def _key_values(obj: bpy.types.Object) -> tuple[tuple[str, float], ...]:
    """Names and values of the user's own shape keys, on which the rest shape depends."""
    names = kept("user keys", obj, mesh_changes(obj), lambda: user_keys(obj))
    if not names or (key := shape_keys_of(obj)) is None:
        return ()
    blocks = key.key_blocks
    return tuple((name, blocks[name].value) for name in names if name in blocks)
