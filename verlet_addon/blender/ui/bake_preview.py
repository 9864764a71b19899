"""Preview of a bake in the viewports, since shape keys are written only at its end."""

from collections.abc import Sequence
from typing import Any

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix
from numpy.typing import NDArray

from ...core.arrays import Floats, Integers
from ..scene.file_context import file_context
from ..scene.mesh_access import mesh_of

_COLOR = np.array((0.95, 0.55, 0.15))
_LIGHT = np.array((0.3, -0.5, 0.8)) / np.linalg.norm((0.3, -0.5, 0.8))
_SHADE = 0.35
"""Brightness of faces parallel to the light."""

NEARER = 1e-3
"""Share of the distance by which bodies are drawn nearer to the eye than they are; in orthographic
views, of the depth that is visible."""


class LiveView:
    """Draws the simulated bodies over the scene until it is closed."""

    def __init__(self, scene: bpy.types.Scene, objects: Sequence[bpy.types.Object]) -> None:
        self._scene = scene.name
        self._parts = [_parts(mesh_of(obj)) for obj in objects]
        self._batches: list[gpu.types.GPUBatch] = []
        self._shader = gpu.shader.from_builtin("SMOOTH_COLOR")
        self._handler = bpy.types.SpaceView3D.draw_handler_add(
            self._draw, (), "WINDOW", "POST_VIEW"
        )

    def show(self, positions: Sequence[Floats]) -> None:
        """Sets the world positions (n, 3) of each body for the next redraw."""
        self._batches = []
        for (triangles, edges), places in zip(self._parts, positions, strict=True):
            content: dict[str, Any] = {
                "pos": places.astype(np.float32),
                "color": shaded(places, triangles),
            }
            for kind, indices in (("TRIS", triangles), ("LINES", edges)):
                if len(indices):
                    batch = batch_for_shader(self._shader, kind, content, indices=np.int32(indices))
                    self._batches.append(batch)

    def close(self) -> None:
        """Removes the draw handler."""
        bpy.types.SpaceView3D.draw_handler_remove(self._handler, "WINDOW")

    def _draw(self) -> None:
        """Draw handler, which Blender calls for each viewport."""
        if file_context(bpy.context).scene.name != self._scene:
            return
        gpu.state.depth_test_set("LESS_EQUAL")
        gpu.state.depth_mask_set(True)
        matrices: Any = gpu.matrix  # the stubs say that `push_pop` returns nothing
        with matrices.push_pop():
            matrices.load_matrix(_nearer(matrices.get_projection_matrix()))
            for batch in self._batches:
                batch.draw(self._shader)
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set("NONE")


def _nearer(projection: Matrix) -> Matrix:
    """The model-view matrix with everything drawn nearer to the eye, at the same place on screen.

    A body that is drawn where its mesh is would flicker against it.
    """
    view = gpu.matrix.get_model_view_matrix()
    if projection[3][3] == 0.0:  # perspective
        return Matrix.Scale(1.0 - NEARER, 4) @ view
    depth = 2.0 / abs(projection[2][2])
    return Matrix.Translation((0.0, 0.0, NEARER * depth)) @ view


def _parts(mesh: bpy.types.Mesh) -> tuple[Integers, Integers]:
    """(t, 3) triangles of a mesh's faces, and (e, 2) its loose edges."""
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    edges = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", edges)
    loose = np.empty(len(mesh.edges), bool)
    mesh.edges.foreach_get("is_loose", loose)
    pairs = edges.reshape(-1, 2)[loose]
    return triangles.reshape(-1, 3).astype(np.int64), pairs.astype(np.int64)


def shaded(positions: Floats, triangles: Integers) -> NDArray[np.float32]:
    """(n, 4) vertex colours, brightest where the normal is parallel to the light's direction."""
    corners = positions[triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = [
        np.bincount(triangles.ravel(), np.repeat(part, 3), minlength=len(positions))
        for part in across.T
    ]
    normals = np.stack(sums, axis=1, dtype=np.float64)  # without any, counts are integers
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    # The absolute value lights both sides of cloth alike.
    facing = np.abs(
        np.divide(normals, lengths, out=np.ones_like(normals), where=lengths > 0) @ _LIGHT
    )
    colors = np.ones((len(positions), 4), np.float32)
    colors[:, :3] = _COLOR * (_SHADE + (1 - _SHADE) * facing[:, None])
    return colors
