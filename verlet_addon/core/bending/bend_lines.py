"""Lines: bend stencils of three consecutive particles, across quads and along ropes."""

from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, sum_by
from ..geometry.hinges import Hinges

MAX_STRAIGHT_TURN = 1e-3
"""Turn up to which a line or hinge counts as straight at rest [rad]; half to ten times as much
passes the same tests."""
COORDINATE_ROUNDING = 5e-7
"""Error of positions as a share of the largest coordinate: eight times that of single precision,
which meshes are stored in. Quads less straight than this have hinges, for lines would straighten
them."""


@dataclass(frozen=True, eq=False)
class BendLines:
    """Bend stencils of three vertices a – centre – b."""

    vertices: Integers
    """(k, 3) a, centre, b."""
    share: Floats
    """(k,) area (surfaces) or length (ropes) whose bending energy each line has [m² or m]."""


def lines_across_quads(
    hinges: Hinges, areas: Floats, positions: Floats
) -> tuple[BendLines, Integers]:
    """Straight lines across quads, and indices of the hinges that they do not replace.

    Two lines cross the edge between two quads, one at p and one at q. Where both are straight at
    rest, they replace the hinge at that edge: they resist as it does at lower cost.
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
    """(k,) bool, triples that are straight at rest, up to the rounding of coordinates."""
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
    """Lines of ropes, one for each pair of edges that continues through a vertex.

    Where more than two edges meet, a pair continues if it is within about 25° of straight.
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
