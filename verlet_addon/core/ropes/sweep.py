"""One sweep over the lengths of ropes, which solves them to tolerance."""

from ..arrays import Floats
from ..stretch.kernels import project_strips, strain_range
from .constraints import RopeBatches
from .kernels import project_trees

ROPE_STRAIN_TOLERANCE = 1e-7
"""Largest relative error of an edge's length after a sweep. 1e-6 and 1e-8 pass the same tests; 1e-5
is more than ropes may stretch."""
MAX_ROPE_ROUNDS = 30
"""Rounds of a sweep at most, for a rope pulled from both ends cannot keep its length; half or twice
as many do as well."""


def project_ropes(positions: Floats, batches: RopeBatches) -> None:
    """Projects the lengths of ropes until all of them hold to ROPE_STRAIN_TOLERANCE.

    One Newton step is not enough where a rope turns sharply within a time step.
    """
    for _ in range(MAX_ROPE_ROUNDS if batches.strips else 0):
        project_trees(positions, batches.trees)
        project_strips(positions, batches.rings)
        lowest, highest = strain_range(positions, batches.strips)
        if max(-lowest, highest) < ROPE_STRAIN_TOLERANCE:
            break
