"""Corotational elasticity of cells, and interpolation of points."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Floats, Integers, cofactors, sum_by
from ..kernel import Sized, Struct, kernel
from ..linear.rotations import axial_vectors
from ..momentum.kernels import find_rotation_vectors
from . import packed_cells as packed_cells  # the struct of lattices
from .elements import FIRST_LAME
from .lattice import Cells, Embedding, Lattice

ROTATION_ROUNDS = 10
"""Maximum rounds of the rotation fit of a cell; one or two are enough for slow rotation. Half and
twice as many give the same bakes."""
ROTATION_TOLERANCE = 1e-9
"""Convergence: a round changes the rotation by less than this [rad]. Half and twice as much move
jelly by 0.03 mm."""
MAX_SQUARED_STRETCH = 8.0
"""Upper bound of |F|² in the volume term: beyond, the resistance grows no further. Half and twice
as much give the same bakes; without, jelly that starts ten times too large diverges."""


BOX_NUMBERS = 19
"""Size of the state of a box in C [numbers]."""


@dataclass(frozen=True, eq=False)
class Corotation:
    """Rotations and volume gradients of h cells with w nodes each."""

    quaternions: Floats
    """(h, 4) rotation of each cell from rest; w, x, y, z."""
    rotations: Floats
    """(h, 3, 3) the same rotations as matrices R."""
    volume_gradients: Floats
    """(h, w, 3) gradients ∇J of the cell's relative volume J at its nodes [1/m]."""


@dataclass(frozen=True, eq=False)
class CellPose:
    """Rest shapes of h cells with w nodes each, as something else poses them at the moment."""

    quaternions: Floats
    """(h, 4) rotation of each cell from the grid's axes by its pose; w, x, y, z."""
    rotations: Floats
    """(h, 3, 3) the same rotations as matrices."""
    rests: Floats
    """(h, w, 3) rest positions along the grid's axes, from the cell's first node [m]."""
    ratios: Floats
    """(h,) volume at rest over that in the lattice."""


Struct("cell_pose", CellPose, shares="quaternions rotations rests ratios")
Struct(
    "solid_corotation",
    Corotation,
    shares="quaternions rotations volume_gradients",
    scratch={"growths": lambda corotation: len(corotation.quaternions)},
    boxes=(
        "struct solid_box_state",
        lambda corotation: np.zeros((len(corotation.quaternions), BOX_NUMBERS, 4)),
    ),
)
Struct(
    "solid_embedding",
    Embedding,
    reads="nodes weights",
    points=(int, lambda embedding: len(embedding.nodes)),
    width=(int, lambda embedding: embedding.nodes.shape[1]),
)


@kernel(
    result=lambda _, nodes, *__: (np.empty_like(nodes), np.empty_like(nodes)),
    work=lambda _, nodes, *__: np.empty((2, nodes.shape[1], 4)),
)
def find_stress(
    lattice: Lattice,
    nodes: Floats,
    corotations: Sequence[Corotation],
    modulus: float,
    moves: Floats,
) -> tuple[Floats, Floats]:
    """(3, m) elastic forces at nodes (3, m) [N], and (3, m) the stiffness times moves (3, m) [N].

    `corotations`, of each group of cells in the step before, are updated.
    """
    return stress_of(lattice, nodes, corotations, [None, None], modulus, moves)


@kernel(
    result=lambda _, nodes, *__: (np.empty_like(nodes), np.empty_like(nodes)),
    work=lambda _, nodes, *__: np.empty((2, nodes.shape[1], 4)),
)
def find_posed_stress(
    lattice: Lattice,
    nodes: Floats,
    corotations: Sequence[Corotation],
    poses: Sequence[CellPose],
    modulus: float,
    moves: Floats,
) -> tuple[Floats, Floats]:
    """Forces and products as of `find_stress`, of cells with rest shapes by poses."""
    return stress_of(lattice, nodes, corotations, poses, modulus, moves)


def stress_of(
    lattice: Lattice,
    nodes: Floats,
    corotations: Sequence[Corotation],
    poses: Sequence[CellPose | None],
    modulus: float,
    moves: Floats,
) -> tuple[Floats, Floats]:
    """Forces as of `find_stress`, of cells whose rest shapes are those of poses, where given."""
    forces = np.zeros_like(nodes)
    for cells, corotation, pose in zip(lattice.groups, corotations, poses, strict=True):
        update_corotation(cells, nodes, corotation, pose)
        forces += elastic_forces(cells, lattice.nodes, nodes, corotation, pose, modulus)
    return forces, stiffness_product(lattice, corotations, modulus, moves)


