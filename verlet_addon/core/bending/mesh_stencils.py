"""Bend stencils of surfaces and ropes, scaled so that drapes do not depend on the mesh."""

from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, sum_by
from ..geometry.hinges import Hinges
from ..geometry.rest_shape import RestShape, painted_shares
from ..stretch.strip_paths import Strips, shared_ends
from .bend_paths import BendStrips, find_strip_lines
from .stencil_batches import Stencils, build_stencils

MAX_STRAIGHT_TURN = 1e-3
"""Turn up to which a line or hinge counts as straight at rest [rad]; half to ten times as much
passes the same tests."""
COORDINATE_ROUNDING = 5e-7
"""Rounding: error of positions as a share of the largest coordinate, eight times that of single
precision, which meshes are stored in. Quads less straight than this have hinges, for lines would
straighten them."""


@dataclass(frozen=True, eq=False)
class BendLines:
    """Bend stencils of three vertices a – centre – b."""

    vertices: Integers
    """(k, 3) a, centre, b."""
    share: Floats
    """(k,) area (surfaces) or length (ropes) whose bending energy each line has [m² or m]."""

    def without(self, edges: Integers) -> "BendLines":
        """The lines whose centre is no end of any of these edges (m, 2)."""
        left = ~np.isin(self.vertices[:, 1], edges)
        return BendLines(self.vertices[left], self.share[left])


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
    order = np.lexsort(triples.T[::-1])  # np.unique of rows takes ten times as long
    triples = triples[order]
    new = (np.diff(triples, axis=0, prepend=-1) != 0).any(axis=1)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    share = sum_by(place, np.concatenate([quarter, quarter]), np.count_nonzero(new))
    return BendLines(triples[new], share), np.flatnonzero(~straight)


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
    first, second = shared_ends(edges)
    centre, ends = edges.ravel()[first], edges[:, ::-1].ravel()
    order = np.lexsort((second, first, centre))
    vertices = np.stack([ends[first], centre, ends[second]], axis=1)[order]
    degree = np.bincount(edges.ravel(), minlength=len(positions))
    through = (degree[vertices[:, 1]] == 2) | (line_turns(positions, vertices) < 0.43)
    vertices = vertices[through]
    lengths = np.linalg.norm(positions[vertices[:, [0, 2]]] - positions[vertices[:, [1]]], axis=2)
    return BendLines(vertices, lengths.mean(axis=1))


def line_stencils(
    shape: RestShape, lines: BendLines, strips: Strips
) -> tuple[BendStrips, Stencils]:
    """Lines along strips, and stencils of the other lines."""
    coefficients, compliances = _line_arrays(shape, lines)
    on_strips, others = find_strip_lines(lines.vertices, coefficients, compliances, strips)
    return on_strips, build_stencils(
        lines.vertices[others], coefficients[others], np.zeros(len(others)), compliances[others]
    )


def rope_stencils(shape: RestShape, lines: BendLines) -> Stencils:
    """Stencils of ropes, with their rest angles."""
    coefficients, compliances = _line_arrays(shape, lines)
    rests = line_turns(shape.mesh.positions, lines.vertices)
    return build_stencils(lines.vertices, coefficients, rests, compliances)


def _line_arrays(shape: RestShape, lines: BendLines) -> tuple[Floats, Floats]:
    """(m, 3) coefficients [1/m] and (m,) compliances of lines.

    g = (a − v)/|a − v| + (b − v)/|b − v| at rest, with v the centre; the energy is ½ B g²/ds² per
    area, or per length on ropes, ds the mean length of both arms.
    """
    positions = shape.mesh.positions
    ends = positions[lines.vertices[:, [0, 2]]] - positions[lines.vertices[:, [1]]]
    arms = np.linalg.norm(ends, axis=2)
    inverse = 1.0 / arms
    coefficients = np.stack([inverse[:, 0], -inverse.sum(axis=1), inverse[:, 1]], axis=1)
    return coefficients, _compliances(shape, lines.vertices) * arms.mean(axis=1) ** 2 / lines.share


