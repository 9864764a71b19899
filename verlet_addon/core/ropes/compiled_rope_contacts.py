"""Rope contacts in C: the function of `numpy_rope_contacts`, by rope_contacts.c."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..compiled import declare, falls_back_to, pack
from ..contact.compiled_kernels import rows_struct
from ..contact.contact_rows import ContactRows
from . import numpy_rope_contacts as reference
from .compiled_kernels import tree_struct
from .numpy_rope_contacts import CONTACT_TOLERANCE, MAX_DESCENT_ROUNDS, RopeSlice

_solve_impulses = declare("solve_impulses", "pipppppppppid")


@falls_back_to(reference.solve_impulses)
def solve_impulses(
    positions: Floats,
    rows: ContactRows,
    ropes: Sequence[RopeSlice],
    violations: Floats,
    bounds: Floats,
    regularization: Floats,
    impulses: Floats,
) -> Floats:
    moved, work = np.zeros_like(positions), np.zeros_like(positions)
    slices = [pack(tree_struct(trees), own.start, own.stop - own.start) for own, trees in ropes]
    packed = pack(len(slices), pack(*slices))
    _solve_impulses(
        positions,
        positions.shape[1],
        rows_struct(rows),
        packed.address,
        violations,
        bounds,
        regularization,
        impulses,
        moved,
        work,
        np.empty((4, *impulses.shape)),
        MAX_DESCENT_ROUNDS,
        CONTACT_TOLERANCE,
    )
    return moved
