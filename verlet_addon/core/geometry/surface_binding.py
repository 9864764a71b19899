"""Points bound to a surface, which they follow with their offsets."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from .faces import area_normals, normalized

SMOOTHNESS = 0.75
"""Share of the way from flat triangles to a smooth surface, at which points are carried: the α of
T. Boubekeur, M. Alexa, *Phong Tessellation* (2008)."""
OUTSIDE = -1e-9
"""Rounding: barycentric coordinate below which the foot of a point is not within its triangle."""


@dataclass(frozen=True, eq=False)
class SurfaceBinding:
    """Points as places on triangles, with offsets that turn with the surface."""

    triangles: Integers
    """(t, 3) of the whole surface."""
    corners: Integers
    """(k, 3) of the triangle of each point."""
    shares: Floats
    """(k, 3) barycentric coordinates in it."""
    offsets: Floats
    """(k, 3) from the place on the smooth surface, in its local frame [m]."""

    def carry(self, positions: Floats) -> Floats:
        """(k, 3) points, given the positions (v, 3) of the surface's vertices [m]."""
        places, axes = _frames(self.triangles, self.corners, self.shares, positions)
        return np.asarray(places + np.einsum("kxy,ky->kx", axes, self.offsets))


def bind_to_surface(
    points: Floats, positions: Floats, triangles: Integers, chosen: Integers, nearest: Floats
) -> SurfaceBinding:
    """Binds points (k, 3) to a surface, on which they stay as it is now [m].

    Parameters
    ----------
    positions, triangles : (v, 3) vertices of the surface [m], and (t, 3) its triangles.
    chosen : (k,) number of the nearest triangle of each point, which has an area.
    nearest : (k, 3) the nearest place on it, if only in single precision [m].
    """
    corners = triangles[chosen]
    shares = barycentric_coordinates(positions[corners], points)
    away = (shares < OUTSIDE).any(axis=1)
    shares[away] = barycentric_coordinates(positions[corners[away]], nearest[away])
    shares = np.maximum(shares, 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    places, axes = _frames(triangles, corners, shares, positions)
    offsets = np.einsum("kxy,kx->ky", axes, points - places)
    return SurfaceBinding(triangles, corners, shares, offsets)


def barycentric_coordinates(corners: Floats, places: Floats) -> Floats:
    """(k, 3) barycentric coordinates of the feet of places (k, 3) on triangles (k, 3, 3)."""
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normals, ways = np.cross(first, second), places - corners[:, 0]
    squares = np.einsum("kx,kx->k", normals, normals)
    along = np.einsum("kx,kx->k", np.cross(ways, second), normals) / squares
    across = np.einsum("kx,kx->k", np.cross(first, ways), normals) / squares
    return np.stack([1.0 - along - across, along, across], axis=1)


def _frames(
    triangles: Integers, corners: Integers, shares: Floats, positions: Floats
) -> tuple[Floats, Floats]:
    """(k, 3) places on the smooth surface [m], and (k, 3, 3) axes there, in columns."""
    normals = normalized(area_normals(positions.T, triangles.T).T)[corners]
    points = positions[corners]
    flat = np.einsum("kc,kcx->kx", shares, points)
    heights = np.einsum("kcx,kcx->kc", flat[:, None] - points, normals)
    projected = flat[:, None] - heights[..., None] * normals
    smooth = np.einsum("kc,kcx->kx", shares, projected)
    up = normalized(np.einsum("kc,kcx->kx", shares, normals))
    edge = points[:, 1] - points[:, 0]
    along = normalized(edge - np.einsum("kx,kx->k", edge, up)[:, None] * up)
    axes = np.stack([along, np.cross(up, along), up], axis=2)
    return flat + SMOOTHNESS * (smooth - flat), axes
