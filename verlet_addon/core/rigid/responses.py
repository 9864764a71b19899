"""Responses of rigid pieces to impulses at their particles, while rows are solved one by one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..kernel import Sized, Struct, kernel
from . import kernels
from .pieces import PiecePoses, Pieces


@dataclass(frozen=True, eq=False)
class PieceResponses:
    """The s pieces of all bodies of the world's N particles; kernels write to arrays."""

    pieces: Integers
    """(N,) piece of each particle; −1 = none."""
    first_pieces: dict[int, int]
    """Number of the first piece of each body that has any."""
    arms: Floats
    """(3, N) present lever arms from the centre of mass [m]."""
    inverse_masses: Floats
    """(s,) [1/kg]."""
    inverse_inertias: Floats
    """(s, 3, 3) [1/(kg m²)]."""
    motions: Floats
    """(s, 6) translation [m] and rotation vector [rad] by impulses so far."""
    wrenches: Floats
    """(s, 6) sums of impulses [kg m] and of their moments [kg m²] so far."""


Struct(
    "piece_responses",
    PieceResponses,
    shares="pieces arms inverse_masses inverse_inertias motions wrenches",
    size=(int, lambda responses: len(responses.pieces)),
)


def build_responses(
    bodies: Sequence[Pieces | None], starts: Sequence[int], count: int
) -> PieceResponses | None:
    """Responses of bodies with pieces, from their first particles in the world; None without any.

    The world has `count` particles.
    """
    numbers, firsts, total = np.full(count, -1), dict[int, int](), 0
    for body, (pieces, start) in enumerate(zip(bodies, starts, strict=False)):
        if pieces is not None:
            numbers[start + pieces.particles] = total + pieces.labels
            firsts[body] = total
            total += pieces.count
    if not total:
        return None
    return PieceResponses(
        pieces=numbers,
        first_pieces=firsts,
        arms=np.zeros((3, count)),
        inverse_masses=np.zeros(total),
        inverse_inertias=np.zeros((total, 3, 3)),
        motions=np.zeros((total, 6)),
        wrenches=np.zeros((total, 6)),
    )


@kernel()
def start_responses(poses: PiecePoses, responses: PieceResponses, start: int, first: int) -> None:
    """Sets masses, inertia and lever arms of a body's pieces for its poses; no impulses yet.

    Its particles are numbered from `start` on in the world, its pieces from `first` on.
    """
    pieces, own = poses.pieces, slice(first, first + poses.pieces.count)
    arms = poses.particle_positions - poses.centres[:, pieces.labels]
    responses.arms[:, start + pieces.particles] = arms
    responses.inverse_masses[own] = 1.0 / pieces.totals
    responses.inverse_inertias[own] = kernels.inverse_inertias(poses)
    responses.motions[own], responses.wrenches[own] = 0.0, 0.0


@kernel()
def finish_responses(
    poses: PiecePoses, responses: PieceResponses, positions: Sized, first: int
) -> float:
    """Moves a body's pieces, from number `first` on, by the impulses on them.

    Particles (3, n) are placed on them. Returns the largest change of a coordinate [m].
    """
    wrenches = responses.wrenches[first : first + poses.pieces.count]
    before = poses.particle_positions.copy()
    kernels.apply_impulse(poses, positions, wrenches[:, :3].T, wrenches[:, 3:].T, 2)
    return float(np.abs(poses.particle_positions - before).max())
