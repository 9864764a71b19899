"""Woven cloth: strains of patches along the warp and the weft of a UV map, and shear between them.

An edge has a strain along itself alone, a patch in every direction (D. Baraff and A. Witkin, *Large
Steps in Cloth Simulation*, 1998). The strains of a patch are ε₁ = |w₁| − 1 along the warp,
ε₂ = |w₂| − 1 along the weft and γ, the cosine of the angle between both, for the columns
w = Σ gradient · x of the deformation gradient; its energy is ½ A (ε₁²/c₁ + ε₂²/c₂ + γ²/c₁₂). ε₁ and
ε₂ are taken at both sides of the patch, with half the weight each. In compression, c₁ and c₂ are
compliances of cloth that buckles finer than the mesh resolves.

A patch is a quad, a pair of triangles that are the halves of one, or a single triangle.
"""

from dataclasses import dataclass, replace
from math import pi, radians, sin

import numpy as np

from ..arrays import Floats, Integers, inverse, sum_rows
from ..errors import MeshError
from ..geometry.faces import SLIVER, face_diagonals
from ..geometry.hinges import Hinges, find_quad_halves
from ..geometry.rest_shape import RestShape, painted_shares, remeshed

MAX_SLANT, MAX_FOLD = 1.0, 0.5
"""Limits for two triangles in one patch: their slant (`find_quad_halves`), which is 0.73 for two
equilateral ones, and the angle between their planes and between their threads [rad]. With half of
the first, strewn triangles lie 18 mm elsewhere; twice of it, and half and twice of the second, give
the same bakes."""


@dataclass(frozen=True, eq=False)
class Patches:
    """Quads and triangles as bilinear surfaces, with derivatives w = Σ gradient · position."""

    corners: Integers
    """(t, 4) particles around each patch; triangles repeat the last one."""
    gradients: Floats
    """(t, 4, 3) by corner: of w₁ and w₂, the means along warp and weft [1/m], and of w₃, the
    hourglass mode, the difference of opposite edges; 0 for repeated corners."""
    hourglass_gradients: Floats
    """(t, 2) factors f of w₃: warp and weft at the patch's sides are w₁ ± f w₃, w₂ ± f w₃ [1/m]."""
    areas: Floats
    """(t,) [m²]"""
    threads: Floats
    """(t, 2, 3) unit vectors along warp and weft at rest."""


def is_woven(shape: RestShape) -> bool:
    """Whether the body is cloth with a map of its threads."""
    return shape.mesh.threads is not None and shape.settings.body_type == "CLOTH"


def build_patches(shape: RestShape, hinges: Hinges) -> Patches:
    """The patches of a body; none without a map of its threads.

    Raises
    ------
    MeshError
        If triangles have no area in the map.
    """
    if not is_woven(shape):
        none = np.zeros((0, 4, 3))
        corners = none[:, :, 0].astype(np.int64)
        return Patches(corners, none, none[:, :2, 0], none[:, 0, 0], none[:, :2])
    faces, triangles = _fan_triangles(shape)
    warps = sum_rows(faces, _warps(shape, triangles).T, len(shape.areas)).T
    halves = _halves(shape, hinges, warps)
    p, q = hinges.p[halves], hinges.q[halves]
    pairs = np.stack([p, hinges.beyond_q[halves, 1], q, hinges.beyond_p[halves, 0]], axis=1)
    sizes = np.diff(shape.mesh.face_starts)
    wide = np.flatnonzero(sizes == 4)
    quads = shape.mesh.face_vertices[shape.mesh.face_starts[wide, None] + np.arange(4)]
    alone = sizes != 4
    alone[hinges.faces[halves]] = False
    left = alone[faces]
    rest = shape.mesh.face_vertices[triangles[left][:, [0, 1, 2, 2]]]
    both = warps[hinges.faces[halves]].sum(axis=1)
    warps = np.concatenate([warps[wide], both, warps[faces[left]]])
    return _make_patches(shape, np.concatenate([quads, pairs, rest]), warps)


def _fan_triangles(shape: RestShape) -> tuple[Integers, Integers]:
    """(k,) faces and (k, 3) face corners of the triangle fan around each face's first corner."""
    corners, starts = shape.corners, shape.mesh.face_starts[:-1]
    place = np.arange(len(corners.face)) - starts[corners.face]
    second = np.flatnonzero((place > 0) & (place < corners.size - 1))
    faces = corners.face[second]
    return faces, np.stack([starts[faces], second, second + 1], axis=1)


