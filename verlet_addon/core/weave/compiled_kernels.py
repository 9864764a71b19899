"""Woven cloth in C: the function of `numpy_kernels`, compiled."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import Packed, cached_struct, declare, falls_back_to, members, pack, shared_arrays
from . import numpy_kernels as reference
from .constraints import WeaveBatch
from .numpy_kernels import (
    LINE_SEARCH_ROUNDS,
    MAX_BUCKLING,
    MAX_WEAVE_CG_ROUNDS,
    NEGLIGIBLE_RESIDUAL,
    WEAVE_RESIDUAL,
    WOLFE_CURVATURE,
)

_project_weave = declare("project_weave", "ppp")
_LIMITS = pack(
    WEAVE_RESIDUAL, NEGLIGIBLE_RESIDUAL, WOLFE_CURVATURE, MAX_WEAVE_CG_ROUNDS, LINE_SEARCH_ROUNDS
)


@cached_struct
def _struct(batch: WeaveBatch) -> Packed:
    """The `weave_batch` struct of kernels.c."""
    patches, particles = len(batch.corners), len(batch.masses)
    pair_numbers, starts, others = _find_pairs(batch.corners, particles)
    return pack(
        patches,
        particles,
        *members(
            batch,
            "corners gradients hourglass_gradients",
        ),
        *shared_arrays(batch, "rests"),
        *members(batch, "stiffnesses compression_stiffnesses masses free"),
        *shared_arrays(batch, "displacement multipliers"),
        MAX_BUCKLING,
        pair_numbers,
        len(others),
        starts,
        others,
        np.empty((patches, 26)),
        *np.empty((2, particles, 9)),
        np.empty((len(others), 9)),
        *np.empty((6, particles, 3)),
    )


def _find_pairs(corners: Integers, count: int) -> tuple[Integers, Integers, Integers]:
    """(t, 6) pair of each two corners, (n + 1,) start of each particle's pairs, and (m,) others.

    A pair is listed at its particle of lower number, with the other particle in the last array. A
    repeated corner forms no pair with itself: −1.
    """
    one, other = (corners[:, ends] for ends in np.triu_indices(4, 1))
    ends = np.stack([np.minimum(one, other), np.maximum(one, other)])
    keys, pair_numbers = np.unique(ends[0] * count + ends[1], return_inverse=True)
    first, second = np.divmod(keys, count)
    distinct = first != second
    numbers = np.where(distinct, np.cumsum(distinct) - 1, -1)
    starts = np.searchsorted(first[distinct], np.arange(count + 1))
    return numbers[pair_numbers.reshape(-1, 6)], starts, second[distinct]


@falls_back_to(reference.project_weave)
def project_weave(positions: Floats, batches: Iterable[WeaveBatch]) -> None:
    for batch in batches:
        _project_weave(positions, _struct(batch), _LIMITS.address)
