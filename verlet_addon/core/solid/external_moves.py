"""Moves of a solid's nodes that come from outside of its solver: of points, and of whole pieces."""

import numpy as np

from ..arrays import Floats, Integers
from .lattice import Embedding
from .numpy_kernels import scatter_to_nodes
from .solid_body import Solid, SolidState


def move_nodes_with_points(
    solid: Solid, state: SolidState, positions: Floats, previous: Floats
) -> None:
    """Moves nodes as others have moved the points they carry, now and a step ago, (3, p) [m]."""
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
    """(3, m) moves of nodes: the mean, by weight, of those of the points that they carry (3, p).

    With the masses that go along, points and nodes have the same momentum. What had to be led out
    follows those that have moved alone, or else it would sink in where few are held out.
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
    """Carries nodes as their points are carried, (3, p), which is alike for a whole piece."""
    if ground_lifts.any():
        shift = np.zeros((3, solid.free_components.max(initial=0) + 2))
        shift[:, point_components(solid)] = ground_lifts
        shift[:, -1] = 0.0
        state.nodes = state.nodes + shift[:, solid.free_components]
        state.previous_nodes = state.previous_nodes + shift[:, solid.free_components]


def shift_components(solid: Solid, state: SolidState, shifts: Floats) -> Floats:
    """(3, p) how far points go as free components are carried without speed, by (3, k + 1) [m].

    The last is for what is held.
    """
    moved, nodes = shifts[:, point_components(solid)], shifts[:, solid.free_components]
    state.nodes, state.previous_nodes = state.nodes + nodes, state.previous_nodes + nodes
    state.solved_points, state.previous_solved_points = (
        state.solved_points + moved,
        state.previous_solved_points + moved,
    )
    return moved


def point_components(solid: Solid) -> Integers:
    """(p,) the free component that points belong to, −1 for what is held."""
    return np.asarray(solid.free_components[solid.embedding.nodes[:, 0]])
