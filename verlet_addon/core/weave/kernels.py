"""Woven cloth: one implicit step of all patches."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, apply_matrices, cofactors, norms, sum_by, sum_rows
from ..kernel import Struct, kernel
from ..linear.conjugate_gradients import iterate_conjugate_gradients, iterate_until
from .constraints import WeaveBatch

WEAVE_RESIDUAL = 1e-2
"""Residual at which conjugate gradients end, as a share of the force of all patches; with 3e-2,
strips stretch by 3 % too little."""
NEGLIGIBLE_RESIDUAL = 1e-10
"""Rounding: square of the same relative to the first residual; in free flight patches exert no
force."""
MAX_WEAVE_CG_ROUNDS = 60
"""Maximum rounds of conjugate gradients; later steps reduce the remaining errors of stiff waves.
With half, keyed cloth stretches by 0.5 % in place of 0.2 %; with twice, by 0.2 % too."""
WOLFE_CURVATURE, LINE_SEARCH_ROUNDS = 0.1, 4
"""The line search accepts a slope, in magnitude, of at most this share of the first slope (Wolfe's
curvature condition), and makes at most so many trials. With half of the first, woven quads lie 4 mm
elsewhere, with twice, keyed cloth stretches by 0.5 % in place of 0.2 %; with half of the second,
patches of triangles lie 8 mm elsewhere, with twice, cloth on a ball 0.9 mm."""
MAX_BUCKLING = 0.1
"""Compression beyond which threads are as stiff as in tension, because the mesh resolves such
folds. Without it, the free end of a sheet that swings up is crumpled to half its length."""

SIDES = np.array([1.0, -1.0]).reshape(2, 1, 1, 1)
"""Sign of the hourglass gradients at both sides of a patch."""


STRAIN_NUMBERS = 26
"""Size of the strain of a patch in C [numbers]."""


@dataclass(frozen=True, eq=False)
class CornerPairs:
    """Pairs of particles that share a patch, for the matrix in C.

    A pair is listed at its particle of lower number. A repeated corner forms no pair with itself.
    """

    numbers: Integers
    """(t, 6) pair of each two corners of a patch, −1 = none."""
    starts: Integers
    """(n + 1,) start of each particle's pairs."""
    others: Integers
    """(m,) the other particle."""


def find_pairs(batch: WeaveBatch) -> CornerPairs:
    """The pairs of a batch."""
    corners, count = batch.corners, len(batch.masses)
    one, other = (corners[:, ends] for ends in np.triu_indices(4, 1))
    ends = np.stack([np.minimum(one, other), np.maximum(one, other)])
    keys, pair_numbers = np.unique(ends[0] * count + ends[1], return_inverse=True)
    first, second = np.divmod(keys, count)
    distinct = first != second
    numbers = np.where(distinct, np.cumsum(distinct) - 1, -1)
    starts = np.searchsorted(first[distinct], np.arange(count + 1))
    return CornerPairs(numbers[pair_numbers.reshape(-1, 6)], starts, second[distinct])


Struct(
    "corner_pairs",
    CornerPairs,
    reads="numbers starts others",
    count=(int, lambda pairs: len(pairs.others)),
    scratch={"blocks": lambda pairs: (len(pairs.others), 9)},
)
Struct(
    "weave_batch",
    WeaveBatch,
    reads="corners gradients hourglass_gradients stiffnesses compression_stiffnesses masses free",
    shares="rests displacement multipliers",
    count=(int, lambda batch: len(batch.corners)),
    particles=(int, lambda batch: len(batch.masses)),
    pairs=(CornerPairs, find_pairs),
    scratch={
        "strains": lambda batch: (len(batch.corners), STRAIN_NUMBERS),
        "diagonal blocks": lambda batch: (len(batch.masses), 9),
        "points residual ahead search along moved": lambda batch: (len(batch.masses), 3),
    },
)


