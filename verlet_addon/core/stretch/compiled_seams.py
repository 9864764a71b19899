"""Seams in C: what `numpy_seams` does, by the function of seams.c."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, for_all, instead_of, members, once, pack, row_of, shared
from . import numpy_seams as reference
from .seams import FIRMER, SeamBatch

_project_seams = declare("project_seams", "pipi")


@once
def _seam_struct(batch: SeamBatch) -> Packed:
    """The seam_batch of seams.c."""
    return pack(
        len(batch.first),
        *members(batch, "first second inverse_masses gains"),
        np.stack([batch.greatest, FIRMER * batch.greatest]),
        *members(batch, "gapes near"),
        *shared(batch, "closed torn multipliers"),
    )


_seam_row = row_of(_seam_struct)


@instead_of(reference.project_seams)
def project_seams(positions: Floats, batches: Iterable[SeamBatch]) -> None:
    for_all(_project_seams, positions, _seam_row(batches))
