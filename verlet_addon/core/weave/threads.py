"""Cloth whose threads run as a UV map says: it stretches along them, across, and shears.

Edges stretch along themselves alone; a patch knows by how much it is stretched in any direction
(D. Baraff and A. Witkin, *Large Steps in Cloth Simulation*, 1998). Its strains are ε₁ = |w₁| − 1
along the warp, ε₂ = |w₂| − 1 along the weft and γ, the cosine of the angle between both, for the
deformation gradient's columns w = Σ slope · x; its energy is ½ A (ε₁²/c₁ + ε₂²/c₂ + γ²/c₁₂). Warp
and weft count half at either side of the patch. Where threads are pushed together, c₁ and c₂ are
those of cloth that buckles finer than the mesh can show.
"""

from dataclasses import dataclass, replace
from math import pi, radians, sin

import numpy as np

from ..arrays import Floats, Integers, inverse
from ..geometry.faces import face_diagonals
from ..geometry.rest_shape import RestShape, painted, remeshed
from .patches import Patches

REGULARIZATION = 1e-3
"""Share of a strain's mobility that its compliance is at least: sixty rounds do not solve for
stiffer ones. So n cells of size l that hang on each other give by n h² g/l times this…"""
HELD = 1e-2
"""…and the share where edges keep the lengths of threads that do not stretch: with 3e-2 silk drapes
by two points more limply, with 3e-3 it takes half as long again."""
THREADS_SOFTER_PUSHED = 10.0
"""By this factor threads are softer when pushed together than cloth in shear. With 5 silk drapes by
four points more stiffly than without threads, with 40 by four more limply."""
SHEARED = radians(8.0)
"""Up to this angle cloth shears freely, as far as S. Kawabata, *The Standardization and Analysis of
Hand Evaluation* (1980), measures it; threads that do not stretch lock there."""


@dataclass(frozen=True, eq=False)
class Weave:
    """The patches of a woven body; none where no map says which way its threads run."""

    corners: Integers
    """(t, 4) of particles; see `Patches`."""
    slopes: Floats
    """(t, 4, 3)"""
    spreads: Floats
    """(t, 2)"""
    areas: Floats
    """(t,) [m²]"""
    compliances: Floats
    """(t, 3) of warp, weft and shear: strain per force per width [m/N]."""
    pushed: Floats
    """(t, 2) of warp and weft, where they are pushed together."""
    rests: Floats
    """(t, 2) lengths of warp and weft at rest, of which the map is a measure: 1, or what they have
    yielded to."""


@dataclass(frozen=True, eq=False)
class WeaveBatch:
    """The same, ready for one h²."""

    corners: Integers
    slopes: Floats
    spreads: Floats
    rests: Floats
    firmness: Floats
    """(t, 3) h² A/c of warp and weft at either side, and of shear [kg m²]."""
    pushed: Floats
    """(t, 2) the same of warp and weft, where they are pushed together."""
    masses: Floats
    """(n,) [kg]; 1 for pinned particles."""
    free: Floats
    """(n,) 1 for particles that can move, else 0."""
    displacement: Floats
    """(3, n) what the weave did in the step before, to start from; changed by the kernel [m]."""
    multipliers: Floats
    """(3, n) mass × how far it has moved particles in this step; changed by the kernel [kg m]."""


def build_weave(shape: RestShape, patches: Patches) -> Weave:
    """The weave of one body that is made of these patches."""
    body, paint, corners = shape.settings, shape.mesh.paint, patches.corners
    stretch = painted(paint.stretch, corners)
    shear = painted(paint.shear, corners) * body.shear_compliance
    bend = painted(paint.bend, corners) * body.bend_compliance
    pulled = np.stack([stretch * body.stretch_compliance, stretch * body.weft_compliance], axis=1)
    # A strip as long as the patch would buckle: L. Euler, as in `stretch.elasticity`.
    buckled = np.minimum(THREADS_SOFTER_PUSHED * shear, bend * patches.areas / pi**2)
    shrunk = shape.shrinkage(corners)[:, None]
    return Weave(
        corners=corners,
        slopes=patches.slopes / shrunk[:, None] ** [1.0, 1.0, 0.0],
        spreads=patches.spreads / shrunk,
        areas=patches.areas,
        compliances=np.column_stack([pulled, 2.0 * shear]),
        pushed=np.maximum(pulled, buckled[:, None]),
        rests=np.ones_like(pulled),
    )


