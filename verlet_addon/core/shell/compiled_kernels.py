"""Shells in C: the functions of `numpy_kernels`."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, cached_struct, declare, falls_back_to, members, pack
from ..linear.compiled_nested_dissection import pack_factors
from . import numpy_kernels as reference
from .shell_system import FactoredShell, ShellSystem

_linearize = declare("linearize_shell", "ppp", "d")
_multiply = declare("multiply_shell", "ppp")
_precondition = declare("precondition_shell", "ppipp")


@cached_struct
def _system_struct(system: ShellSystem) -> Packed:
    """The shell of kernels.c."""
    n = len(system.masses)
    return pack(
        n,
        len(system.rests),
        len(system.angle_rests),
        *members(
            system,
            "hinges members coefficients stiffnesses rests first second angle_stiffnesses "
            "angle_rests masses gradients isotropic_stiffnesses",
        ),
        np.empty((2, n, 3)),
    )


@cached_struct
def _factored_shell_struct(factored: FactoredShell) -> Packed:
    """The factored_shell of kernels.c."""
    free = factored.free
    values = np.zeros((1, factored.factors.size + 1))
    return pack(len(free), free, factored.components, pack_factors(factored.factors, values))


@falls_back_to(reference.linearize)
def linearize(system: ShellSystem, positions: Floats) -> tuple[Floats, float]:
    pull = np.empty_like(positions)
    energy = _linearize(_system_struct(system), positions, pull)
    return pull, float(energy)


@falls_back_to(reference.multiply)
def multiply(system: ShellSystem, moves: Floats) -> Floats:
    product = np.empty_like(moves)
    _multiply(_system_struct(system), moves, product)
    return product


@falls_back_to(reference.precondition)
def precondition(factored: FactoredShell, rotations: Floats, right: Floats) -> Floats:
    solution = np.empty_like(right)
    _precondition(_factored_shell_struct(factored), rotations, right.shape[1], right, solution)
    return solution
