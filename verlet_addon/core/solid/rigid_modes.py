"""Rigid modes of free components: three translations and three rotations of each.

Stress does not resist rigid modes, so that in a stiff body conjugate gradients converge to them
last. The preconditioner solves for them directly, as a coarse correction: only masses, pins and
contacts resist them.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, sum_by, sum_rows


@dataclass(frozen=True, eq=False)
class RigidModes:
    """The rigid modes of k free components of m nodes."""

    components: Integers
    """(m,) free component of each node, from 0; −1 = none."""
    motions: Floats
    """(3, 6, m) displacement of each node by each rigid mode of its component."""
    inverses: Floats
    """(k, 6, 6) inverses of the system's matrix, restricted to the modes of each component."""

    def correction(self, forces: Floats) -> Floats:
        """(3, m) displacement of nodes in rigid modes by forces × h² (3, m) [m]."""
        count = len(self.inverses)
        own = np.flatnonzero(self.components >= 0)
        corrections, labels = np.zeros_like(forces), self.components[own]
        motions = self.motions[:, :, own]
        along = sum_rows(labels, (motions * forces[:, None, own]).sum(axis=0), count)
        moved = np.einsum("kij,jk->ik", self.inverses, along)
        corrections[:, own] = (motions * moved[:, labels]).sum(axis=1)
        return corrections


def find_rigid_modes(
    components: Integers,
    masses: Floats,
    nodes: Floats,
    stopped: tuple[Integers, Floats, Floats],
) -> RigidModes:
    """The rigid modes of free components, and their resistance.

    Parameters
    ----------
    components, masses, nodes : (m,), (m,) [kg] and positions (3, m) [m] of nodes.
    stopped : components (p,), positions (3, p) and stiffnesses × h² (p, 3, 3) of springs.
    """
    count = int(components.max(initial=-1)) + 1
    own = np.flatnonzero(components >= 0)
    labels, weights = components[own], masses[own]
    centres = sum_rows(labels, weights * nodes[:, own], count) / sum_by(labels, weights, count)
    motions = np.zeros((3, 6, len(components)))
    motions[:, :, own] = _motions(nodes[:, own] - centres[:, labels])
    opposed = np.zeros((count, 6, 6))
    moving = motions[:, :, own]
    np.add.at(opposed, labels, np.einsum("n,ain,ajn->nij", weights, moving, moving))
    in_contact = np.flatnonzero(stopped[0] >= 0)
    labels, stiffnesses = stopped[0][in_contact], stopped[2][in_contact]
    moving = _motions(stopped[1][:, in_contact] - centres[:, labels])
    np.add.at(opposed, labels, np.einsum("ain,nab,bjn->nij", moving, stiffnesses, moving))
    return RigidModes(components, motions, _invert_six(opposed))


def _motions(arms: Floats) -> Floats:
    """(3, 6, n) displacements by the six modes at arms (3, n) from a component's centre of mass."""
    x, y, z = arms
    motions = np.zeros((3, 6, arms.shape[1]))
    motions[range(3), range(3)] = 1.0
    motions[0, 4], motions[0, 5] = z, -y
    motions[1, 3], motions[1, 5] = -z, x
    motions[2, 3], motions[2, 4] = y, -x
    return motions


def _invert_six(matrices: Floats) -> Floats:
    """(k, 6, 6) inverses of positive definite matrices, by Gauss–Jordan elimination."""
    inverses = matrices.copy()
    for i in range(6):
        pivots = 1.0 / inverses[:, i, i]
        inverses[:, i, i] = 1.0
        inverses[:, i] *= pivots[:, None]
        for j in set(range(6)) - {i}:
            shares = inverses[:, j, i].copy()
            inverses[:, j, i] = 0.0
            inverses[:, j] -= shares[:, None] * inverses[:, i]
    return inverses
