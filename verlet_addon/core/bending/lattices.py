"""Bends of flat cloth whose triangles form a lattice: lines, as quads have them.

Hinges of right-angled triangles bend too easily by a sixth. Where every edge goes on straight on
the other side of a particle, bends along those lines can be weighted to be exact, and strips of
them are solved directly.
"""

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..geometry.faces import among_triangles, face_normals, vertex_areas
from ..geometry.graph import edge_keys
from ..geometry.hinges import Hinges
from ..geometry.rest_shape import RestShape
from ..stretch.paths import straight_joints
from .lines import STRAIGHT, Lines, line_turns


def triangle_lines(shape: RestShape, hinges: Hinges) -> tuple[Lines, Floats]:
    """The lines, and (h,) what share of each hinge they leave: either end has half of it."""
    positions, n = shape.mesh.positions, shape.particle_count
    flat = _flat_around(shape, hinges)
    triples = _straight_triples(shape, flat)
    triples = triples[(flat & _regular(shape, hinges, triples))[triples[:, 1]]]
    weights, sound = _weights(positions, triples, n)
    kept = sound[triples[:, 1]]
    triples = triples[kept]
    areas = vertex_areas(shape.corners, shape.areas, n)
    share = _evened_out(weights[kept] * areas[triples[:, 1]], triples, n)
    left = 1.0 - (sound[hinges.p] * 0.5 + sound[hinges.q] * 0.5)
    return Lines(triples, share), left


def _flat_around(shape: RestShape, hinges: Hinges) -> Booleans:
    """(n,) bool, where triangles meet that are flat at rest."""
    ends = np.concatenate([hinges.p, hinges.q])
    flat = (hinges.sizes == 3).all(axis=1) & _coplanar(shape, hinges)
    meeting = np.bincount(ends, minlength=shape.particle_count)
    all_flat = meeting == np.bincount(ends, np.tile(flat, 2), shape.particle_count)
    return np.asarray((meeting > 0) & all_flat)


def _coplanar(shape: RestShape, hinges: Hinges) -> Booleans:
    """(h,) bool, hinges that are flat at rest."""
    normals = face_normals(shape.mesh.positions, shape.corners, len(shape.areas))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    first, second = normals[hinges.faces[:, 0]], normals[hinges.faces[:, 1]]
    return np.asarray(np.linalg.norm(first - second, axis=1) < STRAIGHT)


def _straight_triples(shape: RestShape, chosen: Booleans) -> Integers:
    """(k, 3) particles in a straight row among triangles, the first of each before the last.

    All those are found of which the middle one is chosen, (n,) bool, and some others.
    """
    positions, edges = shape.mesh.positions, shape.mesh.edges
    edges = edges[chosen[edges].any(axis=1)]
    pairs = edges[among_triangles(edges, shape.corners, shape.particle_count)]
    joints = straight_joints(positions, pairs, np.zeros(len(pairs), dtype=bool))
    particles = pairs.ravel()
    outer = np.sort(particles[joints ^ 1], axis=1)
    triples = np.stack([outer[:, 0], particles[joints[:, 0]], outer[:, 1]], axis=1)
    return np.asarray(triples[line_turns(positions, triples) < STRAIGHT])


def _evened_out(share: Floats, triples: Integers, particle_count: int) -> Floats:
    """(k,) the shares, of which each line gives a quarter to either line that goes on from it.

    Particles where four edges meet and such where eight do take turns in many patterns. As hard
    and soft spots in a row they would bend more easily than evenly.
    """
    keys = _arm_keys(triples, particle_count).ravel()
    line = np.tile(np.arange(len(triples)), 2)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    one, other = line[order[same]], line[order[same + 1]]
    passed = (share[other] - share[one]) / 4
    given = np.bincount(one, passed, len(share)) - np.bincount(other, passed, len(share))
    return share + given


def _arm_keys(triples: Integers, particle_count: int) -> Integers:
    """(2, k) keys of the edges from the middle of each triple to its ends."""
    ends, middle = triples[:, [0, 2]].T, triples[:, 1]
    return edge_keys(ends, middle, particle_count)


def _regular(shape: RestShape, hinges: Hinges, triples: Integers) -> Booleans:
    """(n,) bool, where all edges go on straight, or those of the rim do."""
    n = shape.particle_count
    inner = np.bincount(np.concatenate([hinges.p, hinges.q]), minlength=n)
    valence = np.bincount(shape.mesh.edges.ravel(), minlength=n)
    within = (inner == valence) & (2 * np.bincount(triples[:, 1], minlength=n) == valence)
    edges = edge_keys(hinges.p, hinges.q, n)
    along_rim = ~np.isin(_arm_keys(triples, n), edges).any(axis=0)
    rim = np.bincount(triples[:, 1], along_rim, n) == 1
    return np.asarray(within | rim)


def _weights(positions: Floats, triples: Integers, particle_count: int) -> tuple[Floats, Booleans]:
    """(k,) how much each line counts, and (n,) bool, which particles have such weights above 0.

    Bent into a cylinder of curvature κ, a line at angle θ to the way it is bent turns by κ cos² θ.
    Weights are such that bending along every line costs what it should: Σ w cos⁴ θ = 1.
    """
    way = positions[triples[:, 2]] - positions[triples[:, 0]]
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
    order = np.argsort(triples[:, 1], kind="stable")
    count = np.bincount(triples[:, 1], minlength=particle_count)
    firsts = np.cumsum(count) - count
    weights, sound = np.zeros(len(triples)), np.zeros(particle_count, dtype=bool)
    for lines in np.unique(count[count > 0]).tolist():
        particles = np.flatnonzero(count == lines)
        places = order[firsts[particles][:, None] + np.arange(lines)]
        costs = np.einsum("vix,vjx->vij", way[places], way[places])
        costs = np.square(np.square(costs))  # a general power rounds differently elsewhere
        found = np.linalg.solve(costs + 1e-12 * np.eye(lines), np.ones((len(particles), lines, 1)))
        weights[places] = found[:, :, 0]
        sound[particles] = (found > 0.0).all(axis=(1, 2))
    return weights, sound
