"""Compliances of edges and diagonals of a surface, scaled to be independent of the mesh."""

from math import pi

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..geometry.faces import among_triangles, edge_areas, face_diagonals
from ..geometry.graph import Graph
from ..geometry.hinges import Hinges, triangle_pair_diagonals
from ..geometry.rest_shape import RestShape, painted_shares
from .strip_paths import Strips, build_strips

MIN_FACE_AREA = 1e-18
"""Least area that a face counts as, to avoid division by 0 [m²]."""
COMPRESSION_SOFTENING = 5.0
"""Factor by which edges among triangles are softer in compression than cloth in shear. With 1, some
meshes drape by up to 6 points more stiffly than others; with 20, coarse ones hang 4 lower."""

TENSION_ONLY_COMPLIANCE = 1e9
"""Compression compliance of edges that resist tension alone [m/N]."""


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
