"""Meshes and settings in, model and state out: everything that is worked out once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from . import topology
from .constraints import Distances, Stencils, build_distances, build_stencils
from .integrators import start_displacement
from .levels import Graph, build_levels, neighbour_lists
from .mesh import Floats, Integers, MeshData
from .model import ParticleState, SoftBodyModel
from .settings import BodySettings
from .strips import Strips, build_strips

FLAT = 1e-3
"""A hinge counts as flat at rest when it turns by less than this [rad]."""
SHORT_STRIPS = 8
"""Bodies whose strips have fewer edges than this on average get coarse levels."""
FIRM_PIN = 0.999
"""From this weight on a pin holds its particle exactly."""
GOAL_RATE = 20.0
"""A pin of weight ½ draws its particle like a spring of this angular frequency [rad/s]."""


@dataclass(frozen=True, eq=False)
class _Scene:
    """All bodies as one mesh, with what the builders below share."""

    mesh: MeshData
    body: Integers
    """(n,) the body each particle belongs to."""
    settings: Sequence[BodySettings]
    corners: topology.Corners
    areas: Floats
    """(f,)"""
    lengths: Floats
    """(m,) of the edges."""
    loose: Integers
    """(m,) bool, edges that carry no face, as ropes do."""

    @property
    def particle_count(self) -> int:
        return len(self.mesh.positions)

    def per_particle(self, value: Callable[[BodySettings], float]) -> Floats:
        """(n,) one setting of each particle's body."""
        return np.array([value(settings) for settings in self.settings], dtype=float)[self.body]


def build(
    meshes: Sequence[MeshData],
    body_settings: Sequence[BodySettings],
    *,
    gravity: Floats,
    dt: float,
) -> tuple[SoftBodyModel, ParticleState]:
    """Builds all bodies into one model, and the state at the first frame.

    Parameters
    ----------
    meshes, body_settings : one of each per body; meshes have passed `mesh.check_mesh`.
    gravity : (3,) at the start [m/s²].
    dt : length of the first step [s], above 0.
    """
    scene = _merge(meshes, body_settings)
    masses = _masses(scene)
    firm = scene.mesh.pin_weights >= FIRM_PIN
    goals = np.flatnonzero(~firm & (scene.mesh.pin_weights > 0.0))
    hinges = topology.find_hinges(scene.corners, scene.particle_count)
    lines, bent = topology.surface_lines(hinges, scene.areas, scene.mesh.positions)
    flat_hinges, signed_hinges = _hinge_stencils(scene, hinges, bent)
    shear, folds, graph = _diagonals(scene, hinges)
    in_rope = _rope_edges(scene)
    held = _held_components(scene, firm, goals)
    stretch = _stretch(scene, ~in_rope)
    firm_graph = _inextensible_surfaces(scene, graph, in_rope)
    levels = build_levels(
        _without_long_strips(scene, firm_graph, stretch),
        scene.mesh.positions,
        _vertex_normals(scene),
        masses,
        firm,
    )
    tethered, pins, tether_lengths = _tethers(scene, firm_graph, firm)
    model = SoftBodyModel(
        names=[mesh.name for mesh in meshes],
        body_starts=np.concatenate([[0], np.cumsum([len(mesh.positions) for mesh in meshes])]),
        inverse_masses=np.where(firm, 0.0, 1.0 / masses),
        dampings=scene.per_particle(lambda body: body.damping),
        thicknesses=scene.per_particle(lambda body: body.thickness),
        frictions=scene.per_particle(lambda body: body.friction),
        restitutions=scene.per_particle(lambda body: body.restitution),
        pinned=np.flatnonzero(firm),
        goals=goals,
        goal_compliances=_goal_compliances(scene.mesh.pin_weights[goals], masses[goals]),
        stretch=stretch,
        ropes=_stretch(scene, in_rope),
        shear=shear,
        folds=folds,
        lines=_line_stencils(scene, lines, rope=False),
        rope_lines=_line_stencils(
            scene,
            topology.rope_lines(scene.mesh.positions, scene.mesh.edges[scene.loose]),
            rope=True,
        ),
        flat_hinges=flat_hinges,
        hinges=signed_hinges,
        levels=levels,
        tethered=tethered,
        tether_pins=pins,
        tether_lengths=tether_lengths,
        free_components=held,
    )
    return model, _state(model, scene.mesh, gravity, dt)


