"""One sweep over everything that keeps angles."""

from ..arrays import Floats
from .compiled_kernels import (
    project_bend_strips,
    project_face_loops,
    project_rope_bends,
    project_stiff_bends,
    project_surface_bends,
)
from .constraints import BendBatches


def project_bends(positions: Floats, bends: BendBatches, *, backwards: bool) -> None:
    """Draws ropes and surfaces back to their rest angles.

    Surfaces always in the same order: what they are bent then is compared from step to step.
    """
    project_rope_bends(positions, bends.ropes[:: -1 if backwards else 1])
    project_stiff_bends(positions, bends.stiff)
    project_bend_strips(positions, bends.strips)
    project_face_loops(positions, bends.loops)
    project_surface_bends(positions, bends.soft)
