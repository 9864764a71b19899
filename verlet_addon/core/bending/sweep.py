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
    """Draws ropes and surfaces back to their rest angles."""
    way = slice(None, None, -1) if backwards else slice(None)
    project_rope_bends(positions, bends.ropes[way])
    project_stiff_bends(positions, bends.stiff)
    project_bend_strips(positions, bends.strips[way])
    project_face_loops(positions, bends.loops[way])
    project_surface_bends(positions, bends.alone[way])
