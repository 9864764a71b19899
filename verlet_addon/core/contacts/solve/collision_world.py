"""The collision world: surfaces of all bodies and colliders, and the state of their contacts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ...arrays import Booleans, Floats, magnitudes
from ...geometry.graph import NO_EDGES, find_components
from ...mesh import MeshData
from ...model import ShellModel, SoftBodyModel, SolidModel
from ...rigid.responses import PieceResponses, build_responses
from ...scene import Collider
from ..broad_phase.skins import SkinLimits, skin_limits
from ..broad_phase.surfaces import Surface, Surfaces, join_surfaces
from ..manifold.persistent_contacts import PersistentContacts, without_contacts
from ..manifold.row_setup import (
    ContactCache,
    PairProperties,
    build_collision_matrix,
    combine_pair_properties,
    pair_gaps,
)
from ..sides.sides import Sides, build_sides, mark_appeared
from .contact_statistics import ContactStatistics, empty_statistics

SKIN_SHARE = 1.0
"""Largest distance from their paths within which particles' contacts are detected, as a share of
the body's thickness, or of its longest edge if that is shorter. With half, pinched cloth takes a
quarter more searches; with twice, it takes a tenth more tests."""


Bodies = Sequence[Floats] | Mapping[int, Floats]
"""Positions (3, n) of bodies by their numbers."""


@dataclass(eq=False)
class CollisionWorld:
    """The N particles that may touch: vertices of all bodies, then vertices of colliders."""

    surfaces: Surfaces
    on_ropes: Booleans
    """(N,) bool, particles of ropes without closed loops."""
    between_pins: Booleans
    """(N,) bool, particles of bodies connected to more than one pin."""
    bodies: int
    """Number of owners that are bodies; they come first."""
    body_slices: dict[int, slice]
    """Particles of each body, as a slice of the world's."""
    shortest_edges: Floats
    """(N,) shortest edge at each particle [m]; infinite in solids, shells and ropes."""
    gap_reductions: Floats
    """(N,) reduction of the gap where the painted thickness is smaller than the body's [m]."""
    pair_properties: PairProperties
    skins: Floats
    """(owners,) largest skins of bodies; 0 for colliders [m]."""
    sides: Sides
    """Particles that are inside of solids or colliders, come out, or have no room between."""
    statistics: ContactStatistics
    """Counts that diagnostics are made from."""
    piece_responses: PieceResponses | None
    """Rigid pieces of all bodies, None without any; changes."""
    colliders: Sequence[Collider]
    degenerate: Booleans
    """(colliders,) bool, colliders without area in this step, which touch nothing; changes."""
    persistent_contacts: PersistentContacts | None = None
    """Contacts and near pairs found in former steps; changes."""
    cache: ContactCache | None = None
    """Multipliers of the step before, for the warm start; changes."""

    @cached_property
    def skin_limits(self) -> SkinLimits:
        """How far particles may be from the paths for which contacts were searched."""
        return skin_limits(self.surfaces, self.skins)

    @property
    def first_collider_particle(self) -> int:
        """The first particle of colliders."""
        return int(self.surfaces.starts[self.bodies])

    def gather_positions(self, bodies: Sequence[Floats], colliders: Sequence[Floats]) -> Floats:
        """(3, N) positions of bodies (3, n), whose vertices come first, and colliders (v, 3)."""
        places = np.empty(self.surfaces.rest.shape)
        gather_bodies(self.body_slices, bodies, places)
        for number, rows in enumerate(colliders, self.bodies):
            own = slice(*self.surfaces.starts[number : number + 2])
            places[:, own] = np.nan if self.degenerate[number - self.bodies] else rows.T
        return places

    def finish_step_apart(self) -> None:
        """Records a step in which nothing could touch: all particles kept to their paths."""
        self.statistics.steps += 1
        if self.persistent_contacts is None:
            self.persistent_contacts = without_contacts(self.skin_limits)
        self.persistent_contacts.deviations[:] = 0.0

    def update_degenerate_colliders(
        self, bodies: Sequence[Floats], starts: Sequence[Floats], ends: Sequence[Floats]
    ) -> None:
        """Excludes colliders without area at either end (v, 3) of their motion [m].

        Bodies (3, n) inside of a collider that gains an area depenetrate from it, as they do from
        one in which they start.
        """
        degenerate = self.degenerate.copy()
        for number, ends_of_path in enumerate(zip(starts, ends, strict=True)):
            different = ends_of_path[:1] if ends_of_path[0] is ends_of_path[1] else ends_of_path
            self.degenerate[number] = not all(map(self.colliders[number].has_area, different))
        for number in np.flatnonzero(degenerate & ~self.degenerate).tolist():
            mark_appeared(self.sides, self.bodies + number, self.gather_positions(bodies, starts))


def gather_bodies(slices: dict[int, slice], bodies: Bodies, world_positions: Floats) -> None:
    """Copies positions of bodies (3, n) that have a slice into the world's (3, N)."""
    for body, own in slices.items():
        world_positions[:, own] = bodies[body][:, : own.stop - own.start]


def scatter_bodies(slices: dict[int, slice], bodies: Bodies, world_positions: Floats) -> None:
    """Copies positions of the world (3, N) back into bodies (3, n) that have a slice."""
    for body, own in slices.items():
        bodies[body][:, : own.stop - own.start] = world_positions[:, own]


