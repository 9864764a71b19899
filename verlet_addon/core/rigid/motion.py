"""Rigid pieces in motion: their particles' momentum goes to them, and they put their particles.

Arms a turn into Q a so that Σ m a × Q a is the angular momentum h L: the rigid body's Verlet, which
keeps its momentum to the last digit (J. Moser and A. Veselov, *Discrete Versions of Some Classical
Integrable Systems and Factorization of Matrix Polynomials*, 1991).
"""

from dataclasses import replace

import numpy as np

from ..arrays import Floats, sum_products, sum_rows
from ..linear.rotations import orthonormal
from . import compiled_kernels as kernels
from .pieces import Pieces
from .placement import Placement

NEWTON, QUICK = 4, 2
"""Rounds of Newton's method that find a piece's turn, at both ends of a step and in between: each
doubles the digits of the turn found last."""


def set_out_rigid(
    placement: Placement, pieces: Pieces, start: Floats, positions: Floats
) -> Placement:
    """Takes the pieces' momentum from where free motion leads from `start`, both (3, n) [m]."""
    if placement.pieces is not pieces:  # others are pinned than before
        placement = replace(placement, pieces=pieces)
    turns, masses = placement.turned, pieces.masses
    placement.turns[:] = orthonormal(turns)
    placement.turned[:] = placement.turns
    placement.arms[:] = np.einsum("kij,jk->ik", placement.turns[pieces.labels], pieces.arms)
    heavy = placement.arms * masses
    placement.second[:] = sum_products(pieces.labels, heavy, placement.arms, pieces.count)
    before = start[:, pieces.particles] * masses
    placement.centres[:] = sum_rows(pieces.labels, before, pieces.count) / pieces.totals
    placement.moments.fill(0.0)
    placement.placed[:] = placement.centres[:, pieces.labels] + placement.arms
    kernels.give_momentum(placement, positions, masses, NEWTON)
    return placement


def put_again(placement: Placement | None, positions: Floats) -> None:
    """Puts particles (3, n) back onto their pieces, which get the momentum that they had."""
    if placement is not None:
        kernels.give_momentum(placement, positions, placement.pieces.masses, NEWTON)


def hand_on(placement: Placement | None, positions: Floats) -> None:
    """Lets pieces take part in what constraints within the body did to their particles (3, n)."""
    if placement is not None:
        kernels.give_momentum(placement, positions, placement.pieces.constrained, QUICK)


def hand_on_contacts(placement: Placement | None, positions: Floats) -> bool:
    """Lets pieces take part in what contacts did to their particles (3, n); whether there were any.

    Contacts of one piece share its mass, so that together they push no farther than each alone.
    """
    return placement is not None and kernels.share_contacts(placement, positions)


def join(placement: Placement | None, positions: Floats) -> None:
    """Draws pieces, and what is near them, together until no edge there is stretched."""
    if placement is not None and placement.pieces.joints.pairs.size:
        kernels.join(placement, placement.pieces.joints, positions)
