"""Cloth whose threads run as a UV map says: triangles that stretch along them, across, and shear.

Edges stretch along themselves alone; a triangle knows by how much it is stretched in any direction
(D. Baraff and A. Witkin, *Large Steps in Cloth Simulation*, 1998). Its strains are ε₁ = |w₁| − 1
along the warp, ε₂ = |w₂| − 1 along the weft and γ, the cosine of the angle between both, for the
deformation gradient's columns w = Σ slope · x; its energy is ½ A (ε₁²/c₁ + ε₂²/c₂ + γ²/c₁₂).
"""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, inverse
from ..errors import MeshError
from ..geometry.faces import read_corners
from ..geometry.rest_shape import RestShape, painted

REGULARIZATION = 1e-3
"""Share of a strain's mobility that its compliance is at least: sixty rounds do not solve for
stiffer ones. So n cells of size l that hang on each other give by n h² g/l times this."""
FLAT = 1e-9
"""Triangles whose area in the map is less than this share of their longest side's square are flat
there."""


@dataclass(frozen=True, eq=False)
class Weave:
    """The triangles of a woven body; none where no map says which way its threads run."""

    triangles: Integers
    """(t, 3) of particles; a quad is cut both ways, and each half counts half."""
    slopes: Floats
    """(t, 3, 2) of each corner's shape function along warp and weft [1/m]."""
    areas: Floats
    """(t,) that each stands for [m²]."""
    compliances: Floats
    """(t, 3) of warp, weft and shear: strain per force per width [m/N]."""
    rests: Floats
    """(t, 2) lengths of warp and weft at rest, of which the map is a measure: 1, or what they have
    yielded to."""


@dataclass(frozen=True, eq=False)
class WeaveBatch:
    """The same, ready for one h²."""

    triangles: Integers
    slopes: Floats
    rests: Floats
    firmness: Floats
    """(t, 3) h² A/c of warp, weft and shear [kg m²]."""
    masses: Floats
    """(n,) [kg]; 1 for pinned particles."""
    free: Floats
    """(n,) 1 for particles that can move, else 0."""
    displacement: Floats
    """(3, n) what the weave did in the step before, to start from; changed by the kernel [m]."""
    multipliers: Floats
    """(3, n) mass × how far it has moved particles in this step; changed by the kernel [kg m]."""


def build_weave(shape: RestShape) -> Weave:
    """The weave of one body.

    Raises
    ------
    MeshError
        The map shows a face without any area.
    """
    corners, shares = _triangles(shape.mesh.face_starts)
    if not is_woven(shape):
        corners, shares = corners[:0], shares[:0]
    triangles = shape.mesh.face_vertices[corners]
    slopes, areas = _slopes(shape, corners, triangles)
    sound = areas > 0.0
    body, paint = shape.settings, shape.mesh.paint
    stretch = painted(paint.stretch, triangles)
    shear = painted(paint.shear, triangles) * body.shear_compliance
    compliances = np.stack(
        [stretch * body.stretch_compliance, stretch * body.weft_compliance, 2.0 * shear], axis=1
    )
    return Weave(
        triangles=triangles[sound],
        slopes=slopes[sound] / shape.shrinkage(triangles)[sound, None, None],
        areas=(areas * shares)[sound],
        compliances=compliances[sound],
        rests=np.ones((int(sound.sum()), 2)),
    )


def is_woven(shape: RestShape) -> bool:
    """Whether a map says which way its threads run; only cloth has any."""
    return shape.mesh.threads is not None and shape.settings.body_type == "CLOTH"


def unwoven(shape: RestShape) -> RestShape:
    """What the weave leaves to edges: those that carry no face."""
    none = np.zeros(0, dtype=np.int64)
    mesh = replace(
        shape.mesh,
        edges=shape.mesh.edges[shape.loose],
        face_starts=np.zeros(1, dtype=np.int64),
        face_vertices=none,
    )
    return replace(
        shape,
        mesh=mesh,
        corners=read_corners(mesh),
        areas=np.zeros(0),
        lengths=shape.lengths[shape.loose],
        loose=shape.loose[shape.loose],
        in_rope=shape.in_rope[shape.loose],
    )