def update_corotation(
    cells: Cells, nodes: Floats, corotation: Corotation, pose: CellPose | None = None
) -> None:
    """Updates the rotation of each cell, from that of the step before, and its volume gradients.

    Gradients are divided by the root of the volume at rest, so that their product is the change of
    pressure. A rotation that is more than 90° from that of a pose starts from the latter.

    M. Müller, J. Bender, N. Chentanez, M. Macklin, *A Robust Method to Extract the Rotational Part
    of Deformations* (2016), eq. 7, with steps of Newton's method. `corotation` is written to.
    """
    gradients = cells.elements.gradients[cells.kinds]
    deformation = np.einsum("aec,eck->eak", relative_to_first(cells, nodes), gradients)
    if pose is not None:
        agreement = (corotation.quaternions * pose.quaternions).sum(axis=1)
        lost = agreement * agreement < 0.5
        corotation.quaternions[lost] = pose.quaternions[lost]
    fit_rotations(corotation.quaternions, corotation.rotations, deformation)
    corotation.volume_gradients[:] = np.einsum(
        "eak,eck->eca", cofactors(_clamped(deformation))[0], gradients
    )
    if pose is not None:
        corotation.volume_gradients[:] /= np.sqrt(pose.ratios)[:, None, None]


def _clamped(deformation: Floats) -> Floats:
    """(h, 3, 3) deformation gradients F, scaled to |F|² ≤ MAX_SQUARED_STRETCH."""
    share = np.sqrt(MAX_SQUARED_STRETCH / np.maximum((deformation**2).sum(axis=(1, 2)), NONZERO))
    return np.asarray(deformation * np.minimum(1.0, share)[:, None, None])


def fit_rotations(quaternions: Floats, rotations: Floats, deformation: Floats) -> None:
    """Fits quaternions (h, 4) to deformation gradients (h, 3, 3), and sets their matrices.

    Both are written to.
    """
    _fit_quaternions(quaternions, deformation)
    rotations[:] = _matrices(quaternions)


def _fit_quaternions(quaternions: Floats, deformation: Floats) -> None:
    """Fits quaternions (h, 4) to deformation gradients (h, 3, 3); they are written to."""
    open_ = np.arange(len(quaternions))
    for _ in range(ROTATION_ROUNDS):
        turn = _rotation_steps(_matrices(quaternions[open_]), deformation[open_])
        unsettled = (turn * turn).sum(axis=1) > ROTATION_TOLERANCE**2
        open_ = open_[unsettled]
        if not len(open_):
            return
        quaternions[open_] = _rotated(quaternions[open_], turn[unsettled])


def _rotation_steps(rotations: Floats, deformation: Floats) -> Floats:
    """(h, 3) rotation vectors of one round of the fit.

    Newton's method for the largest tr(Rᵀ F). Where its step would descend, as it may in flat or
    inverted cells, Müller's step.
    """
    products = np.einsum("eak,ebk->eab", deformation, rotations)
    spin = axial_vectors(products)
    newton = find_rotation_vectors((products + products.transpose(0, 2, 1)) / 2.0, spin)
    along = np.abs(np.trace(products, axis1=1, axis2=2)) + 1e-9
    ascends = (newton * spin).sum(axis=1, keepdims=True) > 0.0
    return np.where(ascends, newton, spin / along[:, None])


def _rotated(quaternions: Floats, turns: Floats) -> Floats:
    """(h, 4) quaternions after small rotation vectors (h, 3) in world space."""
    half = 0.5 * turns
    w, v = quaternions[:, :1], quaternions[:, 1:]
    products = np.concatenate(
        [w - (half * v).sum(axis=1, keepdims=True), v + w * half + np.cross(half, v)], axis=1
    )
    return np.asarray(products / np.sqrt((products * products).sum(axis=1, keepdims=True)))


def _matrices(quaternions: Floats) -> Floats:
    """(h, 3, 3) rotation matrices of quaternions (h, 4)."""
    w, x, y, z = quaternions.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(2, 0, 1)


