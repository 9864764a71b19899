"""How the skin at the roots of hair turns."""

import bpy
import numpy as np

from ...core.arrays import Floats, Integers
from .hair_curves import hair_of, read_ends, read_points
from .modifiers import read_deformed


def hair_root_frames(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(n, 3, 3) how the root of each point's strand has turned since it was groomed.

    The object's rotation, after the least rotation that takes the direction of the root from where
    the curves have it to where the modifiers do.
    """
    linear = np.array(obj.evaluated_get(depsgraph).matrix_world, np.float64)[:3, :3]
    left, _, right = np.linalg.svd(linear)
    groomed, now = read_points(hair_of(obj)), read_deformed(obj, depsgraph)
    ends = read_ends(hair_of(obj))
    roots, sizes = ends[:-1], np.diff(ends)
    turns = np.tile(np.eye(3), (len(roots), 1, 1))
    have = sizes > 1
    turns[have] = _least_turns(_directions(groomed, roots[have]), _directions(now, roots[have]))
    return np.repeat(np.einsum("xy,kyz->kxz", left @ right, turns), sizes, axis=0)


def _directions(points: Floats, roots: Integers) -> Floats:
    """(k, 3) unit vectors from roots to the points after them."""
    spans = points[roots + 1] - points[roots]
    return np.asarray(spans / np.maximum(np.linalg.norm(spans, axis=1), 1e-12)[:, None])


def _least_turns(before: Floats, after: Floats) -> Floats:
    """(k, 3, 3) least rotations that take unit vectors (k, 3) to others (Rodrigues' formula)."""
    axis = np.cross(before, after)
    cosine = np.einsum("kx,kx->k", before, after)
    zero = np.zeros(len(axis))
    x, y, z = axis.T
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)
    squares = cross @ cross / np.maximum(1.0 + cosine, 1e-9)[:, None, None]
    return np.asarray(np.eye(3) + cross + squares)
