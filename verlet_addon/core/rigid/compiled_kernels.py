"""Rigid pieces in C: what `numpy_kernels` does."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, instead_of, members, once, pack, shared
from . import numpy_kernels as reference
from .pieces import Joints
from .placement import Placement

_give_momentum = declare("give_momentum", "ppipi")
_share_contacts = declare("share_contacts", "pppi", "i")
_join = declare("join", "pppi")


@once
def _placement(placement: Placement) -> Packed:
    """The placement of pieces.h."""
    pieces = placement.pieces
    return pack(
        pieces.count,
        len(pieces.particles),
        *members(pieces, "starts particles labels arms totals"),
        *shared(placement, "turns turned arms second centres moments placed"),
        np.zeros((pieces.count, 21)),
    )


@once
def _joints(joints: Joints) -> Packed:
    """The joints of joints.c."""
    count, bodies = len(joints.rest_lengths), len(joints.mobilities)
    return pack(
        count,
        len(joints.free),
        bodies,
        *members(joints, "pairs slots bodies free rest_lengths"),
        joints.slack.astype(np.uint8),
        joints.mobilities,
        *(np.zeros((size, count)) for size in (3, 12, 1, 1, 1, 1, 1, 1)),
        np.zeros((bodies, 6)),
    )


@instead_of(reference.give_momentum)
def give_momentum(placement: Placement, positions: Floats, masses: Floats, rounds: int) -> None:
    n = positions.shape[1]
    _give_momentum(_placement(placement), positions, n, masses, rounds)


@instead_of(reference.share_contacts)
def share_contacts(placement: Placement, positions: Floats) -> bool:
    softness = placement.pieces.softness
    return bool(_share_contacts(_placement(placement), softness, positions, positions.shape[1]))


@instead_of(reference.join)
def join(placement: Placement, joints: Joints, positions: Floats) -> None:
    _join(_placement(placement), _joints(joints), positions, positions.shape[1])