@dataclass(frozen=True, eq=False)
class Strain:
    """Strains of t patches and their tangent stiffness; axes are side, thread, component, patch."""

    hourglass_offsets: Floats
    """(2, 2, 1, t) factors f of w₃: warp and weft at a side are w₁ + f w₃ and w₂ + f w₃ [1/m]."""
    along: Floats
    """(2, 2, 3, t) unit vectors along warp and weft at both sides."""
    shear_gradients: Floats
    """(2, 3, t) gradients of the shear γ by w₁ and w₂."""
    forces: Floats
    """(3, 3, t) h² times the forces on w₁, w₂ and w₃, −∂E/∂w [kg m²]."""
    shear: Floats
    """(t,) h² A/c of shear [kg m²]."""
    axial_stiffnesses: Floats
    """(2, 2, t) h² A/c of warp and weft at both sides, less the geometric stiffness [kg m²]."""
    geometric_stiffnesses: Floats
    """(2, 2, t) stiffness against rotation, |tension| over length, h² times [kg m²]."""

    def multiply(self, moved: Floats) -> Floats:
        """(3, 3, t) tangent stiffness times displacements (3, 3, t) of w₁, w₂ and w₃."""
        sides = moved[:2] + self.hourglass_offsets * moved[2]
        stretched = self.axial_stiffnesses * (self.along * sides).sum(axis=2)
        forces = self.geometric_stiffnesses[:, :, None] * sides + stretched[:, :, None] * self.along
        total = _of_sides(self.hourglass_offsets, forces)
        total[:2] += (
            self.shear * (self.shear_gradients * moved[:2]).sum(axis=(0, 1)) * self.shear_gradients
        )
        return total


@kernel()
def project_weave(positions: Floats, batches: Sequence[WeaveBatch]) -> None:
    """One Newton step of M d = −h² ∇E(x + d) for all patches at once.

    Warm start with the displacement of the step before, which is the solution at rest. The rest,
    (M + h² H) δ = −h² ∇E − M d, is solved by conjugate gradients, preconditioned by the inverted
    diagonal blocks. H is made positive: threads in compression have the geometric stiffness of
    tension, without which a step rotates them too far. A line search limits both displacements,
    because threads that become taut on the way resist suddenly.
    """
    for batch in batches:
        moved = batch.free * (batch.displacement - batch.multipliers / batch.masses)
        strain = measure(positions, batch)
        residual = _residual(batch, strain)
        strain = _line_search(positions, batch, strain, moved, float((residual * moved).sum()))
        _line_search(positions, batch, strain, *_solve_moves(batch, strain))
        batch.displacement[...] = batch.multipliers / batch.masses


def measure(positions: Floats, batch: WeaveBatch) -> Strain:
    """Strains and tangent stiffness of all patches at positions (3, n) [m]."""
    vectors = _gathered(batch, positions)
    lengths = np.stack([norms(vector) for vector in vectors[:2]])
    mean = vectors[:2] / lengths[:, None]
    shear = (mean[0] * mean[1]).sum(axis=0)
    shear_gradients = (mean[::-1] - shear * mean) / lengths[:, None]
    hourglass_offsets = SIDES * batch.hourglass_gradients.T[:, None]
    along = vectors[:2] + hourglass_offsets * vectors[2]
    lengths_of_sides = np.stack([[norms(vector) for vector in side] for side in along])
    along /= lengths_of_sides[:, :, None]
    elongations, folded = lengths_of_sides - batch.rests.T, MAX_BUCKLING * batch.rests.T
    soft, hard = batch.compression_stiffnesses.T, batch.stiffnesses.T[:2]
    firm = np.where((elongations < 0.0) & (elongations > -folded), soft, hard)
    deep = hard * (elongations + folded) - soft * folded
    tension = np.where(elongations > -folded, firm * elongations, deep)
    forces = _of_sides(hourglass_offsets, -tension[:, :, None] * along)
    forces[:2] -= batch.stiffnesses.T[2] * shear * shear_gradients
    geometric_stiffnesses = np.abs(tension) / lengths_of_sides
    return Strain(
        hourglass_offsets,
        along,
        shear_gradients,
        forces,
        batch.stiffnesses.T[2],
        firm - geometric_stiffnesses,
        geometric_stiffnesses,
    )


def thread_lengths(positions: Floats, batch: WeaveBatch) -> Floats:
    """(2, t) |w₁| and |w₂|, the lengths of warp and weft relative to the unstrained mesh."""
    return np.stack([norms(vector) for vector in _gathered(batch, positions)[:2]])


def _of_sides(hourglass_offsets: Floats, forces: Floats) -> Floats:
    """(3, 3, t) forces on w₁, w₂ and w₃ by forces (2, 2, 3, t) on warp and weft at both sides."""
    return np.concatenate([forces.sum(axis=0), (hourglass_offsets * forces).sum(axis=(0, 1))[None]])


