"""Velocity update of a solid: momentum, and rolling resistance by hysteresis at its contacts."""

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, cross, sum_by
from ..contacts.manifold.plane import along
from ..kernel import kernel
from ..linear.rotations import axial_vectors
from ..momentum.kernels import conserve_momentum, find_rotation_vectors
from .lattice import Embedding
from .linear_system import SolidSystem

ROLLING_LEVER = 3.0 / 16.0 * np.sqrt(5.0)
"""Lever of the load in the moment that resists rolling, as a multiple of the load's standard
deviation along the direction of rolling. The moment is 3/16 α a P (D. Tabor, 1955; K. L. Johnson,
*Contact Mechanics*, 1985, eq. 9.2) with load P, and a half-width a of the contact area that is √5
times that deviation for Hertz's pressure. The hysteresis loss α is 1, the whole work of
compression; with less, bodies that fall from a metre and topple would still rock at 0.1 m/s after
three seconds."""


def resist_rolling(
    system: SolidSystem, start: Floats, nodes: Floats, support_turn: Floats | float = 0.0
) -> None:
    """Reduces the rolling rotation of components in contact; `nodes` is written to.

    A sticking body rotates about its contact area, and its translation is reduced with its
    rotation. A sliding one rotates about its centre of mass. A body that rotates while the cells in
    contact do not tilts, and does not roll. The lever is at most friction × height of the centre of
    mass.

    Parameters
    ----------
    start, nodes : (3, m) nodes at the start and at the end of the step [m].
    support_turn : (3,) rotation vector of the support, without the part contained in `start`.
    """
    contacts, embedding, masses = system.contacts, system.embedding, system.masses
    components = system.components
    points = np.flatnonzero(contacts.normal_forces > 0.0)
    sliding = contacts.friction_stiffnesses[points] < contacts.stiffnesses[points]
    carriers, weights = embedding.nodes[points], embedding.weights[points]
    labels, before = components[carriers[:, 0]], nodes.copy()
    contact_points = (weights * nodes[:, carriers]).sum(axis=2)
    loads = node_loads(embedding, contacts.normal_forces, len(masses))
    for label in np.unique(labels[labels >= 0]):
        load = np.where(labels == label, contacts.normal_forces[points], 0.0)
        total = float(load.sum())
        centre = (load * contact_points).sum(axis=1) / total
        normal = (load * contacts.normals[:, points]).sum(axis=1)
        normal /= max(_length(normal), NONZERO)
        friction = float((load * contacts.frictions[points]).sum()) / total
        members = np.flatnonzero(components == label)
        arms, node_masses = before[:, members] - centre[:, None], masses[members]
        moved = before[:, members] - start[:, members]
        middle = (arms * node_masses).sum(axis=1) / node_masses.sum()
        slid = float(np.where(sliding, load, 0.0).sum()) / total
        arms_rolled = arms - slid * middle[:, None]
        spin, second = _spin_and_second(node_masses, arms_rolled, moved)
        spin -= normal * (normal * spin).sum()
        turn = find_rotation_vectors(second, spin)[0]
        cell_turn = rotation_vector(loads[members], before[:, members], moved) - support_turn
        rolls = float((cell_turn * turn).sum()) / max(float((turn * turn).sum()), NONZERO)
        rolls = min(max(rolls, 0.0), 1.0)
        turn = rolls * turn
        ahead = cross(turn, normal)
        reach = along(ahead / max(_length(ahead), NONZERO), contact_points - centre[:, None])
        width = float(np.sqrt((load * reach * reach).sum() / total))
        lever = min(ROLLING_LEVER * width, friction * max(float((normal * middle).sum()), 0.0))
        share = min(1.0, lever * total / max(rolls * _length(spin[0]), NONZERO))
        nodes[:, members] -= cross(share * turn, arms_rolled)


def node_loads(embedding: Embedding, normal_forces: Floats, count: int) -> Floats:
    """(m,) normal forces (p,) distributed to nodes by |weight|, for m = `count`."""
    points = np.flatnonzero(normal_forces > 0.0)
    shares = np.abs(embedding.weights[points]) * normal_forces[points, None]
    return sum_by(embedding.nodes[points].ravel(), shares.ravel(), count)


def rotation_vector(weights: Floats, positions: Floats, moved: Floats) -> Floats:
    """(3,) best-fit rotation vector of positions (3, n) moved by (3, n), with weights (n,).

    It is 0 without any weight, as of flesh that is touched where it has only bone.
    """
    total = weights.sum() or 1.0
    arms = positions - (weights * positions).sum(axis=1, keepdims=True) / total
    displacements = moved - (weights * moved).sum(axis=1, keepdims=True) / total
    spin, second = _spin_and_second(weights, arms, displacements)
    return np.asarray(find_rotation_vectors(second, spin)[0])


def _spin_and_second(weights: Floats, arms: Floats, moved: Floats) -> tuple[Floats, Floats]:
    """(1, 3) Σ w a × d and (1, 3, 3) Σ w a aᵀ, for arms a and displacements d (3, n)."""
    weighted_arms = weights * arms
    spin = axial_vectors(np.einsum("ik,jk->ij", moved, weighted_arms)[None])
    return spin, np.einsum("ik,jk->ij", weighted_arms, arms)[None]


def _length(vector: Floats) -> float:
    """The length of a vector (3,)."""
    return float(np.sqrt((vector * vector).sum()))


@kernel(result=lambda _, start, __: (np.empty_like(start), np.empty_like(start)))
def update_velocities(system: SolidSystem, start: Floats, moves: Floats) -> tuple[Floats, Floats]:
    """(3, m) nodes, and (3, m) previous nodes, whose difference is the velocity × h.

    Components without contact or pin forces keep their momentum; rolling ones are slowed. Rolling
    resistance changes previous nodes alone: if it rotated the body, flat contact areas would be
    pressed into the ground.

    Parameters
    ----------
    start : (3, m) nodes at the start of the step [m].
    moves : (3, m) solution of the system [m].
    """
    nodes = system.predicted_nodes + moves
    nodes = conserve_momentum(
        system.components,
        1.0 / system.masses,
        np.where(_loaded_nodes(system), nodes, system.predicted_nodes),
        nodes,
        about=start,
    )
    slowed_nodes = nodes.copy()
    resist_rolling(system, start, slowed_nodes)
    return nodes, start + (nodes - slowed_nodes)


def _loaded_nodes(system: SolidSystem) -> Booleans:
    """(m,) bool, nodes of components with contact forces or pins."""
    loaded = np.append(
        np.flatnonzero(system.contacts.normal_forces > 0.0), system.pin_springs.points
    )
    is_loaded = np.zeros(system.components.max(initial=0) + 2, dtype=bool)
    is_loaded[system.components[system.embedding.nodes[loaded, 0]]] = True
    return np.asarray(is_loaded[system.components])
