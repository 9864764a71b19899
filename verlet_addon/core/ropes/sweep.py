"""One sweep over ropes, which solves them to tolerance."""

from ..arrays import Floats
from ..stretch.compiled_kernels import project_strips, strain_range
from .compiled_kernels import project_trees
from .constraints import RopeBatches

ROPE_STRAIN_TOLERANCE = 1e-7
"""Ropes are solved until every edge keeps its length to this share. With 1e-6 and
1e-8 all laws hold alike; 1e-5 is more than ropes promise."""
MAX_ROPE_ROUNDS = 30
"""Give up after so many rounds, as after half or twice as many: a rope pulled from both ends cannot
keep its length."""


def project_ropes(positions: Floats, batches: RopeBatches) -> None:
    """Solves ropes until no edge is longer or shorter than it should be by the tolerance.

    One Newton step is not enough where a rope turns sharply within a step.
    """
    for _ in range(MAX_ROPE_ROUNDS if batches.strips else 0):
        project_trees(positions, batches.trees)
        project_strips(positions, batches.rings)
        lowest, highest = strain_range(positions, batches.strips)
        if max(-lowest, highest) < ROPE_STRAIN_TOLERANCE:
            break
