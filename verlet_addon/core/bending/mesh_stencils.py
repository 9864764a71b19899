"""Bend stencils of surfaces and ropes, scaled so that drapes do not depend on the mesh."""

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..geometry.hinges import Hinges
from ..geometry.rest_shape import RestShape, painted_shares
from ..stretch.strip_paths import Strips
from .bend_lines import MAX_STRAIGHT_TURN, BendLines, line_turns
from .bend_strips import BendStrips, find_strip_lines
from .stencil_batches import Stencils, build_stencils


def line_stencils(
    shape: RestShape, lines: BendLines, strips: Strips
) -> tuple[BendStrips, Stencils]:
    """Lines along strips, and stencils of the other lines."""
    coefficients, compliances = _line_arrays(shape, lines)
    on_strips, others = find_strip_lines(lines.vertices, coefficients, compliances, strips)
    return on_strips, build_stencils(
        lines.vertices[others],
        coefficients[others],
        np.zeros(len(others)),
        compliances[others],
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
        return build_stencils(
            members[which],
            coefficients[which],
            rest[which],
            compliance[which],
        )

    zeros = np.zeros(len(rests))
    return (
        stencils(flat & ~within, zeros),
        stencils(flat & within, zeros),
        stencils(~flat, rests),
    )


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
