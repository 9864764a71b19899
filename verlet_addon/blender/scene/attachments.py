"""Vertex groups that are held to other objects, and where those take them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from ...core.arrays import Floats, Integers
from ...core.errors import MeshError
from ..settings.properties import body_properties
from .mesh_access import group_weights
from .surfaces import read_points, read_triangles
from .visibility import enabled_objects


@dataclass(frozen=True, eq=False)
class Skin:
    """The faces of a mesh that vertices follow."""

    point_count: int
    """Vertices of the mesh."""
    face_count: int
    """Triangles of the mesh."""
    corners: Integers
    """(k, 3) of the triangle that each vertex follows."""
    shares: Floats
    """(k, 3) of those corners at the nearest place on it."""


@dataclass(frozen=True, eq=False)
class Anchor:
    """Where one attachment took hold, at the first frame."""

    number: int
    """Its place in the body's list."""
    vertices: Integers
    """(k,) that it holds."""
    weights: Floats
    """(k,) of the vertex group, above 0."""
    skin: Skin | None
    """What they follow of a mesh; None where they follow an object or a bone as a whole."""
    offsets: Floats
    """(k, 3) where they were, in the frames of `_frames`."""


def acting_attachments(obj: bpy.types.Object) -> list[tuple[int, Any]]:
    """Lists the attachments of a body that name an object and a group, by their numbers."""
    return [
        (number, item)
        for number, item in enumerate(body_properties(obj).attachments)
        if item.target is not None and item.target != obj and item.vertex_group
    ]