def _merge(meshes: Sequence[MeshData], settings: Sequence[BodySettings]) -> _Scene:
    """Puts all bodies into one mesh; faces of ropes are left out."""
    counts = [len(mesh.positions) for mesh in meshes]
    offsets = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    with_faces = [
        (mesh, offset)
        for mesh, offset, body in zip(meshes, offsets, settings, strict=True)
        if body.body_type != "ROPE"
    ]
    sizes = [np.diff(mesh.face_starts) for mesh, _ in with_faces]
    faces = [mesh.face_vertices + offset for mesh, offset in with_faces]
    mesh = MeshData(
        name="",
        positions=np.concatenate([mesh.positions for mesh in meshes]),
        edges=np.concatenate(
            [mesh.edges + offset for mesh, offset in zip(meshes, offsets, strict=True)]
        ),
        face_starts=np.concatenate([[0], np.cumsum(np.concatenate([[], *sizes]))]).astype(np.int64),
        face_vertices=np.concatenate([np.empty(0, dtype=np.int64), *faces]),
        pin_weights=np.concatenate([mesh.pin_weights for mesh in meshes]),
        velocities=np.concatenate([mesh.velocities for mesh in meshes]),
    )
    corners = topology.read_corners(mesh)
    keys = topology.edge_keys(corners.vertex, corners.following, len(mesh.positions))
    edge_keys = topology.edge_keys(mesh.edges[:, 0], mesh.edges[:, 1], len(mesh.positions))
    normals = topology.face_normals(mesh.positions, corners, len(mesh.face_starts) - 1)
    return _Scene(
        mesh=mesh,
        body=np.repeat(np.arange(len(meshes)), counts),
        settings=settings,
        corners=corners,
        areas=np.linalg.norm(normals, axis=1),
        lengths=topology.edge_lengths(mesh.positions, mesh.edges),
        loose=~np.isin(edge_keys, keys),
    )


def _masses(scene: _Scene) -> Floats:
    """(n,) each body's mass shared out by area, and by length along loose edges [kg]."""
    n = scene.particle_count
    area = topology.vertex_areas(scene.corners, scene.areas, n)
    length = np.zeros(n)
    ends = scene.mesh.edges[scene.loose]
    np.add.at(length, ends.ravel(), np.repeat(scene.lengths[scene.loose] / 2, 2))
    shares = area + np.where(area > 0.0, 0.0, length * _typical_width(scene))
    bodies = len(scene.settings)
    # A particle without edges or area weighs as much as the average of its body.
    known = shares > 0.0
    mean = np.bincount(scene.body, shares, bodies) / np.maximum(
        np.bincount(scene.body, known, bodies), 1
    )
    mean[mean == 0.0] = 1.0
    shares = np.where(known, shares, mean[scene.body])
    totals = np.bincount(scene.body, shares, bodies)
    return scene.per_particle(lambda body: body.mass) * shares / totals[scene.body]


def _typical_width(scene: _Scene) -> float:
    """The width that a loose edge counts as beside faces [m]."""
    return float(scene.lengths.mean()) if len(scene.lengths) else 1.0


def _rope_edges(scene: _Scene) -> Integers:
    """(m,) bool, edges of components that have no face at all."""
    labels = topology.find_components(scene.particle_count, scene.mesh.edges)
    surface = np.zeros(labels.max(initial=-1) + 1, dtype=bool)
    surface[labels[scene.corners.vertex]] = True
    return np.asarray(~surface[labels[scene.mesh.edges[:, 0]]])


def _stretch(scene: _Scene, chosen: Integers) -> Strips:
    """Edges: strain = compliance × tension, force on ropes and force per width on surfaces."""
    edges = scene.mesh.edges
    areas = topology.edge_areas(edges, scene.corners, scene.areas, scene.particle_count)
    compliance = scene.per_particle(lambda body: body.stretch_compliance)[edges[:, 0]]
    per_force = np.where(
        scene.loose, scene.lengths, scene.lengths**2 / np.where(areas > 0.0, areas, np.inf)
    )
    return build_strips(
        scene.mesh.positions,
        edges[chosen],
        scene.lengths[chosen],
        (compliance * per_force)[chosen],
        scene.loose[chosen],
    )


