"""Bends of three particles in a row: across quads, and along ropes."""

from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, sum_by
from ..geometry.hinges import Hinges

MAX_STRAIGHT_TURN = 1e-3
"""What turns by less than this counts as straight at rest [rad]; from half to ten times of it, laws
hold alike."""
COORDINATE_ROUNDING = 5e-7
"""Of the size of coordinates: so far off are places in single precision, in which meshes come, and
eight times that. Quads that are less even have hinges; lines would draw them even."""


@dataclass(frozen=True, eq=False)
class BendLines:
    """Bend stencils of three vertices a – centre – b."""

    vertices: Integers
    """(k, 3) a, centre, b."""
    share: Floats
    """(k,) the area (surfaces) or length (ropes) whose bending each stands for [m² or m]."""


def lines_across_quads(
    hinges: Hinges, areas: Floats, positions: Floats
) -> tuple[BendLines, Integers]:
    """Straight lines across quads, and the hinges that they do not stand for.

    The hinge between two quads bends the two lines that cross its edge at p and at q. Where those
    are straight at rest, they bend like the hinge and cost less; the others stay hinges.
    """
    at_p = np.stack([hinges.beyond_p[:, 0], hinges.p, hinges.beyond_p[:, 1]], axis=1)
    at_q = np.stack([hinges.beyond_q[:, 0], hinges.q, hinges.beyond_q[:, 1]], axis=1)
    straight = (
        (hinges.sizes == 4).all(axis=1)
        & _is_straight(positions, at_p)
        & _is_straight(positions, at_q)
    )
    triples = np.concatenate([at_p[straight], at_q[straight]])
    quarter = areas[hinges.faces[straight]].sum(axis=1) / 4
    swapped = triples[:, 0] > triples[:, 2]
    triples[swapped] = triples[swapped][:, ::-1]
    unique, place = np.unique(triples, axis=0, return_inverse=True)
    share = sum_by(place.ravel(), np.concatenate([quarter, quarter]), len(unique))
    return BendLines(unique.reshape(-1, 3), share), np.flatnonzero(~straight)


def _is_straight(positions: Floats, triples: Integers) -> Booleans:
    """(k,) bool, whether triples are in a row, as far as can be told."""
    ends = positions[triples[:, [0, 2]]] - positions[triples[:, [1]]]
    arms = np.linalg.norm(ends, axis=2).min(axis=1)
    max_turn = COORDINATE_ROUNDING * np.abs(positions).max(initial=0.0) / np.maximum(arms, NONZERO)
    return np.asarray(line_turns(positions, triples) < np.minimum(max_turn, MAX_STRAIGHT_TURN))


def line_turns(positions: Floats, triples: Integers) -> Floats:
    """(k,) |unit(a − centre) + unit(b − centre)| = 2 sin(turn / 2)."""
    towards_a = positions[triples[:, 0]] - positions[triples[:, 1]]
    towards_b = positions[triples[:, 2]] - positions[triples[:, 1]]
    towards_a /= np.linalg.norm(towards_a, axis=1, keepdims=True)
    towards_b /= np.linalg.norm(towards_b, axis=1, keepdims=True)
    return np.asarray(np.linalg.norm(towards_a + towards_b, axis=1))


def lines_along_ropes(positions: Floats, edges: Integers) -> BendLines:
    """The bends of ropes: at each vertex the edges that go on through it, two by two.

    Where more than two edges meet, those within about 25° of straight go on through.
    """
    neighbours: list[list[int]] = [[] for _ in range(len(positions))]
    for a, b in edges.tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    triples = [
        (around[i], centre, around[j])
        for centre, around in enumerate(neighbours)
        for i in range(len(around))
        for j in range(i + 1, len(around))
    ]
    vertices = np.array(triples, dtype=np.int64).reshape(-1, 3)
    degree = np.bincount(edges.ravel(), minlength=len(positions))
    through = (degree[vertices[:, 1]] == 2) | (line_turns(positions, vertices) < 0.43)
    vertices = vertices[through]
    lengths = np.linalg.norm(positions[vertices[:, [0, 2]]] - positions[vertices[:, [1]]], axis=2)
    return BendLines(vertices, lengths.mean(axis=1))
