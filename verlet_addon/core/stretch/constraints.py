"""Length constraints of a surface: constant sets, and batches for one h²."""

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
"""Surfaces with more strips per particle than this get coarse levels, because their strips are
short. Without levels, a dress takes a quarter longer, and an irregular and decimated sheet a fifth
to two fifths; with 0.24 Suzanne, who needs few sweeps, takes an eighth longer."""
STRIP_REGULARIZATION = 3e-5
"""Share of the mobility added to the diagonal of strips: each is solved once a sweep, and would
oscillate where it buckles. Real meshes stretch alike from 1e-5 to 3e-4; with 1e-3 the 99th
percentile of a grid of triangles is seven times as large."""


@dataclass(frozen=True, eq=False)
class LengthConstraints:
    """Constant sets of all length constraints."""

    edges: Strips
    """Edges of surfaces, and of ropes attached to them."""
    clusters: Clusters
    """Particles far closer together than the particles around them."""
    shear: Strips
    """Diagonals of quads."""
    shear_faces: Integers
    """Face of each diagonal."""
    opposite_particles: Integers
    """Particles opposite a shared edge of two triangles."""
    levels: list[Level]
    """Coarse levels, from coarse to fine; empty where they bring no gain."""
    tethers: Tethers


@dataclass(frozen=True, eq=False)
class LengthBatches:
    """Batches of the same constraints for one h²."""

    edges: list[StripBatch]
    shear: list[StripBatch]
    diagonals: Diagonals
    """Diagonals of `shear`, whose rest lengths follow the size of their face."""
    strip_system: StripSystem
    """Strips of edges and shear, for the tension warm start."""
    links: StripLinks
    """Links of `edges`, for strain limiting."""


def build_lengths(shape: RestShape, hinges: Hinges) -> LengthConstraints:
    """Builds the length constraints of one body."""
    positions, body = shape.mesh.positions, shape.settings
    edges = build_edge_strips(shape, ~shape.in_rope)
    shear, shear_faces, opposite, graph = build_diagonals(shape, hinges)
    # Clusters, levels and tethers ignore compliance: elastic bodies go without them.
    none = Graph(graph.pairs[:0], graph.lengths[:0])
    # Painted shrinking goes without them too: their rest lengths cannot vary by place.
    inextensible = body.stretch_compliance == 0.0 and shape.mesh.paint.shrinking is None
    inextensible_graph = graph if inextensible else none
    inextensible_edges = shape.mesh.edges[~shape.in_rope & inextensible]
    # Clusters would stiffen the joints of rigid pieces. Levels handle neither rigid pieces nor
    # shearing cloth: a weave leaves edges without faces.
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
    """The batches for one h² [s²]; particles `warm_started` (n,) bool keep their tension."""
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
