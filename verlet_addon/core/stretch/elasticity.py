"""Everything that keeps lengths: edges, diagonals, and the graph that pulls travel along."""

from math import pi

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..geometry.faces import among_triangles, edge_areas, face_diagonals
from ..geometry.graph import Graph, edge_lengths, find_components
from ..geometry.hinges import Hinges, triangle_pair_diagonals
from ..geometry.scene import Scene
from .at_most import Distances, build_distances
from .clusters import short_edges
from .paths import Strips, build_strips

TINY = 1e-18
"""Faces without area, crossed over or collapsed, count as this small [m²]."""
YIELDING = 20.0
"""Cloth of triangles is easier to push together than to shear by this factor: less, and it
stretches where it cannot shear; more, and heaps of it shrink instead of folding."""
LIMP = 1e6
"""Compliance that is as good as no resistance at all [m/N]."""
SHORT_STRIPS = 8
"""Bodies whose strips have fewer edges than this on average get coarse levels."""


def rope_edges(scene: Scene) -> Booleans:
    """(m,) bool, edges of components that have no face at all."""
    labels = find_components(scene.particle_count, scene.mesh.edges)
    surface = np.zeros(labels.max(initial=-1) + 1, dtype=bool)
    surface[labels[scene.corners.vertex]] = True
    return np.asarray(~surface[labels[scene.mesh.edges[:, 0]]])


def stretch_strips(scene: Scene, chosen: Booleans) -> Strips:
    """Edges: strain = compliance × tension, force on ropes and force per width on surfaces.

    Among triangles, cloth could not shear or hang in folds if no edge could become shorter; real
    cloth buckles, finer than the mesh can show. There, edges give way to being pushed together.
    """
    edges = scene.mesh.edges
    per_force = _strain_lengths(scene)
    yielding = _yielding(scene)
    yielding *= among_triangles(edges, scene.corners, scene.particle_count)
    return build_strips(
        scene.mesh.positions,
        edges[chosen],
        scene.lengths[chosen],
        (edge_compliances(scene) * per_force)[chosen],
        (yielding * per_force)[chosen],
        scene.loose[chosen],
    )


def short_strips(scene: Scene, edges: Integers, spacing: Floats) -> Strips:
    """The edges (m, 2) among these that are much shorter than those around; they only pull."""
    short = short_edges(scene.mesh.positions, edges, spacing)
    none = np.zeros(len(short))
    lengths = edge_lengths(scene.mesh.positions, short)
    return build_strips(scene.mesh.positions, short, lengths, none, none + LIMP, none > 0.0)


def edge_compliances(scene: Scene) -> Floats:
    """(m,) strain per unit tension."""
    compliance = scene.per_particle(lambda body: body.stretch_compliance)
    return np.asarray(compliance[scene.mesh.edges[:, 0]])


def _strain_lengths(scene: Scene) -> Floats:
    """(m,) what turns strain per unit tension into elongation per force: length, or per width."""
    edges = scene.mesh.edges
    areas = edge_areas(edges, scene.corners, scene.areas, scene.particle_count)
    per_width = scene.lengths**2 / np.where(areas > 0.0, areas, np.inf)
    return np.where(scene.loose, scene.lengths, per_width)


def _yielding(scene: Scene) -> Floats:
    """(m,) strain per unit pressure where cloth is pushed together [m/N].

    Never more than where a strip as long as the edge would buckle: L² / (π² B), B being its bending
    stiffness (L. Euler, *Methodus inveniendi lineas curvas*, 1744).
    """
    first = scene.mesh.edges[:, 0]
    shear = scene.per_particle(
        lambda body: body.shear_compliance if body.body_type == "CLOTH" else 0.0
    )
    bend = scene.per_particle(lambda body: body.bend_compliance)
    return np.asarray(np.minimum(YIELDING * shear[first], bend[first] * scene.lengths**2 / pi**2))


def diagonals(scene: Scene, hinges: Hinges) -> tuple[Strips, Distances, Graph]:
    """Shear in faces, folds across triangle pairs, and the graph of edges and diagonals."""
    compliance = scene.per_particle(lambda body: body.shear_compliance)
    across, face = face_diagonals(scene.corners)
    opposite, hinge = triangle_pair_diagonals(hinges)
    positions = scene.mesh.positions
    across_lengths = edge_lengths(positions, across)
    opposite_lengths = _unfolded_lengths(positions, hinges, hinge, opposite)
    pair_areas = scene.areas[hinges.faces[hinge]].sum(axis=1) / 2
    shear = build_strips(
        positions,
        across,
        across_lengths,
        compliance[across[:, 0]] * across_lengths**2 / np.maximum(scene.areas[face], TINY),
        np.zeros(len(across)),
        np.zeros(len(across), dtype=bool),
    )
    folds = build_distances(
        opposite,
        opposite_lengths,
        compliance[opposite[:, 0]] * opposite_lengths**2 / np.maximum(pair_areas, TINY),
        scene.particle_count,
    )
    graph = Graph(
        np.concatenate([scene.mesh.edges, across, opposite]),
        np.concatenate([scene.lengths, across_lengths, opposite_lengths]),
    )
    return shear, folds, graph


def _unfolded_lengths(
    positions: Floats, hinges: Hinges, hinge: Integers, opposite: Integers
) -> Floats:
    """(k,) distance of the opposite vertices when both triangles lie in one plane [m].

    Across a pair that is not convex the way bends round the edge's end, and is never shorter.
    """
    p, q = positions[hinges.p[hinge]], positions[hinges.q[hinge]]
    axis = (q - p) / np.linalg.norm(q - p, axis=1, keepdims=True)
    arms = positions[opposite] - p[:, None]
    along = np.einsum("hsk,hk->hs", arms, axis)
    heights = np.linalg.norm(arms - along[..., None] * axis[:, None], axis=2)
    return np.asarray(np.hypot(along[:, 0] - along[:, 1], heights.sum(axis=1)))


def inextensible(scene: Scene) -> Booleans:
    """(n,) bool, particles of bodies that must not stretch at all.

    Only they get levels, tethers and clusters. Those act on lengths alone and would hold
    a soft body back from stretching as it should.
    """
    return np.asarray(scene.per_particle(lambda body: body.stretch_compliance) == 0.0)


def inextensible_surfaces(scene: Scene, graph: Graph, in_rope: Booleans) -> Graph:
    """The part of the graph that levels and tethers are made from; ropes are solved directly."""
    kept = inextensible(scene)[graph.pairs[:, 0]]
    kept[: len(in_rope)] &= ~in_rope
    return Graph(graph.pairs[kept], graph.lengths[kept])


def without_long_strips(scene: Scene, graph: Graph, strips: Strips) -> Graph:
    """Bodies whose strips are too short to carry a pull across: irregular and scanned meshes."""
    body = scene.body[strips.path]
    edges = np.bincount(body, strips.linked, len(scene.settings))
    paths = np.bincount(body, ~strips.linked, len(scene.settings))
    kept = (edges < SHORT_STRIPS * paths)[scene.body[graph.pairs[:, 0]]]
    return Graph(graph.pairs[kept], graph.lengths[kept])
