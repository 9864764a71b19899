"""Solids that touch no other one: a step of each is one problem, and threads share these."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..arrays import Floats
from ..kernel import Struct, kernel
from .active_set_solver import clamp_points, solve_contacts
from .kernels import find_stress
from .linear_system import SolidSystem, SolverTolerance
from .velocity_update import update_velocities


@dataclass(frozen=True, eq=False)
class SolidProblem:
    """What a step of one solid of m nodes and p points is solved from, and its solution."""

    system: SolidSystem
    tolerance: SolverTolerance
    modulus: float
    """Young's modulus [Pa]."""
    h_squared: float
    """Factor that turns accelerations into displacements [s²]."""
    start: Floats
    """(3, m) nodes at the start of the step [m]."""
    displacement: Floats
    """(3, m) displacement c₊ free + c₋ inertia that stress resists, see `step_shares` [m s²]."""
    is_stressed: bool
    """Whether the right side is known; else it is written."""
    right: Floats
    """(3, m) right side of the system, without springs [kg m]."""
    moves: Floats
    """(3, m) start of the solution, in addition to free motion; written to [m]."""
    nodes: Floats
    """(3, m) nodes at the end of the step; written to [m]."""
    previous_nodes: Floats
    """(3, m) nodes that they come from, by their velocities; written to [m]."""
    points: Floats
    """(3, p) points at the end of the step, outside of contact planes; written to [m]."""


Struct(
    "solid_problem",
    SolidProblem,
    reads="system tolerance modulus h_squared start displacement is_stressed",
    shares="right moves nodes previous_nodes points",
)


@kernel()
def solve_solids(problems: Sequence[SolidProblem]) -> None:
    """Solves for stress, pins and contacts of solids, and updates their velocities."""
    for each in problems:
        system = each.system
        if not each.is_stressed:
            given = system.parts[0].lattice, each.start, system.parts[0].corotations
            forces, opposed = find_stress(*given, each.modulus, each.displacement)
            each.right[:] = each.h_squared * forces - opposed
        solve_contacts(system, each.right, each.moves, each.tolerance)
        found = update_velocities(system, each.start, each.moves)
        each.nodes[:], each.previous_nodes[:] = found
        each.moves[:] = each.nodes - system.predicted_nodes
        each.points[:] = clamp_points(system, each.moves)
