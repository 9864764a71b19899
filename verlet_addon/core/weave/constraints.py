"""Woven cloth: strains of patches along the warp and the weft of a UV map, and shear between them.

An edge has a strain along itself alone, a patch in every direction (D. Baraff and A. Witkin, *Large
Steps in Cloth Simulation*, 1998). The strains of a patch are ε₁ = |w₁| − 1 along the warp,
ε₂ = |w₂| − 1 along the weft and γ, the cosine of the angle between both, for the columns
w = Σ gradient · x of the deformation gradient; its energy is ½ A (ε₁²/c₁ + ε₂²/c₂ + γ²/c₁₂). ε₁ and
ε₂ are taken at both sides of the patch, with half the weight each. In compression, c₁ and c₂ are
compliances of cloth that buckles finer than the mesh resolves.
"""

from dataclasses import dataclass, replace
from math import pi, radians, sin

import numpy as np

from ..arrays import Floats, Integers, inverse
from ..geometry.faces import face_diagonals
from ..geometry.rest_shape import RestShape, painted_shares, remeshed
from .patches import Patches

WEAVE_REGULARIZATION = 1e-3
"""Lower bound of a strain's scaled compliance, as a share of the strain's inverse mass: stiffer
strains do not converge within sixty rounds of conjugate gradients. n hanging cells of size l
stretch by n h² g/l times this share."""
INEXTENSIBLE_WEAVE_REGULARIZATION = 1e-2
"""The same share where edges hold the lengths of inextensible threads: with 3e-2 the drape
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
