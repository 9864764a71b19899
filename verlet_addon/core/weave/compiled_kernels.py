"""Woven triangles in C: what `numpy_kernels` does, by the functions of kernels.c."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, address, declare, once, pack
from .numpy_kernels import ROUNDS, TOLERANCE
from .threads import WeaveBatch

_project_weave = declare("project_weave", "ppdi")


@once
def _struct(batch: WeaveBatch) -> Packed:
    """The weave_batch of kernels.c."""
    triangles, particles = len(batch.triangles), len(batch.masses)
    return pack(
        triangles,
        particles,
        batch.triangles,
        batch.slopes,
        batch.rests,
        batch.firmness,
        batch.masses,
        batch.free,
        batch.displacement,
        batch.multipliers,
        np.empty((triangles, 14)),
        np.empty((particles, 9)),
        *np.empty((6, particles, 3)),
    )


def project_weave(positions: Floats, batches: Iterable[WeaveBatch]) -> None:
    """See `numpy_kernels`."""
    for batch in batches:
        _project_weave(address(positions), _struct(batch), TOLERANCE, ROUNDS)
