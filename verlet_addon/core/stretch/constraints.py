"""Everything that keeps the lengths of a surface."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..geometry.graph import Graph
from ..geometry.hinges import Hinges
from ..geometry.rest_shape import RestShape, vertex_normals
from .coarse_levels import Level, build_levels
from .edge_compliances import build_diagonals, build_edge_strips
from .rigid_clusters import Clusters, build_clusters
from .shear_diagonals import Diagonals, make_diagonals
from .strip_batches import StripBatch, strip_batches
from .strip_links import StripLinks, make_strip_links
from .strip_paths import Strips
from .strip_system import StripSystem, make_strip_system
from .tethers import Tethers, build_tethers

MIN_STRIPS_PER_PARTICLE = 0.25
"""Surfaces with more strips than this for each particle, for they are short, get coarse levels:
without, a dress takes a quarter longer, and a strewn and decimated sheet a fifth to two fifths;
with 0.24 Suzanne, who needs few sweeps, takes an eighth longer."""
STRIP_REGULARIZATION = 3e-5
"""Share of the mobility added to strips: they are solved once a sweep, and without it they would
jump to and fro where they buckle. From 1e-5 to 3e-4 real meshes are stretched alike; with 1e-3 the
99th percentile of a grid of triangles is seven times as large."""


@dataclass(frozen=True, eq=False)
class LengthConstraints:
    """Constant sets of everything that keeps lengths."""

    edges: Strips
    """Edges of surfaces, and of ropes that hang on them."""
    clusters: Clusters
    """Particles of surfaces that are far closer together than those around them."""
    shear: Strips
    """Diagonals of quads."""
    shear_faces: Integers
    """The face of each."""
    opposite_particles: Integers
    """Particles that two triangles have on either side of an edge."""
    levels: list[Level]
    """From coarse to fine; empty where nothing is to be gained."""
    tethers: Tethers


@dataclass(frozen=True, eq=False)
class LengthBatches:
    """The same, ready for one h²."""

    edges: list[StripBatch]
    shear: list[StripBatch]
    diagonals: Diagonals
    """Those of shear, whose rests follow their faces."""
    strip_system: StripSystem
    """Edges and shear."""
    links: StripLinks
    """Edges."""


def build_lengths(shape: RestShape, hinges: Hinges) -> LengthConstraints:
    """The sets of one body."""
    positions, body = shape.mesh.positions, shape.settings
    edges = build_edge_strips(shape, ~shape.in_rope)
    shear, shear_faces, opposite, graph = build_diagonals(shape, hinges)
    # What acts on lengths alone would hold an elastic body back from stretching as it should.
    none = Graph(graph.pairs[:0], graph.lengths[:0])
    # Neither knows what shrinks more in one place than in another.
    inextensible = body.stretch_compliance == 0.0 and shape.mesh.paint.shrinking is None
    inextensible_graph = graph if inextensible else none
    inextensible_edges = shape.mesh.edges[~shape.in_rope & inextensible]
    # Clusters would stiffen the joints of rigid pieces, and levels know nothing of what is rigid,
    # nor of cloth that shears: a weave leaves edges without faces.
    rigid = shape.rigid
    may_have_levels = not rigid.any() and len(shape.areas) > 0
    particles, strips = len(np.unique(edges.path)), np.count_nonzero(~edges.linked)
    short_strips = strips > MIN_STRIPS_PER_PARTICLE * particles
    return LengthConstraints(
        edges=edges,
        clusters=build_clusters(
            positions,
            inextensible_edges[~rigid[inextensible_edges].any(axis=1)],
            shape.inverse_masses,
        ),
        shear=shear,
        shear_faces=shear_faces,
        opposite_particles=np.unique(opposite),
        levels=build_levels(
            inextensible_graph, positions, vertex_normals(shape), shape.masses, shape.pinned
        )
        if may_have_levels and short_strips
        else [],
        tethers=build_tethers(inextensible_graph if body.use_tethers else none, shape.pinned),
    )


def length_batches(
    lengths: LengthConstraints, inverse_masses: Floats, h_squared: float, warm_started: Booleans
) -> LengthBatches:
    """The batches for one h² [s²]; `warm_started` (n,) bool tells which particles remember tension."""
    count = len(lengths.edges.path)
    tension = np.zeros(count + len(lengths.shear.path))
    shear = replace(lengths.shear, rest_lengths=lengths.shear.rest_lengths.copy())

    def batches(strips: Strips, multipliers: Floats | None = None) -> list[StripBatch]:
        return strip_batches(
            strips,
            inverse_masses,
            h_squared,
            regularization=STRIP_REGULARIZATION,
            multipliers=multipliers,
        )

    return LengthBatches(
        edges=batches(lengths.edges, tension[:count]),
        shear=batches(shear, tension[count:]),
        diagonals=make_diagonals(shear, lengths.shear_faces),
        strip_system=make_strip_system(
            [lengths.edges, shear], tension, inverse_masses, warm_started
        ),
        links=make_strip_links(lengths.edges, tension[:count], inverse_masses, h_squared),
    )