def unwoven(shape: RestShape, patches: Patches) -> RestShape:
    """What the weave leaves to edges: those that carry no face; if no thread stretches, all.

    Then diagonals of quads that run more along threads than aslant are edges too. What runs aslant
    may be as long as it is in sheared cloth. None has a face any more.
    """
    body, mesh = shape.settings, shape.mesh
    firm = body.stretch_compliance == body.weft_compliance == 0.0
    across = face_diagonals(shape.corners)[0] if firm else mesh.edges[:0]
    pairs = np.concatenate([mesh.edges, across])
    aslant = _aslant(shape, patches, pairs)
    extra = np.zeros(len(across), dtype=bool)
    loose, in_rope = np.append(shape.loose, extra), np.append(shape.in_rope, extra)
    left = loose | firm
    left[len(mesh.edges) :] &= aslant[len(mesh.edges) :] < sin(pi / 4)
    lengths = np.append(shape.lengths, shape.spans(across))
    lengths *= np.where(loose, 1.0, np.sqrt(1.0 + aslant * sin(SHEARED)))
    mesh, none = replace(mesh, edges=pairs), np.zeros(0, dtype=np.int64)
    wider = replace(shape, mesh=mesh, lengths=lengths, loose=loose, in_rope=in_rope)
    return remeshed(wider, left, none, none, np.zeros(0))


def _aslant(shape: RestShape, patches: Patches, pairs: Integers) -> Floats:
    """(m,) sin 2θ of the angle between pairs (m, 2) and the threads around; 0 without any."""
    threads = np.zeros((shape.particle_count, 2, 3))
    for corner in patches.corners.T:
        np.add.at(threads, corner, patches.threads * patches.areas[:, None, None])
    p, q = pairs.T
    along = shape.mesh.positions[q] - shape.mesh.positions[p]
    parts = np.einsum("mka,ma->mk", threads[p] + threads[q], along)
    size = (parts**2).sum(axis=1)
    return np.asarray(2.0 * np.abs(parts.prod(axis=1)) * inverse(size, size))


def weave_batches(weave: Weave, inverse_masses: Floats, h_squared: float) -> list[WeaveBatch]:
    """One batch for one h² [s²], or none."""
    if not len(weave.corners):
        return []
    mobility = np.einsum("ti,tik->tk", inverse_masses[weave.corners], weave.slopes**2)
    shear = mobility[:, :2].sum(axis=1, keepdims=True)
    mobility = np.concatenate([mobility[:, :2] + weave.spreads**2 * mobility[:, 2:], shear], axis=1)
    scale = h_squared * weave.areas[:, None]
    stretches = weave.compliances[:, :2].any()
    least = (REGULARIZATION if stretches else HELD) * mobility * scale
    compliances = np.maximum(weave.compliances, least)
    pushed = np.maximum(weave.pushed, least[:, :2])
    free = inverse_masses > 0.0
    return [
        WeaveBatch(
            corners=weave.corners,
            slopes=weave.slopes,
            spreads=weave.spreads,
            rests=weave.rests,
            firmness=scale * [0.5, 0.5, 1.0] * inverse(compliances, mobility),
            pushed=scale * 0.5 * inverse(pushed, mobility[:, :2]),
            masses=1.0 / np.where(free, inverse_masses, 1.0),
            free=free.astype(np.float64),
            displacement=np.zeros((3, len(free))),
            multipliers=np.zeros((3, len(free))),
        )
    ]
