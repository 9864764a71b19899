"""Surfaces that are drawn over the scene in the viewports: their shading, depth and batches."""

from functools import cache
from typing import Any, cast

import gpu
import numpy as np
from mathutils import Matrix, Vector

from ...core.arrays import Floats, Integers, Singles

_types: Any = gpu.types
"""The stubs lack the parameters of its classes."""

_LIGHT = np.array((0.3, -0.5, 0.8)) / np.linalg.norm((0.3, -0.5, 0.8))
_SHADE = 0.35
"""Brightness of faces parallel to the light."""

NEARER = 1e-3
"""Share of the distance by which bodies are drawn nearer to the eye than they are; in orthographic
views, of the depth that is visible."""


def vertex_normals(positions: Floats | Singles, triangles: Integers) -> Floats:
    """(n, 3) normals, of any length, at vertices (n, 3) of triangles (t, 3); 0 without any."""
    corners = positions[triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = [
        np.bincount(triangles.ravel(), np.repeat(part, 3), minlength=len(positions))
        for part in across.T
    ]
    return np.stack(sums, axis=1, dtype=np.float64)  # without any, counts are integers


def brightness(normals: Floats | Singles) -> Floats | Singles:
    """(n,) brightness of vertices with normals (n, 3) of any length, 1 where they face the light.

    Vertices without a normal are as bright. Both sides of a surface are lit alike.
    """
    squares = np.einsum("nx,nx->n", normals, normals)
    facing = np.ones_like(squares)
    along = np.abs(normals @ _LIGHT.astype(normals.dtype))
    np.divide(along, np.sqrt(squares), out=facing, where=squares > 0.0)
    return np.asarray(_SHADE + (1 - _SHADE) * facing)


def nearer(projection: Matrix, *, center: Vector | None = None, length: float = 0.0) -> Matrix:
    """The model-view matrix with everything drawn nearer to the eye, at the same place on screen.

    A body that is drawn where its mesh is would flicker against it.

    Parameters
    ----------
    center, length
        A further length, at the distance of this place, by which all is drawn nearer [m].
    """
    view = gpu.matrix.get_model_view_matrix()
    if projection[3][3] == 0.0:  # perspective
        share = NEARER
        if center is not None:
            share += min(length / max((view @ center).length, 1e-9), 0.5)
        return Matrix.Scale(1.0 - share, 4) @ view
    depth = 2.0 / abs(projection[2][2])
    return Matrix.Translation((0.0, 0.0, NEARER * depth + length)) @ view


@cache
def builtin_shader(name: str) -> gpu.types.GPUShader:
    """One of Blender's own shaders."""
    return gpu.shader.from_builtin(name)


def vertex_buffer(**attributes: Singles) -> gpu.types.GPUVertBuf:
    """Attributes (n, k) of n vertices, by their names in a shader."""
    (count,) = {len(values) for values in attributes.values()}
    layout: Any = gpu.types.GPUVertFormat()
    for name, values in attributes.items():
        size = values[0].size if count else 1
        layout.attr_add(id=name, comp_type="F32", len=size, fetch_mode="FLOAT")
    vertices: gpu.types.GPUVertBuf = _types.GPUVertBuf(layout, count)
    for name, values in attributes.items():
        vertices.attr_fill(name, cast(Any, np.ascontiguousarray(values, np.float32)))
    return vertices


def simple_batch(kind: str, vertices: gpu.types.GPUVertBuf) -> gpu.types.GPUBatch:
    """All vertices in their order, as `POINTS`, `LINES` or `TRI_STRIP`."""
    batch: gpu.types.GPUBatch = _types.GPUBatch(type=kind, buf=vertices)
    return batch


class SurfaceDrawing:
    """The faces and loose edges of one mesh, with colors of its vertices, ready to be drawn.

    Parameters
    ----------
    triangles
        (t, 3) vertex indices of the faces.
    loose
        (l, 2) vertex indices of edges without faces.
    """

    def __init__(self, triangles: Integers, loose: Integers) -> None:
        self._indices = [
            (kind, _types.GPUIndexBuf(type=kind, seq=members.astype(np.int32)))
            for kind, members in (("TRIS", triangles), ("LINES", loose))
            if len(members)
        ]
        self._batches: list[gpu.types.GPUBatch] = []

    def fill(self, positions: Singles, colors: Singles) -> None:
        """Sets the world positions (n, 3) and colors (n, 4) of the vertices."""
        vertices = vertex_buffer(pos=positions, color=colors)
        self._batches = [
            _types.GPUBatch(type=kind, buf=vertices, elem=indices)
            for kind, indices in self._indices
        ]

    def draw(self, *, center: Vector | None = None, length: float = 0.0) -> None:
        """Draws over the scene; parameters as for `nearer`."""
        shader = builtin_shader("SMOOTH_COLOR")
        gpu.state.depth_test_set("LESS_EQUAL")
        gpu.state.depth_mask_set(True)
        matrices: Any = gpu.matrix  # the stubs say that `push_pop` returns nothing
        with matrices.push_pop():
            projection = matrices.get_projection_matrix()
            matrices.load_matrix(nearer(projection, center=center, length=length))
            for batch in self._batches:
                batch.draw(shader)
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set("NONE")
