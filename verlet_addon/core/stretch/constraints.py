"""Everything that keeps the lengths of a surface."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..geometry.graph import Graph
from ..geometry.hinges import Hinges
from ..geometry.rest_shape import RestShape, vertex_normals
from .clusters import Clusters, build_clusters
from .diagonals import Diagonals, make_diagonals
from .elasticity import diagonals, edge_strips
from .levels import Level, build_levels
from .links import Links, make_links
from .paths import Strips
from .strips import StripBatch, strip_batches
from .tethers import Tethers, build_tethers
from .warm_start import StripNet, make_net

MANY_STRIPS = 0.25
"""Surfaces with more strips than this for each particle, for they are short, get coarse levels:
without, a dress takes a quarter longer, and a strewn and decimated sheet a fifth to two fifths;
with 0.24 Suzanne, who needs few sweeps, takes an eighth longer."""
REGULARIZATION = 3e-5
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
    sheared: Integers
    """The face of each."""
    triangular: Integers
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
    net: StripNet
    """Edges and shear."""
    links: Links
    """Edges."""


def build_lengths(shape: RestShape, hinges: Hinges) -> LengthConstraints:
    """The sets of one body."""
    positions, body = shape.mesh.positions, shape.settings
    edges = edge_strips(shape, ~shape.in_rope)
    shear, sheared, opposite, ways = diagonals(shape, hinges)
    # What acts on lengths alone would hold an elastic body back from stretching as it should.
    none = Graph(ways.pairs[:0], ways.lengths[:0])
    # Neither knows what shrinks more in one place than in another.
    firm = body.stretch_compliance == 0.0 and shape.mesh.paint.shrinking is None
    firm_ways = ways if firm else none
    firm_edges = shape.mesh.edges[~shape.in_rope & firm]
    # Clusters would stiffen the joints of rigid pieces, and levels know nothing of what is rigid,
    # nor of cloth that shears: a weave leaves edges without faces.
    rigid = shape.rigid
    many = not rigid.any() and len(shape.areas) > 0
    particles, strips = len(np.unique(edges.path)), np.count_nonzero(~edges.linked)
    short_strips = strips > MANY_STRIPS * particles
    return LengthConstraints(
        edges=edges,
        clusters=build_clusters(
            positions, firm_edges[~rigid[firm_edges].any(axis=1)], shape.inverse_masses
        ),
        shear=shear,
        sheared=sheared,
        triangular=np.unique(opposite),
        levels=build_levels(firm_ways, positions, vertex_normals(shape), shape.masses, shape.pinned)
        if many and short_strips
        else [],
        tethers=build_tethers(firm_ways if body.use_tethers else none, shape.pinned),
    )


def length_batches(
    lengths: LengthConstraints, inverse_masses: Floats, h_squared: float, loaded: Booleans
) -> LengthBatches:
    """The batches for one h² [s²]; `loaded` (n,) bool tells which particles remember tension."""
    count = len(lengths.edges.path)
    tension = np.zeros(count + len(lengths.shear.path))
    shear = replace(lengths.shear, rest_lengths=lengths.shear.rest_lengths.copy())

    def batches(strips: Strips, multipliers: Floats | None = None) -> list[StripBatch]:
        return strip_batches(
            strips,
            inverse_masses,
            h_squared,
            regularization=REGULARIZATION,
            multipliers=multipliers,
        )

    return LengthBatches(
        edges=batches(lengths.edges, tension[:count]),
        shear=batches(shear, tension[count:]),
        diagonals=make_diagonals(shear, lengths.sheared),
        net=make_net([lengths.edges, shear], tension, inverse_masses, loaded),
        links=make_links(lengths.edges, tension[:count], inverse_masses, h_squared),
    )
