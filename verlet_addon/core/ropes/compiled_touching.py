"""Contacts that answer each other in C: what `numpy_touching` does, by touching.c."""

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import declare, instead_of
from . import numpy_touching as reference
from .numpy_touching import SOLVED, SWEEPS

_gather_answers = declare("gather_answers", "iiprrrp")
_solve_coupled = declare("solve_coupled", "irppppid")


@instead_of(reference.gather_answers)
def gather_answers(
    fields: Floats, particles: Integers, shares: Floats, directions: Floats
) -> Floats:
    count = particles.shape[1]
    answers = np.empty((count, 3, count, 3))
    _gather_answers(count, fields.shape[2], fields, particles, shares, directions, answers)
    return answers


@instead_of(reference.solve_coupled)
def solve_coupled(
    answers: Floats, apart: Floats, targets: Floats, friction: Floats, impulses: Floats
) -> None:
    _solve_coupled(len(targets), answers, apart, targets, friction, impulses, SWEEPS, SOLVED)
