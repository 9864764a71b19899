"""All bodies and colliders in one world, and what may touch there."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..arrays import Booleans, Floats, Integers, magnitudes
from ..contact.contact_rows import PairProperties
from ..contact.warm_start import ContactCache
from ..depenetration.penetration_states import PINCHED
from ..depenetration.surface_depenetration import (
    SurfaceDepenetration,
    build_depenetration,
    mark_appeared,
)
from ..detection.surfaces import Surface, Surfaces, join_surfaces
from ..geometry.graph import NO_EDGES, find_components
from ..mesh import MeshData
from ..model import SoftBodyModel
from ..scene import Collider
from .contact_statistics import ContactStatistics, empty_statistics
from .pair_properties import build_collision_matrix, combine_pair_properties, pair_gaps
from .pinched_particles import NO_PINCHED, PinchedParticles

SKIN_SHARE = 1.0
"""Contacts are looked for as far beyond their gap as this share of the body's thickness, or of its
longest edge if that is shorter."""


@dataclass(eq=False)
class CollisionWorld:
    """What may touch during a simulation: particles of all bodies, then vertices of colliders."""

    surfaces: Surfaces
    on_ropes: Booleans
    """(N,) bool, which particles are strung on ropes without rings…"""
    between_pins: Booleans
    """(N,) …and which of bodies hang together with more than one pin."""
    bodies: int
    """How many of the owners are bodies."""
    body_slices: dict[int, slice]
    """Where in the world each of them has its own."""
    shortest_edges: Floats
    """(N,) each particle's shortest edge [m]; infinite where pushing it alone stretches none."""
    gap_reductions: Floats
    """(N,) how much less each keeps than others of its body, where that is painted [m]."""
    pair_properties: PairProperties
    skins: Floats
    """(owners,) how far beyond gaps contacts of each are looked for [m]."""
    depenetration: SurfaceDepenetration
    """What starts inside of something, on its way out."""
    statistics: ContactStatistics
    """What users may be told of it."""
    colliders: Sequence[Collider]
    degenerate: Booleans
    """(colliders,) which are a point or a line for now, and so touch nothing; changes."""
    pinchable: Booleans
    """(N,) which particles of cloth may be pinched between colliders."""
    recovery_times: Floats
    """(N,) for how long each touches no body yet since it was pinched [s]; changes."""
    cache: ContactCache | None = None
    """What contacts start from; changes."""
    pinched: PinchedParticles = NO_PINCHED
    """What has no room between colliders; changes."""

    @cached_property
    def pair_reaches(self) -> Floats:
        """(owners, owners) the larger of both reaches [m]."""
        return np.maximum.outer(self.skins, self.skins)

    @property
    def penetration_states(self) -> Integers:
        """(N, owners) `Surfaces.penetration_states`."""
        return self.surfaces.penetration_states

    @property
    def depenetrating(self) -> Booleans:
        """(N,) which particles are on their way out of anything."""
        if not self.surfaces.any_leaving:  # as mostly
            return np.zeros(len(self.penetration_states), dtype=bool)
        return np.asarray(
            ((self.penetration_states > 0) & (self.penetration_states < PINCHED)).any(axis=1)
        )

    @property
    def first_collider_particle(self) -> int:
        """The first particle of colliders."""
        return int(self.surfaces.starts[self.bodies])

    def gather_positions(self, bodies: Sequence[Floats], colliders: Sequence[Floats]) -> Floats:
        """(3, N) of bodies (3, n), whose first particles are vertices, and colliders (v, 3)."""
        counts = np.diff(self.surfaces.starts)
        vertices = [rows[:, :count] for rows, count in zip(bodies, counts, strict=False)]
        places = [
            np.full_like(rows.T, np.nan) if gone else rows.T
            for rows, gone in zip(colliders, self.degenerate, strict=True)
        ]
        return np.concatenate([*vertices, *places], axis=1)

    def update_degenerate_colliders(
        self, bodies: Sequence[Floats], starts: Sequence[Floats], ends: Sequence[Floats]
    ) -> None:
        """Leaves out those that are a point or a line at either end (v, 3) of their way [m].

        What comes to be where bodies (3, n) are has them come out of it, as what starts there.
        """
        degenerate = self.degenerate.copy()
        for number, ends_of_path in enumerate(zip(starts, ends, strict=True)):
            different = ends_of_path[:1] if ends_of_path[0] is ends_of_path[1] else ends_of_path
            self.degenerate[number] = not all(map(self.colliders[number].has_area, different))
        for number in np.flatnonzero(degenerate & ~self.degenerate).tolist():
            mark_appeared(
                self.depenetration, self.bodies + number, self.gather_positions(bodies, starts)
            )


