"""Pieces of a solid that nothing holds, as each moves as one: by three shifts and three turns.

Stress opposes none of these, so that in a stiff body they are what conjugate gradients would find
last. But what does oppose them is known: masses, and what stops points.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, sum_by, sum_rows


@dataclass(frozen=True, eq=False)
class FreePieces:
    """The pieces of a solid of m nodes, k of them."""

    components: Integers
    """(m,) which piece each node is of, counted from 0; −1 = none."""
    motions: Floats
    """(3, 6, m) how far each node moves by each of its piece's motions."""
    inverses: Floats
    """(k, 6, 6) of what opposes these, times h²."""

    def answers(self, pulls: Floats) -> Floats:
        """(3, m) how far pieces move as they answer pulls (3, m) as one."""
        count = len(self.inverses)
        own = np.flatnonzero(self.components >= 0)
        found, labels = np.zeros_like(pulls), self.components[own]
        motions = self.motions[:, :, own]
        along = sum_rows(labels, (motions * pulls[:, None, own]).sum(axis=0), count)
        moved = np.einsum("kij,jk->ik", self.inverses, along)
        found[:, own] = (motions * moved[:, labels]).sum(axis=1)
        return found


def find_free_pieces(
    components: Integers,
    masses: Floats,
    places: Floats,
    stopped: tuple[Integers, Floats, Floats],
) -> FreePieces:
    """The pieces of nodes (m,) with these masses at places (3, m).

    Parameters
    ----------
    stopped : labels (p,), places (3, p) and stiffnesses (p, 3, 3), times h², of what stops them.
    """
    count = int(components.max(initial=-1)) + 1
    own = np.flatnonzero(components >= 0)
    labels, weights = components[own], masses[own]
    centres = sum_rows(labels, weights * places[:, own], count) / sum_by(labels, weights, count)
    motions = np.zeros((3, 6, len(components)))
    motions[:, :, own] = _motions(places[:, own] - centres[:, labels])
    opposed = np.zeros((count, 6, 6))
    moving = motions[:, :, own]
    np.add.at(opposed, labels, np.einsum("n,ain,ajn->nij", weights, moving, moving))
    pressed = np.flatnonzero(stopped[0] >= 0)
    labels, stiffnesses = stopped[0][pressed], stopped[2][pressed]
    moving = _motions(stopped[1][:, pressed] - centres[:, labels])
    np.add.at(opposed, labels, np.einsum("ain,nab,bjn->nij", moving, stiffnesses, moving))
    return FreePieces(components, motions, _inverted(opposed))


def _motions(arms: Floats) -> Floats:
    """(3, 6, n) how far places move that are at these arms (3, n) from their piece's centre."""
    x, y, z = arms
    found = np.zeros((3, 6, arms.shape[1]))
    found[range(3), range(3)] = 1.0
    found[0, 4], found[0, 5] = z, -y
    found[1, 3], found[1, 5] = -z, x
    found[2, 3], found[2, 4] = y, -x
    return found


def _inverted(matrices: Floats) -> Floats:
    """(k, 6, 6) inverses of symmetric matrices whose pivots are positive (Gauss and Jordan)."""
    found = matrices.copy()
    for i in range(6):
        pivots = 1.0 / found[:, i, i]
        found[:, i, i] = 1.0
        found[:, i] *= pivots[:, None]
        for j in set(range(6)) - {i}:
            shares = found[:, j, i].copy()
            found[:, j, i] = 0.0
            found[:, j] -= shares[:, None] * found[:, i]
    return found
