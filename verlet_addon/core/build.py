"""Meshes and settings in, model and state out: everything that is worked out once."""

from collections.abc import Sequence

import numpy as np

from .arrays import Booleans, Floats, Integers, sum_by
from .bending.choice import BendConstraints
from .bending.lattices import triangle_lines
from .bending.lines import Lines, lines_across_quads, lines_along_ropes
from .bending.stencils import hinge_stencils, line_stencils, rope_stencils
from .geometry.faces import vertex_areas
from .geometry.graph import find_components
from .geometry.hinges import Hinges, find_hinges
from .geometry.scene import Scene, merge, vertex_normals
from .integrators import start_displacement
from .mesh import MeshData
from .model import LengthConstraints, ParticleState, SoftBodyModel
from .ropes.trees import are_trees, stretch_trees
from .settings import BodySettings
from .stretch.clusters import build_clusters, find_spacing
from .stretch.elasticity import (
    diagonals,
    inextensible,
    inextensible_surfaces,
    rope_edges,
    short_strips,
    stretch_strips,
    without_long_strips,
)
from .stretch.levels import build_levels
from .stretch.paths import Strips
from .stretch.tethers import build_tethers
from .volume.volumes import build_volumes

FIRM_PIN = 0.999
"""From this weight on a pin holds its particle exactly."""
GOAL_RATE = 20.0
"""A pin of weight ½ draws its particle like a spring of this angular frequency [rad/s]."""


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
    scene = merge(meshes, body_settings)
    masses = _masses(scene)
    hinges = find_hinges(scene.corners, scene.particle_count)
    firm = scene.mesh.pin_weights >= FIRM_PIN
    goals = np.flatnonzero(~firm & (scene.mesh.pin_weights > 0.0))
    inverse_masses = np.where(firm, 0.0, 1.0 / masses)
    lengths = _lengths(scene, hinges, masses, inverse_masses)
    model = SoftBodyModel(
        names=[mesh.name for mesh in meshes],
        body_starts=np.concatenate([[0], np.cumsum([len(mesh.positions) for mesh in meshes])]),
        inverse_masses=inverse_masses,
        dampings=scene.per_particle(lambda body: body.damping),
        thicknesses=scene.per_particle(lambda body: body.thickness),
        frictions=scene.per_particle(lambda body: body.friction),
        restitutions=scene.per_particle(lambda body: body.restitution),
        pinned=np.flatnonzero(firm),
        goals=goals,
        goal_compliances=_goal_compliances(scene.mesh.pin_weights[goals], masses[goals]),
        lengths=lengths,
        bends=_bends(scene, hinges, lengths.stretch),
        volumes=build_volumes(scene),
        free_components=_free_components(scene, firm, goals),
    )
    return model, _state(model, scene.mesh, gravity, dt)


def _lengths(
    scene: Scene, hinges: Hinges, masses: Floats, inverse_masses: Floats
) -> LengthConstraints:
    """Everything that keeps lengths."""
    firm = inverse_masses == 0.0
    in_rope = rope_edges(scene)
    in_tree = in_rope.copy()
    in_tree[in_rope] = are_trees(scene.particle_count, scene.mesh.edges[in_rope])
    firm_edges = scene.mesh.edges[~in_rope & inextensible(scene)[scene.mesh.edges[:, 0]]]
    spacing = find_spacing(scene.mesh.positions, firm_edges)
    stretch = stretch_strips(scene, ~in_rope)
    shear, folds, graph = diagonals(scene, hinges)
    graph = inextensible_surfaces(scene, graph, in_rope)
    return LengthConstraints(
        stretch=stretch,
        ropes=stretch_strips(scene, in_rope & ~in_tree),
        trees=stretch_trees(scene, in_tree, firm),
        short=short_strips(scene, firm_edges, spacing),
        clusters=build_clusters(scene.mesh.positions, firm_edges, spacing, inverse_masses),
        shear=shear,
        folds=folds,
        levels=build_levels(
            without_long_strips(scene, graph, stretch),
            scene.mesh.positions,
            vertex_normals(scene),
            masses,
            firm,
        ),
        tethers=build_tethers(scene, graph, firm),
    )


def _bends(scene: Scene, hinges: Hinges, strips: Strips) -> BendConstraints:
    """Everything that keeps angles, given the strips of surfaces."""
    positions = scene.mesh.positions
    lines, bent = lines_across_quads(hinges, scene.areas, positions)
    more, hinged = triangle_lines(scene, hinges)
    lines = Lines(
        np.concatenate([lines.vertices, more.vertices]), np.concatenate([lines.share, more.share])
    )
    bent = bent[hinged[bent] > 0.0]
    line_strips, stray_lines = line_stencils(scene, lines, strips)
    rope_lines = lines_along_ropes(positions, scene.mesh.edges[scene.loose])
    flat_hinges, signed_hinges = hinge_stencils(scene, hinges, bent, hinged[bent])
    return BendConstraints(
        positions=positions,
        line_strips=line_strips,
        lines=stray_lines,
        rope_lines=rope_stencils(scene, rope_lines),
        flat_hinges=flat_hinges,
        hinges=signed_hinges,
    )


def _masses(scene: Scene) -> Floats:
    """(n,) each body's mass shared out by area, and by length along loose edges [kg]."""
    n = scene.particle_count
    area = vertex_areas(scene.corners, scene.areas, n)
    length = np.zeros(n)
    ends = scene.mesh.edges[scene.loose]
    np.add.at(length, ends.ravel(), np.repeat(scene.lengths[scene.loose] / 2, 2))
    bodies = len(scene.settings)
    # Beside faces, a loose edge counts as a band as wide as its body's edges are long.
    edge_body = scene.body[scene.mesh.edges[:, 0]]
    widths = np.bincount(edge_body, scene.lengths, bodies) / np.maximum(
        np.bincount(edge_body, minlength=bodies), 1
    )
    shares = np.where(area > 0.0, area, length * widths[scene.body])
    # A particle without edges or area weighs as much as the average of its body.
    known = shares > 0.0
    mean = sum_by(scene.body, shares, bodies) / np.maximum(
        np.bincount(scene.body, known, bodies), 1
    )
    mean[mean == 0.0] = 1.0
    shares = np.where(known, shares, mean[scene.body])
    totals = sum_by(scene.body, shares, bodies)
    mass = scene.per_particle(lambda body: body.mass)
    return np.asarray(mass * shares / totals[scene.body])


def _free_components(scene: Scene, firm: Booleans, goals: Integers) -> Integers:
    """(n,) labels of the components without any pin, −1 elsewhere."""
    labels = find_components(scene.particle_count, scene.mesh.edges)
    held = np.zeros(labels.max(initial=-1) + 1, dtype=bool)
    held[labels[firm]] = True
    held[labels[goals]] = True
    numbers = np.where(held, -1, np.cumsum(~held) - 1)
    return numbers[labels]


def _goal_compliances(weights: Floats, masses: Floats) -> Floats:
    """(g,) a spring of frequency GOAL_RATE at weight ½, stiffer towards 1 [m/N]."""
    return np.asarray((1.0 - weights) / (weights * masses * GOAL_RATE**2))


def _state(model: SoftBodyModel, mesh: MeshData, gravity: Floats, dt: float) -> ParticleState:
    """Positions and velocities at the first frame."""
    displacements = start_displacement(mesh.velocities, gravity, dt, model.dampings[:, None])
    displacements[model.pinned] = 0.0
    return ParticleState(
        positions=np.ascontiguousarray(mesh.positions.T),
        previous_positions=np.ascontiguousarray((mesh.positions - displacements).T),
        previous_dt=dt,
    )
