"""Chambers: the volumes that the connected surfaces of a body enclose.

Holes are closed by lids: triangles without mass or stiffness, which gas presses on as on faces. A
closed surface that is flat at rest, such as a cushion's cover, is a chamber without rest volume.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_by
from ..errors import MeshError
from ..geometry.graph import edge_keys, find_components

MIN_CHAMBER_SHARE = 1e-4
"""Smallest volume that counts as enclosed, as a share of that of a ball of the same area."""
MAX_FLAT_SHARE = 1e-2
"""Closed surfaces with less than this share of the volume of such a ball count as flat: a cushion
one metre wide, if it is less than 3 mm thick."""


@dataclass(frozen=True, eq=False)
class Chambers:
    """The s chambers of a body with n particles, at rest."""

    triangles: Integers
    """(3, t) triangles of faces and lids, counter-clockwise seen from outside."""
    labels: Integers
    """(t,) chamber number of each triangle, from 0."""
    particles: Integers
    """(n,) chamber number of each particle; s where it belongs to none."""
    rest_volumes: Floats
    """(s,) volumes at rest, above 0; for flat chambers that of a ball of the same area [m³]."""
    flat: Booleans
    """(s,) bool, chambers that are flat at rest."""
    areas: Floats
    """(s,) areas of faces and lids at rest [m²]."""


def build_chambers(name: str, positions: Floats, triangles: Integers) -> Chambers:
    """The chambers of a body with faces (3, t) at rest positions (3, n).

    Raises
    ------
    MeshError
        If a surface encloses no volume; `name` is the body's.
    """
    n = positions.shape[1]
    closed = np.concatenate([faces := _orient_alike(name, triangles), _lids(faces, n)], axis=1)
    spans = np.stack([closed[:2], closed[1:]], axis=2).reshape(2, -1)
    components = find_components(n, spans.T)
    chamber_labels, labels = np.unique(components[closed[0]], return_inverse=True)
    labels = labels.reshape(-1)
    volumes, areas = _volumes(positions, closed, labels, len(chamber_labels))
    balls = np.sqrt(areas**3 / (36.0 * np.pi))
    encloses = np.abs(volumes) >= MIN_CHAMBER_SHARE * balls
    lidded = np.isin(chamber_labels, components[closed[0, faces.shape[1] :]])
    flat = (np.abs(volumes) < MAX_FLAT_SHARE * balls) & ~lidded
    if not len(chamber_labels) or (~encloses & (lidded | (areas == 0.0))).any():
        raise MeshError(
            f"'{name}' has pressure, but a part of it encloses no space at rest; "
            "give that part an inside, or set the pressure to 0"
        )
    inward = (encloses & (volumes < 0.0))[labels]
    closed[:2, inward] = closed[1::-1, inward]
    particles = np.full(n, len(chamber_labels))
    particles[closed] = labels
    volumes_at_rest = np.where(flat, balls, np.abs(volumes))
    return Chambers(closed, labels, particles, volumes_at_rest, flat, areas)


def _volumes(
    positions: Floats, triangles: Integers, labels: Integers, count: int
) -> tuple[Floats, Floats]:
    """(s,) signed volumes [m³] and (s,) areas [m²] of chambers with triangles (3, t)."""
    a, b, c = (positions[:, row] - positions.mean(axis=1, keepdims=True) for row in triangles)
    across = np.cross(b - a, c - a, axis=0)
    volumes = sum_by(labels, (a * np.cross(b, c, axis=0)).sum(axis=0) / 6.0, count)
    return volumes, sum_by(labels, np.linalg.norm(across, axis=0) / 2.0, count)


def _orient_alike(name: str, triangles: Integers) -> Integers:
    """(3, t) triangles, flipped where needed so that all of a surface have the same orientation."""
    count = triangles.shape[1]
    tails, heads = triangles.ravel(), np.roll(triangles, -1, axis=0).ravel()
    keys = edge_keys((tails, heads), int(triangles.max(initial=0)) + 1)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    if (sizes > 2).any():
        raise MeshError(
            f"'{name}' has pressure, but {np.count_nonzero(sizes > 2)} of its edges carry more "
            "than two faces; delete inner faces in Edit Mode, or set the pressure to 0"
        )
    first, second = order[starts[sizes == 2]], order[starts[sizes == 2] + 1]
    alike = (tails[first] < heads[first]) == (tails[second] < heads[second])
    turned = triangles.copy()
    if alike.any():
        flips = _flips(count, first % count, second % count, alike)
        if flips is None:
            raise MeshError(
                f"'{name}' has pressure, but a surface with one side only, which has no inside; "
                "set the pressure to 0"
            )
        turned[:2, flips] = turned[1::-1, flips]
    return turned


def _flips(count: int, first: Integers, second: Integers, alike: Integers) -> Integers | None:
    """(f,) triangles to flip for a consistent orientation; None for a one-sided surface.

    Parameters
    ----------
    first, second : (k,) neighbouring triangles.
    alike : (k,) bool, neighbours that pass their common edge in the same direction.
    """
    neighbours: list[list[tuple[int, bool]]] = [[] for _ in range(count)]
    for a, b, same in zip(first.tolist(), second.tolist(), alike.tolist(), strict=True):
        neighbours[a].append((b, same))
        neighbours[b].append((a, same))
    turned: list[bool | None] = [None] * count
    for seed in range(count):
        if turned[seed] is not None:
            continue
        turned[seed] = False
        queue = deque([seed])
        while queue:
            face = queue.popleft()
            for other, same in neighbours[face]:
                wanted = turned[face] != same
                if turned[other] is None:
                    turned[other] = wanted
                    queue.append(other)
                elif turned[other] != wanted:
                    return None
    return np.flatnonzero(np.array(turned, dtype=bool))


def _lids(triangles: Integers, n: int) -> Integers:
    """(3, l) triangles that fill every hole, in zigzag between both sides of its boundary."""
    tails, heads = triangles.ravel(), np.roll(triangles, -1, axis=0).ravel()
    keys = edge_keys((tails, heads), n)
    _, place, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    rim = sizes[place.reshape(-1)] == 1
    onward: dict[int, list[int]] = {}
    for tail, head in zip(tails[rim].tolist(), heads[rim].tolist(), strict=True):
        onward.setdefault(head, []).append(tail)  # reversed: a lid is oriented like its faces
    lids: list[tuple[int, int, int]] = []
    while onward:
        start = at = next(iter(onward))
        loop = []
        while at in onward:
            loop.append(at)
            successors = onward[at]
            at = successors.pop()
            if not successors:
                del onward[loop[-1]]
            if at == start:
                break
        lids += _triangulate(loop)
    return np.array(lids, dtype=np.int64).reshape(-1, 3).T


def _triangulate(loop: list[int]) -> list[tuple[int, int, int]]:
    """Triangles that fill a polygon, in zigzag, so that no vertex is part of many."""
    low, high, triangles = 0, len(loop) - 1, []
    while high - low > 1:
        triangles.append((loop[low], loop[low + 1], loop[high]))
        low += 1
        if high - low > 1:
            triangles.append((loop[low], loop[high - 1], loop[high]))
            high -= 1
    return triangles