def _triangles(face_starts: Integers) -> tuple[Integers, Floats]:
    """(t, 3) face corners of each triangle, and (t,) the share by which it counts."""
    sizes = np.diff(face_starts)
    parts, shares = [np.zeros((0, 3), dtype=np.int64)], [np.zeros(0)]
    for size in np.unique(sizes[sizes > 2]).tolist():
        cut = [(0, k, k + 1) for k in range(1, size - 1)]
        cut += [(1, 2, 3), (1, 3, 0)] if size == 4 else []
        starts = face_starts[:-1][sizes == size]
        parts.append((starts[:, None, None] + np.array(cut)).reshape(-1, 3))
        shares.append(np.full(len(parts[-1]), 0.5 if size == 4 else 1.0))
    return np.concatenate(parts), np.concatenate(shares)


def _slopes(shape: RestShape, corners: Integers, triangles: Integers) -> tuple[Floats, Floats]:
    """(t, 3, 2) slopes of shape functions along warp and weft, and (t,) areas.

    The warp runs upwards in the map, and the weft square to it, however much the map distorts.
    """
    points = shape.mesh.positions[triangles]
    sides = points[:, 1:] - points[:, :1]
    normals = np.cross(sides[:, 0], sides[:, 1])
    double = np.linalg.norm(normals, axis=1)
    longest = (sides**2).sum(axis=2).max(axis=1)
    double[double < FLAT * longest] = 0.0
    warp = _warp(shape, corners, sides, double > 0.0)
    weft = np.cross(warp, normals * inverse(double, double)[:, None])
    flat = np.stack([sides @ each[:, :, None] for each in (warp, weft)], axis=3)[:, :, 0]
    (a, b), (c, d) = flat[:, 0].T, flat[:, 1].T
    scale = inverse(a * d - b * c, np.abs(a * d - b * c) * (double > 0.0))
    # The inverse of the sides' components: what x₁ − x₀ and x₂ − x₀ count for along each.
    last = np.stack([np.stack([d, -c], axis=1), np.stack([-b, a], axis=1)], axis=1)
    last *= scale[:, None, None]
    return np.concatenate([-last.sum(axis=1, keepdims=True), last], axis=1), double / 2.0


def _warp(shape: RestShape, corners: Integers, sides: Floats, sound: Booleans) -> Floats:
    """(t, 3) unit vectors along which the map's second coordinate grows and its first does not."""
    if shape.mesh.threads is None:
        return np.zeros((len(corners), 3))
    places = shape.mesh.threads[corners]
    across = places[:, 1:] - places[:, :1]
    area = across[:, 0, 0] * across[:, 1, 1] - across[:, 1, 0] * across[:, 0, 1]
    way = sides[:, 1] * across[:, :1, 0] - sides[:, 0] * across[:, 1:, 0]
    way *= np.sign(area)[:, None]
    size = np.linalg.norm(way, axis=1)
    lost = sound & ((np.abs(area) <= FLAT * (across**2).sum(axis=2).max(axis=1)) | (size == 0.0))
    if lost.any():
        raise MeshError(
            f"'{shape.mesh.name}' has {np.count_nonzero(lost)} triangles without area in the UV "
            "map of its threads; unwrap it, or choose another map"
        )
    return np.asarray(way * inverse(size, size)[:, None])


def weave_batches(weave: Weave, inverse_masses: Floats, h_squared: float) -> list[WeaveBatch]:
    """One batch for one h² [s²], or none."""
    if not len(weave.triangles):
        return []
    w = inverse_masses[weave.triangles]
    mobility = np.einsum("ti,tik->tk", w, weave.slopes**2)
    mobility = np.concatenate([mobility, mobility.sum(axis=1, keepdims=True)], axis=1)
    scale = h_squared * weave.areas[:, None]
    compliances = np.maximum(weave.compliances, REGULARIZATION * mobility * scale)
    free = inverse_masses > 0.0
    return [
        WeaveBatch(
            triangles=weave.triangles,
            slopes=weave.slopes,
            rests=weave.rests,
            firmness=scale * inverse(compliances, mobility),
            masses=1.0 / np.where(free, inverse_masses, 1.0),
            free=free.astype(np.float64),
            displacement=np.zeros((3, len(free))),
            multipliers=np.zeros((3, len(free))),
        )
    ]
