"""The vertex under the mouse: on the face that a ray first meets, else of the nearest edge."""

import numpy as np

from ...core.arrays import Booleans, Floats, Integers


def hit_vertex(
    origin: Floats, direction: Floats, positions: Floats, triangles: Integers
) -> tuple[float, int] | None:
    """Distance along a ray to its first triangle, and the nearest corner; None if it meets none.

    T. Möller, B. Trumbore, *Fast, Minimum Storage Ray–Triangle Intersection* (1997).

    Parameters
    ----------
    origin, direction : (3,) of the ray [m].
    positions, triangles : (n, 3) vertices [m], (3, t) their corners.
    """
    a, b, c = positions[triangles]
    one, other, to_origin = b - a, c - a, origin - a
    across = np.cross(direction, other)
    volume = (one * across).sum(axis=1)
    scale = 1.0 / np.where(volume == 0.0, np.inf, volume)
    u = (to_origin * across).sum(axis=1) * scale
    turned = np.cross(to_origin, one)
    v = turned @ direction * scale
    t = (other * turned).sum(axis=1) * scale
    hit = np.flatnonzero((volume != 0.0) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > 0.0))
    if not len(hit):
        return None
    first = hit[t[hit].argmin()]
    corner = np.argmax([1.0 - u[first] - v[first], u[first], v[first]])
    return float(t[first]), int(triangles[corner, first])


def nearest_on_screen(
    projection: Floats,
    size: Floats,
    mouse: Floats,
    positions: Floats,
    edges: Integers,
    chosen: Booleans,
) -> tuple[float, int]:
    """Distance in pixels from the mouse to the nearest edge, and the nearer chosen vertex of it.

    Parameters
    ----------
    projection : (4, 4) from the world to the view's clip space.
    size, mouse : (2,) of the region, and in it [pixels].
    positions, edges : (n, 3) vertices [m], (e, 2) their edges; a vertex counts as an edge, too.
    chosen : (n,) bool, vertices that may be found; edges without any are left out.
    """
    clip = positions @ projection[:, :3].T + projection[:, 3]
    behind = clip[:, 3] <= 0.0
    places = (clip[:, :2] / np.where(behind, 1.0, clip[:, 3])[:, None] + 1.0) / 2.0 * size
    every = np.concatenate([edges, np.arange(len(positions))[:, None].repeat(2, axis=1)])
    starts, ways = places[every[:, 0]], np.diff(places[every], axis=1)[:, 0]
    along = ((mouse - starts) * ways).sum(axis=1) / np.maximum((ways**2).sum(axis=1), 1e-12)
    nearest = starts + ways * np.clip(along, 0.0, 1.0)[:, None]
    there = chosen[every].any(axis=1) & ~behind[every].any(axis=1)
    distances = np.where(there, np.linalg.norm(nearest - mouse, axis=1), np.inf)
    ends = every[distances.argmin()]
    ends = ends[chosen[ends]] if chosen[ends].any() else ends
    apart = np.linalg.norm(places[ends] - mouse, axis=1)
    return float(distances.min()), int(ends[apart.argmin()])
