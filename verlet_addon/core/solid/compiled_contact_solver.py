"""Solution for stress, pins and contacts of solids, and velocity update, in C."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, cached_struct, declare, falls_back_to, members, pack, shared_arrays
from . import numpy_contact_solver, numpy_velocity_update
from .compiled_kernels import pack_corotations, pack_embedding, pack_lattice
from .numpy_contact_solver import PointContacts, SolidSystem, SolverTolerance

PIECE = 56
"""Numbers in a solid_piece of rigid_modes.h."""
ROLLING = 50
"""Numbers in a rolling_piece of velocity_update.c."""
_solve_solid_system = declare("solve_solid_system", "pppdddi")
_update_solid_velocities = declare("update_solid_velocities", "ppppp")
_clamp_solid_points = declare("clamp_solid_points", "ppp")


@cached_struct
def _contacts(contacts: PointContacts) -> Packed:
    """The point_contacts of contact_solver.h."""
    return pack(
        len(contacts.levels),
        *shared_arrays(
            contacts,
            "normals levels frictions stiffnesses start anchors friction_stiffnesses normal_forces",
        ),
    )


def _parts(system: SolidSystem) -> Packed:
    """The array of solid_part of contact_solver.h."""
    return pack(
        *(
            member
            for part in system.parts
            for member in (
                pack_lattice(part.lattice),
                pack_corotations(part.corotations),
                part.stiffness,
            )
        )
    )


@cached_struct
def pack_system(system: SolidSystem) -> Packed:
    """The solid_system of contact_solver.h."""
    pin_springs, work = system.pin_springs, np.empty((10, len(system.masses), 4))
    count = int(system.components.max(initial=-1)) + 1
    return pack(
        *(len(system.masses), len(system.parts), _parts(system)),
        pack_embedding(system.embedding),
        *members(system, "masses diagonal"),
        *shared_arrays(system, "predicted"),
        len(pin_springs.points),
        *members(pin_springs, "points stiffnesses"),
        *shared_arrays(pin_springs, "targets"),
        _contacts(system.contacts),
        count,
        system.components,
        system.predicted_nodes,
        np.empty((count, PIECE)),
        *(work[:3], *work[3:]),
        1.0 / system.masses,
        np.empty((count, ROLLING)),
    )


@falls_back_to(numpy_contact_solver.solve_contacts)
def solve_contacts(
    system: SolidSystem, right: Floats, moves: Floats, tolerance: SolverTolerance
) -> None:
    limits = tolerance.relative, tolerance.absolute, tolerance.negligible, tolerance.min_rounds
    _solve_solid_system(pack_system(system), right, moves, *limits)


@falls_back_to(numpy_velocity_update.update_velocities)
def update_velocities(system: SolidSystem, start: Floats, moves: Floats) -> tuple[Floats, Floats]:
    nodes, previous = np.empty_like(moves), np.empty_like(moves)
    _update_solid_velocities(pack_system(system), start, moves, nodes, previous)
    return nodes, previous


@falls_back_to(numpy_contact_solver.clamp_points)
def clamp_points(system: SolidSystem, nodes: Floats) -> Floats:
    points = np.empty_like(system.contacts.normals)
    _clamp_solid_points(pack_system(system), nodes, points)
    return points