def _warps(shape: RestShape, triangles: Integers) -> Floats:
    """(k, 3) vectors along which the map's second coordinate grows and its first does not.

    Their lengths are the areas of the triangles [m²].
    """
    if shape.mesh.threads is None:
        return np.zeros((len(triangles), 3))
    points = shape.mesh.positions[shape.mesh.face_vertices[triangles]]
    sides = points[:, 1:] - points[:, :1]
    areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2.0
    areas[areas < SLIVER * (sides**2).sum(axis=2).max(axis=1)] = 0.0
    map_points = shape.mesh.threads[triangles]
    across = map_points[:, 1:] - map_points[:, :1]
    area = across[:, 0, 0] * across[:, 1, 1] - across[:, 1, 0] * across[:, 0, 1]
    warp = sides[:, 1] * across[:, :1, 0] - sides[:, 0] * across[:, 1:, 0]
    warp *= np.sign(area)[:, None]
    size = np.linalg.norm(warp, axis=1)
    flat = (np.abs(area) <= SLIVER * (across**2).sum(axis=2).max(axis=1)) | (size == 0.0)
    lost = np.count_nonzero(flat & (areas > 0.0))
    if lost:
        raise MeshError(
            f"'{shape.mesh.name}' has {lost} triangles without area in its thread "
            "map; unwrap it again, or choose another map"
        )
    return np.asarray(warp * (areas * inverse(size, size))[:, None])


def _halves(shape: RestShape, hinges: Hinges, warps: Floats) -> Integers:
    """(r,) hinges whose triangles form one patch: their threads are nearly parallel."""
    halves = find_quad_halves(shape, hinges, slant=MAX_SLANT, fold=MAX_FOLD)
    size = np.linalg.norm(warps, axis=1)
    first, second = (warps * inverse(size, size)[:, None])[hinges.faces[halves]].transpose(1, 0, 2)
    return np.asarray(halves[(first * second).sum(axis=1) > np.cos(MAX_FOLD)])


def _make_patches(shape: RestShape, corners: Integers, warps: Floats) -> Patches:
    """Patches of corners (t, 4) with vectors (t, 3) along their warp, except those without area.

    The warp runs upwards in the map, the weft perpendicular to it even where the map is sheared.
    """
    points = shape.mesh.positions[corners]
    normals = np.cross(points[:, 2] - points[:, 0], points[:, 3] - points[:, 1])
    longest = ((points - np.roll(points, 1, axis=1)) ** 2).sum(axis=2).max(axis=1)
    weft = np.cross(warps, normals)
    sound = np.linalg.norm(normals, axis=1) > SLIVER * longest
    sound &= np.linalg.norm(weft, axis=1) > 0.0
    corners, points, weft, normals = corners[sound], points[sound], weft[sound], normals[sound]
    threads = np.stack([np.cross(normals, weft), weft], axis=1)
    threads /= np.linalg.norm(threads, axis=2, keepdims=True)
    flat = np.einsum("tia,tka->kti", points, threads)
    gradients = _gradients(flat)
    single = corners[:, 2] == corners[:, 3]
    gradients[single, 2] += gradients[single, 3]
    gradients[single, 3] = gradients[single, :, 2] = 0.0
    # A quad that is not flat at rest has no strain there either.
    gradients_of_positions = np.einsum("tik,tia->tka", gradients[:, :, :2], points)
    gradients[:, :, :2] /= np.linalg.norm(gradients_of_positions, axis=2)[:, None]
    areas = np.linalg.norm(normals, axis=1) / 2.0
    return Patches(corners, gradients, _hourglass_gradients(flat), areas, threads)


def _gradients(flat: Floats) -> Floats:
    """(t, 4, 3) gradients of patches with corners at (2, t, 4) along warp and weft.

    The mean gradients, and the hourglass mode: (1, −1, 1, −1) less its uniform strain (D. P.
    Flanagan and T. Belytschko, *A Uniform Strain Hexahedron and Quadrilateral with Orthogonal
    Hourglass Control*, 1981).
    """
    x, y = flat
    (dx, ex), (dy, ey) = ((z[:, 2] - z[:, 0], z[:, 3] - z[:, 1]) for z in (x, y))
    double = (dx * ey - ex * dy)[:, None]
    ahead, back = np.roll(flat, -1, axis=2), np.roll(flat, 1, axis=2)
    by_x, by_y = (ahead[1] - back[1]) / double, (back[0] - ahead[0]) / double
    turns = np.array([1.0, -1.0, 1.0, -1.0])
    unlike = turns - (x * turns).sum(axis=1, keepdims=True) * by_x
    unlike -= (y * turns).sum(axis=1, keepdims=True) * by_y
    return np.stack([by_x, by_y, unlike], axis=2)


