"""Attachments: vertex groups whose targets follow other objects, meshes or bones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import bpy
import numpy as np

from ...core.arrays import Floats, Integers
from ...core.errors import MeshError
from ...core.geometry.faces import normalized
from ...core.geometry.surface_binding import barycentric_coordinates
from ..settings.properties import body_properties
from .cages import simulated_object
from .mesh_access import group_weights
from .surfaces import find_nearest, read_points, read_triangles, with_area
from .visibility import enabled_objects


@dataclass(frozen=True, eq=False)
class Skin:
    """Bindings of attached vertices to the triangles of the mesh that they follow."""

    point_count: int
    """Number of vertices of the mesh."""
    face_count: int
    """Number of triangles of the mesh."""
    corners: Integers
    """(k, 3) vertex indices of the triangle that each attached vertex follows."""
    shares: Floats
    """(k, 3) barycentric coordinates of the nearest point on that triangle."""


@dataclass(frozen=True, eq=False)
class Anchor:
    """The attached vertices of one attachment, with their local coordinates at the first frame."""

    number: int
    """Index in the body's list of attachments."""
    vertices: Integers
    """(k,) indices of the attached vertices."""
    weights: Floats
    """(k,) weights in the vertex group, above 0."""
    skin: Skin | None
    """Binding to the triangles of a mesh; None where an object or bone is followed as a whole."""
    offsets: Floats
    """(k, 3) positions at the first frame, in the local frames that `_frames` returns."""


def acting_attachments(obj: bpy.types.Object) -> list[tuple[int, Any]]:
    """Lists index and attachment for all of a body's attachments with an object and a group.

    Flesh has none, since its bones hold it.
    """
    body = body_properties(obj)
    return [
        (number, item)
        for number, item in enumerate(() if body.body_type == "FLESH" else body.attachments)
        if item.target is not None and item.target != obj and item.vertex_group
    ]


def boneless_attachments(obj: bpy.types.Object) -> list[tuple[int, Any]]:
    """Lists index and attachment of those to an armature with bones, none of which is chosen."""
    return [
        (number, item)
        for number, item in acting_attachments(obj)
        if item.target.type == "ARMATURE" and item.target.pose.bones and not item.bone
    ]


def attached_vertices(obj: bpy.types.Object) -> dict[str, Integers]:
    """By the name of each object that a body is attached to, the vertices that follow it."""
    painted, held = simulated_object(obj), dict[str, Integers]()
    for _, item in acting_attachments(obj):
        vertices = np.flatnonzero(group_weights(painted, item.vertex_group) > 0.0)
        held[item.target.name] = np.union1d(held.get(item.target.name, vertices), vertices)
    return held


def check_attachments(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> None:
    """Raises MeshError where the group, object or bone of an attachment is missing or disabled."""
    items = acting_attachments(obj)
    enabled = enabled_objects(view_layer) if items else ()
    for _, item in items:
        target, painted = item.target, simulated_object(obj)
        if item.vertex_group not in painted.vertex_groups:
            raise MeshError(
                f"{painted.name} has no vertex group {item.vertex_group} to attach to "
                f"{target.name}; choose another group for that attachment, or remove it"
            )
        if target not in enabled:
            raise MeshError(
                f"{obj.name} is attached to {target.name}, which does not move, since it is "
                f"disabled in viewports or left out of the view layer {view_layer.name}; enable it"
            )
        if _bone_name(item) and _bone_name(item) not in target.pose.bones:
            raise MeshError(
                f"{obj.name} is attached to the bone {item.bone}, which {target.name} does not "
                "have; choose another bone or none"
            )


def followed_places(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> list[Floats]:
    """Per attachment of a body, (v, 3) points that move with its target object [m]."""
    return [
        read_points(item.target, depsgraph)
        if item.target.type == "MESH"
        else _matrix(item, depsgraph)[:3].T
        for _, item in acting_attachments(obj)
    ]


def take_hold(
    obj: bpy.types.Object, positions: Floats, depsgraph: bpy.types.Depsgraph
) -> list[Anchor]:
    """Binds a body's attachments at its vertices' current positions (n, 3) [m].

    Raises
    ------
    MeshError
        The object that is followed has a scale of zero, so that it has no local coordinates.
    """
    anchors = []
    for number, item in acting_attachments(obj):
        weights = group_weights(simulated_object(obj), item.vertex_group)
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
    """Pin targets (n, 3) [m] and pin weights (n,) of a body's vertices at the current frame.

    Where a vertex has several attachments or pins, its target is their weighted mean and its weight
    the largest one.

    Parameters
    ----------
    positions
        (n, 3) vertices of the animated mesh, the targets of the pin group [m].
    pin_weights
        (n,) weights of the pin group.

    Raises
    ------
    MeshError
        The number of vertices or faces of the mesh that is followed has changed.
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
    """Binding of points (k, 3) to the nearest triangles; None for an object without faces."""
    if target.type != "MESH":
        return None
    points, triangles = read_points(target, depsgraph), read_triangles(target, depsgraph)
    sound = with_area(points, triangles)
    if not len(sound):
        return None
    chosen, nearest = find_nearest(points, sound, places)
    corners = sound[chosen]
    return Skin(
        len(points), len(triangles), corners, barycentric_coordinates(points[corners], nearest)
    )


def _frames(
    obj: bpy.types.Object, item: Any, skin: Skin | None, depsgraph: bpy.types.Depsgraph
) -> tuple[Floats, Floats]:
    """Origins (k, 3) and axes (k, 3, 3), in columns, of the local frames that vertices follow.

    The axes of a triangle's frame have the length of the square root of twice its area, so that
    offsets scale with the mesh; a degenerate triangle has axes of length 0. An object or bone as a
    whole has one frame, (1, 3) and (1, 3, 3).
    """
    if skin is None:
        matrix = _matrix(item, depsgraph)
        return matrix[None, :3, 3], matrix[None, :3, :3]
    points = _points(obj, item, skin, depsgraph)[skin.corners]
    first, second = points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    normals = np.cross(first, second)
    size = np.sqrt(np.linalg.norm(normals, axis=1))[:, None]
    up, along = normalized(normals), normalized(first)
    axes = np.stack([along, np.cross(up, along), up], axis=2) * size[..., None]
    return np.einsum("kc,kcx->kx", skin.shares, points), axes


def _points(obj: bpy.types.Object, item: Any, skin: Skin, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(v, 3) vertices of the mesh that is followed [m]."""
    points = read_points(item.target, depsgraph)
    if len(points) != skin.point_count or (
        len(read_triangles(item.target, depsgraph)) != skin.face_count
    ):
        raise MeshError(
            f"The mesh of {item.target.name}, to which {obj.name} is attached, has other vertices "
            f"or faces at frame {_frame(depsgraph)} than at the first; attach it to an empty or a "
            "bone that moves the same way"
        )
    return points


def _matrix(item: Any, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(4, 4) world matrix of the object or bone that is followed."""
    evaluated = item.target.evaluated_get(depsgraph)
    matrix = evaluated.matrix_world
    if name := _bone_name(item):
        matrix = matrix @ evaluated.pose.bones[name].matrix
    return np.array(matrix, np.float64)


def _bone_name(item: Any) -> str:
    """Name of the bone that an attachment follows; empty if the target is no armature."""
    return str(item.bone) if item.target.type == "ARMATURE" else ""


def _frame(depsgraph: bpy.types.Depsgraph) -> int:
    """The scene's current frame."""
    return cast(bpy.types.Scene, depsgraph.scene).frame_current
