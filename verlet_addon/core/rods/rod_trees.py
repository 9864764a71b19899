"""Ropes as Cosserat rods: trees of segments, which have rotations besides the places of their ends.

Ropes that are curved at rest are rods, since an angle without direction loses their shape. The
root of a tree is one of its ends, whether pinned or not; a segment belongs to the node at its far
end. A segment between two pins is a clamp, which rotates as they do.
"""

from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..bending.bend_damping import retardation_time
from ..bending.mesh_stencils import MAX_STRAIGHT_TURN, line_turns, lines_along_ropes
from ..geometry.graph import find_components
from ..geometry.rest_shape import RestShape, painted_shares
from ..kernel import Struct
from ..ropes.rope_trees import find_tree_edges
from ..settings import BodySettings
from .first_mode import TWIST_SHARE, FirstMode, Tree, first_mode, tuned_compliances

SHEAR_SHARE = 1e3
"""Shear stiffness of a segment over the bending stiffness of its joints: so stiff that a segment
turns away from its rotation by a thousandth of the bend at its ends. A tenth and ten times as much
move elastica and helix by less than 0.1 mm."""
SPIN_SHARE = 1e-9
"""Rounding: stiffness of a segment without a joint against turning about its own line, over its
shear stiffness. Without it, nothing holds the twist of a rod with one pin or none."""
RIGID_SHARE = 1e2
"""Largest bending stiffness × h² of a joint, as a share of the moment of inertia of its rod: rigid
ropes bend by a hundredth of a step's angular acceleration."""
AXIAL_SHARE = 0.01
"""Largest stiffness of a segment against stretching, over that of its link, which it adds to. Where
it is far less than the shear stiffness, soft rods lie elsewhere at few substeps, by a millimetre
per 200 at 5, because lengths are projected after bends."""
LINK_SHARE = 1e2
"""Largest shear stiffness of a segment over that of its link, for stiff rods of soft links, which
no material has; with far more, rounding moves particles."""
LIMIT_SHARE = 1e3
"""Stiffness of angle limits and, with them, against shear, over the moment of inertia of the rod: a
limit gives way by a thousandth of a step's angular acceleration."""
LIMITED_TWIST = 1e-3
"""Least twisting stiffness with angle limits, over the moment of inertia of the rod: the moments of
limits are so large that rounding would twist limp rods."""
NO_LIMIT = 2.0
"""Chord of half a turn, the largest one."""
NODE_REALS = 188
"""Size: numbers of memory in C for a node of each of two trees."""
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


@dataclass(frozen=True, eq=False)
class RodBatch:
    """Rods prepared for steps of one length h; moments and stiffnesses are × h²."""

    particles: Integers
    parents: Integers
    references: Integers
    clamped: Booleans
    inverse_masses: Floats
    """(m,) of the nodes; 0 = pinned [1/kg]."""
    lengths: Floats
    """(m,) [m]"""
    bends: Floats
    """(m,) bending stiffness of the joint at the start of each segment; 0 without joint [kg m²]."""
    twists: Floats
    """(m,) twisting stiffness of the same joint [kg m²]."""
    shears: Floats
    """(m,) stiffness of segments against turning away from their rotation [kg m²]."""
    axials: Floats
    """(m,) stiffness against stretching: the same, or little beside that of soft links [kg m²]."""
    limits: Floats
    """(m,) largest chord |u − v| = 2 sin(φ/2) between the directions u, v of a segment, by the
    rotations of its parent and of its own; 2 = none."""
    limit_stiffnesses: Floats
    """(m,) stiffness against larger ones [kg m²]."""
    retardations: Floats
    """(m,) τ/h for a damping of bends and twists with the time constant τ, at least ½."""
    rotations: Floats
    """(m, 4) rotations of segments from their rest pose, as unit quaternions w, x, y, z: the state
    of the rods, which steps change."""

    @cached_property
    def levels(self) -> list[Integers]:
        """Nodes by their distance from the root, in segments."""
        return find_levels(self.parents)

    @cached_property
    def starts(self) -> Integers:
        """(t,) the first node of each tree, its root."""
        return np.flatnonzero(self.parents < 0)

    @cached_property
    def ends(self) -> Integers:
        """(t,) one more than the last node of each tree."""
        return np.append(self.starts[1:], len(self.parents))

    @cached_property
    def twins(self) -> Booleans:
        """(t,) bool, trees of the same shape as the next one, both without angle limits."""
        nodes = np.arange(len(self.parents))
        up = np.where(self.parents < 0, -1, nodes - self.parents)
        held = self.inverse_masses > 0.0, self.clamped, self.bends > 0.0, self.limits < NO_LIMIT
        shape = np.stack([up, *held], axis=1)
        found = np.zeros(len(self.ends), dtype=np.bool_)
        for tree, (start, middle, end) in enumerate(
            zip(self.starts[:-1], self.ends[:-1], self.ends[1:], strict=True)
        ):
            own, other = shape[start:middle], shape[middle:end]
            found[tree] = np.array_equal(own, other) and not own[:, -1].any()
        return found

    @cached_property
    def labels(self) -> Integers:
        """(m,) number of the tree of each node."""
        return np.cumsum(self.parents < 0) - 1


