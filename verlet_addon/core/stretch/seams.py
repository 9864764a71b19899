"""Seams: pairs of particles pulled together by a limited force.

Loose edges between faces are sewn; without a set force, closed seams hold firmly. Cloth that was
split beforehand is joined by seams of zero length, which hold any force or tear for good: they pull
with their largest force until the gap is too wide.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, inverse, norms, sum_by
from ..coloring import color_constraints
from ..geometry.faces import read_corners, without_faces
from ..geometry.graph import edge_lengths
from ..geometry.rest_shape import RestShape
from ..kernel import Sized, Struct, kernel
from ..mesh import SHORTEST_EDGE, MeshData

SEAM_ACCELERATION = 20.0
"""Default total force of all seams, per mass of the body: about twice its weight. With half as
much, panels that hang by ten stitches stay open; five times the weight throws panels into each
other [m/s²]."""
CLOSED_SEAM_FACTOR = 10.0
"""Factor on the default force of closed seams: with 3, a dress that falls on its shoulders still
comes off."""
SEAM_ROUNDS, TEARING_SEAM_ROUNDS = 3, 8
"""Rounds of alternating edges and seams. Cloth hanging on a seam is stretched beside it by 16 %
where a single round leaves 12 rows of edges to the first, and by 5 % after three. Cloth in a storm
tears later, and is stretched there three times as much, with three rounds as with eight."""
TORN_GAP_SHARE = 0.2
"""Gap at which a seam has torn, as a share of the edges along it. Until then it still resists, so
that its neighbours take up load. With half, a jerk tears what can carry the weight; twice as much
gives the same bakes, and passes the same tests."""


@dataclass(frozen=True, eq=False)
class Seams:
    """Pairs of sewn particles."""

    pairs: Integers
    """(m, 2) sorted by colour."""
    starts: Integers
    """(colours + 1,) start of each colour."""
    forces: Floats
    """(m,) largest force of each pair [N]."""
    torn_gaps: Floats
    """(m,) gap above which a seam has torn [m]."""
    closed_gaps: Floats
    """(m,) gap below which a seam has closed; 0 where closing changes nothing [m]."""


@dataclass(frozen=True, eq=False)
class SeamBatch:
    """The seams of one colour, prepared for steps of one length."""

    first: Integers
    """(c,)"""
    second: Integers
    """(c,)"""
    inverse_masses: Floats
    """(2, c)"""
    gains: Floats
    """(c,) 1 / sum of inverse masses; 0 where nothing can move."""
    max_multipliers: Floats
    """(c,) largest multipliers: force × h² [N s²]."""
    torn_gaps: Floats
    """(c,) [m]"""
    closed_gaps: Floats
    """(c,) [m]"""
    closed: Booleans
    """(c,) changed by the kernel."""
    torn: Booleans
    """(c,) changed by the kernel."""
    multipliers: Floats
    """(3, c) along each axis; changed by the kernel."""


def with_seams(mesh: MeshData, *, every: bool) -> MeshData:
    """The mesh with loose edges between faces made seams: every one, or only those of zero length.

    Edges of zero length are where the mesh was split for tearing.
    """
    loose = without_faces(mesh.edges, read_corners(mesh), len(mesh.positions))
    seam = loose & np.isin(mesh.edges, mesh.face_vertices).all(axis=1)
    seam &= every | (edge_lengths(mesh.positions, mesh.edges) < SHORTEST_EDGE)
    return replace(mesh, edges=mesh.edges[~seam], seams=mesh.edges[seam])


def build_seams(shape: RestShape) -> Seams:
    """The seams of one body."""
    pairs, body = shape.mesh.seams, shape.settings
    order, starts = color_constraints(pairs)
    pairs = pairs[order]
    split = edge_lengths(shape.mesh.positions, pairs) < SHORTEST_EDGE
    widths = _widths(shape, pairs, split)
    tears = split & body.use_tearing
    default_force = SEAM_ACCELERATION * shape.masses.sum() / max(np.count_nonzero(~split), 1)
    sewing_force = (body.sewing_force or default_force) * body.sewing_weight
    forces = np.where(split, np.inf, sewing_force)
    forces[tears] = body.tear_strength * widths[tears]
    stays_closed = ~split & (body.sewing_force == 0.0)
    return Seams(
        pairs,
        starts,
        forces,
        torn_gaps=np.where(tears, TORN_GAP_SHARE * widths, np.inf),
        closed_gaps=np.where(stays_closed, 2.0 * body.thickness, 0.0),
    )


def _widths(shape: RestShape, pairs: Integers, split: Booleans) -> Floats:
    """(m,) length of the split that each pair represents: half of the edges along it [m]."""
    n, edges = shape.particle_count, shape.mesh.edges
    ends = np.zeros(n, dtype=bool)
    ends[pairs[split]] = True
    faces = np.bincount(shape.corners.vertex, minlength=n)
    valence = np.bincount(edges.ravel(), minlength=n)
    rim = valence > faces  # a particle at the rim has one edge more than faces
    along = (ends & rim)[edges].all(axis=1)
    widths = sum_by(edges[along].ravel(), np.repeat(shape.lengths[along] / 2, 2), n)
    return np.asarray(widths[pairs].min(axis=1))


def seam_batches(
    seams: Seams, closed: Booleans, torn: Booleans, inverse_masses: Floats, h_squared: float
) -> list[SeamBatch]:
    """One batch per colour for one h² [s²]; kernels update `closed` and `torn`, (m,) bool."""
    batches = []
    for start, stop in zip(seams.starts[:-1], seams.starts[1:], strict=True):
        first, second = seams.pairs[start:stop].T
        masses = np.stack([inverse_masses[first], inverse_masses[second]])
        mobility = masses.sum(axis=0)
        batches.append(
            SeamBatch(
                first=first,
                second=second,
                inverse_masses=masses,
                gains=inverse(mobility, mobility),
                max_multipliers=seams.forces[start:stop] * h_squared,
                torn_gaps=seams.torn_gaps[start:stop],
                closed_gaps=seams.closed_gaps[start:stop],
                closed=closed[start:stop],
                torn=torn[start:stop],
                multipliers=np.zeros((3, stop - start)),
            )
        )
    return batches


def seam_rounds(batches: Sequence[SeamBatch]) -> int:
    """Number of times that edges and seams are alternated: once without seams."""
    if any(np.isfinite(batch.torn_gaps).any() for batch in batches):
        return TEARING_SEAM_ROUNDS
    return SEAM_ROUNDS if batches else 1


Struct(
    "seam_batch",
    SeamBatch,
    reads="first second inverse_masses gains max_multipliers torn_gaps closed_gaps",
    shares="closed torn multipliers",
    count=(int, lambda batch: len(batch.first)),
)


@kernel()
def project_seams(positions: Sized, batches: Sequence[SeamBatch]) -> None:
    """Projects C = x₂ − x₁ = 0, a linear constraint with the force of each seam limited.

    Moves positions (3, n) in place, and marks the seams that have closed or torn.
    """
    for batch in batches:
        offsets = positions[:, batch.second] - positions[:, batch.first]
        multipliers = batch.multipliers + batch.gains * offsets
        limits = np.where(batch.closed, CLOSED_SEAM_FACTOR, 1.0) * batch.max_multipliers
        multipliers *= np.where(batch.torn, 0.0, np.minimum(1.0, limits / norms(multipliers)))
        change = multipliers - batch.multipliers
        batch.multipliers[...] = multipliers
        positions[:, batch.first] += batch.inverse_masses[0] * change
        positions[:, batch.second] -= batch.inverse_masses[1] * change
        offsets -= batch.inverse_masses.sum(axis=0) * change
        gaps = norms(offsets)
        batch.closed[gaps < batch.closed_gaps] = True
        batch.torn[gaps > batch.torn_gaps] = True