def _compliances(shape: RestShape, members: Integers) -> Floats:
    """(m,) bend compliance of the body, scaled by the painted weights of particles (m, k)."""
    return shape.settings.bend_compliance * painted_shares(shape.mesh.paint.bend, members)


def hinge_stencils(
    shape: RestShape, hinges: Hinges, share: Floats, twists: int
) -> tuple[Stencils, Stencils, Stencils]:
    """Flat hinges, flat twists of quads, and hinges or twists with a rest angle.

    The energy of each hinge is scaled by its share (h,), which may be 0; the last `twists` hinges
    are those of quads.

    g is the sum of the unit heights of both faces over the edge, so |g| = 2 sin(turn / 2) while
    nothing stretches: the isometric bending of M. Bergou et al., *A Quadratic Bending Model for
    Inextensible Surfaces* (2006), with energy ½ B |e|²/A g² (E. Grinspun et al., *Discrete
    Shells*, 2003).
    """
    if not len(share):
        none = build_stencils(np.empty((0, 4), np.int64), np.empty((0, 4)), share, share)
        return none, none, none
    positions = shape.mesh.positions
    chosen, members, coefficients, ratios = _hinge_arrays(
        positions, hinges, np.flatnonzero(share > 0.0)
    )
    within = chosen >= len(share) - twists
    compliance = _compliances(shape, members) * ratios / share[chosen]
    rests = _signed_rests(positions, members, coefficients)
    # Plastic bodies do not stay flat.
    flat: Booleans = (np.abs(rests) < MAX_STRAIGHT_TURN) & (not shape.settings.use_plasticity)

    def stencils(which: Booleans, rest: Floats) -> Stencils:
        return build_stencils(members[which], coefficients[which], rest[which], compliance[which])

    zeros = np.zeros(len(rests))
    return stencils(flat & ~within, zeros), stencils(flat & within, zeros), stencils(~flat, rests)


def _hinge_arrays(
    positions: Floats, hinges: Hinges, chosen: Integers
) -> tuple[Integers, Integers, Floats, Floats]:
    """The chosen hinges whose faces have area; (h, 4) members and coefficients, (h,) A/|e|²."""
    p, q = hinges.p[chosen], hinges.q[chosen]
    members = np.stack([p, q, hinges.beyond_p[chosen, 0], hinges.beyond_q[chosen, 1]], axis=1)
    edge = positions[q] - positions[p]
    length = np.linalg.norm(edge, axis=1)
    arms = positions[members[:, 2:]] - positions[p][:, None]
    along = np.einsum("hsk,hk->hs", arms, edge) / length[:, None] ** 2
    heights = np.linalg.norm(arms - along[..., None] * edge[:, None], axis=2)
    sound = (heights > 1e-6 * length[:, None]).all(axis=1) & (members[:, 2] != members[:, 3])
    length, along, heights = length[sound], along[sound], heights[sound]
    inverse = 1.0 / heights
    coefficients = np.stack(
        [
            -((1.0 - along) * inverse).sum(axis=1),
            -(along * inverse).sum(axis=1),
            inverse[:, 0],
            inverse[:, 1],
        ],
        axis=1,
    )
    return chosen[sound], members[sound], coefficients, heights.sum(axis=1) / (2.0 * length)


def _signed_rests(positions: Floats, members: Integers, coefficients: Floats) -> Floats:
    """(h,) |g| at rest, positive where g is on the side of the hinge's normal."""
    bends = np.einsum("hk,hkx->hx", coefficients, positions[members])
    p, q, a, b = (positions[members[:, k]] for k in range(4))
    # The sum of both faces' normals: (q − p) × (a − p) − (q − p) × (b − p).
    side = np.einsum("hx,hx->h", bends, np.cross(q - p, a - b))
    sizes = np.linalg.norm(bends, axis=1)
    # A face folded flat onto the next has no side; the positive one is taken.
    return np.where(side < 0.0, -sizes, sizes)
