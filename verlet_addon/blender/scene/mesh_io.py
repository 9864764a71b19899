"""The animated mesh as world-space arrays, and the conversion back to shape keys."""

from collections.abc import Sequence
from typing import Any, cast

import bpy
import numpy as np

from ...core.arrays import Floats, Integers
from ...core.errors import MeshError
from ...core.geometry.texture_directions import directions
from ...core.mesh import MeshData, Mirror, Paint, doubled_faces
from ..settings.properties import body_properties
from ..settings.rest_shape_properties import PAINTED
from .attachments import attached_vertices, check_attachments
from .bone_joints import check_bones, joint_paint, joint_settings, read_joints
from .cages import check_cage, simulated_object
from .curve_lines import check_curve, draw_line, read_line_edges
from .curve_points import is_curve
from .flesh_shape import check_flesh, modelled_shape
from .hair_curves import check_hair, is_hair, read_strand_edges, root_paint
from .mesh_access import (
    fits,
    group_weights,
    key_size,
    mesh_of,
    mode_name,
    point_count,
    read_key,
    shape_keys_of,
)
from .modifiers import check_modifiers, read_deformed
from .ownership import check_object
from .pin_weights import current_pin_weights, read_pin_weights
from .visibility import is_shown

BODIES = ("MESH", "CURVE", "CURVES")
"""Types of objects that can be bodies."""