def build_collision_world(
    models: Sequence[SoftBodyModel],
    meshes: Sequence[MeshData],
    colliders: Sequence[Collider],
    places: Sequence[Floats],
) -> CollisionWorld | None:
    """What may touch, and nothing where nothing may.

    Parameters
    ----------
    places : per collider (v, 3), where its vertices are at the start [m].
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
    still = [np.zeros(len(rows)) for rows in places]
    held = [model.contact_inverse_masses == 0.0 for model in models] + [
        rows == 0.0 for rows in still
    ]
    on_ropes = np.concatenate([*map(_on_ropes, models), *(rows > 0.0 for rows in still)])
    between_pins = np.concatenate(
        [*map(_between_pins, models, meshes), *(rows > 0.0 for rows in still)]
    )
    world_surfaces = join_surfaces(surfaces, collides, pair_gaps(bodies, colliders))
    thick = np.array([*(body.thickness for body in bodies), *(0.0 for _ in colliders)])
    soft = np.array([body.body_type == "SOFT" for body in bodies] + [False] * len(colliders))
    return CollisionWorld(
        surfaces=world_surfaces,
        depenetration=build_depenetration(world_surfaces, soft, len(bodies), np.concatenate(held)),
        on_ropes=on_ropes,
        between_pins=between_pins,
        shortest_edges=_shortest_edges(world_surfaces, models, on_ropes & ~between_pins),
        gap_reductions=np.concatenate([_gap_reductions(model) for model in models] + still),
        pair_properties=combine_pair_properties(bodies, colliders),
        bodies=len(bodies),
        body_slices={
            body: slice(*world_surfaces.starts[body : body + 2].tolist())
            for body in range(len(bodies))
        },
        statistics=empty_statistics(len(surfaces)),
        skins=SKIN_SHARE * np.minimum(thick, world_surfaces.longest),
        colliders=colliders,
        degenerate=np.zeros(len(colliders), dtype=bool),
        pinchable=np.concatenate([*map(_pinchable, models), *(rows > 0.0 for rows in still)])
        & ~on_ropes,
        recovery_times=np.zeros(world_surfaces.rest.shape[1]),
    )


def _surface(model: SoftBodyModel, mesh: MeshData) -> Surface:
    """What a body touches others with: its mesh, or the finer skin of a solid of large faces."""
    if model.solid is None or not model.solid.surface.subdivided:
        return Surface(mesh.positions.T, model.triangles, mesh.edges.T, exempt=mesh.exempt)
    surface_points = model.solid.surface
    return Surface(surface_points.interpolate(mesh.positions).T, surface_points.triangles, NO_EDGES)


def _shortest_edges(
    surfaces: Surfaces, models: Sequence[SoftBodyModel], on_ropes: Booleans
) -> Floats:
    """(N,) each particle's shortest edge [m]; solids, shells and ropes give way as a whole."""
    shortest_edges = np.full(surfaces.rest.shape[1], np.inf)
    lengths = magnitudes(np.diff(surfaces.rest[:, surfaces.edges], axis=1)[:, 0])
    for ends in surfaces.edges:
        np.minimum.at(shortest_edges, ends, lengths)
    for model, (start, stop) in zip(models, pairwise(surfaces.starts), strict=False):
        if model.solid is not None or model.shell is not None:
            shortest_edges[start:stop] = np.inf
    shortest_edges[on_ropes] = np.inf
    return shortest_edges


def _on_ropes(model: SoftBodyModel) -> Booleans:
    """(v,) which of what touches is strung on ropes without rings."""
    on_ropes = np.zeros(len(model.contact_inverse_masses), dtype=bool)
    on_ropes[model.ropes.trees.strips.path] = True
    return on_ropes


def _between_pins(model: SoftBodyModel, mesh: MeshData) -> Booleans:
    """(v,) which of what touches hangs together with more than one pin."""
    count = len(model.contact_inverse_masses)
    pieces = find_components(count, mesh.edges if model.solid is None else NO_EDGES.T)
    return np.asarray(np.bincount(pieces, model.contact_inverse_masses == 0.0)[pieces] > 1.0)


def _gap_reductions(model: SoftBodyModel) -> Floats:
    """(v,) how much less than half of the body's thickness its vertices keep [m]."""
    own = model.thicknesses[: len(model.contact_inverse_masses)]
    return np.asarray((model.settings.thickness - own) / 2)


def _pinchable(model: SoftBodyModel) -> Booleans:
    """(v,) which vertices of a body are free, and moved by nothing but their own places."""
    whole = model.solid is None and model.shell is None and model.pieces is None
    return np.asarray((model.contact_inverse_masses > 0.0) & whole)