def check_attachments(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> None:
    """Raises MeshError where an attachment of a body cannot hold what it should."""
    items = acting_attachments(obj)
    enabled = enabled_objects(view_layer) if items else ()
    for _, item in items:
        target = item.target
        if item.vertex_group not in obj.vertex_groups:
            raise MeshError(
                f"{obj.name} has no vertex group {item.vertex_group} to attach to {target.name}; "
                "choose another group for that attachment, or remove it"
            )
        if target not in enabled:
            raise MeshError(
                f"{obj.name} is attached to {target.name}, which is disabled in viewports or left "
                f"out of the view layer {view_layer.name}, so that it does not move; enable it"
            )
        if _bone_name(item) and _bone_name(item) not in target.pose.bones:
            raise MeshError(
                f"{target.name} has no bone {item.bone} for {obj.name} to be attached to; choose "
                "another bone or none"
            )


def followed_places(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> list[Floats]:
    """Per attachment of a body (v, 3) places that move with what it follows [m]."""
    return [
        read_points(item.target, depsgraph)
        if item.target.type == "MESH"
        else _matrix(item, depsgraph)[:3].T
        for _, item in acting_attachments(obj)
    ]


def take_hold(
    obj: bpy.types.Object, positions: Floats, depsgraph: bpy.types.Depsgraph
) -> list[Anchor]:
    """Ties a body's attachments to where its vertices (n, 3) stand at the current frame.

    Raises
    ------
    MeshError
        What is to be followed has a scale of zero, so that nothing has a place in it.
    """
    anchors = []
    for number, item in acting_attachments(obj):
        weights = group_weights(obj, item.vertex_group)
        vertices = np.flatnonzero(weights > 0.0)
        places = positions[vertices]
        skin = _nearest_skin(item.target, places, depsgraph)
        origins, axes = _frames(obj, item, skin, depsgraph)
        if (np.abs(np.linalg.det(axes)) < 1e-30).any():
            raise MeshError(
                f"{item.target.name} has a scale of zero where {obj.name} is attached to it, at "
                f"frame {_frame(depsgraph)}; give it another scale there"
            )
        offsets = np.linalg.solve(axes, (places - origins)[..., None])[..., 0]
        anchors.append(Anchor(number, vertices, weights[vertices], skin, offsets))
    return anchors


def carry(
    obj: bpy.types.Object,
    anchors: Sequence[Anchor],
    positions: Floats,
    pin_weights: Floats,
    depsgraph: bpy.types.Depsgraph,
) -> tuple[Floats, Floats]:
    """Where a body's vertices are held at the current frame, (n, 3) [m], and how firmly, (n,).

    Several that hold the same vertex hold it at their mean by weight, as firmly as the firmest.

    Parameters
    ----------
    positions
        (n, 3) the animated mesh, which the pin group holds it to [m].
    pin_weights
        (n,) of the pin group.

    Raises
    ------
    MeshError
        The mesh that is followed has got other vertices or faces than it had.
    """
    firmest, total = pin_weights.copy(), pin_weights.copy()
    places = pin_weights[:, None] * positions
    animated = body_properties(obj.evaluated_get(depsgraph)).attachments
    for anchor in anchors:
        held, weights = anchor.vertices, animated[anchor.number].weight * anchor.weights
        item = body_properties(obj).attachments[anchor.number]
        origins, axes = _frames(obj, item, anchor.skin, depsgraph)
        carried = origins + np.einsum("kxy,ky->kx", axes, anchor.offsets)
        firmest[held] = np.maximum(firmest[held], weights)
        total[held] += weights
        places[held] += weights[:, None] * carried
    free = total == 0.0
    targets = np.where(free[:, None], positions, places / np.where(free, 1.0, total)[:, None])
    return targets, firmest


def _nearest_skin(
    target: bpy.types.Object, places: Floats, depsgraph: bpy.types.Depsgraph
) -> Skin | None:
    """What the places (k, 3) follow of a mesh; None of an object without faces."""
    if target.type != "MESH":
        return None
    points, triangles = read_points(target, depsgraph), read_triangles(target, depsgraph)
    edges = np.diff(points[triangles], axis=1)
    sound = triangles[np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) > 0.0]
    if not len(sound):
        return None
    tree: Any = BVHTree.FromPolygons(points.tolist(), sound.tolist(), all_triangles=True)
    found = [tree.find_nearest(place) for place in places.tolist()]
    corners = sound[[number for _, _, number, _ in found]].reshape(-1, 3)
    nearest = np.array([location for location, *_ in found]).reshape(-1, 3)
    return Skin(len(points), len(triangles), corners, _shares(points[corners], nearest))


def _shares(corners: Floats, places: Floats) -> Floats:
    """(k, 3) barycentric coordinates of places (k, 3) on triangles (k, 3, 3)."""
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normals, ways = np.cross(first, second), places - corners[:, 0]
    squares = np.einsum("kx,kx->k", normals, normals)
    along = np.einsum("kx,kx->k", np.cross(ways, second), normals) / squares
    across = np.einsum("kx,kx->k", np.cross(first, ways), normals) / squares
    return np.stack([1.0 - along - across, along, across], axis=1)


def _frames(
    obj: bpy.types.Object, item: Any, skin: Skin | None, depsgraph: bpy.types.Depsgraph
) -> tuple[Floats, Floats]:
    """Origins (k, 3) and axes (k, 3, 3), in columns, of what an attachment's vertices follow.

    Those on a mesh are as large as the triangle, so that what grows with its object keeps its place
    on it; they have no size where it has none. Those of an object as a whole are (1, …).
    """
    if skin is None:
        matrix = _matrix(item, depsgraph)
        return matrix[None, :3, 3], matrix[None, :3, :3]
    points = _points(obj, item, skin, depsgraph)[skin.corners]
    first, second = points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    normals = np.cross(first, second)
    size = np.sqrt(np.linalg.norm(normals, axis=1))[:, None]
    up, along = _unit(normals), _unit(first)
    axes = np.stack([along, np.cross(up, along), up], axis=2) * size[..., None]
    return np.einsum("kc,kcx->kx", skin.shares, points), axes


def _points(obj: bpy.types.Object, item: Any, skin: Skin, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(v, 3) the vertices of the mesh that is followed."""
    points = read_points(item.target, depsgraph)
    if len(points) != skin.point_count or (
        len(read_triangles(item.target, depsgraph)) != skin.face_count
    ):
        raise MeshError(
            f"The mesh of {item.target.name}, to which {obj.name} is attached, has other vertices "
            f"or faces at frame {_frame(depsgraph)} than at the first; attach it to an empty or a "
            "bone that moves alike"
        )
    return points


def _matrix(item: Any, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(4, 4) where the object or bone that is followed stands."""
    evaluated = item.target.evaluated_get(depsgraph)
    matrix = evaluated.matrix_world
    if name := _bone_name(item):
        matrix = matrix @ evaluated.pose.bones[name].matrix
    return np.array(matrix, np.float64)


def _bone_name(item: Any) -> str:
    """The bone that an attachment follows; "" where it follows none."""
    return str(item.bone) if item.target.type == "ARMATURE" else ""


def _unit(vectors: Floats) -> Floats:
    """(k, 3) vectors with a length of 1, or 0 where they have none."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0.0, lengths, 1.0))


def _frame(depsgraph: bpy.types.Depsgraph) -> int:
    """The scene's current frame."""
    return cast(bpy.types.Scene, depsgraph.scene).frame_current