def _hourglass_gradients(flat: Floats) -> Floats:
    """(t, 2) factors of the hourglass mode, for corners at (2, t, 4) along warp and weft.

    From bilinear shape functions: where edges run along the threads, the threads at the sides are
    the edges.
    """
    a, b, c, d = np.moveaxis(flat, 2, 0)
    one, other = (b + c - a - d) / 4.0, (c + d - a - b) / 4.0
    turn = np.abs(one[0] * other[1] - one[1] * other[0])
    return np.asarray((np.hypot(one, other)[::-1] / turn).T / 4.0)


WEAVE_REGULARIZATION = 1e-3
"""Lower bound of a strain's scaled compliance, as a share of the strain's inverse mass. n hanging
cells of size l stretch by n h² g/l times this share. With half, sixty rounds of conjugate gradients
converge less, and keyed cloth stretches by 0.3 % in place of 0.2 %; with twice, strewn triangles
lie 18 mm elsewhere."""
INEXTENSIBLE_WEAVE_REGULARIZATION = 1e-2
"""WEAVE_REGULARIZATION where edges hold the lengths of inextensible threads: with 3e-2 the drape
coefficient of silk is two points lower, with 3e-3 it takes half as long again."""
THREAD_COMPRESSION_SOFTENING = 10.0
"""Compliance of threads in compression, as a multiple of that of cloth in shear. With 5 the drape
coefficient of silk is four points higher than without threads, with 40 four points lower."""
LOCKING_ANGLE = radians(8.0)
"""Shear angle at which cloth of inextensible threads locks [rad]: the range that S. Kawabata, *The
Standardization and Analysis of Hand Evaluation* (1980), measures as free shear."""


@dataclass(frozen=True, eq=False)
class Weave:
    """Strain constraints of a woven body's patches; none without a map of its threads."""

    corners: Integers
    """(t, 4) particles; see `Patches`."""
    gradients: Floats
    """(t, 4, 3) of w₁, w₂ and w₃ by corner; see `Patches`."""
    hourglass_gradients: Floats
    """(t, 2) [1/m]; see `Patches`."""
    areas: Floats
    """(t,) [m²]"""
    compliances: Floats
    """(t, 3) of warp, weft and shear: strain per force per width [m/N]."""
    compression_compliances: Floats
    """(t, 2) of warp and weft in compression [m/N]."""
    rests: Floats
    """(t, 2) |w₁| and |w₂| at rest: 1, if plasticity has not changed them."""


@dataclass(frozen=True, eq=False)
class WeaveBatch:
    """The strain constraints of a woven body, prepared for steps of one length; see `Weave`."""

    corners: Integers
    gradients: Floats
    hourglass_gradients: Floats
    rests: Floats
    stiffnesses: Floats
    """(t, 3) h² A/c of warp and weft at either side, and of shear [kg m²]."""
    compression_stiffnesses: Floats
    """(t, 2) the same of warp and weft in compression [kg m²]."""
    masses: Floats
    """(n,) [kg]; 1 for pinned particles."""
    free: Floats
    """(n,) 1 for particles that can move, else 0."""
    displacement: Floats
    """(3, n) displacement by the weave in the step before, for the warm start; changed by the
    kernel [m]."""
    multipliers: Floats
    """(3, n) mass × displacement by the weave in this step; changed by the kernel [kg m]."""


