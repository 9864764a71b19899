"""Rigid pieces in motion: their particles' momentum goes to them, and they put their particles.

Arms a turn into Q a so that Σ m a × Q a is the angular momentum h L: the rigid body's Verlet, which
keeps its momentum to the last digit (J. Moser and A. Veselov, *Discrete Versions of Some Classical
Integrable Systems and Factorization of Matrix Polynomials*, 1991).
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from .pieces import Pieces, _summed

NEWTON, QUICK = 4, 2
"""Each doubles the digits of a turn, beginning from the last one found: at both ends of a step, and
between. More than 0.5 rad at a time are not believed."""
TOUCHED = 1e-7
"""Contacts that push no farther are as they should be [m]."""
NOTHING = 1e-12
"""Share of a piece's inertia that a straight one is given about its axis."""


@dataclass(eq=False)
class Placement:
    """Where a body's pieces are on their way through a step."""

    pieces: Pieces
    turns: Floats
    """(s, 3, 3) how they had turned since they were at rest, when the step began."""
    turned: Floats
    """(s, 3, 3) and how they have now."""
    arms: Floats
    """(3, k) when the step began [m]."""
    second: Floats
    """(s, 3, 3) Σ m a aᵀ [kg m²]."""
    centres: Floats
    """(3, s) now [m]."""
    moments: Floats
    """(3, s) Σ m a × (x − x₀): h L now [kg m²]."""
    placed: Floats
    """(3, k) where particles were put [m]."""


def place_first(pieces: Pieces, positions: Floats) -> Placement:
    """Pieces where their particles lie best, at positions (3, n) (W. Kabsch, 1976)."""
    found = positions[:, pieces.particles] * pieces.masses
    products = (found[:, None] * pieces.arms).reshape(9, -1)
    spread = _summed(pieces.labels, products, pieces.count).T.reshape(-1, 3, 3)
    left, _, right = np.linalg.svd(spread)
    left[:, :, 2] *= np.sign(np.linalg.det(left) * np.linalg.det(right))[:, None]
    turns = left @ right
    nothing = np.zeros((3, pieces.count))
    return Placement(
        pieces=pieces,
        turns=turns,
        turned=turns,
        arms=pieces.arms,
        second=turns,
        centres=nothing,
        moments=nothing,
        placed=positions[:, pieces.particles],
    )


def set_out_rigid(placement: Placement, pieces: Pieces, start: Floats, positions: Floats) -> None:
    """Takes the pieces' momentum from where free motion leads from `start`, both (3, n) [m]."""
    turns = placement.turned
    placement.pieces = pieces
    placement.turns = placement.turned = turns @ (
        1.5 * np.eye(3) - 0.5 * turns.transpose(0, 2, 1) @ turns
    )
    placement.arms = np.einsum("kij,jk->ik", placement.turns[pieces.labels], pieces.arms)
    squares = np.einsum("ik,jk->ijk", placement.arms, placement.arms) * pieces.masses
    placement.second = _by_piece(pieces, squares.reshape(9, -1)).T.reshape(-1, 3, 3)
    masses = pieces.masses
    before = start[:, pieces.particles] * masses
    placement.centres = _by_piece(pieces, before) / pieces.totals
    placement.moments = np.zeros_like(placement.centres)
    placement.placed = placement.centres[:, pieces.labels] + placement.arms
    give_momentum(placement, positions, masses, rounds=NEWTON)


def give_momentum(
    placement: Placement, positions: Floats, masses: Floats, *, rounds: int = QUICK
) -> None:
    """Gives pieces what moved their particles since they were put, by `masses` (k,), and puts them.

    A push that moved a particle of this mass by d [m] has the momentum m d/h.
    """
    pieces = placement.pieces
    pushes = (positions[:, pieces.particles] - placement.placed) * masses
    if rounds == QUICK and not pushes.any():
        return
    placement.centres = placement.centres + _by_piece(pieces, pushes) / pieces.totals
    torques = np.cross(placement.arms, pushes, axis=0)
    placement.moments = placement.moments + _by_piece(pieces, torques)
    back = placement.turns.transpose(0, 2, 1)
    turn = _turn(placement.turned @ back, placement.second, placement.moments.T, rounds)
    placement.turned = turn @ placement.turns
    arms = np.einsum("kij,jk->ik", placement.turned[pieces.labels], pieces.arms)
    placement.placed = placement.centres[:, pieces.labels] + arms
    positions[:, pieces.particles] = placement.placed


def put_again(placement: Placement | None, positions: Floats) -> None:
    """Puts particles (3, n) back onto their pieces, which get the momentum that they had."""
    if placement is not None:
        give_momentum(placement, positions, placement.pieces.masses, rounds=NEWTON)


def hand_on(placement: Placement | None, positions: Floats) -> None:
    """Gives pieces what constraints within the body did to their particles (3, n)."""
    if placement is None:
        return
    pieces = placement.pieces
    mobilities = pieces.mobilities[pieces.particles]
    masses = np.where(mobilities > 0.0, 1.0 / np.where(mobilities > 0.0, mobilities, 1.0), 0.0)
    give_momentum(placement, positions, masses)


def hand_on_contacts(placement: Placement | None, positions: Floats) -> bool:
    """Gives pieces what contacts did to their particles (3, n); whether there was anything.

    So that many contacts at once push no farther than each would alone, they share the piece.
    """
    if placement is None:
        return False
    pieces = placement.pieces
    pushed = np.abs(positions[:, pieces.particles] - placement.placed).max(axis=0)
    moved = pushed > TOUCHED
    if not moved.any():
        return False
    crowd = np.maximum(np.bincount(pieces.labels, moved, pieces.count), 1.0)
    give_momentum(placement, positions, 1.0 / (pieces.softness * crowd[pieces.labels]))
    return True


def _by_piece(pieces: Pieces, rows: Floats) -> Floats:
    """(r, s) rows (r, k) added up."""
    return _summed(pieces.labels, rows, pieces.count)


def _turn(turn: Floats, second: Floats, moments: Floats, rounds: int) -> Floats:
    """(s, 3, 3) the rotation Q near `turn` with Σ m a × Q a = `moments` (s, 3), by Newton."""
    for _ in range(rounds):
        product = turn @ second
        found = np.stack([product[:, k - 1, k - 2] - product[:, k - 2, k - 1] for k in range(3)], 1)
        trace = np.trace(product, axis1=1, axis2=2)[:, None, None]
        slope = (1.0 + NOTHING) * trace * np.eye(3) - product
        still = trace[:, 0] == 0.0
        slope[still[:, 0]] = np.eye(3)
        step = np.linalg.solve(slope, (moments - found)[:, :, None])[:, :, 0]
        angle = np.sqrt((step * step).sum(axis=1, keepdims=True))
        step *= np.minimum(1.0, 0.5 / np.maximum(angle, 1e-300))
        turn = _rotation(step) @ turn
    return np.asarray(turn)


def _rotation(vectors: Floats) -> Floats:
    """(s, 3, 3) rotations about vectors (s, 3), by as many radians as they are long (Rodrigues)."""
    angles = np.sqrt((vectors * vectors).sum(axis=1))[:, None, None]
    x, y, z = vectors.T
    none = np.zeros_like(x)
    cross = np.array([[none, -z, y], [z, none, -x], [-y, x, none]]).transpose(2, 0, 1)
    sine, half = np.sinc(angles / np.pi), np.sinc(angles / (2.0 * np.pi))
    return np.asarray(np.eye(3) + sine * cross + 0.5 * half**2 * (cross @ cross))
