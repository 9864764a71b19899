"""The tension that strips had a step ago, solved for implicitly."""

from dataclasses import dataclass

import numpy as np

from ..mesh import Floats, Integers
from ..tension import StripNet
from .numpy_kernels import SHORTEST
from .tridiagonal import Factors, factorize, solve

ROUNDS = 2
"""Directions searched in: the former displacement, then conjugate gradients. Always as many, so
that rounding has nothing to decide."""


def project_former_tension(positions: Floats, net: StripNet, *, kept: float, taut: float) -> None:
    """Starts from a share `kept` of the tension T of the step before, along the new directions.

    (m/h² + T/l between neighbours) δ = T/l (neighbours − x) for the displacement δ. A light strip
    under a heavy load turns by more than Newton's steps can follow, and feels the strips that hang
    on it only sweep by sweep, unless the pull that it has anyway is solved for implicitly; what the
    sweeps still have to find is its change. Strips that cross make the system one of a net: it is
    solved by conjugate gradients, preconditioned by solving the tautest strips directly.

    Parameters
    ----------
    positions : (3, n), moved in place.
    net : the strips; their multipliers are read, and set to the tension that acts now.
    kept : share of the former tension to start from.
    taut : strips with a link of more than this h² T/(l m) are solved directly.
    """
    pulls = _former_pulls(positions, net, kept)
    if pulls.any():
        weights = np.append(pulls, 0.0)[net.links]
        residual = _pull(net, weights, positions)
        preconditioner = _precondition(net, pulls, weights, taut)
        positions += _conjugate_gradients(net, weights, preconditioner, residual)
    else:
        net.displacement.fill(0.0)
    _write_multipliers(positions, net, pulls)


def _former_pulls(positions: Floats, net: StripNet, kept: float) -> Floats:
    """(k − 1,) T/l · h² of every link, 0 in gaps."""
    pulls = np.zeros(max(len(net.path) - 1, 0))
    start = 0
    for batch in net.batches:
        stop = start + len(batch.multipliers)
        np.minimum(batch.multipliers, 0.0, out=pulls[start:stop])
        pulls[start:stop] *= batch.movable
        start = stop + 1
    pulls *= -kept * net.loaded
    pulls /= _lengths(positions, net.path)
    return pulls


def _pull(net: StripNet, weights: Floats, points: Floats) -> Floats:
    """(3, n) Σ weight · (neighbour − point): the force · h² on each particle; 0 on pinned ones."""
    total = np.zeros_like(points)
    for axis, row in enumerate(points):
        for weight, neighbour in zip(weights, net.neighbours, strict=True):
            arm = row.take(neighbour, mode="clip")
            arm -= row
            arm *= weight
            total[axis] += arm
    return total


@dataclass(frozen=True, eq=False)
class _Preconditioner:
    """Solves taut strips directly, and takes every other particle by itself."""

    inverse: Floats
    """(n,) 1 / diagonal of the system."""
    path: Integers
    """(t,) along the taut strips."""
    factors: Factors
    shares: Floats
    """(t,) 1 / how often each particle occurs in the path."""

    def apply(self, residual: Floats) -> Floats:
        """(3, n) the displacement that each strip or particle alone would answer with."""
        found = residual * self.inverse
        if len(self.path):
            alone = solve(self.factors, residual.take(self.path, axis=1, mode="clip"))
            alone *= self.shares
            found[:, self.path] = 0.0
            for axis in range(3):
                found[axis] += np.bincount(self.path, alone[axis], found.shape[1])
        return found


def _precondition(net: StripNet, pulls: Floats, weights: Floats, taut: float) -> _Preconditioner:
    """Chooses the taut strips, and factorizes them."""
    diagonal = weights.sum(axis=0)
    diagonal += net.masses
    entries = _taut_entries(net, pulls, taut)
    path, links = net.path[entries], entries[:-1]
    beside = np.where(net.loose[links], -pulls[links], 0.0)
    often = np.bincount(path, minlength=len(diagonal))
    return _Preconditioner(
        inverse=1.0 / diagonal,
        path=path,
        factors=factorize(diagonal[path], beside, net.rounds),
        shares=1.0 / often[path],
    )


def _taut_entries(net: StripNet, pulls: Floats, taut: float) -> Integers:
    """(t,) the places in the path of strips that have a taut link."""
    response = net.inverse_masses[net.path]
    direct = pulls * np.maximum(response[1:], response[:-1]) > taut
    chosen = np.zeros(int(net.labels[-1]) + 1, dtype=bool)
    chosen[net.labels[:-1][direct]] = True
    return np.flatnonzero(chosen[net.labels])


def _conjugate_gradients(
    net: StripNet, weights: Floats, preconditioner: _Preconditioner, residual: Floats
) -> Floats:
    """(3, n) the displacement that balances the residual force, searched for from the former one.

    What imbalance is left is answered by strips and particles alone. So nothing is wrong with a
    body at rest, whose displacement is the same in every step, however early the search ends.
    """
    found = np.zeros_like(residual)
    heading = net.displacement
    # The former displacement is none of the conjugate directions, which start anew: size / ∞ = 0.
    size = np.inf
    for _ in range(ROUNDS):
        resistance = heading * net.masses
        resistance -= _pull(net, weights, heading)
        stiffness = float(np.vdot(heading, resistance))
        if stiffness > 0.0:
            step = float(np.vdot(heading, residual)) / stiffness
            found += step * heading
            resistance *= step
            residual -= resistance
        answer = preconditioner.apply(residual)
        former, size = size, float(np.vdot(residual, answer))
        heading = answer + heading * (size / former) if former > 0.0 else answer
    found += answer
    net.displacement[...] = found
    return found


def _write_multipliers(positions: Floats, net: StripNet, pulls: Floats) -> None:
    """The tension that acts on the positions now."""
    tension = pulls * _lengths(positions, net.path)
    start = 0
    for batch in net.batches:
        stop = start + len(batch.multipliers)
        np.negative(tension[start:stop], out=batch.multipliers)
        start = stop + 1


def _lengths(positions: Floats, path: Integers) -> Floats:
    """(k − 1,) distances along the path."""
    squares = np.zeros(max(len(path) - 1, 0))
    for row in positions:
        points = row.take(path, mode="clip")
        along = points[1:] - points[:-1]
        along *= along
        squares += along
    np.sqrt(squares, out=squares)
    return np.asarray(np.maximum(squares, SHORTEST, out=squares))