def build_weave(shape: RestShape, patches: Patches) -> Weave:
    """The strain constraints of one body's patches."""
    body, paint, corners = shape.settings, shape.mesh.paint, patches.corners
    stretch = painted_shares(paint.stretch, corners)
    shear = painted_shares(paint.shear, corners) * body.shear_compliance
    bend = painted_shares(paint.bend, corners) * body.bend_compliance
    pulled = np.stack([stretch * body.stretch_compliance, stretch * body.weft_compliance], axis=1)
    # Euler's buckling load of a strip as long as the patch, as in `stretch.constraints`.
    buckled = np.minimum(THREAD_COMPRESSION_SOFTENING * shear, bend * patches.areas / pi**2)
    shrunk = shape.shrinkage(corners)[:, None]
    return Weave(
        corners=corners,
        gradients=patches.gradients / shrunk[:, None] ** [1.0, 1.0, 0.0],
        hourglass_gradients=patches.hourglass_gradients / shrunk,
        areas=patches.areas,
        compliances=np.column_stack([pulled, 2.0 * shear]),
        compression_compliances=np.maximum(pulled, buckled[:, None]),
        rests=np.ones_like(pulled),
    )


def without_weave(shape: RestShape, patches: Patches) -> RestShape:
    """The body's edges beside its weave, without faces: loose ones; all of inextensible threads.

    Of inextensible threads, diagonals of quads within 22.5° of a thread are edges too, and oblique
    edges are as long as in cloth that is sheared by LOCKING_ANGLE.
    """
    body, mesh = shape.settings, shape.mesh
    inextensible = body.stretch_compliance == body.weft_compliance == 0.0
    across = face_diagonals(shape.corners)[0] if inextensible else mesh.edges[:0]
    pairs = np.concatenate([mesh.edges, across])
    obliquity = _obliquity(shape, patches, pairs)
    extra = np.zeros(len(across), dtype=bool)
    loose, in_rope = np.append(shape.loose, extra), np.append(shape.in_rope, extra)
    remaining = loose | inextensible
    remaining[len(mesh.edges) :] &= obliquity[len(mesh.edges) :] < sin(pi / 4)
    lengths = np.append(shape.lengths, shape.rest_distances(across))
    lengths *= np.where(loose, 1.0, np.sqrt(1.0 + obliquity * sin(LOCKING_ANGLE)))
    mesh, none = replace(mesh, edges=pairs), np.zeros(0, dtype=np.int64)
    wider = replace(shape, mesh=mesh, lengths=lengths, loose=loose, in_rope=in_rope)
    return remeshed(wider, remaining, none, none, np.zeros(0))


def _obliquity(shape: RestShape, patches: Patches, pairs: Integers) -> Floats:
    """(m,) sin 2θ for angles θ between pairs (m, 2) and the threads at their ends; 0 without."""
    threads = np.zeros((shape.particle_count, 2, 3))
    for corner in patches.corners.T:
        np.add.at(threads, corner, patches.threads * patches.areas[:, None, None])
    p, q = pairs.T
    along = shape.mesh.positions[q] - shape.mesh.positions[p]
    parts = np.einsum("mka,ma->mk", threads[p] + threads[q], along)
    size = (parts**2).sum(axis=1)
    return np.asarray(2.0 * np.abs(parts.prod(axis=1)) * inverse(size, size))


def weave_batches(weave: Weave, inverse_masses: Floats, h_squared: float) -> list[WeaveBatch]:
    """One batch for one h² [s²] and inverse masses (n,), or none without patches."""
    if not len(weave.corners):
        return []
    mobility = np.einsum("ti,tik->tk", inverse_masses[weave.corners], weave.gradients**2)
    shear = mobility[:, :2].sum(axis=1, keepdims=True)
    mobility = np.concatenate(
        [mobility[:, :2] + weave.hourglass_gradients**2 * mobility[:, 2:], shear], axis=1
    )
    scale = h_squared * weave.areas[:, None]
    stretches = weave.compliances[:, :2].any()
    least = (
        (WEAVE_REGULARIZATION if stretches else INEXTENSIBLE_WEAVE_REGULARIZATION)
        * mobility
        * scale
    )
    compliances = np.maximum(weave.compliances, least)
    compression = np.maximum(weave.compression_compliances, least[:, :2])
    free = inverse_masses > 0.0
    return [
        WeaveBatch(
            corners=weave.corners,
            gradients=weave.gradients,
            hourglass_gradients=weave.hourglass_gradients,
            rests=weave.rests,
            stiffnesses=scale * [0.5, 0.5, 1.0] * inverse(compliances, mobility),
            compression_stiffnesses=scale * 0.5 * inverse(compression, mobility[:, :2]),
            masses=1.0 / np.where(free, inverse_masses, 1.0),
            free=free.astype(np.float64),
            displacement=np.zeros((3, len(free))),
            multipliers=np.zeros((3, len(free))),
        )
    ]
