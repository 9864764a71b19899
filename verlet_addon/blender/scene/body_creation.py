"""Objects made soft bodies, and released; which type fits a mesh."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Literal, cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Integers
from ...core.errors import MeshError
from ...core.geometry.graph import edge_lengths
from ...core.settings import BodySettings, BodyType
from ..settings.curve_properties import CURVE_NAMES
from ..settings.hair_properties import HAIR_NAMES
from ..settings.materials import give_balloon, give_fitting_material
from ..settings.properties import body_properties, is_body
from ..settings.rest_shape_properties import NAMES
from .cache_modifiers import bake_modifier
from .curve_points import is_curve
from .hair_curves import is_hair
from .mesh_access import mesh_of, read_vertices
from .mesh_io import BODIES, check_body
from .mirrors import find_joints

FEWEST_FACES = 16
"""Least number of faces for cloth to fold; Blender's default plane has one."""
FITTING_THICKNESS = 0.2
"""Thickness of a new body as a share of its median edge length. With half, cloth that crumples is
baked 15 % faster; with twice, in 1.4 times the time, and slivers cross:
docs/reference/collisions.md."""
HAIR_THICKNESS = 0.002
"""Thickness of new hair, about that of a lock [m]."""


def make_bodies(
    objects: Sequence[bpy.types.Object],
    view_layer: bpy.types.ViewLayer,
    *,
    body_type: BodyType | Literal["AUTO", "BALLOON"],
    use_material: bool = False,
) -> list[bpy.types.Object]:
    """Makes every mesh or curve object a body; with `AUTO` the type follows from its mesh.

    Curves become ropes, for the type `AUTO` or `ROPE`, Curves objects hair, for `AUTO` or `HAIR`.

    With `use_material` each body gets the default material of its type, and one of a fine mesh a
    Thickness that suits it. A `BALLOON` is cloth with the material of that name, at a pressure that
    suits its size.

    Returns
    -------
    list
        The objects that are neither meshes nor curves nor hair, which are left unchanged.

    Raises
    ------
    MeshError
        A mesh cannot become a body, or there is no mesh; nothing is changed then.
    """
    suitable = [obj for obj in objects if obj.type in BODIES]
    for obj in suitable:
        _check_type(obj, body_type)
    for obj in suitable or objects:
        check_body(obj, view_layer)
    for obj in suitable:
        properties = body_properties(obj)
        properties.enabled = True
        if use_material:
            give_fitting_thickness(obj)
        if body_type == "BALLOON":
            give_balloon(obj)
            continue
        properties.body_type = suitable_type(obj) if body_type == "AUTO" else body_type
        if use_material:
            give_fitting_material(obj)
    return [obj for obj in objects if obj not in suitable]


def _check_type(obj: bpy.types.Object, body_type: str) -> None:
    """Raises MeshError where a type of body does not fit the type of an object."""
    if is_curve(obj) and body_type not in ("AUTO", "ROPE"):
        raise MeshError(
            f"{obj.name} is a curve, which can be a rope alone; choose Automatic or Rope"
        )
    if is_hair(obj) and body_type not in ("AUTO", "HAIR"):
        raise MeshError(
            f"{obj.name} is a Curves object, which can be hair alone; choose Automatic or Hair"
        )
    if body_type == "HAIR" and not is_hair(obj):
        raise MeshError(
            f"{obj.name} is no Curves object, and only those can be hair; choose Automatic, or "
            "convert it by Hair from Guides"
        )


def give_fitting_thickness(obj: bpy.types.Object) -> None:
    """Sets a Thickness in proportion to the edges of a mesh, unless the default or one set is less.

    Layers nearer than that have many contacts per vertex, which slow a bake down.
    """
    body = body_properties(obj)
    if is_hair(obj) and not body.is_property_set("thickness"):
        body.thickness = HAIR_THICKNESS
    if obj.type != "MESH" or body.is_property_set("thickness"):
        return
    fitting = FITTING_THICKNESS * median_edge(obj)
    if 0.0 < fitting < body.thickness:
        body.thickness = float(f"{fitting:.2g}")


def median_edge(obj: bpy.types.Object) -> float:
    """Median length of a mesh's edges in world space [m]; 0 without any."""
    mesh = mesh_of(obj)
    if not mesh.edges:
        return 0.0
    ends = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", ends)
    places = read_vertices(mesh) @ np.array(obj.matrix_world, np.float64)[:3, :3].T
    return float(np.median(edge_lengths(places, ends.reshape(-1, 2).astype(np.int64))))


def release(objects: Sequence[bpy.types.Object]) -> None:
    """Removes the soft-body settings of every object; its bake stays until it is cleared.

    Raises
    ------
    MeshError
        An object is a body of another file; nothing is changed then.
    """
    for obj in objects:
        if obj.library is not None:
            raise MeshError(f"{obj.name} is linked from another file; remove its soft body there")
        override = obj.override_library
        if override is not None and is_body(cast(bpy.types.Object, override.reference)):
            raise MeshError(
                f"{obj.name} is a soft body of its library; switch it off by the checkbox of its "
                "panel, or remove it there"
            )
    for obj in objects:
        properties = body_properties(obj)
        held = (*NAMES, *CURVE_NAMES, *HAIR_NAMES, "attachments", "attachment_index")
        collections = ("collision_collection", "effector_collection")
        ours = ("enabled", "material", *collections, *held)
        for name in (*ours, *(field.name for field in fields(BodySettings))):
            properties.property_unset(name)
        if not properties.baked_keys and bake_modifier(obj) is None:
            obj.property_unset("verlet")  # and with it the record of a removed bake


def suitable_type(obj: bpy.types.Object) -> BodyType:
    """`ROPE` for a mesh without faces, `SOFT` for a closed surface, else `CLOTH`.

    Curves are ropes, and Curves objects hair.
    """
    if is_hair(obj):
        return "HAIR"
    if is_curve(obj) or not mesh_of(obj).polygons:
        return "ROPE"
    return "SOFT" if np.all(_faces_at_edges(mesh_of(obj)) == 2) else "CLOTH"


def open_edges(mesh: bpy.types.Mesh) -> NDArray[np.bool_]:
    """(e,) whether the surface is open at each edge: it has an odd number of faces, or none."""
    faces = _faces_at_edges(mesh)
    return np.asarray((faces % 2 == 1) | (faces == 0))


def _faces_at_edges(mesh: bpy.types.Mesh) -> Integers:
    """(e,) number of faces at each edge."""
    corner_edges = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("edge_index", corner_edges)
    return np.bincount(corner_edges, minlength=len(mesh.edges))


def type_hint(obj: bpy.types.Object, body_type: str) -> str:
    """A mesh's defect as a body of this type, with the remedy; empty if there is none.

    Called at every redraw of the panel, so only counts are compared: a closed surface has two face
    corners per edge. A half joined by a Mirror modifier counts as closed.
    """
    mesh = mesh_of(obj)
    if body_type == "WATER":
        return "" if mesh.polygons else "No faces for waves"
    if body_type == "ROPE" and mesh.polygons:
        return "Slow with faces: choose Cloth"
    closed = len(mesh.loops) == 2 * len(mesh.edges) or find_joints(obj)
    if body_type in ("SOFT", "FLESH") and not closed:
        return "Open: lids close its holes"
    if body_type == "CLOTH" and 0 < len(mesh.polygons) < FEWEST_FACES:
        finer = any(modifier.type in ("SUBSURF", "MULTIRES") for modifier in obj.modifiers)
        return "Few faces: apply Subdivision" if finer else "Too few faces to fold: subdivide it"
    return ""