def _diagonals(scene: _Scene, hinges: topology.Hinges) -> tuple[Strips, Distances, Graph]:
    """Shear in faces, folds across triangle pairs, and the graph of edges and diagonals."""
    compliance = scene.per_particle(lambda body: body.shear_compliance)
    across, face = topology.face_diagonals(scene.corners)
    opposite, hinge = topology.triangle_pair_diagonals(hinges)
    positions = scene.mesh.positions
    across_lengths = topology.edge_lengths(positions, across)
    opposite_lengths = _unfolded_lengths(positions, hinges, hinge, opposite)
    pair_areas = scene.areas[hinges.faces[hinge]].sum(axis=1) / 2
    shear = build_strips(
        positions,
        across,
        across_lengths,
        compliance[across[:, 0]] * across_lengths**2 / scene.areas[face],
        np.zeros(len(across), dtype=bool),
    )
    folds = build_distances(
        opposite,
        opposite_lengths,
        compliance[opposite[:, 0]] * opposite_lengths**2 / pair_areas,
        scene.particle_count,
    )
    graph = Graph(
        np.concatenate([scene.mesh.edges, across, opposite]),
        np.concatenate([scene.lengths, across_lengths, opposite_lengths]),
    )
    return shear, folds, graph


def _unfolded_lengths(
    positions: Floats, hinges: topology.Hinges, hinge: Integers, opposite: Integers
) -> Floats:
    """(k,) distance of the opposite vertices when both triangles lie in one plane [m].

    Across a pair that is not convex the way bends round the edge's end, and is never shorter.
    """
    p, q = positions[hinges.p[hinge]], positions[hinges.q[hinge]]
    axis = (q - p) / np.linalg.norm(q - p, axis=1, keepdims=True)
    arms = positions[opposite] - p[:, None]
    along = np.einsum("hsk,hk->hs", arms, axis)
    heights = np.linalg.norm(arms - along[..., None] * axis[:, None], axis=2)
    return np.hypot(along[:, 0] - along[:, 1], heights.sum(axis=1))


def _line_stencils(scene: _Scene, lines: topology.Lines, *, rope: bool) -> Stencils:
    """g = (a − v)/|a| + (b − v)/|b|; energy ½ B g²/ds² per area, or per length on ropes."""
    positions = scene.mesh.positions
    ends = positions[lines.vertices[:, [0, 2]]] - positions[lines.vertices[:, [1]]]
    arms = np.linalg.norm(ends, axis=2)
    spacing = arms.mean(axis=1)
    inverse = 1.0 / arms
    coefficients = np.stack([inverse[:, 0], -inverse.sum(axis=1), inverse[:, 1]], axis=1)
    compliance = scene.per_particle(lambda body: body.bend_compliance)[lines.vertices[:, 1]]
    return build_stencils(
        lines.vertices,
        coefficients,
        topology.line_turns(positions, lines.vertices) if rope else np.zeros(len(spacing)),
        compliance * spacing**2 / lines.share,
        scene.particle_count,
    )


def _hinge_stencils(
    scene: _Scene, hinges: topology.Hinges, chosen: Integers
) -> tuple[Stencils, Stencils]:
    """Flat hinges, and those with a rest angle.

    g joins the unit heights of both faces over the edge, so |g| = 2 sin(turn / 2) while nothing
    stretches: the isometric bending of M. Bergou et al., *A Quadratic Bending Model for Inextensible
    Surfaces* (2006), with energy ½ B |e|²/A g² (E. Grinspun et al., *Discrete Shells*, 2003).
    """
    positions = scene.mesh.positions
    p, q = hinges.p[chosen], hinges.q[chosen]
    members = np.stack([p, q, hinges.beyond_p[chosen, 0], hinges.beyond_q[chosen, 1]], axis=1)
    edge = positions[q] - positions[p]
    length = np.linalg.norm(edge, axis=1)
    arms = positions[members[:, 2:]] - positions[p][:, None]
    along = np.einsum("hsk,hk->hs", arms, edge) / length[:, None] ** 2
    heights = np.linalg.norm(arms - along[..., None] * edge[:, None], axis=2)
    sound = (heights > 1e-6 * length[:, None]).all(axis=1) & (members[:, 2] != members[:, 3])
    members, length, along, heights = members[sound], length[sound], along[sound], heights[sound]
    inverse = 1.0 / heights
    coefficients = np.stack(
        [
            -((1.0 - along) * inverse).sum(axis=1),
            -(along * inverse).sum(axis=1),
            inverse[:, 0],
            inverse[:, 1],
        ],
        axis=1,
    )
    bends = np.einsum("hk,hkx->hx", coefficients, positions[members])
    rests = np.linalg.norm(bends, axis=1)
    compliance = scene.per_particle(lambda body: body.bend_compliance)[members[:, 0]]
    compliance = compliance * heights.sum(axis=1) / (2.0 * length)
    flat = rests < FLAT
    rests *= np.sign(np.einsum("hx,hx->h", bends, _hinge_normals(positions, members)))

    def stencils(which: Integers, rest: Floats) -> Stencils:
        return build_stencils(
            members[which],
            coefficients[which],
            rest[which],
            compliance[which],
            scene.particle_count,
        )

    return stencils(flat, np.zeros(len(rests))), stencils(~flat, rests)


