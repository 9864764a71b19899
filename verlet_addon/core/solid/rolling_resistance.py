"""Rolling resistance, from the inelastic flattening of a solid at its contacts."""

import numpy as np

from ..arrays import NONZERO, Floats, cross, sum_by
from ..contact.plane import along
from ..linear.rotations import axial_vectors
from ..momentum.numpy_kernels import find_rotation_vectors
from .lattice import Embedding
from .numpy_contact_solver import SolidSystem

ROLLING_LEVER = 3.0 / 16.0 * np.sqrt(5.0)
"""The moment that resists rolling is 3/16 α a P (D. Tabor, 1955; K. L. Johnson, *Contact
Mechanics*, 1985, eq. 9.2); a, how far what is pressed flat reaches along the way, is √5 times the
root mean square of a load as Hertz has it. α is 1: nothing of the work of pressing a body flat
comes back, or what topples would still rock by 0.1 m/s three seconds after a fall from a metre."""


def resist_rolling(
    system: SolidSystem, start: Floats, nodes: Floats, support_turn: Floats | float = 0.0
) -> None:
    """Lets pieces that something presses on turn less; `nodes` is written to.

    What sticks turns about where it touches, and its way is slowed with its turn. What slides turns
    about its own centre: if it does not turn there, it does not roll. What turns while the cells
    that are pressed do not, leans. The lever is at most friction × how high the centre of mass is.

    Parameters
    ----------
    start, nodes : (3, m) at the beginning and the end of the step [m].
    support_turn : (3,) rotation of the support, apart from the part contained in `start`.
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
    """(m,) how much of the loads (p,) on points presses on the cells of so many nodes."""
    points = np.flatnonzero(normal_forces > 0.0)
    shares = np.abs(embedding.weights[points]) * normal_forces[points, None]
    return sum_by(embedding.nodes[points].ravel(), shares.ravel(), count)


def rotation_vector(weights: Floats, positions: Floats, moved: Floats) -> Floats:
    """(3,) how nodes of some weights (n,) at places (3, n) that moved (3, n) have turned."""
    total = weights.sum()
    arms = positions - (weights * positions).sum(axis=1, keepdims=True) / total
    displacements = moved - (weights * moved).sum(axis=1, keepdims=True) / total
    spin, second = _spin_and_second(weights, arms, displacements)
    return np.asarray(find_rotation_vectors(second, spin)[0])


def _spin_and_second(weights: Floats, arms: Floats, moved: Floats) -> tuple[Floats, Floats]:
    """(1, 3) spin of arms (3, n) of some weights (n,) that moved (3, n); (1, 3, 3) Σ w a aᵀ."""
    weighty = weights * arms
    spin = axial_vectors(np.einsum("ik,jk->ij", moved, weighty)[None])
    return spin, np.einsum("ik,jk->ij", weighty, arms)[None]


def _length(vector: Floats) -> float:
    """Length of a vector (3,)."""
    return float(np.sqrt((vector * vector).sum()))
