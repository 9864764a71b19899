"""Woven cloth in C: what `numpy_kernels` does."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import Packed, declare, instead_of, members, once, pack, shared
from . import numpy_kernels as reference
from .numpy_kernels import BUCKLED, CONJUGATE_ROUNDS, CURBED, RESIDUAL, TRIES, UNBALANCED
from .threads import WeaveBatch

_project_weave = declare("project_weave", "ppp")
_LIMITS = pack(RESIDUAL, UNBALANCED, CURBED, CONJUGATE_ROUNDS, TRIES)


@once
def _struct(batch: WeaveBatch) -> Packed:
    """The weave_batch of kernels.c."""
    patches, particles = len(batch.corners), len(batch.masses)
    places, starts, others = _find_pairs(batch.corners, particles)
    return pack(
        patches,
        particles,
        *members(
            batch,
            "corners slopes spreads",
        ),
        *shared(batch, "rests"),
        *members(batch, "firmness pushed masses free"),
        *shared(batch, "displacement multipliers"),
        BUCKLED,
        places,
        len(others),
        starts,
        others,
        np.empty((patches, 26)),
        *np.empty((2, particles, 9)),
        np.empty((len(others), 9)),
        *np.empty((6, particles, 3)),
    )


def _find_pairs(corners: Integers, count: int) -> tuple[Integers, Integers, Integers]:
    """(t, 6) the pair of particles that each pair of corners is; where those of each begin; others.

    Pairs stand with their first particle; a corner that stands twice makes none with itself, −1.
    """
    one, other = (corners[:, ends] for ends in np.triu_indices(4, 1))
    ends = np.stack([np.minimum(one, other), np.maximum(one, other)])
    keys, places = np.unique(ends[0] * count + ends[1], return_inverse=True)
    first, second = np.divmod(keys, count)
    apart = first != second
    numbers = np.where(apart, np.cumsum(apart) - 1, -1)
    starts = np.searchsorted(first[apart], np.arange(count + 1))
    return numbers[places.reshape(-1, 6)], starts, second[apart]


@instead_of(reference.project_weave)
def project_weave(positions: Floats, batches: Iterable[WeaveBatch]) -> None:
    for batch in batches:
        _project_weave(positions, _struct(batch), _LIMITS.address)