def build_collision_world(
    models: Sequence[SoftBodyModel],
    meshes: Sequence[MeshData],
    colliders: Sequence[Collider],
    places: Sequence[Floats],
) -> CollisionWorld | None:
    """Builds the collision world; None if no pair of owners collides.

    Parameters
    ----------
    places : per collider (v, 3), positions of its vertices at the start [m].
    """
    bodies = [model.settings for model in models]
    collides = build_collision_matrix(bodies, meshes, len(colliders))
    if not collides.any():
        return None
    surfaces = [_surface(*body) for body in zip(models, meshes, strict=True)]
    surfaces += [
        Surface(rows.T, collider.triangles.T, NO_EDGES, collider.single_sided, is_collider=True)
        for collider, rows in zip(colliders, places, strict=True)
    ]
    world_surfaces = join_surfaces(surfaces, collides, pair_gaps(bodies, colliders))
    held = [model.contact_inverse_masses == 0.0 for model in models]
    held += [np.ones(len(rows), dtype=bool) for rows in places]
    thick = np.array([*(body.thickness for body in bodies), *(0.0 for _ in colliders)])
    skins = SKIN_SHARE * np.minimum(thick, world_surfaces.longest)
    pinchable = [*map(_pinchable, models), *(np.zeros(len(rows), dtype=bool) for rows in places)]
    soft = np.array([body.body_type == "SOFT" for body in bodies] + [False] * len(colliders))
    return CollisionWorld(
        surfaces=world_surfaces,
        sides=build_sides(
            world_surfaces, soft, len(bodies), *map(np.concatenate, (held, pinchable))
        ),
        pair_properties=combine_pair_properties(bodies, colliders),
        bodies=len(bodies),
        body_slices={
            body: slice(*world_surfaces.starts[body : body + 2].tolist())
            for body in range(len(bodies))
        },
        statistics=empty_statistics(len(surfaces)),
        skins=skins,
        colliders=colliders,
        degenerate=np.zeros(len(colliders), dtype=bool),
        **_particle_arrays(world_surfaces, models, meshes),
    )


def _particle_arrays(
    surfaces: Surfaces, models: Sequence[SoftBodyModel], meshes: Sequence[MeshData]
) -> dict[str, Any]:
    """Fields of CollisionWorld per particle (N,): values of bodies; none for colliders."""
    rest = surfaces.rest.shape[1] - int(surfaces.starts[len(models)])
    none, zero = np.zeros(rest, dtype=bool), np.zeros(rest)
    on_ropes = np.concatenate([*map(_on_ropes, models), none])
    between_pins = np.concatenate([*map(_between_pins, models, meshes), none])
    return {
        "on_ropes": on_ropes,
        "between_pins": between_pins,
        "shortest_edges": _shortest_edges(surfaces, models, on_ropes & ~between_pins),
        "piece_responses": build_responses(
            [model.pieces for model in models], surfaces.starts.tolist(), len(on_ropes)
        ),
        "gap_reductions": np.concatenate([*map(_gap_reductions, models), zero]),
    }


def _surface(model: SoftBodyModel, mesh: MeshData) -> Surface:
    """The collision surface of a body: its mesh, or the subdivided surface of a solid."""
    if not isinstance(model, SolidModel) or not model.solid.surface.subdivided:
        return Surface(
            mesh.positions.T,
            model.triangles,
            mesh.edges.T,
            edges_touch=model.settings.body_type != "HAIR",
            exempt=mesh.exempt,
        )
    surface_points = model.solid.surface
    return Surface(surface_points.interpolate(mesh.positions).T, surface_points.triangles, NO_EDGES)


def _shortest_edges(
    surfaces: Surfaces, models: Sequence[SoftBodyModel], on_ropes: Booleans
) -> Floats:
    """(N,) shortest edge at each particle [m]; infinite in solids, shells and ropes."""
    shortest_edges = np.full(surfaces.rest.shape[1], np.inf)
    lengths = magnitudes(np.diff(surfaces.rest[:, surfaces.edges], axis=1)[:, 0])
    for ends in surfaces.edges:
        np.minimum.at(shortest_edges, ends, lengths)
    for model, (start, stop) in zip(models, pairwise(surfaces.starts), strict=False):
        if isinstance(model, SolidModel | ShellModel):
            shortest_edges[start:stop] = np.inf
    shortest_edges[on_ropes] = np.inf
    return shortest_edges


def _on_ropes(model: SoftBodyModel) -> Booleans:
    """(v,) bool, vertices of ropes without closed loops."""
    on_ropes = np.zeros(len(model.contact_inverse_masses), dtype=bool)
    on_ropes[model.ropes.trees.strips.path] = True
    return on_ropes


def _between_pins(model: SoftBodyModel, mesh: MeshData) -> Booleans:
    """(v,) bool, vertices of components with more than one pin."""
    count = len(model.contact_inverse_masses)
    pieces = find_components(count, NO_EDGES.T if isinstance(model, SolidModel) else mesh.edges)
    return np.asarray(np.bincount(pieces, model.contact_inverse_masses == 0.0)[pieces] > 1.0)


def _gap_reductions(model: SoftBodyModel) -> Floats:
    """(v,) half the body's thickness less half of each vertex's own [m]."""
    own = model.thicknesses[: len(model.contact_inverse_masses)]
    return np.asarray((model.settings.thickness - own) / 2)


def _pinchable(model: SoftBodyModel) -> Booleans:
    """(v,) bool, free vertices of bodies without solid, shell or rigid pieces, but ropes."""
    movable = (model.contact_inverse_masses > 0.0) & (not model.has_coupled_particles)
    return np.asarray(movable & ~_on_ropes(model))