def elastic_forces(
    cells: Cells,
    rest: Floats,
    nodes: Floats,
    corotation: Corotation,
    pose: CellPose | None,
    modulus: float,
) -> Floats:
    """(3, m) elastic forces [N]: −R K (Rᵀ x − X) − λ V (J/J₀ − 1) ∇J, summed over cells.

    X and J₀ are rest positions and volume ratio of a pose; without one those of the lattice, and 1.
    """
    elements, kinds = cells.elements, cells.kinds
    offsets = relative_to_first(cells, nodes).transpose(1, 2, 0)
    local = _turned_back(corotation, offsets)
    local -= relative_to_first(cells, rest).transpose(1, 2, 0) if pose is None else pose.rests
    forces = _rotated_stiffness(cells, corotation, local)
    gradients = elements.gradients[kinds]
    deformation = np.einsum("eca,eck->eak", offsets, gradients)
    ratios = 1.0 if pose is None else pose.ratios
    # The gradients have the root of the ratio as their divisor.
    growth = (np.linalg.det(_clamped(deformation)) / ratios - 1.0) * np.sqrt(ratios)
    forces += (FIRST_LAME * elements.volumes[kinds] * growth)[
        :, None, None
    ] * corotation.volume_gradients
    return _scattered(cells, forces, nodes.shape[1], -modulus)


def relative_to_first(cells: Cells, nodes: Floats) -> Floats:
    """(3, h, w) positions relative to each cell's first node, against cancellation [m]."""
    return np.asarray(nodes[:, cells.nodes] - nodes[:, cells.nodes[:, :1]])


def stiffness_product(
    lattice: Lattice, corotations: Sequence[Corotation], modulus: float, moves: Floats
) -> Floats:
    """(3, m) tangent stiffness times moves v (3, m) [N]: Σ (R K Rᵀ + λ V ∇J ∇Jᵀ) v."""
    total = np.zeros_like(moves)
    for cells, corotation in zip(lattice.groups, corotations, strict=True):
        each = moves[:, cells.nodes].transpose(1, 2, 0)
        forces = _rotated_stiffness(cells, corotation, _turned_back(corotation, each))
        growth = (corotation.volume_gradients * each).sum(axis=(1, 2))
        pressure = FIRST_LAME * cells.elements.volumes[cells.kinds] * growth
        forces += pressure[:, None, None] * corotation.volume_gradients
        total += _scattered(cells, forces, moves.shape[1], modulus)
    return total


def _turned_back(corotation: Corotation, vectors: Floats) -> Floats:
    """(h, w, 3) Rᵀ v, for vectors v (h, w, 3): sums over whole arrays, quicker than einsum's."""
    rotations = corotation.rotations[:, None]
    turned = vectors[..., :1] * rotations[:, :, 0]
    turned += vectors[..., 1:2] * rotations[:, :, 1]
    turned += vectors[..., 2:] * rotations[:, :, 2]
    return np.asarray(turned)


def _rotated_stiffness(cells: Cells, corotation: Corotation, local: Floats) -> Floats:
    """(h, w, 3) R K u, for displacements u (h, w, 3) in the cells' frames."""
    stiffness = cells.elements.stiffnesses
    if len(stiffness) == 1:  # of whole cells alone, without a copy for each
        stiffness = np.broadcast_to(stiffness, (len(local), *stiffness.shape[1:]))
    else:
        stiffness = stiffness[cells.kinds]
    forces = np.einsum("eij,ej->ei", stiffness, local.reshape(len(local), stiffness.shape[1]))
    forces = forces.reshape(local.shape)
    # In the order in which einsum adds these up, which takes twice as long.
    x, y, z = (forces[..., k, None] * corotation.rotations[:, None, :, k] for k in range(3))
    x += z
    x += y
    return np.asarray(x)


def _scattered(cells: Cells, forces: Floats, count: int, factor: float) -> Floats:
    """(3, m) sums of forces (h, w, 3) at nodes, times a factor."""
    nodes = cells.nodes.ravel()
    return factor * np.stack([sum_by(nodes, forces[:, :, a].ravel(), count) for a in range(3)])


@kernel(result=lambda embedding, _: np.empty((3, len(embedding.nodes))))
def interpolate(embedding: Embedding, nodes: Sized) -> Floats:
    """(3, p) points interpolated from nodes (3, m) [m]."""
    return np.asarray(np.einsum("pc,apc->ap", embedding.weights, nodes[:, embedding.nodes]))


def scatter_to_nodes(embedding: Embedding, points: Integers, forces: Floats, nodes: Floats) -> None:
    """Adds forces (k, 3) at points (k,) to `nodes` (3, m), by interpolation weights."""
    corners, m = embedding.nodes[points], nodes.shape[1]
    for axis in range(3):
        shares = embedding.weights[points] * forces[:, axis : axis + 1]
        nodes[axis] += sum_by(corners.ravel(), shares.ravel(), m)
