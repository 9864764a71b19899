"""Shells in C: what `numpy_kernels` does."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, instead_of, members, once, pack
from ..linear.compiled_dissection import pack_factors
from . import numpy_kernels as reference
from .system import Factored, ShellSystem

_linearize = declare("linearize_shell", "ppp", "d")
_multiply = declare("multiply_shell", "ppp")
_precondition = declare("precondition_shell", "ppipp")


@once
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
            "angle_rests masses slopes bare",
        ),
        np.empty((2, n, 3)),
    )


@once
def _factored_struct(factored: Factored) -> Packed:
    """The factored of kernels.c."""
    free = factored.free
    values = np.zeros((1, factored.factors.size + 1))
    return pack(len(free), free, factored.components, pack_factors(factored.factors, values))


@instead_of(reference.linearize)
def linearize(system: ShellSystem, positions: Floats) -> tuple[Floats, float]:
    pull = np.empty_like(positions)
    energy = _linearize(_system_struct(system), positions, pull)
    return pull, float(energy)


@instead_of(reference.multiply)
def multiply(system: ShellSystem, moves: Floats) -> Floats:
    found = np.empty_like(moves)
    _multiply(_system_struct(system), moves, found)
    return found


@instead_of(reference.precondition)
def precondition(factored: Factored, rotations: Floats, right: Floats) -> Floats:
    found = np.empty_like(right)
    _precondition(_factored_struct(factored), rotations, right.shape[1], right, found)
    return found
