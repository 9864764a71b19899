"""Rest shapes of cells by the pose of the skin around them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Floats
from ..kernel import Struct, kernel
from ..solid import packed_cells as packed_cells  # the struct of lattices
from ..solid.kernels import CellPose, fit_rotations, relative_to_first
from ..solid.lattice import Lattice

MAX_POSE_STRAIN = 0.3
"""Norm up to which a pose's stretch of a cell is its rest shape: more than that, as in creases of a
skin, would turn cells inside out. An elbow bent by 130° keeps 0.985 of its volume; with twice as
much 0.96, and without, it flies apart."""


@dataclass(frozen=True, eq=False)
class Muscle:
    """The muscle in h cells."""

    fibres: Floats
    """(h, 3) directions of the fibres along the grid's axes, as long as the share of muscle."""


Struct("muscle", Muscle, reads="fibres")


@kernel()
def pose_cells(
    lattice: Lattice,
    nodes: Floats,
    poses: Sequence[CellPose],
    muscles: Sequence[Muscle],
    keep_volume: float,
    muscle_length: float,
) -> None:
    """Sets the rest shapes of all cells, whose posed nodes are at (3, m) [m].

    A cell's posed shape is turned back, R_pᵀ P; of its stretch S_p, up to MAX_POSE_STRAIN of it is
    its rest shape, and of that 1 − `keep_volume`. Fibres are `muscle_length` times as long at
    rest, and as much thicker as keeps their volume. `poses` are written to.
    """
    for cells, pose, muscle in zip(lattice.groups, poses, muscles, strict=True):
        follow, eye = 1.0 - keep_volume, np.eye(3)
        offsets = relative_to_first(cells, nodes).transpose(1, 2, 0)
        shape = relative_to_first(cells, lattice.nodes).transpose(1, 2, 0)
        gradients = cells.elements.gradients[cells.kinds]
        deformation = np.einsum("eca,eck->eak", offsets, gradients)
        fit_rotations(pose.quaternions, pose.rotations, deformation)
        local = np.einsum("eba,ecb->eca", pose.rotations, offsets)
        stretch = np.einsum("eba,ebk->eak", pose.rotations, deformation)
        strain = stretch - eye
        size = np.sqrt((strain * strain).sum(axis=(1, 2)))
        share = np.minimum(1.0, MAX_POSE_STRAIN / np.maximum(size, NONZERO))
        rest = eye + follow * share[:, None, None] * strain
        taken_out = rest - follow * stretch
        fibres = muscle.fibres
        weight = np.sqrt((fibres * fibres).sum(axis=1))
        along = 1.0 + (muscle_length - 1.0) * weight
        across = 1.0 / np.sqrt(along)
        squares = np.einsum("ea,eb->eab", fibres, fibres)
        squares *= ((along - across) / np.maximum(weight * weight, NONZERO))[:, None, None]
        taken_out += np.einsum("eab,ebc->eac", squares + (across - 1.0)[:, None, None] * eye, rest)
        pose.rests[:] = follow * local + np.einsum("eab,ecb->eca", taken_out, shape)
        pose.ratios[:] = np.linalg.det(rest)
