"""The tension that strips had a step ago, solved for implicitly."""

from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Floats, Integers, norms, sum_by
from ..linear.tridiagonal import Factors, factorize, solve
from .warm_start import DIRECTIONS, StripNet

TAUT_MEMORY = 0.85
"""Share of its tension that a taut link starts from at least, for it carries what hangs below. With
0.95 dresses take a fifth less, but undamped triangles on two corners gain energy in tiny steps."""
STIFFEST = 1e6
"""Links are never stiffer than this h² T/(l m): next to crushed ones, masses would not count. Real
meshes are stretched alike from 1e4 to 1e8."""
WEAK = 0.05
"""Links less taut than this share of `taut` pull with the force they have, and resist nothing: if
all resisted, hung sheets and skirts would take a twelfth longer."""


def project_former_tension(
    positions: Floats, net: StripNet, *, kept: float, taut: float, rounds: int = DIRECTIONS
) -> None:
    """Starts from a share `kept` of the tension T of the step before, along the new directions.

    (m/h² + T/l between neighbours) δ = T/l (neighbours − x) for the displacement δ: implicitly, for
    a light strip under a heavy load turns by more than Newton's steps can follow. Sweeps then only
    have to find how tension changes. Strips that cross make the system one of a net: it is solved
    by conjugate gradients, preconditioned by solving the tautest strips directly.

    Parameters
    ----------
    positions : (3, n), moved in place.
    net : the strips; their multipliers are read, and set to the tension that acts now.
    kept : share of the former tension that slack links start from; taut ones start from at least
        TAUT_MEMORY of it, and those at `taut` from the mean of both.
    taut : strips with a link of more than this h² T/(l m) are solved directly.
    rounds : directions searched in: the former displacement, then those of conjugate gradients.
    """
    if not len(net.path):
        return
    lengths = _measure_links(positions, net)
    pulls = _former_pulls(net, lengths, kept, taut)
    if pulls.any() or net.push.any():
        system = _make_system(net, pulls, taut)
        positions += _conjugate_gradients(net, system, _force(net, pulls), rounds)
        lengths = _measure_links(positions, net)
    else:
        net.displacement.fill(0.0)
    np.multiply(pulls, -lengths, out=net.multipliers)


def _measure_links(positions: Floats, net: StripNet) -> Floats:
    """(k − 1,) distances along the path; leaves the vectors in the net."""
    for row, along in zip(positions, net.along, strict=True):
        points = row.take(net.path, mode="clip")
        np.subtract(points[1:], points[:-1], out=along)
    return norms(net.along)


def _former_pulls(net: StripNet, lengths: Floats, kept: float, taut: float) -> Floats:
    """(k − 1,) T/l · h² of every link, 0 in gaps."""
    pulls = np.maximum(-net.multipliers, 0.0)
    pulls *= net.bearing
    pulls /= lengths
    tautness = pulls * net.lightness
    pulls *= kept + (max(TAUT_MEMORY, kept) - kept) * tautness / (tautness + taut + NONZERO)
    return np.minimum(pulls, STIFFEST / (net.lightness + NONZERO), out=pulls)


def _force(net: StripNet, pulls: Floats) -> Floats:
    """(3, n) Σ pull · (neighbour − x): the force · h² on each particle; 0 on pinned ones."""
    total = net.push.copy()
    for axis, along in enumerate(net.along):
        pull = pulls * along
        total[axis] += sum_by(net.path[:-1], pull, len(net.masses))
        total[axis] -= sum_by(net.path[1:], pull, len(net.masses))
    total[:, net.pinned] = 0.0
    return total


@dataclass(frozen=True, eq=False)
class _System:
    """Masses joined by the stiffer links; taut strips are factorized to precondition it."""

    masses: Floats
    """(n,)"""
    pinned: Integers
    """(p,)"""
    tails: Integers
    """(s,) where each stiff link begins."""
    heads: Integers
    """(s,) where it ends."""
    pulls: Floats
    """(s,)"""
    inverse: Floats
    """(n,) 1 / diagonal."""
    path: Integers
    """(t,) along the taut strips."""
    factors: Factors
    shares: Floats
    """(t,) 1 / how often each particle occurs in the path."""

    def resistance(self, heading: Floats) -> Floats:
        """(3, n) m u + Σ pull · (u − that of the neighbour) for displacements u."""
        total = heading * self.masses
        for axis, row in enumerate(heading):
            across = row.take(self.tails, mode="clip")
            across -= row.take(self.heads, mode="clip")
            across *= self.pulls
            total[axis] += sum_by(self.tails, across, len(row))
            total[axis] -= sum_by(self.heads, across, len(row))
        total[:, self.pinned] = 0.0
        return total

    def precondition(self, residual: Floats) -> Floats:
        """(3, n) the displacement that each strip or particle alone would answer with."""
        found = residual * self.inverse
        if len(self.path):
            alone = solve(self.factors, residual.take(self.path, axis=1, mode="clip"))
            alone *= self.shares
            found[:, self.path] = 0.0
            for axis, row in enumerate(alone):
                found[axis] += sum_by(self.path, row, found.shape[1])
        return found


def _make_system(net: StripNet, pulls: Floats, taut: float) -> _System:
    """Chooses the stiffer links, and factorizes the taut strips."""
    tautness = pulls * net.lightness
    stiff = np.flatnonzero(tautness > WEAK * taut)
    tails, heads, n = net.path[stiff], net.path[stiff + 1], len(net.masses)
    diagonal = net.masses + sum_by(tails, pulls[stiff], n)
    diagonal += sum_by(heads, pulls[stiff], n)
    chosen = np.zeros(int(net.labels[-1]) + 1, dtype=bool)
    chosen[net.labels[:-1][tautness > taut]] = True
    entries = np.flatnonzero(chosen[net.labels])
    path, links = net.path[entries], entries[:-1]
    beside = np.where(net.loose[links] & (tautness[links] > WEAK * taut), -pulls[links], 0.0)
    return _System(
        masses=net.masses,
        pinned=net.pinned,
        tails=tails,
        heads=heads,
        pulls=pulls[stiff],
        inverse=1.0 / diagonal,
        path=path,
        factors=factorize(diagonal[path], beside, net.rounds),
        shares=1.0 / np.bincount(path, minlength=n)[path],
    )


def _conjugate_gradients(net: StripNet, system: _System, residual: Floats, rounds: int) -> Floats:
    """(3, n) the displacement that balances the residual force, searched for from the former one.

    What imbalance is left is answered by strips and particles alone. So nothing is wrong with a
    body at rest, whose displacement is the same in every step, however early the search ends.
    """
    found = np.zeros_like(residual)
    heading = answer = net.displacement if rounds else system.precondition(residual)
    # The former displacement is none of the conjugate directions, which start anew: size / ∞ = 0.
    size = np.inf
    for search in range(rounds):
        if search:
            former, size = size, _product(residual, answer)
            heading = answer + heading * (size / former) if former > 0.0 else answer
        resistance = system.resistance(heading)
        curvature = _product(heading, resistance)
        if curvature > 0.0:
            step = _product(heading, residual) / curvature
            found += step * heading
            resistance *= step
            residual -= resistance
        answer = system.precondition(residual)
    found += answer
    net.displacement[...] = found
    return found


def _product(first: Floats, second: Floats) -> float:
    """The inner product; BLAS would add up in another order for every number of threads."""
    return float(np.einsum("xn,xn->", first, second))