def check_body(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> None:
    """Raises MeshError if an object cannot be read, or no simulation can be shown on it.

    The core checks the mesh's own geometry.
    """
    name = obj.name
    view_layer.update()
    if obj.type not in BODIES:
        raise MeshError(f"{name} is not a mesh; convert it to a mesh or deselect it")
    check_object(obj)
    if obj.mode in ("EDIT", "SCULPT", "SCULPT_CURVES"):
        raise MeshError(f"{name} is in {mode_name(obj)} Mode; switch to Object Mode")
    if name not in view_layer.objects:
        raise MeshError(
            f"{name} is not in the view layer {view_layer.name}; include its collection"
        )
    if not is_shown(obj, view_layer):
        raise MeshError(f"{name} is hidden; show it in the viewport")
    _check_matrix(obj)
    check_cage(obj, view_layer)
    check_bones(obj, view_layer)
    if is_curve(obj):
        check_curve(obj)
    if is_hair(obj):
        check_hair(obj)
    _check_matrix(simulated_object(obj))
    _check_groups(obj, simulated_object(obj))
    check_attachments(obj, view_layer)
    check_flesh(obj)
    _check_keys(obj)
    check_modifiers(obj)


def _check_groups(obj: bpy.types.Object, simulated: bpy.types.Object) -> None:
    """Raises MeshError where a vertex group, the thread map or the rest shape is missing.

    A rest shape that is a baked key would be missing after the next bake. All of them are those of
    the simulated object, a body's cage or the body itself.
    """
    body, name = body_properties(obj), simulated.name
    for prop in ("pin_group", *PAINTED.values()):
        group = getattr(body, prop)
        if group and group not in simulated.vertex_groups:
            label = body.bl_rna.properties[prop].name.lower()
            raise MeshError(f"{name} has no vertex group {group}; choose another {label} or none")
    for chosen in filter(None, (body.thread_map, body.muscle_map)):
        if obj.type == "MESH" and chosen not in mesh_of(simulated).uv_layers:
            raise MeshError(f"{name} has no UV map {chosen}; choose another one or none")
    if not (rest := body.rest_key):
        return
    key = shape_keys_of(simulated)
    if key is None or rest not in key.key_blocks:
        raise MeshError(f"{name} has no shape key {rest}; choose another rest shape or none")
    if rest in body_properties(simulated).baked_keys:
        raise MeshError(f"{name} has a baked key as its rest shape; choose another one or none")


def read_positions(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """World positions (n, 3) of the animated mesh's own vertices at the current frame.

    They include the object's transform, its parents, the shape keys and the modifiers that deform
    each vertex by itself (carriers). Other modifiers (Subdivision, Smooth, …) are left out.
    Those of a body of bones are the joints of its armature; those of hair are its points before
    its number of points changes.
    """
    if (joints := read_joints(obj, depsgraph)) is not None:
        return joints
    linear, offset = world_matrix(obj, depsgraph)
    return read_deformed(obj, depsgraph) @ linear.T + offset


def read_body(
    obj: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    *,
    velocities: Floats,
    mirrors: Sequence[Mirror] = (),
    colliders: Sequence[int] = (),
) -> MeshData:
    """Reads all of one object that the core needs at the first frame.

    Parameters
    ----------
    velocities
        (n, 3) velocities of the animated mesh's vertices [m/s].
    mirrors
        Planes at which the mesh is joined to its mirror image.
    colliders
        Indices of the colliders that the body collides with.
    """
    if obj.type != "MESH":
        return _read_lines(obj, depsgraph, velocities=velocities, colliders=colliders)
    simulated = simulated_object(obj)
    mesh = mesh_of(simulated)
    starts, corners = _faces(mesh)
    vertices = _integers(mesh.loops, "vertex_index")[corners]
    rest = _rest_positions(obj, depsgraph)
    return MeshData(
        name=obj.name,
        positions=read_positions(simulated, depsgraph),
        edges=_integers(mesh.edges, "vertices", width=2).reshape(-1, 2),
        face_starts=starts,
        face_vertices=vertices,
        pin_weights=current_pin_weights(obj, read_pin_weights(obj), depsgraph),
        velocities=velocities,
        mirrors=mirrors,
        rest_positions=rest,
        paint=joint_paint(obj) or _paint(obj),
        joints=joint_settings(obj),
        colliders=colliders,
        holders=attached_vertices(obj),
        threads=_coordinates(obj, body_properties(obj).thread_map, corners),
        fibres=_fibres(obj, rest, starts, vertices, corners),
    )


def _read_lines(
    obj: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    *,
    velocities: Floats,
    colliders: Sequence[int],
) -> MeshData:
    """Reads all of a curve or of hair that the core needs: points of its lines, without faces."""
    return MeshData(
        name=obj.name,
        positions=read_positions(obj, depsgraph),
        edges=read_strand_edges(obj) if is_hair(obj) else read_line_edges(obj),
        face_starts=np.zeros(1, np.int64),
        face_vertices=np.zeros(0, np.int64),
        pin_weights=current_pin_weights(obj, read_pin_weights(obj), depsgraph),
        velocities=velocities,
        rest_positions=_rest_positions(obj, depsgraph),
        paint=root_paint(obj) if is_hair(obj) else Paint(),
        may_be_held=is_hair(obj),
        colliders=colliders,
    )


def _faces(mesh: bpy.types.Mesh) -> tuple[Integers, Integers]:
    """First corner of each face, and indices of all corners; without faces that occur twice."""
    starts = np.append(_integers(mesh.polygons, "loop_start"), len(mesh.loops))
    sizes = np.diff(starts)
    kept = np.ones(len(sizes), bool)
    kept[doubled_faces(starts, _integers(mesh.loops, "vertex_index"))] = False
    return np.append(0, np.cumsum(sizes[kept])), np.flatnonzero(np.repeat(kept, sizes))


def _rest_positions(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats | None:
    """(n, 3) world positions of the rest shape key, of flesh also without one [m]; else None."""
    body, simulated = body_properties(obj), simulated_object(obj)
    if not body.rest_key and body.body_type != "FLESH":
        return None
    linear, offset = world_matrix(simulated, depsgraph)
    if body.rest_key:
        key = cast(bpy.types.Key, shape_keys_of(simulated))
        rest = read_key(key.key_blocks[body.rest_key])
    else:
        rest = modelled_shape(simulated)
    return (draw_line(obj, rest) if is_curve(obj) else rest) @ linear.T + offset


def _paint(obj: bpy.types.Object) -> Paint:
    """Vertex weights that scale settings, for each layer with a group."""
    body = body_properties(obj)
    groups = {layer: getattr(body, prop) for layer, prop in PAINTED.items()}
    simulated = simulated_object(obj)
    weights = {layer: group_weights(simulated, name) for layer, name in groups.items() if name}
    return Paint(**weights)


def _fibres(
    obj: bpy.types.Object,
    rest: Floats | None,
    starts: Integers,
    vertices: Integers,
    corners: Integers,
) -> Floats | None:
    """(n, 3) directions of the fibres of muscles in a rest shape (n, 3); None without any."""
    body = body_properties(obj)
    if body.body_type != "FLESH" or not body.muscle_group:
        return None
    places = _coordinates(obj, body.muscle_map, corners)
    return None if places is None or rest is None else directions(rest, starts, vertices, places)


def _coordinates(obj: bpy.types.Object, name: str, corners: Integers) -> Floats | None:
    """(c, 2) UV coordinates of these face corners in a map; None without a name."""
    if not name:
        return None
    mesh = mesh_of(simulated_object(obj))
    places = np.empty(2 * len(mesh.loops), np.float32)
    mesh.uv_layers[name].uv.foreach_get("vector", places)
    return places.reshape(-1, 2)[corners].astype(np.float64)


def _check_matrix(obj: bpy.types.Object) -> None:
    """Raises MeshError where an object's matrix is singular or not finite."""
    matrix = np.array(obj.matrix_world, np.float64)
    if not np.isfinite(matrix).all():
        raise MeshError(
            f"{obj.name} has an invalid location, rotation or scale; clear it by Object ▸ Clear"
        )
    if is_flat(matrix[:3, :3]):
        scale = ", ".join(f"{value:g}" for value in np.linalg.norm(matrix[:3, :3], axis=0))
        raise MeshError(f"{obj.name} has scale ({scale}); no part of it may be 0")


def _check_keys(obj: bpy.types.Object) -> None:
    """Raises MeshError where relative keys cannot be added to the user's keys."""
    key = shape_keys_of(obj)
    if key is None:
        return
    if not fits(key.reference_key, obj):
        raise MeshError(
            f"{obj.name} has {point_count(obj)} vertices and shape keys of "
            f"{key_size(key.reference_key)}, as a script may leave them; remove those keys, the "
            "baked ones by Clear Bake"
        )
    if not key.use_relative and body_properties(obj).baked_form != "ABSOLUTE":
        raise MeshError(f"{obj.name} has absolute shape keys; turn on Relative for them")
    if key.animation_data is not None:
        _check_action(key.animation_data, obj.name)


def _check_action(animation: bpy.types.AnimData, name: str) -> None:
    """Raises MeshError where the NLA would change or mute the curves of baked keys."""
    if animation.use_tweak_mode:
        raise MeshError(
            f"The shape keys of {name} are in Tweak Mode; leave that mode in the NLA editor"
        )
    if not (animation.use_nla and animation.nla_tracks):
        return
    if animation.action_influence < 1:
        raise MeshError(
            f"The action of the shape keys of {name} has an Influence of "
            f"{animation.action_influence:g} in the NLA, which would weaken a bake; set that to 1"
        )
    if animation.action_blend_type not in ("REPLACE", "COMBINE"):
        raise MeshError(
            f"The action of the shape keys of {name} has the Blending "
            f"{animation.action_blend_type.title()} in the NLA, which would distort a bake; set "
            "that to Replace"
        )
    for track in animation.nla_tracks:
        if track.is_solo:
            raise MeshError(
                f"The NLA track {track.name} of the shape keys of {name} is solo, so a bake would "
                "not play; turn off the star of that track"
            )


def is_flat(linear: Floats) -> bool:
    """Whether a linear map (3, 3) is singular, to the precision of float32."""
    if not np.isfinite(linear).all():
        return True
    scales = np.linalg.svd(linear, compute_uv=False)
    return bool(scales[-1] <= 1e-7 * scales[0])


def world_matrix(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[Floats, Floats]:
    """Linear part (3, 3) and offset (3,) of the object's world matrix at the current frame."""
    matrix = np.array(obj.evaluated_get(depsgraph).matrix_world, np.float64)
    return matrix[:3, :3], matrix[:3, 3]


def _integers(items: Any, attribute: str, *, width: int = 1) -> Integers:
    """(width · items,) values of an integer attribute of all items, `width` values per item."""
    values = np.empty(width * len(items), np.int32)
    items.foreach_get(attribute, values)
    return values.astype(np.int64)