def _gathered(batch: WeaveBatch, vectors: Floats) -> Floats:
    """(3, 3, t) w₁, w₂ and w₃ of vectors (3, n)."""
    return np.asarray(np.einsum("xti,tik->kxt", vectors[:, batch.corners], batch.gradients))


def _scattered(batch: WeaveBatch, forces: Floats) -> Floats:
    """(3, n) forces on particles that can move by forces (3, 3, t) on w₁, w₂ and w₃."""
    each = np.einsum("kxt,tik->xti", forces, batch.gradients)
    corners, count = batch.corners.ravel(), len(batch.masses)
    return batch.free * sum_rows(corners, each.reshape(3, -1), count)


def _residual(batch: WeaveBatch, strain: Strain) -> Floats:
    """(3, n) residual −h² ∇E − M d of the implicit step [kg m]."""
    return _scattered(batch, strain.forces) - batch.multipliers


def _line_search(
    positions: Floats, batch: WeaveBatch, strain: Strain, moved: Floats, before: float
) -> Strain:
    """Line search along displacements `moved` (3, n); returns the strain at its end.

    False position finds the zero of the residual's product with `moved`, which is `before` at the
    start.
    """
    if before <= 0.0:
        return strain

    def advance(share: float) -> tuple[Strain, float]:
        positions[...] += share * moved
        batch.multipliers[...] += batch.masses * (share * moved)
        new_strain = measure(positions, batch)
        return new_strain, float((_residual(batch, new_strain) * moved).sum())

    curvature, low, high, at = WOLFE_CURVATURE * before, 0.0, 1.0, 1.0
    strain, after = advance(1.0)
    if after > -curvature:
        return strain
    for _ in range(LINE_SEARCH_ROUNDS):
        share = low + (high - low) * max(before / (before - after), WOLFE_CURVATURE)
        strain, product = advance(share - at)
        at = share
        if product > curvature:
            low, before = at, product
        elif product < -curvature:
            high, after = at, product
        else:
            break
    return strain


def _solve_moves(batch: WeaveBatch, strain: Strain) -> tuple[Floats, float]:
    """(3, n) displacements of the Newton step, and their inner product with the residual."""
    inverses = _block_inverses(batch, strain)

    def apply_preconditioner(vector: Floats) -> Floats:
        return apply_matrices(inverses, vector)

    def apply_matrix(moves: Floats) -> Floats:
        opposed = strain.multiply(_gathered(batch, moves))
        return np.asarray(batch.masses * moves + _scattered(batch, opposed))

    pull, left = batch.multipliers, _residual(batch, strain)
    moved, least = (
        np.zeros_like(left),
        WEAVE_RESIDUAL**2 * float((pull * apply_preconditioner(pull)).sum()),
    )
    squares = iterate_conjugate_gradients(
        moved, left.copy(), apply_matrix, apply_preconditioner, MAX_WEAVE_CG_ROUNDS
    )
    first = next(squares)
    if first > least:
        iterate_until(squares, max(NEGLIGIBLE_RESIDUAL * first, least))
    return moved, float((left * moved).sum())


def _block_inverses(batch: WeaveBatch, strain: Strain) -> Floats:
    """(n, 3, 3) inverted diagonal blocks of M + h² H; 0 for pinned particles."""
    corners, count = batch.corners.ravel(), len(batch.masses)
    gradients = batch.gradients.transpose(2, 1, 0)  # (3, 4 corners, t)
    squares = (gradients[:2] + strain.hourglass_offsets * gradients[2]) ** 2  # (2, 2, 4, t)
    shear_gradients = np.einsum("kxt,kit->xit", strain.shear_gradients, gradients[:2])
    total = np.zeros((count, 3, 3))
    for a, b in np.ndindex(3, 3):
        both = strain.axial_stiffnesses * strain.along[:, :, a] * strain.along[:, :, b]
        own = np.einsum("skt,skit->it", both + strain.geometric_stiffnesses * (a == b), squares)
        own += strain.shear * shear_gradients[a] * shear_gradients[b]
        total[:, a, b] = sum_by(corners, own.T.ravel(), count) + batch.masses * (a == b)
    minors, size = cofactors(total)
    return np.asarray(minors * (batch.free / size)[:, None, None])