def _hinge_normals(positions: Floats, members: Integers) -> Floats:
    """(h, 3) the two faces' normals added up, on the side that the first face is seen from."""
    p, q, a, b = (positions[members[:, k]] for k in range(4))
    return np.asarray(np.cross(q - p, a - p) - np.cross(q - p, b - p))


def _inextensible(scene: _Scene) -> Integers:
    """(n,) bool, particles of bodies that must not stretch at all: only they get levels and tethers.

    Those act on lengths alone and would hold a soft body back from stretching as it should.
    """
    return scene.per_particle(lambda body: body.stretch_compliance) == 0.0


def _inextensible_surfaces(scene: _Scene, graph: Graph, in_rope: Integers) -> Graph:
    """The part of the graph that levels and tethers are made from; ropes are solved directly."""
    kept = _inextensible(scene)[graph.pairs[:, 0]]
    kept[: len(in_rope)] &= ~in_rope
    return Graph(graph.pairs[kept], graph.lengths[kept])


def _without_long_strips(scene: _Scene, graph: Graph, strips: Strips) -> Graph:
    """The bodies whose strips are too short to carry a pull across: irregular and scanned meshes."""
    body = scene.body[strips.path]
    edges = np.bincount(body, strips.linked, len(scene.settings))
    paths = np.bincount(body, ~strips.linked, len(scene.settings))
    kept = (edges < SHORT_STRIPS * paths)[scene.body[graph.pairs[:, 0]]]
    return Graph(graph.pairs[kept], graph.lengths[kept])


def _vertex_normals(scene: _Scene) -> Floats:
    """(n, 3) unit normals, 0 without faces."""
    normals = topology.face_normals(scene.mesh.positions, scene.corners, len(scene.areas))
    summed = np.zeros((scene.particle_count, 3))
    np.add.at(summed, scene.corners.vertex, normals[scene.corners.face])
    size = np.linalg.norm(summed, axis=1, keepdims=True)
    return np.asarray(summed / np.where(size > 0.0, size, 1.0))


def _tethers(
    scene: _Scene, graph: Graph, firm: Integers
) -> tuple[Integers, Integers, Floats]:
    """For each particle the nearest pin along the mesh, and how far that is.

    T.-Y. Kim, N. Chentanez, M. Müller-Fischer, *Long Range Attachments* (2012).
    """
    wanted = scene.per_particle(lambda body: float(body.use_tethers)) > 0.0
    neighbours = neighbour_lists(graph, scene.particle_count)
    pin = np.full(scene.particle_count, -1)
    distance = np.full(scene.particle_count, np.inf)
    front = [(0.0, source, source) for source in np.flatnonzero(firm & wanted).tolist()]
    heapify(front)
    while front:
        length, particle, source = heappop(front)
        if length >= distance[particle]:
            continue
        distance[particle], pin[particle] = length, source
        for other, step in neighbours[particle]:
            if length + step < distance[other]:
                heappush(front, (length + step, other, source))
    tethered = np.flatnonzero((pin >= 0) & ~firm)
    return tethered, pin[tethered], distance[tethered]


def _held_components(scene: _Scene, firm: Integers, goals: Integers) -> Integers:
    """(n,) labels of the components without any pin, −1 elsewhere."""
    labels = topology.find_components(scene.particle_count, scene.mesh.edges)
    held = np.zeros(labels.max(initial=-1) + 1, dtype=bool)
    held[labels[firm]] = True
    held[labels[goals]] = True
    numbers = np.where(held, -1, np.cumsum(~held) - 1)
    return numbers[labels]


def _goal_compliances(weights: Floats, masses: Floats) -> Floats:
    """(g,) a spring of frequency GOAL_RATE at weight ½, stiffer towards 1 [m/N]."""
    return (1.0 - weights) / (weights * masses * GOAL_RATE**2)


def _state(model: SoftBodyModel, mesh: MeshData, gravity: Floats, dt: float) -> ParticleState:
    """Positions and velocities at the first frame."""
    displacements = start_displacement(mesh.velocities, gravity, dt, model.dampings[:, None])
    displacements[model.pinned] = 0.0
    return ParticleState(
        positions=np.ascontiguousarray(mesh.positions.T),
        previous_positions=np.ascontiguousarray((mesh.positions - displacements).T),
        previous_dt=dt,
    )
