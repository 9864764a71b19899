"""Woven triangles in NumPy: one implicit step for all of them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, norms, sum_by, sum_rows
from .threads import WeaveBatch

TOLERANCE = 1e-3
"""Of the pull of all triangles, the share that is left unbalanced; with 3e-3, cloth that does not
stretch gains energy in flight."""
ROUNDS = 60
"""Most rounds of conjugate gradients: what is left of stiff waves then, later steps find."""


@dataclass(frozen=True, eq=False)
class Strain:
    """How triangles are strained, and what they resist; rows of components, threads first."""

    along: Floats
    """(2, 3, t) unit vectors along warp and weft."""
    skew: Floats
    """(2, 3, t) slope of the shear by w₁ and w₂."""
    forces: Floats
    """(2, 3, t) of the energy by w₁ and w₂, downhill [kg m²]."""
    firm: Floats
    """(3, t) h² A/c of warp, weft and shear [kg m²]."""
    turned: Floats
    """(2, t) resistance to turning: tension over length; pressure counts as tension [kg m²]."""

    def resistance(self, moved: Floats) -> Floats:
        """(2, 3, t) what w₁ and w₂ oppose to moves (2, 3, t)."""
        firmer = (self.firm[:2] - self.turned)[:, None]
        total = self.turned[:, None] * moved
        total += firmer * self.along * (self.along * moved).sum(axis=1, keepdims=True)
        total += self.firm[2] * self.skew * (self.skew * moved).sum(axis=(0, 1))
        return np.asarray(total)


def project_weave(positions: Floats, batches: Iterable[WeaveBatch]) -> None:
    """One Newton step of M d = −h² ∇E(x + d) for all triangles at once.

    (M + h² H) d = −h² ∇E(x) − M d₀, where d₀ is how far they have moved particles in this step
    before. H is positive: what is pushed together resists turning as what is pulled does, for else
    a step turns it too far. It is solved by conjugate gradients from what the step before did,
    preconditioned by the inverted blocks on the diagonal. At rest that is the solution already.
    """
    for batch in batches:
        strain = measure(positions, batch)
        pull = _scattered(batch, strain.forces)
        moved = batch.free * (batch.displacement - batch.multipliers / batch.masses)
        _solve(batch, strain, pull, moved)
        positions += moved
        batch.multipliers[...] += batch.masses * moved
        batch.displacement[...] = batch.multipliers / batch.masses


def measure(positions: Floats, batch: WeaveBatch) -> Strain:
    """The strain of all triangles."""
    ways = _gathered(batch, positions)
    lengths = np.stack([norms(way) for way in ways])
    along = ways / lengths[:, None]
    shear = (along[0] * along[1]).sum(axis=0)
    skew = (along[::-1] - shear * along) / lengths[:, None]
    firm = batch.firmness.T
    tension = firm[:2] * (lengths - batch.rests.T)
    return Strain(
        along=along,
        skew=skew,
        forces=-(tension[:, None] * along + firm[2] * shear * skew),
        firm=firm,
        turned=np.abs(tension) / lengths,
    )


def thread_lengths(positions: Floats, batch: WeaveBatch) -> Floats:
    """(2, t) how long warp and weft are, measured by the map."""
    return np.stack([norms(way) for way in _gathered(batch, positions)])


def _gathered(batch: WeaveBatch, vectors: Floats) -> Floats:
    """(2, 3, t) w₁ and w₂ of vectors (3, n)."""
    return np.asarray(np.einsum("xti,tik->kxt", vectors[:, batch.triangles], batch.slopes))


def _scattered(batch: WeaveBatch, forces: Floats) -> Floats:
    """(3, n) what forces (2, 3, t) on w₁ and w₂ are to particles that can move."""
    each = np.einsum("kxt,tik->xti", forces, batch.slopes)
    corners, count = batch.triangles.ravel(), len(batch.masses)
    return batch.free * sum_rows(corners, each.reshape(3, -1), count)


def _solve(batch: WeaveBatch, strain: Strain, pull: Floats, moved: Floats) -> None:
    """Finds the moves (3, n), from as much of those given as fits best."""
    inverses = _block_inverses(batch, strain)

    def answer(vector: Floats) -> Floats:
        return np.asarray(np.einsum("nab,bn->an", inverses, vector))

    def resistance(vector: Floats) -> Floats:
        opposed = strain.resistance(_gathered(batch, vector))
        return np.asarray(batch.masses * vector + _scattered(batch, opposed))

    residual, along = pull - batch.multipliers, resistance(moved)
    opposed = float((moved * along).sum())
    share = float((moved * residual).sum()) / opposed if opposed > 0.0 else 0.0
    moved *= share
    residual -= share * along
    small = TOLERANCE**2 * float((pull * answer(pull)).sum())
    search = ahead = answer(residual)
    size = float((residual * ahead).sum())
    for _ in range(ROUNDS):
        if size <= small:
            break
        along = resistance(search)
        step = size / float((search * along).sum())
        moved += step * search
        residual -= step * along
        ahead = answer(residual)
        size, former = float((residual * ahead).sum()), size
        search = ahead + (size / former) * search


def _block_inverses(batch: WeaveBatch, strain: Strain) -> Floats:
    """(n, 3, 3) inverses of the blocks on the diagonal; 0 for what is pinned."""
    firmer = strain.firm[:2] - strain.turned
    corners, count = batch.triangles.ravel(), len(batch.masses)
    slopes = batch.slopes.transpose(2, 1, 0)  # (2, 3 corners, t)
    skew = np.einsum("kxt,kit->xit", strain.skew, slopes)
    total = np.zeros((count, 3, 3))
    for a, b in np.ndindex(3, 3):
        own = np.einsum("kt,kit->it", firmer * strain.along[:, a] * strain.along[:, b], slopes**2)
        own += strain.firm[2] * skew[a] * skew[b]
        if a == b:
            own += np.einsum("kt,kit->it", strain.turned, slopes**2)
        total[:, a, b] = sum_by(corners, own.T.ravel(), count) + batch.masses * (a == b)
    one, two, three = total.transpose(1, 0, 2)
    cofactors = np.stack([np.cross(two, three), np.cross(three, one), np.cross(one, two)], axis=1)
    size = (one * cofactors[:, 0]).sum(axis=1)
    return np.asarray(cofactors * (batch.free / size)[:, None, None])
