"""Builds a body's constant model and its first state from a mesh and settings."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from .arrays import Booleans, Floats, Integers
from .bending.constraints import build_bends
from .bodies.flesh_bodies import start_flesh_body
from .bodies.solid_bodies import start_solid_body
from .field import Field
from .flesh.flesh_body import build_flesh, flesh_particles
from .forces.accelerations import accelerations
from .forces.kernels import build_exposed_surface
from .geometry.graph import label_free
from .geometry.hinges import Hinges, find_hinges, merge_triangle_pairs
from .geometry.rest_shape import RestShape, build_rest_shape, without_edges
from .integrators import start_displacement
from .mesh import MeshData
from .model import FleshModel, ShellModel, SoftBodyModel, SolidModel, WaterModel
from .plasticity import start_plastic
from .reference_frames import relative_velocities
from .rigid.pieces import Pieces, build_pieces, fit_poses, without_rigid_interior
from .rods.rod_trees import build_rods, find_rods
from .ropes.constraints import build_ropes
from .settings import BodySettings
from .shell.shell_body import build_shell
from .solid.solid_body import build_solid, solid_particles
from .solid.surface_points import without_mirror_faces
from .state import ParticleState, WaterBodyState
from .strands.strands import build_strands
from .stretch.constraints import LengthConstraints, build_edge_strips, build_lengths
from .stretch.seams import build_seams
from .stretch.strip_paths import Strips
from .water.surface import build_water
from .water.waves import start_waves
from .weave.constraints import Patches, build_patches, build_weave, is_woven, without_weave

GOAL_RATE = 20.0
"""Angular frequency of the spring that a pin of weight ½ acts as [rad/s]. A vertex that hangs from
it alone sags by 25 mm; with half, by 98 mm, with twice, by 6 mm."""


def build(
    mesh: MeshData,
    settings: BodySettings,
    *,
    gravity: Floats,
    dt: float,
    fields: Sequence[Field] = (),
    pull: Floats | None = None,
) -> tuple[SoftBodyModel, ParticleState]:
    """Builds a body's model and its state at the first frame.

    Parameters
    ----------
    mesh : a mesh that passed `mesh.check_mesh`.
    settings : the body's settings.
    gravity : (3,) at the start [m/s²].
    dt : length of the first step [s], above 0.
    fields : force fields acting on the body at the start.
    pull : (n, 3) accelerations besides gravity at the start; None without any [m/s²].
    """
    model = build_model(mesh, settings)
    moving = mesh
    if settings.frame_share > 0.0:
        moving = replace(mesh, velocities=relative_velocities(model, mesh, dt))
    if isinstance(model, FleshModel):
        return model, start_flesh_body(model, mesh, dt=dt)
    if isinstance(model, SolidModel):
        return model, start_solid_body(model, moving, gravity=gravity, fields=fields, dt=dt)
    state = _state(model, moving, gravity, fields, dt, pull)
    if isinstance(model, WaterModel):
        water = start_waves(model.water, mesh.velocities.T, dt)
        return model, WaterBodyState(**vars(state), water=water)
    return model, state


def build_model(mesh: MeshData, settings: BodySettings) -> SoftBodyModel:
    """Builds a body's model from a checked mesh; changed pins or settings need a new model."""
    return _BUILDERS[settings.body_type](mesh, settings)


def _build_surface(mesh: MeshData, settings: BodySettings) -> SoftBodyModel:
    """Cloth or ropes, or a shell."""
    surface = build_rest_shape(mesh, settings)
    pieces = build_pieces(surface)
    shape = surface if pieces is None else without_rigid_interior(surface)
    model, quads = _with_constraints(surface, shape, pieces)
    if pieces is not None or not _acts_alone(shape):
        return model
    shell = build_shell(quads, model.bends)
    return model if shell is None else ShellModel(**vars(model), shell=shell)


def _build_solid(mesh: MeshData, settings: BodySettings) -> SolidModel:
    """A solid."""
    surface = build_rest_shape(without_mirror_faces(mesh), settings)
    solid = build_solid(surface)
    model, _ = _with_constraints(surface, solid_particles(surface, solid))
    return SolidModel(**vars(model), solid=solid)


def _build_flesh(mesh: MeshData, settings: BodySettings) -> FleshModel:
    """Flesh over a body that something poses."""
    surface = build_rest_shape(mesh, settings)
    flesh = build_flesh(surface)
    model, _ = _with_constraints(surface, flesh_particles(surface, flesh))
    pinned = model.pinned[model.pinned < model.vertex_count]
    return FleshModel(**vars(replace(model, pinned=pinned)), solid=flesh)


def _build_water(mesh: MeshData, settings: BodySettings) -> WaterModel:
    """A body of water."""
    surface = build_rest_shape(mesh, settings)
    water = build_water(mesh, surface)
    model, _ = _with_constraints(surface, without_edges(surface))
    return WaterModel(**vars(model), water=water)


_BUILDERS: dict[str, Callable[[MeshData, BodySettings], SoftBodyModel]] = {
    "CLOTH": _build_surface,
    "ROPE": _build_surface,
    "HAIR": _build_surface,
    "SOFT": _build_solid,
    "FLESH": _build_flesh,
    "WATER": _build_water,
}
"""The function that builds the model of each body type."""