def find_levels(parents: Integers) -> list[Integers]:
    """Nodes by their distance from the root, in segments, for the parent (m,) of each."""
    depths = np.zeros(len(parents), dtype=np.int64)
    for node, parent in enumerate(parents.tolist()):
        depths[node] = 0 if parent < 0 else depths[parent] + 1
    return [np.flatnonzero(depths == depth) for depth in range(int(depths.max(initial=0)) + 1)]


def _scratch_size(rods: RodBatch) -> int:
    """Numbers of memory that two trees at a time need in C."""
    return NODE_REALS * int(np.diff(rods.ends, prepend=0).max())


Struct(
    "rod_batch",
    RodBatch,
    reads="particles parents references clamped inverse_masses lengths"
    " bends twists shears axials limits limit_stiffnesses retardations ends twins",
    shares="rotations",
    count=(int, lambda rods: len(rods.parents)),
    trees=(int, lambda rods: len(rods.ends)),
    reals=(int, _scratch_size),
    scratch={"work": _scratch_size},
)


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


def rod_batch(
    rods: Rods | None,
    settings: BodySettings,
    inverse_masses: Floats,
    h_squared: float,
    dt: float,
    rotations: Floats | None,
) -> RodBatch | None:
    """The rods for steps of `dt` [s] and inverse masses (n,); rotations (m, 4) are shared."""
    if rods is None or rotations is None:
        return None
    own = inverse_masses[rods.particles]
    twist = settings.twist_ratio if rods.first_mode is None else TWIST_SHARE
    inertias = _inertias(rods, own)
    bends = np.minimum(rods.stiffnesses * h_squared, RIGID_SHARE * inertias)
    shears = bends.copy()
    jointed = np.flatnonzero(bends)
    np.maximum.at(shears, rods.parents[jointed], bends[jointed])
    limited = (bends > 0.0) & (rods.angle_limits < pi)
    shears = np.maximum(SHEAR_SHARE * shears, LIMIT_SHARE * inertias * limited.any())
    links = h_squared * rods.link_stiffnesses * rods.lengths**2
    shears = np.minimum(shears, LINK_SHARE * links)
    return RodBatch(
        particles=rods.particles,
        parents=rods.parents,
        references=rods.references,
        # Springs of infinite stiffness hold particles as pins do.
        clamped=(rods.parents >= 0) & (own == 0.0) & (own[rods.parents] == 0.0),
        inverse_masses=own,
        lengths=rods.lengths,
        bends=bends,
        twists=np.maximum(twist * bends, LIMITED_TWIST * inertias * limited.any()),
        shears=shears,
        axials=np.minimum(shears, AXIAL_SHARE * links),
        limits=np.where(limited, 2.0 * np.sin(rods.angle_limits / 2.0), NO_LIMIT),
        limit_stiffnesses=LIMIT_SHARE * (inertias + bends),
        retardations=np.maximum(_time_constants(rods, settings) / dt, 0.5),
        rotations=rotations,
    )


def _time_constants(rods: Rods, settings: BodySettings) -> Floats:
    """(m,) time constants of the damping of joints [s]."""
    if rods.first_mode is not None:
        return rods.first_mode.time_constants(settings.damping)
    return np.full(len(rods.parents), retardation_time(settings.inner_damping))


def _inertias(rods: Rods, inverse_masses: Floats) -> Floats:
    """(m,) mass times squared length of each node's tree, of what is free of it [kg m²]."""
    masses = np.divide(
        1.0, inverse_masses, out=np.zeros(len(inverse_masses)), where=inverse_masses > 0
    )
    lengths = np.where(rods.parents < 0, 0.0, rods.lengths)
    total, extent = (np.bincount(rods.labels, each) for each in (masses, lengths))
    return np.asarray((total * extent**2)[rods.labels])
