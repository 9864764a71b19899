"""Seams in C: `numpy_seams`, by the function of seams.c."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats
from ..compiled import (
    Packed,
    cached_row,
    cached_struct,
    declare,
    falls_back_to,
    for_all,
    members,
    pack,
    shared_arrays,
)
from . import numpy_seams as reference
from .seams import CLOSED_SEAM_FACTOR, SeamBatch

_project_seams = declare("project_seams", "pipi")


@cached_struct
def _seam_struct(batch: SeamBatch) -> Packed:
    """The seam_batch of seams.c."""
    return pack(
        len(batch.first),
        *members(batch, "first second inverse_masses gains"),
        np.stack([batch.max_multipliers, CLOSED_SEAM_FACTOR * batch.max_multipliers]),
        *members(batch, "torn_gaps closed_gaps"),
        *shared_arrays(batch, "closed torn multipliers"),
    )


_seam_row = cached_row(_seam_struct)


@falls_back_to(reference.project_seams)
def project_seams(positions: Floats, batches: Iterable[SeamBatch]) -> None:
    for_all(_project_seams, positions, _seam_row(batches))
