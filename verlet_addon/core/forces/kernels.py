"""Turbulence, and moving air on faces and ropes."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, dot, magnitudes, sum_rows
from ..geometry.faces import Corners, face_normals
from ..geometry.rest_shape import RestShape
from ..kernel import Sized, Struct, kernel

AIR_DENSITY = 1.225
"""Physical constant: density of air at sea level and 15 °C [kg/m³]."""
DRAG_COEFFICIENT = 1.2
"""Physical constant: drag coefficient of a flat plate across the stream, and of a round rope."""
LOCK_DENSITY = 650.0
"""Density of locks of hair, which fill half of their section: of hair itself, 1,300 (Robbins,
*Chemical and Physical Behavior of Human Hair*, 2012) [kg/m³]."""
OCTAVES = 3
"""Octaves of noise, each of half the size and half the amplitude of the one before."""

_PERMUTATION = np.frombuffer(
    bytes.fromhex(
        "a2a0193bf8ebaaeef31c67281ded00de952edc3f3a82354d6cba36d0f60c7932"
        "d159f4088b63892fb8b49783f28f18c751146587482042a880b54013b2227e57"
        "bc7f6b9d864cc8db7cd5254e5a557450cdb37abbc3cbb6e2e4ecfd980b96d39e"
        "5ca164f18161e1c42472498c904b843438ab78ca1f01d79311c158a931f9446d"
        "bf339c5f0994a38506c69a1e7b461530272b1b713c5bd66f62ac4fc2c00eb123"
        "a7df47b0776905e9e6e776730ffe6e9b56ef12a537fcaed9038edd10b9cec98d"
        "da2abd68179fbed40accd2e8433d70b7027d99d80d608a042c3e92e5af5307e0"
        "29a6c5e3f5f74a41266a165e522d21adf091ffea54fa661a4539cf75a488fb5d"
    ),
    dtype=np.uint8,
).astype(np.int64)
"""Permutation of bytes from Blender's `noise.cc`; another one would place eddies elsewhere."""
TABLE = np.concatenate([_PERMUTATION, _PERMUTATION])


def _slopes() -> Floats:
    """(3, 512) gradient for each entry of the table, along a diagonal of a face of the cube."""
    axes = np.eye(3)
    slopes = []
    for low in range(16):
        first = axes[0] if low < 8 else axes[1]
        second = axes[1] if low < 4 else axes[0] if low in (12, 14) else axes[2]
        slopes.append((-first if low & 1 else first) + (-second if low & 2 else second))
    return np.array(slopes).T[:, TABLE & 15]


SLOPES = _slopes()


@kernel(result=lambda points, *_: np.empty(points.shape))
def turbulence(
    points: Sized, size: float, *, _table: Integers = TABLE, _slopes: Floats = SLOPES
) -> Floats:
    """(3, n) turbulence, each component −1 … 1, with eddies of `size` [m] at points (3, n) [m]."""
    scaled = points / size if size else points
    turned = np.concatenate([scaled, scaled[[1, 2, 0]], scaled[[2, 0, 1]]], axis=1)
    octaves = 2.0 ** np.arange(OCTAVES)
    each = gradient_noise((turned[:, None] * octaves[:, None]).reshape(3, -1))
    total = (each.reshape(OCTAVES, -1) / octaves[:, None]).sum(axis=0) / (1.0 / octaves).sum()
    return np.asarray(total.reshape(3, -1))


def gradient_noise(points: Floats) -> Floats:
    """(n,) smooth noise at points (3, n), 0 at integers: K. Perlin, *Improving Noise* (2002)."""
    cells = np.floor(points)
    inside = points - cells
    fade = inside * inside * inside * (inside * (inside * 6.0 - 15.0) + 10.0)
    x, y, z = np.asarray(np.mod(cells, 256.0), dtype=np.int64)
    arms, shares = (inside, inside - 1.0), (1.0 - fade, fade)
    total = np.zeros(points.shape[1])
    for i, j in np.ndindex(2, 2):
        columns = TABLE.take(TABLE.take(x + i) + (y + j)) + z
        share = shares[i][0] * shares[j][1]
        for k in range(2):
            at = columns + k
            rise = SLOPES[0].take(at) * arms[i][0]
            rise += SLOPES[1].take(at) * arms[j][1]
            rise += SLOPES[2].take(at) * arms[k][2]
            rise *= share
            rise *= shares[k][2]
            total += rise
    return total


@dataclass(frozen=True, eq=False)
class ExposedSurface:
    """Faces, and edges without faces, on which moving air acts."""

    corners: Corners
    """Corners of all faces."""
    plate_factors: Floats
    """(f,) ½ ρ c; half of that for faces of solids, which have air on one side alone [kg/m³]."""
    edges: Integers
    """(e, 2) edges without faces."""
    rope_factor: float
    """½ ρ c d, with d the diameter of edges without faces [kg/m²]."""


Struct(
    "exposed_surface",
    ExposedSurface,
    reads="plate_factors edges rope_factor",
    face=(Integers, lambda surface: surface.corners.face),
    vertex=(Integers, lambda surface: surface.corners.vertex),
    following=(Integers, lambda surface: surface.corners.following),
    corner_count=(int, lambda surface: len(surface.corners.face)),
    edge_count=(int, lambda surface: len(surface.edges)),
)


def build_exposed_surface(shape: RestShape) -> ExposedSurface:
    """Faces of a body, and edges without faces as ropes."""
    factor, solid = 0.5 * AIR_DENSITY * DRAG_COEFFICIENT, shape.settings.dimension == 3
    return ExposedSurface(
        corners=shape.corners,
        plate_factors=np.full(len(shape.areas), factor * (0.5 if solid else 1.0)),
        edges=shape.mesh.edges[shape.loose],
        rope_factor=factor * _rope_diameter(shape),
    )


def _rope_diameter(shape: RestShape) -> float:
    """Diameter of ropes, twice the thickness; of locks of hair, by their mass per length [m].

    A lock is far thinner than the distance that it keeps.
    """
    if shape.settings.body_type != "HAIR":
        return 2.0 * shape.settings.thickness
    section = float(shape.masses.sum() / shape.lengths.sum()) / LOCK_DENSITY
    return float(np.sqrt(4.0 * section / np.pi))


@kernel(result=lambda _, __, rows: np.zeros_like(rows))
def plate_forces(exposed_surface: ExposedSurface, positions: Sized, rows: Floats) -> Floats:
    """(4, n) forces on faces [N], and their growth with speed [kg/s], divided among the corners.

    `rows` (4, n) are the velocity of the air relative to each particle [m/s], and its share of slip
    (`FieldEffect.slip_shares`).
    """
    corners, count = exposed_surface.corners, len(exposed_surface.plate_factors)
    near = positions - positions[:, :1]  # far from the origin, areas would lose digits
    normals = face_normals(near.T, corners, count).T
    areas = magnitudes(normals)
    normals = normals / np.where(areas > 0.0, areas, 1.0)
    shares = 1.0 / np.bincount(corners.face, minlength=count)
    means = sum_rows(corners.face, rows[:, corners.vertex], count) * shares
    factors = exposed_surface.plate_factors * areas * magnitudes(means[:3])
    along = dot(means, normals)
    blown = np.concatenate([normals * along, means[3:]]) * (factors * shares)
    return sum_rows(corners.vertex, blown[:, corners.face], positions.shape[1])
