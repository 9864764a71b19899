"""Woven cloth in C: what `numpy_kernels` does, by the functions of kernels.c."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, instead_of, members, once, pack
from . import numpy_kernels as reference
from .numpy_kernels import BUCKLED, CONJUGATE_ROUNDS, CURBED, LEAST, RESIDUAL, TRIES
from .threads import WeaveBatch

_project_weave = declare("project_weave", "ppp")
_LIMITS = pack(RESIDUAL, LEAST, CURBED, CONJUGATE_ROUNDS, TRIES)


@once
def _struct(batch: WeaveBatch) -> Packed:
    """The weave_batch of kernels.c."""
    patches, particles = len(batch.corners), len(batch.masses)
    return pack(
        patches,
        particles,
        *members(
            batch,
            "corners slopes spreads rests firmness pushed masses free displacement multipliers",
        ),
        BUCKLED,
        np.empty((patches, 26)),
        np.empty((particles, 9)),
        *np.empty((6, particles, 3)),
    )


@instead_of(reference.project_weave)
def project_weave(positions: Floats, batches: Iterable[WeaveBatch]) -> None:
    for batch in batches:
        _project_weave(positions, _struct(batch), _LIMITS.address)
