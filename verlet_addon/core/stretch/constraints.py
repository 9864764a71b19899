"""Length constraints of a surface: their compliances, constant sets, and batches for one h²."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import pi

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..geometry.faces import among_triangles, edge_areas, face_diagonals
from ..geometry.graph import Graph, edge_keys
from ..geometry.hinges import Hinges, triangle_pair_diagonals
from ..geometry.rest_shape import RestShape, painted_shares, vertex_normals
from .coarse_levels import Level, build_levels
from .distance_limits import Tethers, build_tethers
from .rigid_clusters import Clusters, build_clusters
from .strain_limiting import MAX_STRAIN, StripLinks, make_strip_links
from .strip_batches import Diagonals, StripBatch, make_diagonals, strip_batches
from .strip_paths import Strips, build_strips
from .tension_warm_start import StripSystem, make_strip_system

MIN_FACE_AREA = 1e-18
"""Bound against division by 0: least area that a face counts as [m²]."""
COMPRESSION_SOFTENING = 5.0
"""Factor by which edges among triangles are softer in compression than cloth in shear. With 1, some
meshes drape by up to 6 points more stiffly than others; with 20, coarse ones hang 4 lower."""

TENSION_ONLY_COMPLIANCE = 1e9
"""Compression compliance of edges that resist tension alone [m/N], so large that it counts as
none."""


def build_edge_strips(shape: RestShape, chosen: Booleans) -> Strips:
    """The chosen edges, (m,) bool, as strips; strain = compliance × tension, per width on surfaces.

    Among triangles, cloth could not shear or fold if no edge could shorten; real cloth buckles at a
    scale finer than the mesh. Edges there are compliant in compression.
    """
    edges = shape.mesh.edges
    areas = edge_areas(edges, shape.corners, shape.areas, shape.particle_count)
    per_width = shape.lengths**2 / np.where(areas > 0.0, areas, np.inf)
    per_force = np.where(shape.loose, shape.lengths, per_width)
    stretch = shape.settings.stretch_compliance * painted_shares(shape.mesh.paint.stretch, edges)
    compression = _compression_compliances(shape) * among_triangles(
        edges, shape.corners, shape.particle_count
    )
    # A weave has its own compression; its edges, left without faces, only resist tension.
    tension_only = ~shape.loose & (len(shape.areas) == 0)
    return build_strips(
        shape.mesh.positions,
        edges[chosen],
        shape.lengths[chosen],
        (stretch * per_force)[chosen],
        np.where(tension_only, TENSION_ONLY_COMPLIANCE, compression * per_force)[chosen],
        shape.loose[chosen],
    )


def _compression_compliances(shape: RestShape) -> Floats:
    """(m,) strain per unit pressure of cloth in compression [m/N].

    Bounded by the buckling of a strip as long as the edge: L² / (π² B), B being its bending
    stiffness (L. Euler, *Methodus inveniendi lineas curvas*, 1744).
    """
    body, edges, paint = shape.settings, shape.mesh.edges, shape.mesh.paint
    shear = painted_shares(paint.shear, edges) * body.shear_compliance * (body.body_type == "CLOTH")
    buckling = body.bend_compliance * painted_shares(paint.bend, edges) * shape.lengths**2 / pi**2
    return np.asarray(np.minimum(COMPRESSION_SOFTENING * shear, buckling))


def build_diagonals(shape: RestShape, hinges: Hinges) -> tuple[Strips, Integers, Integers, Graph]:
    """Shear strips, faces of their pairs, opposite particles, and the graph of all of them."""
    compliance, paint = shape.settings.shear_compliance, shape.mesh.paint.shear
    across, face = face_diagonals(shape.corners)
    opposite, hinge = triangle_pair_diagonals(hinges)
    positions = shape.mesh.positions
    across_lengths = shape.rest_distances(across)
    opposite_lengths = _unfolded_lengths(shape, hinges, hinge, opposite)
    shear = build_strips(
        positions,
        across,
        across_lengths,
        compliance
        * painted_shares(paint, across)
        * across_lengths**2
        / np.maximum(shape.areas[face], MIN_FACE_AREA),
        np.zeros(len(across)),
        np.zeros(len(across), dtype=bool),
    )
    graph = Graph(
        np.concatenate([shape.mesh.edges[~shape.in_rope], across, opposite]),
        np.concatenate([shape.lengths[~shape.in_rope], across_lengths, opposite_lengths]),
    )
    return shear, face, opposite, graph


def _unfolded_lengths(
    shape: RestShape, hinges: Hinges, hinge: Integers, opposite: Integers
) -> Floats:
    """(k,) distance of the opposite vertices with both triangles unfolded into one plane [m].

    For a pair that is not convex the shortest path bends round an end of the edge, and is never
    shorter.
    """
    positions = shape.mesh.positions
    p, q = positions[hinges.p[hinge]], positions[hinges.q[hinge]]
    axis = (q - p) / np.linalg.norm(q - p, axis=1, keepdims=True)
    arms = positions[opposite] - p[:, None]
    along = np.einsum("hsk,hk->hs", arms, axis)
    heights = np.linalg.norm(arms - along[..., None] * axis[:, None], axis=2)
    flat = np.hypot(along[:, 0] - along[:, 1], heights.sum(axis=1))
    return np.asarray(flat * shape.shrinkage(opposite))


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
    bones: Booleans
    """(k,) bool, links of `edges` that are bones: they keep their lengths in compression too."""
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

    @cached_property
    def peak_links(self) -> StripLinks:
        """The same links, left as they are up to MAX_STRAIN."""
        return replace(self.links, tolerance=MAX_STRAIN)


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
        bones=_bones_along(shape, edges.path),
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


def _bones_along(shape: RestShape, path: Integers) -> Booleans:
    """(k,) bool, particles of a path (k,) that a bone joins to the next one."""
    joints, n = shape.mesh.joints, shape.particle_count
    if joints is None:
        return np.zeros(len(path), bool)
    links = edge_keys(np.stack([path, np.roll(path, -1)]), n)
    return np.isin(links, edge_keys(joints.bones.T, n))


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
        links=make_strip_links(
            lengths.edges, lengths.bones, tension[:count], inverse_masses, h_squared
        ),
    )
