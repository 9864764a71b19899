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
class TunedJoints:
    """Joints at the starts of the segments that lead to m nodes."""

    compliances: Floats
    """(m,) curvature per bending moment; 0 = rigid [1/(N m²)]."""
    time_constants: Floats
    """(m,) time constants of their damping [s]."""
    angle_limits: Floats
    """(m,) π = none [rad]."""


def tuned_joints(
    tree: Tree, spans: Floats, joints: Joints, particles: Integers, air_damping: float
) -> TunedJoints:
    """The joints that have the frequencies and damping ratios that are given for n vertices.

    Parameters
    ----------
    spans : (m,) length that bends at each joint; 0 without joint [m].
    particles : (m,) the vertex of each node.
    air_damping : rate at which still air slows motion [1/s].
    """
    omegas = 2.0 * np.pi * joints.frequencies[particles]
    ratios = joints.damping_ratios[particles]
    flexible = (spans > 0.0) & np.isfinite(omegas)
    products = squared_periods(tree, spans, flexible) * np.where(flexible, omegas, 0.0) ** 2
    # A damping c of the air adds c / (2 ω) to the ratio ω τ / 2 of a time constant.
    moving = np.where(flexible & (omegas > 0.0), omegas, np.inf)
    return TunedJoints(
        np.divide(
            1.0,
            products,
            out=np.where(omegas > 0.0, 0.0, np.inf),
            where=flexible & (products > 0.0),
        ),
        np.maximum(2.0 * ratios / moving - air_damping / moving**2, 0.0),
        joints.angle_limits[particles],
    )


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
