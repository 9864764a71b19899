"""Rope contacts in C: the functions of `numpy_rope_contacts`, by rope_contacts.c."""

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import declare, falls_back_to
from . import numpy_rope_contacts as reference
from .numpy_rope_contacts import CONTACT_TOLERANCE, MAX_CONTACT_SWEEPS

_gather_responses = declare("gather_responses", "iiprrrp")
_solve_contact_system = declare("solve_contact_system", "irppppid")


@falls_back_to(reference.gather_responses)
def gather_responses(
    fields: Floats, particles: Integers, shares: Floats, directions: Floats
) -> Floats:
    count = particles.shape[1]
    responses = np.empty((count, 3, count, 3))
    _gather_responses(count, fields.shape[2], fields, particles, shares, directions, responses)
    return responses


@falls_back_to(reference.solve_contact_system)
def solve_contact_system(
    responses: Floats, separations: Floats, targets: Floats, friction: Floats, impulses: Floats
) -> None:
    _solve_contact_system(
        len(targets),
        responses,
        separations,
        targets,
        friction,
        impulses,
        MAX_CONTACT_SWEEPS,
        CONTACT_TOLERANCE,
    )
