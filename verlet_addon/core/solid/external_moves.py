"""Moves of a solid's nodes by constraints outside of its solver."""

import numpy as np

from ..arrays import Floats, Integers
from .kernels import scatter_to_nodes
from .lattice import Embedding
from .solid_body import Solid, SolidState


def move_nodes_with_points(
    solid: Solid, state: SolidState, positions: Floats, previous: Floats
) -> None:
    """Moves nodes by the displacement of points since the last solution.

    Parameters
    ----------
    positions, previous : (3, p) present points, and those at the start of the last step [m].
    """
    states = (
        (state.nodes, state.solved_points),
        (state.previous_nodes, state.previous_solved_points),
    )
    moved = [
        nodes
        if np.array_equal(points, solved_points)
        else nodes + _node_displacements(solid, state, points - solved_points)
        for (nodes, solved_points), points in zip(states, (positions, previous), strict=True)
    ]
    state.nodes, state.previous_nodes = moved


def _node_displacements(solid: Solid, state: SolidState, moves: Floats) -> Floats:
    """(3, m) moves of nodes: means of the moves (3, p) of points, by weight and contact area [m].

    With `Solid.effective_masses`, points and nodes have the same momentum. After a depenetration,
    only points that have moved count, as nodes would move too little where few are in contact.
    """
    moved = np.flatnonzero((moves != 0.0).any(axis=0))
    if not len(moved):
        return np.zeros_like(solid.lattice.nodes)
    total, carried = np.zeros_like(solid.lattice.nodes), solid.embedding
    shares = Embedding(carried.nodes, np.abs(carried.weights))
    scatter_to_nodes(shares, moved, (moves[:, moved] * solid.contact_areas[moved]).T, total)
    return np.asarray(
        total / solid.node_contact_areas(moved if state.depenetrated else slice(None))
    )


def lift_with_ground(solid: Solid, state: SolidState, ground_lifts: Floats) -> None:
    """Translates nodes by the ground depenetration (3, p) of points, one per component [m]."""
    if ground_lifts.any():
        shift = np.zeros((3, solid.free_components.max(initial=0) + 2))
        shift[:, point_components(solid)] = ground_lifts
        shift[:, -1] = 0.0
        state.nodes = state.nodes + shift[:, solid.free_components]
        state.previous_nodes = state.previous_nodes + shift[:, solid.free_components]


def shift_components(solid: Solid, state: SolidState, shifts: Floats) -> Floats:
    """(3, p) displacement of points as components are translated without velocity [m].

    Parameters
    ----------
    shifts : (3, k + 1) translation of each free component, and last that of pinned ones [m].
    """
    moved, nodes = shifts[:, point_components(solid)], shifts[:, solid.free_components]
    state.nodes, state.previous_nodes = state.nodes + nodes, state.previous_nodes + nodes
    state.solved_points, state.previous_solved_points = (
        state.solved_points + moved,
        state.previous_solved_points + moved,
    )
    return moved


def point_components(solid: Solid) -> Integers:
    """(p,) free component of each point; −1 = pinned."""
    return np.asarray(solid.free_components[solid.embedding.nodes[:, 0]])
