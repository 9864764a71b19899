"""Joints of rods by the frequency of their first mode, in place of a bending stiffness.

Small turns φ of joints move a particle of mass m by Σ φ × (x − joint), over the joints between it
and the root: a kinetic energy ½ φ' · M φ'. Joints of the stiffness 1/L each, for the length L that
bends there, have ½ φ · K φ. The largest eigenvalue of K⁻¹ M is 1/ω² of the first mode.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..mesh import Joints

TWIST_SHARE = 0.77
"""Twisting over bending stiffness: 1 / (1 + ν) of a round rod with Poisson's ratio 0.3."""
MAX_ITERATIONS, TOLERANCE = 200, 1e-9
"""Power iterations at most, and the relative change of the eigenvalue that ends them."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes of trees at rest, m of them, parents before their children."""

    places: Floats
    """(m, 3) [m]"""
    masses: Floats
    """(m,) [kg]"""
    parents: Integers
    """(m,) −1 for roots."""
    labels: Integers
    """(m,) number of the tree of each node."""


@dataclass(frozen=True, eq=False)
class FirstMode:
    """What joints at the starts of the segments that lead to m nodes are tuned to."""

    omegas: Floats
    """(m,) angular frequencies; infinite = rigid [rad/s]."""
    ratios: Floats
    """(m,) damping ratios."""

    def time_constants(self, air_damping: float) -> Floats:
        """(m,) time constants of the damping of joints in air that slows motion [s].

        A damping c of the air [1/s] adds c / (2 ω) to the ratio ω τ / 2 of a time constant τ.
        """
        moving = np.where(self.omegas > 0.0, self.omegas, np.inf)
        return np.asarray(np.maximum(2.0 * self.ratios / moving - air_damping / moving**2, 0.0))


def first_mode(joints: Joints, particles: Integers) -> FirstMode:
    """What the joints at the nodes of particles (m,) are tuned to."""
    return FirstMode(2.0 * np.pi * joints.frequencies[particles], joints.damping_ratios[particles])


def tuned_compliances(tree: Tree, spans: Floats, mode: FirstMode) -> Floats:
    """(m,) curvature per bending moment of joints with these frequencies [1/(N m²)].

    Parameters
    ----------
    spans : (m,) length that bends at each joint; 0 without joint [m].
    """
    omegas = mode.omegas
    flexible = (spans > 0.0) & np.isfinite(omegas)
    products = squared_periods(tree, spans, flexible) * np.where(flexible, omegas, 0.0) ** 2
    found = np.where(omegas > 0.0, 0.0, np.inf)
    return np.divide(1.0, products, out=found, where=flexible & (products > 0.0))


def squared_periods(tree: Tree, spans: Floats, flexible: Booleans) -> Floats:
    """(m,) 1/ω² of the first mode of each node's tree, with joints of stiffness 1/span [s²].

    Only `flexible` joints (m,) turn; 0 where none does.
    """
    found = np.zeros(len(spans))
    for label in range(int(tree.labels.max(initial=-1)) + 1):
        nodes = np.flatnonzero(tree.labels == label)
        joints = nodes[flexible[nodes]]
        if len(joints):
            found[nodes] = _largest_eigenvalue(_mobility(tree, spans, nodes, joints))
    return found


def _mobility(tree: Tree, spans: Floats, nodes: Integers, joints: Integers) -> Floats:
    """(3 k, 3 j) square roots of mass × way of k nodes per turn of j joints / √stiffness."""
    above = np.zeros((len(tree.parents), len(joints)), bool)
    number = {int(joint): column for column, joint in enumerate(joints)}
    for node in nodes.tolist():
        parent = int(tree.parents[node])
        if parent >= 0:
            above[node] = above[parent]
        if node in number:
            above[node, number[node]] = True
    starts = tree.places[tree.parents[joints]]
    along = tree.places[joints] - starts
    along = along / np.linalg.norm(along, axis=1)[:, None]
    arms = (tree.places[nodes, None] - starts) * above[nodes][..., None]
    arms = arms * np.sqrt(tree.masses[nodes, None, None] * spans[joints, None])
    more = 1.0 / np.sqrt(TWIST_SHARE) - 1.0
    softness = np.eye(3) + more * along[:, :, None] * along[:, None, :]
    turns = np.cross(softness[None], arms[:, :, None], axisb=3)  # (k, j, 3 axes, 3)
    return np.asarray(turns.transpose(0, 3, 1, 2).reshape(3 * len(nodes), 3 * len(joints)))


def _largest_eigenvalue(mobility: Floats) -> float:
    """The largest eigenvalue of Aᵀ A for A (r, c): by power iterations, alike on every platform."""
    vector, value = np.cos(np.arange(mobility.shape[1], dtype=np.float64)), 0.0
    for _ in range(MAX_ITERATIONS):
        vector = vector / np.sqrt(np.einsum("c,c->", vector, vector))
        moved = np.einsum("rc,c->r", mobility, vector)
        former, value = value, float(np.einsum("r,r->", moved, moved))
        if value - former <= TOLERANCE * value:
            break
        vector = np.einsum("rc,r->c", mobility, moved)
    return value
