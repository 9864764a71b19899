"""Flesh painted by the distance from the bones of a mesh to its skin."""

from collections.abc import Container
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError
from ..settings.properties import body_properties
from ..settings.unit_texts import length_text
from .cages import simulated_object
from .flesh_distances import (
    armature_of_mesh,
    bone_distances,
    end_bones,
    half_thickness,
    posing_bones,
    skin_areas,
)
from .flesh_shape import modelled_shape
from .mesh_access import mesh_of
from .ownership import check_data

_NAME = "Flesh"
"""Name of the group that is made for a body without a flesh group."""
LEAN, FAT = 0.4, 0.9
"""Shares of the skin that are nearer to a bone than the distances at which flesh begins, and at
which it is all fat, where these are chosen by the body."""
ENDS = 0.15
"""Length of hands, feet and head as a share of the body's size."""
DEPTH = 0.8
"""Thickness of flesh as a share of the distance from bone to skin where it is all fat."""


@dataclass(frozen=True)
class Painting:
    """What was painted, and how."""

    group: str
    """Name of the vertex group."""
    near: float
    """Distance from bone to skin up to which there is no flesh [m]."""
    far: float
    """Distance from which on it is all fat [m]."""
    count: int
    """Number of vertices with flesh."""
    by_bones: bool
    """Whether distances are those from bones; else half the thickness of the mesh."""


def paint_flesh(
    obj: bpy.types.Object, *, near: float = 0.0, far: float = 0.0, ends: float = 0.0
) -> Painting:
    """Paints the flesh group of a body: smoothstep of the distance from bone to skin.

    A body without that group gets one named Flesh. Where its Depth is not set, it becomes a share
    of the distance at which the skin is all fat.

    Parameters
    ----------
    near, far : distances at which flesh begins, and is all fat [m]; 0 = as suits the body.
    ends : length of hands, feet and head, which are bone [m]; 0 = as suits the body.

    Raises
    ------
    MeshError
        The group cannot be changed, or no skin is farther from the bones than where flesh begins.
    """
    painted = simulated_object(obj)
    _check_group(obj, painted)
    skin = _in_world(painted, modelled_shape(painted))
    rig = armature_of_mesh(painted)
    bones = [] if rig is None else posing_bones(painted, rig)
    if rig is None or not bones:
        distances, stiff = half_thickness(painted, skin), np.zeros(len(skin))
    else:
        distances = bone_distances(skin, rig, bones)
        tips = end_bones(rig, bones, ends or ENDS * float(np.ptp(skin, axis=0).max()))
        stiff = _shares(painted, {bone.name for bone in tips}, {bone.name for bone in bones})
    areas = skin_areas(painted) * (1.0 - stiff)
    near = near or _quantile(distances, areas, LEAN)
    far = far or _quantile(distances, areas, FAT)
    weights = _smoothstep(painted, distances, near, far) * (1.0 - stiff)
    name = _write(obj, painted, weights)
    if not body_properties(obj).is_property_set("flesh_depth"):
        body_properties(obj).flesh_depth = float(f"{DEPTH * far:.2g}")
    return Painting(name, near, far, int((weights > 0.0).sum()), bool(bones))


def _check_group(obj: bpy.types.Object, painted: bpy.types.Object) -> None:
    """Raises MeshError where the flesh group of a body cannot be painted."""
    check_data(painted)
    if not mesh_of(painted).polygons:
        raise MeshError(f"{painted.name} has no faces to be the skin of flesh; choose another mesh")
    group = painted.vertex_groups.get(body_properties(obj).flesh_group)
    if group is not None and group.lock_weight:
        raise MeshError(
            f"The vertex group {group.name} of {painted.name} is locked; unlock it first"
        )


def _in_world(obj: bpy.types.Object, places: Floats) -> Floats:
    """(n, 3) points of an object in world space [m]."""
    matrix = np.array(obj.matrix_world, np.float64)
    return np.asarray(places @ matrix[:3, :3].T + matrix[:3, 3])


def _shares(obj: bpy.types.Object, chosen: Container[str], every: Container[str]) -> Floats:
    """(n,) weight of each vertex in the chosen groups, as a share of that in all of `every`."""
    names = [group.name for group in obj.vertex_groups]
    shares = np.zeros(len(mesh_of(obj).vertices))
    for vertex in mesh_of(obj).vertices:
        held = [(names[member.group], member.weight) for member in vertex.groups]
        total = sum(weight for name, weight in held if name in every)
        if total > 0.0:
            shares[vertex.index] = sum(weight for name, weight in held if name in chosen) / total
    return shares


def _quantile(values: Floats, areas: Floats, share: float) -> float:
    """The value (n,) that is not reached on this share of the area (n,)."""
    order = np.argsort(values)
    reached = np.cumsum(areas[order])
    return float(values[order[np.searchsorted(reached, share * reached[-1])]])


def _smoothstep(obj: bpy.types.Object, distances: Floats, near: float, far: float) -> Floats:
    """(n,) 0 up to the distance `near`, 1 from `far` on [m], with an even slope at both."""
    if not near < far or not (distances > near).any():
        raise MeshError(
            f"{obj.name} would have no flesh, which begins {length_text(near)} from its bones and "
            f"is all fat at {length_text(far)}, where its skin is up to "
            f"{length_text(float(distances.max()))} away from them; choose other distances"
        )
    share = np.clip((distances - near) / (far - near), 0.0, 1.0)
    return np.asarray(share * share * (3.0 - 2.0 * share))


def _write(obj: bpy.types.Object, painted: bpy.types.Object, weights: Floats) -> str:
    """Sets the weights (n,) of a body's flesh group, makes it active, and returns its name."""
    body = body_properties(obj)
    group = painted.vertex_groups.get(body.flesh_group)
    if group is None:
        group = painted.vertex_groups.new(name=body.flesh_group or _NAME)
    body.flesh_group = group.name
    group.remove(np.flatnonzero(weights == 0.0).tolist())
    for number in np.flatnonzero(weights > 0.0).tolist():
        group.add([number], float(weights[number]), "REPLACE")
    painted.vertex_groups.active = group
    mesh_of(painted).update()
    return str(group.name)
