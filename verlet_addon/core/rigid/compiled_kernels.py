"""Rigid pieces in C: the functions of `numpy_kernels`."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, cached_struct, declare, falls_back_to, members, pack, shared_arrays
from . import numpy_kernels as reference
from .piece_poses import PiecePoses
from .pieces import Joints

_transfer_momentum = declare("transfer_momentum", "ppipi")
_transfer_contacts = declare("transfer_contacts", "pppi", "i")
_project_joints = declare("project_joints", "pppii", "i")


@cached_struct
def _poses_struct(poses: PiecePoses) -> Packed:
    """The piece_poses of pieces.h."""
    pieces = poses.pieces
    return pack(
        pieces.count,
        len(pieces.particles),
        *members(pieces, "starts particles labels arms totals"),
        *shared_arrays(
            poses,
            "start_rotations rotations arms second_moments centres angular_momenta "
            "particle_positions",
        ),
        np.zeros((pieces.count, 9)),
    )


@cached_struct
def _joints(joints: Joints) -> Packed:
    """The joints of joints.c."""
    count, bodies = len(joints.rest_lengths), len(joints.mobilities)
    return pack(
        count,
        len(joints.free),
        bodies,
        *members(joints, "pairs slots bodies free rest_lengths"),
        joints.tension_only.astype(np.uint8),
        joints.mobilities,
        *(np.zeros((size, count)) for size in (3, 12, 1, 1, 1, 1, 1, 1)),
        np.zeros((bodies, 6)),
    )


@falls_back_to(reference.transfer_momentum)
def transfer_momentum(poses: PiecePoses, positions: Floats, masses: Floats, rounds: int) -> None:
    n = positions.shape[1]
    _transfer_momentum(_poses_struct(poses), positions, n, masses, rounds)


@falls_back_to(reference.transfer_contacts)
def transfer_contacts(poses: PiecePoses, positions: Floats) -> bool:
    effective_inverse_masses = poses.pieces.effective_inverse_masses
    return bool(
        _transfer_contacts(
            _poses_struct(poses), effective_inverse_masses, positions, positions.shape[1]
        )
    )


@falls_back_to(reference.project_joints)
def project_joints(poses: PiecePoses, joints: Joints, positions: Floats, most: int) -> int:
    structs = _poses_struct(poses), _joints(joints)
    return int(_project_joints(*structs, positions, positions.shape[1], most))
