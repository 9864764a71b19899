"""Intersection tests: cloths that cross each other at the start, or themselves at the end."""

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
from mathutils.bvhtree import BVHTree

from ...core.arrays import Booleans, Floats, Integers
from ...core.geometry.sweep_and_prune import find_near_boxes
from ...core.mesh import MeshData
from ...core.remark import Remark
from ...core.scene import Frame
from ...core.settings import BodySettings

ONLY_TOUCHES = 1e-4
"""Tolerance of the intersection test, as a share of the size of the triangle that is crossed."""


def crossing(meshes: Sequence[MeshData], settings: Sequence[BodySettings]) -> Iterator[str]:
    """Yields a warning for each pair of cloths that intersect at the first frame.

    Cloth has no inside, so no direction is known in which to separate them.
    """
    cloths = [
        (mesh.name, mesh.positions[_triangles(mesh, mesh.paint.object_collisions)])
        for mesh, body in zip(meshes, settings, strict=True)
        if body.body_type == "CLOTH" and np.isfinite(mesh.positions).all()
    ]
    cloths = [(name, corners) for name, corners in cloths if len(corners)]
    boxes = [(corners.min(axis=(0, 1)), corners.max(axis=(0, 1))) for _, corners in cloths]
    lowest, highest = np.reshape(boxes, (-1, 2, 3)).swapaxes(0, 1)
    for pair in find_near_boxes(lowest, highest, 0.0).T:
        (name, first), (other, second) = (cloths[number] for number in pair)
        if _cross(first, second):
            yield (
                f"{name} and {other} pass through each other at the first frame, and may stay so, "
                "since neither is closed, so that none is inside the other; move them apart there"
            )


def through_themselves(
    meshes: Sequence[MeshData], settings: Sequence[BodySettings], last: Frame
) -> Iterator[str]:
    """Yields a warning for each cloth without Self Collision that has come to cross itself."""
    for mesh, body, positions in zip(meshes, settings, last.positions, strict=True):
        if body.body_type != "CLOTH" or body.use_self_collision:
            continue
        triangles = _triangles(mesh, mesh.paint.self_collisions)
        crossed = _own_crossings(positions, triangles)
        if crossed and crossed > _own_crossings(mesh.positions, triangles):
            yield Remark(
                f"{mesh.name} passes through itself at frame {last.frame}; switch its Self "
                "Collision on, under Collisions",
                grade="SERIOUS",
            )


def _own_crossings(positions: Floats, triangles: Integers) -> int:
    """Number of overlaps between triangles (t, 3) of one surface; 0 for a surface without folds."""
    first, second, third = positions[triangles.T]
    normals = np.cross(second - first, third - first)
    # A surface whose normals all point to one side has no folds; this test is far faster.
    if (normals @ normals.sum(axis=0) > 0.0).all():
        return 0
    tree = _tree(positions, triangles)
    return len(tree.overlap(tree))


def _triangles(mesh: MeshData, exempt: Floats | None) -> Integers:
    """(t, 3) triangles of a mesh's faces, without those at vertices with exempt weights (n,)."""
    triangles = mesh.triangles
    if exempt is not None:
        triangles = triangles[~(exempt[triangles] > 0).any(axis=1)]
    return triangles


def _cross(first: Floats, second: Floats) -> bool:
    """Whether any triangle of one set intersects one of the other, beyond mere contact."""
    pairs = np.array(_loose_tree(first).overlap(_loose_tree(second)), np.int64).reshape(-1, 2)
    ours, theirs = first[pairs[:, 0]], second[pairs[:, 1]]
    return bool((_on_both_sides(ours, theirs) & _on_both_sides(theirs, ours)).any())


def _loose_tree(triangles: Floats) -> BVHTree:
    """BVH of triangles (t, 3, 3) that share no corners."""
    return _tree(triangles.reshape(-1, 3), np.arange(triangles.size // 3).reshape(-1, 3))


def _tree(points: Floats, triangles: Integers) -> BVHTree:
    """BVH of triangles (t, 3) of points (n, 3)."""
    return cast(BVHTree, BVHTree.FromPolygons(points.tolist(), triangles.tolist()))


def _on_both_sides(triangles: Floats, planes: Floats) -> Booleans:
    """(p,) whether triangles (p, 3, 3) cross the planes of other triangles (p, 3, 3)."""
    normals = np.cross(planes[:, 1] - planes[:, 0], planes[:, 2] - planes[:, 0])
    heights = np.einsum("pcx,px->pc", triangles - planes[:, :1], normals)
    slack = ONLY_TOUCHES * np.linalg.norm(normals, axis=1) ** 1.5
    return np.asarray((heights.min(axis=1) < -slack) & (heights.max(axis=1) > slack))