def _with_constraints(
    surface: RestShape, shape: RestShape, pieces: Pieces | None = None
) -> tuple[SoftBodyModel, RestShape]:
    """The model of a surface's particles and edges, and its shape with pairs of triangles merged.

    Parameters
    ----------
    surface : the whole mesh at rest.
    shape : the particles and edges that are simulated one by one.
    pieces : rigid pieces of the others.
    """
    hinges = find_hinges(shape.corners, shape.particle_count)
    patches, lengths, strips = _lengths(shape, hinges)
    quads = merge_triangle_pairs(shape, hinges)
    limited, limit_shares = _limits(surface)
    in_rods = find_rods(shape) & (pieces is None)
    goals = np.flatnonzero(~shape.pinned & (shape.mesh.pin_weights > 0.0))
    model = SoftBodyModel(
        name=surface.mesh.name,
        settings=surface.settings,
        rest_positions=np.ascontiguousarray(surface.mesh.positions.T),
        triangles=surface.triangles,
        inverse_masses=shape.inverse_masses,
        pinned=np.flatnonzero(shape.pinned),
        goals=goals,
        goal_compliances=goal_compliances(shape.mesh.pin_weights[goals], shape.masses[goals]),
        limited=limited,
        limit_shares=limit_shares,
        thicknesses=shape.thicknesses,
        pressure_shares=shape.particle_shares(shape.mesh.paint.pressure),
        free_components=label_free(shape.components, _held(shape, limited)),
        lengths=lengths,
        weave=build_weave(shape, patches),
        ropes=build_ropes(shape),
        bends=build_bends(quads, strips, shape.mesh.edges[in_rods]),
        rods=build_rods(shape, in_rods),
        seams=build_seams(shape),
        exposed_surface=build_exposed_surface(surface),
        pieces=pieces,
        strands=build_strands(shape),
    )
    return model, quads


def _limits(surface: RestShape) -> tuple[Integers, Floats]:
    """(k,) vertices that stay near the animated mesh, and painted factors on their distance."""
    body, weights = surface.settings, surface.mesh.paint.maximum_distance
    if not body.use_maximum_distance or body.body_type == "WATER":
        return np.zeros(0, np.int64), np.zeros(0)
    limited = np.flatnonzero(~surface.pinned)
    return limited, np.ones(len(limited)) if weights is None else weights[limited]


def _held(shape: RestShape, limited: Integers) -> Booleans:
    """(n,) bool, particles that something outside of the body holds."""
    held = shape.pinned | (shape.mesh.pin_weights > 0.0)
    held[limited] = True
    return np.asarray(held)


def _acts_alone(shape: RestShape) -> bool:
    """Whether no plasticity, gas, weave or seam acts besides a body's edges and faces."""
    body = shape.settings
    others = body.use_plasticity or body.pressure != 0.0 or is_woven(shape)
    return not others and not len(shape.mesh.seams)


def _lengths(shape: RestShape, hinges: Hinges) -> tuple[Patches, LengthConstraints, Strips]:
    """Weave patches, length constraints of all other edges, and all surface edges as strips."""
    patches = build_patches(shape, hinges)
    if not is_woven(shape):
        lengths = build_lengths(shape, hinges)
        return patches, lengths, lengths.edges
    left = without_weave(shape, patches)
    lengths = build_lengths(left, find_hinges(left.corners, left.particle_count))
    return patches, lengths, build_edge_strips(shape, ~shape.in_rope)


def goal_compliances(weights: Floats, masses: Floats) -> Floats:
    """(g,) compliances of soft pins: GOAL_RATE at weight ½, stiffer towards 1 [m/N]."""
    return np.asarray((1.0 - weights) / (weights * masses * GOAL_RATE**2))


def _state(
    model: SoftBodyModel,
    mesh: MeshData,
    gravity: Floats,
    fields: Sequence[Field],
    dt: float,
    pull: Floats | None,
) -> ParticleState:
    """Positions and velocities at the first frame."""
    positions = np.ascontiguousarray(mesh.positions.T)
    displacements = start_displacements(
        model, positions, mesh.velocities.T, gravity=gravity, fields=fields, dt=dt, pull=pull
    )
    displacements[:, model.pinned] = 0.0
    return ParticleState(
        positions=positions,
        previous_positions=positions - displacements,
        previous_dt=dt,
        plastic=start_plastic(model),
        rigid=None if model.pieces is None else fit_poses(model.pieces, positions),
    )


def start_displacements(
    model: SoftBodyModel,
    positions: Floats,
    velocities: Floats,
    *,
    gravity: Floats,
    fields: Sequence[Field],
    dt: float,
    pull: Floats | None = None,
) -> Floats:
    """(3, n) displacements over an imagined previous step that give these velocities [m].

    Parameters
    ----------
    positions, velocities : (3, n) now [m] and [m/s].
    gravity : (3,) [m/s²].
    fields : force fields acting on the body now.
    dt : length of the previous step [s], above 0.
    pull : (n, 3) accelerations besides gravity; None without any [m/s²].
    """
    pulls = accelerations(
        model.exposed_surface,
        model.inverse_masses,
        positions,
        lambda: velocities,
        gravity=gravity * model.settings.gravity,
        fields=fields,
        shares=model.settings.field_shares,
        dt=dt,
    )
    if pull is not None:
        pulls = pulls + pull.T
    return start_displacement(velocities, pulls, dt, model.settings.damping)
