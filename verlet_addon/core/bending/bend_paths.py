"""Straight bends along paths: each path is solved as one pentadiagonal system.

A path has rungs of one particle, as those of a strip of edges, or of two, as those of a row of
quads. A bend that is straight at rest is linear in the positions, so that the matrix of a path is
constant for one h².
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..linear.pentadiagonal import Bands


@dataclass(frozen=True, eq=False)
class BendPathBatch:
    """The l bends of paths that share no particle, prepared for steps of one length.

    Bend k has the particles of rung k and of the next ones.
    """

    rungs: Integers
    """(s, c) particles of each rung, path after path."""
    coefficients: Floats
    """(m, l) of a bend's particles, rung by rung [1/m]; 0 without a bend."""
    responses: Floats
    """(m, l) inverse mass × coefficient."""
    scaled_compliances: Floats
    """(l,) compliance / h²."""
    bands: Bands
    """The matrix of all bends, C M⁻¹ Cᵀ + α̃."""
    slots: Integers
    """(l,) column of each bend in `multipliers`."""
    multipliers: Floats
    """(3, t) XPBD multipliers by axis, which batches may share; changed by the kernel."""


def make_bend_paths(
    rungs: Integers,
    coefficients: Floats,
    scaled_compliances: Floats,
    slots: Integers,
    multipliers: Floats,
    *,
    inverse_masses: Floats,
    regularization: float,
) -> BendPathBatch:
    """The batch for inverse masses (n,).

    Parameters
    ----------
    regularization : share of the mobility added to the compliance.
    """
    span, count = len(coefficients) // len(rungs), len(scaled_compliances)
    masses = inverse_masses[rungs]
    responses = coefficients * np.concatenate([masses[:, k : k + count] for k in range(span)])
    mobility = (responses * coefficients).sum(axis=0)
    diagonal = mobility * (1.0 + regularization) + scaled_compliances
    rows = np.zeros((3, count))
    rows[0] = np.where(diagonal > 0.0, diagonal, 1.0)
    for k in range(1, span):
        own = len(rungs) * k
        rows[k, k:] = (responses[own:, :-k] * coefficients[:-own, k:]).sum(axis=0)
    return BendPathBatch(
        rungs, coefficients, responses, scaled_compliances, Bands(rows), slots, multipliers
    )
