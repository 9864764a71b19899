"""Add ▸ Mesh ▸ Verlet: new meshes that are pinned, converted and ready to bake."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bmesh
import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty, IntProperty
from mathutils import Vector

from ...core.settings import BodyType
from ..scene.body_creation import give_fitting_thickness
from ..scene.file_context import file_context
from ..settings.materials import give_balloon, give_fitting_material
from ..settings.properties import body_properties
from .operators import cancelled_by_errors, undoable_mode
from .placement import Placement, place
from .rope_tubes import show_tube

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


WOBBLY_STIFFNESS = 12.0
"""Stiffness of new jelly, as a multiple of the pressure of its own weight on its base: with the
inner damping of gelatin, a cube swings some five times after it has landed."""


class _AddBody(Placement):
    """Base of the operators that add a body."""

    @classmethod
    def poll(cls: type[Any], context: bpy.types.Context) -> bool:
        return undoable_mode(cls, context)


class _AddWithMaterial(_AddBody):
    """Base of the operators that add a body of a type with materials."""

    use_material: BoolProperty(
        name="Fitting Material",
        description="Also set a material of its type",
        default=True,
    )


class VERLET_OT_add_cloth(_AddWithMaterial, bpy.types.Operator):
    """Add a square cloth that hangs from one edge"""

    bl_idname = "verlet.add_cloth"
    bl_label = "Cloth"
    bl_options = {"REGISTER", "UNDO"}

    size: FloatProperty(
        name="Size",
        description="Length of each side",
        default=2.0,
        min=0.001,
        soft_max=100.0,
        subtype="DISTANCE",
    )
    resolution: IntProperty(
        name="Resolution",
        description="Faces along each side",
        default=50,
        min=1,
        max=2000,
        soft_max=200,
    )

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        mesh = grid_mesh("Cloth", size=self.size, resolution=self.resolution)
        edge = range(len(mesh.vertices) - self.resolution - 1, len(mesh.vertices))
        obj = _add_body(context, mesh, "CLOTH", pinned=edge, use_material=self.use_material)
        place(obj, context, self, pins=_points(mesh, edge), reach=self.size)
        return {"FINISHED"}


class VERLET_OT_add_rope(_AddWithMaterial, bpy.types.Operator):
    """Add a rope that hangs from one end"""

    bl_idname = "verlet.add_rope"
    bl_label = "Rope"
    bl_options = {"REGISTER", "UNDO"}

    length: FloatProperty(
        name="Length",
        description="Length from end to end",
        default=2.0,
        min=0.001,
        soft_max=100.0,
        subtype="DISTANCE",
    )
    segments: IntProperty(
        name="Segments",
        description="Edges along the rope",
        default=40,
        min=1,
        max=100_000,
        soft_max=500,
    )
    use_tube: BoolProperty(
        name="Tube",
        description="Also show it as a round tube, since renders do not show edges",
        default=True,
    )

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        mesh = rope_mesh(length=self.length, segments=self.segments)
        obj = _add_body(context, mesh, "ROPE", pinned=[0], use_material=self.use_material)
        if self.use_tube:
            show_tube(obj)
        place(obj, context, self, pins=_points(mesh, [0]), reach=self.length)
        return {"FINISHED"}


class VERLET_OT_add_jelly(_AddWithMaterial, bpy.types.Operator):
    """Add a cube of jelly that drops on the ground and wobbles"""

    bl_idname = "verlet.add_jelly"
    bl_label = "Jelly"
    bl_options = {"REGISTER", "UNDO"}

    size: FloatProperty(
        name="Size",
        description="Length of each side",
        default=1.0,
        min=0.001,
        soft_max=100.0,
        subtype="DISTANCE",
    )
    resolution: IntProperty(
        name="Resolution",
        description="Faces along each side",
        default=10,
        min=1,
        max=500,
        soft_max=50,
    )

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        mesh = cube_mesh(size=self.size, resolution=self.resolution)
        obj = _add_body(context, mesh, "SOFT", pinned=(), use_material=self.use_material)
        body = body_properties(obj)
        mass = body.density * self.size**3 if body.use_density else body.mass
        body.stiffness = WOBBLY_STIFFNESS * mass * 9.81 / self.size**2
        place(obj, context, self, pins=[Vector((0, 0, -self.size / 2))], reach=self.size / 2)
        return {"FINISHED"}


class VERLET_OT_add_balloon(_AddBody, bpy.types.Operator):
    """Add a round balloon that drops on the ground and bounces"""

    bl_idname = "verlet.add_balloon"
    bl_label = "Balloon"
    bl_options = {"REGISTER", "UNDO"}

    size: FloatProperty(
        name="Size",
        description="Diameter",
        default=1.0,
        min=0.001,
        soft_max=100.0,
        subtype="DISTANCE",
    )
    resolution: IntProperty(
        name="Subdivisions",
        description="Subdivisions of an icosphere: 4 give 1,280 faces, 5 four times as many",
        default=4,
        min=1,
        max=8,
        soft_max=6,
    )

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        mesh = ball_mesh(diameter=self.size, subdivisions=self.resolution)
        obj = _add_body(context, mesh, "CLOTH", pinned=())
        give_balloon(obj)
        place(obj, context, self, pins=[Vector((0, 0, -self.size / 2))], reach=self.size / 2)
        return {"FINISHED"}


class VERLET_OT_add_water(_AddBody, bpy.types.Operator):
    """Add a square pond that ripples where colliders dip in"""

    bl_idname = "verlet.add_water"
    bl_label = "Water"
    bl_options = {"REGISTER", "UNDO"}

    size: FloatProperty(
        name="Size",
        description="Length of each side",
        default=4.0,
        min=0.001,
        soft_max=100.0,
        subtype="DISTANCE",
    )
    resolution: IntProperty(
        name="Resolution",
        description="Faces along each side",
        default=100,
        min=1,
        max=2000,
        soft_max=200,
    )

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        mesh = grid_mesh("Water", size=self.size, resolution=self.resolution)
        obj = _add_body(context, mesh, "WATER", pinned=())
        place(obj, context, self, pins=[Vector()], reach=0.0)
        return {"FINISHED"}


def grid_mesh(name: str, *, size: float, resolution: int) -> bpy.types.Mesh:
    """A centred square grid in the XY plane with a UV map, vertices in rows along X."""
    count = resolution + 1
    rows, columns = np.divmod(np.arange(count * count), count)
    corners = np.stack((columns, rows), axis=1) / resolution
    first = (np.arange(resolution)[:, None] * count + np.arange(resolution)).reshape(-1, 1)
    faces = first + np.array((0, 1, count + 1, count))
    mesh = bpy.data.meshes.new(name)
    vertices = np.pad((corners - 0.5) * size, ((0, 0), (0, 1)))
    mesh.from_pydata(vertices.tolist(), [], faces.tolist())
    uv_map = mesh.uv_layers.new(name="UVMap")
    uv_map.data.foreach_set("uv", corners[faces.ravel()].astype(np.float32).ravel())
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), dtype=bool))
    return mesh


def cube_mesh(*, size: float, resolution: int) -> bpy.types.Mesh:
    """A cube of quads, centred at the origin."""
    grid = bmesh.new()
    bmesh.ops.create_cube(grid, size=size)
    cuts = resolution - 1
    if cuts:
        bmesh.ops.subdivide_edges(grid, edges=grid.edges[:], cuts=cuts, use_grid_fill=True)
    mesh = bpy.data.meshes.new("Jelly")
    grid.to_mesh(mesh)
    grid.free()
    return mesh


def ball_mesh(*, diameter: float, subdivisions: int) -> bpy.types.Mesh:
    """Makes an icosphere around the origin; Blender counts the icosahedron as a subdivision."""
    ball = bmesh.new()
    bmesh.ops.create_icosphere(ball, subdivisions=subdivisions, radius=diameter / 2)
    mesh = bpy.data.meshes.new("Balloon")
    ball.to_mesh(mesh)
    ball.free()
    mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), dtype=bool))
    return mesh


def rope_mesh(*, length: float, segments: int) -> bpy.types.Mesh:
    """A line of edges along X that starts at the origin."""
    mesh = bpy.data.meshes.new("Rope")
    vertices = np.zeros((segments + 1, 3))
    vertices[:, 0] = np.linspace(0.0, length, segments + 1)
    starts = np.arange(segments)
    mesh.from_pydata(vertices.tolist(), np.stack((starts, starts + 1), axis=1).tolist(), [])
    return mesh


def _add_body(
    context: bpy.types.Context,
    mesh: bpy.types.Mesh,
    body_type: BodyType,
    *,
    pinned: Sequence[int],
    use_material: bool = False,
) -> bpy.types.Object:
    """Adds a mesh to the scene as a body, the only selected object and active.

    Parameters
    ----------
    pinned
        Indices of the vertices in its pin group; without any, no group is made.
    use_material
        Whether it gets the default material of its type.
    """
    here = file_context(context)
    obj = bpy.data.objects.new(mesh.name, mesh)
    here.collection.objects.link(obj)
    for other in here.selected_objects:
        other.select_set(False)
    here.view_layer.objects.active = obj
    obj.select_set(True)
    view = context.space_data
    if isinstance(view, bpy.types.SpaceView3D) and view.local_view is not None:
        obj.local_view_set(view, True)
    body = body_properties(obj)
    body.enabled, body.body_type = True, body_type
    if use_material:
        give_fitting_thickness(obj)
        give_fitting_material(obj)
    if pinned:
        obj.vertex_groups.new(name="Pin").add(list(pinned), 1.0, "REPLACE")
        body.pin_group = "Pin"
    return obj


def _points(mesh: bpy.types.Mesh, vertices: Sequence[int]) -> list[Vector]:
    """Local coordinates of some vertices of a mesh."""
    return [mesh.vertices[vertex].co for vertex in vertices]
