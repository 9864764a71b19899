"""Ropes as Cosserat rods: trees of segments, which have rotations besides the places of their ends.

Ropes that are curved at rest are rods, since an angle without direction loses their shape. The
root of a tree is one of its ends, whether pinned or not; a segment belongs to the node at its far
end. A segment between two pins is a clamp, which rotates as they do.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..bending.mesh_stencils import MAX_STRAIGHT_TURN, line_turns, lines_along_ropes
from ..geometry.graph import find_components
from ..geometry.rest_shape import RestShape, painted_shares
from ..ropes.rope_trees import find_tree_edges
from .first_mode import FirstMode, Tree, first_mode, tuned_compliances

COLLINEAR_SINE = 0.05
"""Least sine of the angle to a clamp at which a pin tells how that is twisted."""


@dataclass(frozen=True, eq=False)
class Rods:
    """Rods of one body: m nodes of trees, parents before their children."""

    particles: Integers
    """(m,) the particle of each node."""
    parents: Integers
    """(m,) the node that its segment begins at; −1 for roots, which have no segment."""
    lengths: Floats
    """(m,) rest lengths of segments; 1 for roots [m]."""
    stiffnesses: Floats
    """(m,) bending moment per angle between a segment and its parent's; ∞ = rigid, 0 for roots and
    the segments at them [N m]."""
    first_mode: FirstMode | None
    """What joints are tuned to; None with the settings of the body."""
    angle_limits: Floats
    """(m,) angle limits of joints; π = none [rad]."""
    link_stiffnesses: Floats
    """(m,) tension per elongation of segments; ∞ = inextensible [N/m]."""
    clamped: Booleans
    """(m,) bool, segments between two pins."""
    references: Integers
    """(m,) a pin beside the line of each clamp, by which its twist is measured; −1 without any."""
    labels: Integers
    """(m,) number of the tree of each node."""


def find_levels(parents: Integers) -> list[Integers]:
    """Nodes by their distance from the root, in segments, for the parent (m,) of each."""
    depths = np.zeros(len(parents), dtype=np.int64)
    for node, parent in enumerate(parents.tolist()):
        depths[node] = 0 if parent < 0 else depths[parent] + 1
    return [np.flatnonzero(depths == depth) for depth in range(int(depths.max(initial=0)) + 1)]


def find_rods(shape: RestShape) -> Booleans:
    """(m,) bool, edges of ropes without rings that are rods; none in plastic bodies.

    Those are the ropes that are curved at rest, and all of bodies whose settings need rods.
    """
    edges = shape.mesh.edges
    in_rods = shape.in_rope.copy()
    if shape.settings.use_plasticity or not in_rods.any():
        return np.zeros_like(in_rods)
    in_rods[in_rods] = find_tree_edges(shape.particle_count, edges[in_rods])
    labels = find_components(shape.particle_count, edges)[edges[:, 0]]
    if shape.settings.has_rods or shape.mesh.joints is not None:
        # A single edge has no joint.
        return np.asarray(in_rods & (np.bincount(labels)[labels] > 1))
    lines = lines_along_ropes(shape.mesh.positions, edges[in_rods]).vertices
    curved = lines[line_turns(shape.mesh.positions, lines) > MAX_STRAIGHT_TURN, 1]
    return in_rods & np.isin(labels, labels[np.isin(edges, curved).any(axis=1)])


def build_rods(shape: RestShape, in_rods: Booleans) -> Rods | None:
    """The rods of some edges (m,) bool, which have no rings; None without any."""
    if not in_rods.any():
        return None
    edges = shape.mesh.edges[in_rods]
    particles, parents, labels = _order_trees(shape.particle_count, edges)
    starts = particles[parents]
    ends = np.stack([starts, particles], axis=1)
    lengths = np.where(parents < 0, 1.0, shape.rest_distances(ends))
    clamped = (parents >= 0) & shape.pinned[ends].all(axis=1)
    jointed = (parents >= 0) & (parents[parents] >= 0)
    spans = _spans(parents, lengths, clamped, jointed)
    mode, joints = None, shape.mesh.joints
    if joints is None:
        limits = np.full(len(parents), shape.settings.angle_limit)
        compliances = shape.settings.bend_compliance * _bend_shares(shape, particles, parents)
    else:
        mode, limits = first_mode(joints, particles), joints.angle_limits[particles]
        # Pins that let go again do not change the material.
        held = clamped & np.isinf(mode.omegas)
        tree = Tree(shape.mesh.positions[particles], shape.masses[particles], parents, labels)
        compliances = tuned_compliances(tree, _spans(parents, lengths, held, jointed), mode)
    return Rods(
        particles=particles,
        parents=parents,
        lengths=lengths,
        stiffnesses=np.where(jointed, _inverses(compliances * spans), 0.0),
        first_mode=mode,
        angle_limits=limits,
        link_stiffnesses=_link_stiffnesses(shape, ends, lengths),
        clamped=clamped,
        references=_find_references(shape, ends, clamped, edges),
        labels=labels,
    )


def _order_trees(particle_count: int, edges: Integers) -> tuple[Integers, Integers, Integers]:
    """(m,) particles, (m,) the places of their parents, and (m,) numbers of their trees.

    Each tree begins at an end of its own; parents come before their children.
    """
    beside: dict[int, list[int]] = {}
    for a, b in edges.tolist():
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    order: list[tuple[int, int, int]] = []
    seen = np.zeros(particle_count, dtype=bool)
    trees = 0
    for root in sorted(beside):
        if seen[root] or len(beside[root]) > 1:
            continue
        waiting = [(root, -1)]
        while waiting:
            particle, parent = waiting.pop()
            seen[particle] = True
            place = len(order)
            order.append((particle, parent, trees))
            waiting += [(other, place) for other in beside[particle] if not seen[other]]
        trees += 1
    particles, parents, labels = np.array(order, dtype=np.int64).T
    return particles.copy(), parents.copy(), labels.copy()


def _spans(parents: Integers, lengths: Floats, clamped: Booleans, jointed: Booleans) -> Floats:
    """(m,) length that bends at the joint at the start of each segment; 0 without joint [m].

    The joint bends for half of either segment; a clamp does not bend.
    """
    halves = np.where(clamped, 0.0, lengths) / 2.0
    return np.where(jointed, halves + halves[np.where(jointed, parents, 0)], 0.0)


def _bend_shares(shape: RestShape, particles: Integers, parents: Integers) -> Floats:
    """(m,) painted shares of the bend compliance at the starts of segments."""
    starts = particles[parents]
    members = np.stack([starts[parents], starts, particles], axis=1)
    return painted_shares(shape.mesh.paint.bend, members)


def _link_stiffnesses(shape: RestShape, ends: Integers, lengths: Floats) -> Floats:
    """(m,) tension per elongation of segments [N/m]."""
    shares = painted_shares(shape.mesh.paint.stretch, ends)
    return _inverses(shape.settings.stretch_compliance * shares * lengths)


def _inverses(compliances: Floats) -> Floats:
    """(k,) stiffnesses of springs; ∞ for a compliance of 0."""
    rigid = np.full(len(compliances), np.inf)
    return np.divide(1.0, compliances, out=rigid, where=compliances > 0.0)


def _find_references(
    shape: RestShape, ends: Integers, clamped: Booleans, edges: Integers
) -> Integers:
    """(m,) for each clamp the pin connected with it by pins that is farthest from its line."""
    found = np.full(len(ends), -1)
    positions = shape.mesh.positions
    held = find_components(shape.particle_count, edges[shape.pinned[edges].all(axis=1)])
    for node in np.flatnonzero(clamped).tolist():
        start, end = ends[node].tolist()
        pins = np.flatnonzero((held == held[start]) & shape.pinned)
        along = positions[end] - positions[start]
        arms = positions[pins] - positions[start]
        across = np.linalg.norm(np.cross(arms, along / np.linalg.norm(along)), axis=1)
        farthest = int(np.argmax(across))
        if across[farthest] > COLLINEAR_SINE * np.linalg.norm(along):
            found[node] = pins[farthest]
    return found
