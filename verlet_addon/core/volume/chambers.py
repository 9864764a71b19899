"""Chambers: the volumes that the connected surfaces of a body enclose.

Holes are closed by lids: triangles without mass or stiffness, which gas presses on as on faces. A
closed surface that is flat at rest, such as a cushion's cover, is a chamber without rest volume.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_by
from ..errors import MeshError
from ..geometry.graph import find_components
from ..geometry.holes import hole_lids, orient_alike

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
    faces = orient_alike(
        triangles, complaint=f"'{name}' has pressure, but", remedy="set the pressure to 0"
    )
    closed = np.concatenate([faces, hole_lids(faces, n)], axis=1)
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
            f"'{name}' has pressure, but a part of it encloses no volume at rest; "
            "give that part a volume, or set the pressure to 0"
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
