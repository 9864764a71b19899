"""One sweep over the bends of a body."""

from ..arrays import Floats
from .constraints import BendBatches
from .kernels import (
    project_bend_paths,
    project_rope_bends,
    project_stiff_bends,
    project_surface_bends,
)


def project_bends(positions: Floats, bends: BendBatches, *, backwards: bool) -> None:
    """Projects all bends of ropes and surfaces, at positions (3, n).

    Ropes alone go `backwards`. The order of surfaces is constant, because damping compares their
    bends from step to step.
    """
    project_rope_bends(positions, bends.ropes[:: -1 if backwards else 1])
    project_stiff_bends(positions, bends.stiff)
    project_bend_paths(positions, bends.paths)
    project_surface_bends(positions, bends.soft)
