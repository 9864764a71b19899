"""All bodies and colliders in one world, and what may touch there."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..arrays import Booleans, Floats, Integers, magnitudes
from ..contact.memory import Memory
from ..contact.response import Pairs
from ..detection.surfaces import Surface, Surfaces, join_surfaces
from ..geometry.graph import NO_EDGES, find_components
from ..mesh import MeshData
from ..model import SoftBodyModel
from ..overlap.clearing import Clearing, appear, start_clearing
from ..overlap.overlaps import PINCHED
from ..overlap.skins import NONE, Pinched
from ..scene import Collider
from .pairings import distances, laws, who_meets
from .tally import Tally, start_tally

REACH = 1.0
"""Contacts are looked for as far beyond their gap as this share of the body's thickness, or of its
longest edge if that is shorter."""


@dataclass(eq=False)
class Meeting:
    """What may touch during a simulation: particles of all bodies, then vertices of colliders."""

    surfaces: Surfaces
    strung: Booleans
    """(N,) bool, which particles are strung on ropes without rings…"""
    spanned: Booleans
    """(N,) …and which of bodies hang together with more than one pin."""
    bodies: int
    """How many of the owners are bodies."""
    own: dict[int, slice]
    """Where in the world each of them has its own."""
    shortest: Floats
    """(N,) each particle's shortest edge [m]; infinite where pushing it alone stretches none."""
    thinner: Floats
    """(N,) how much less each keeps than others of its body, where that is painted [m]."""
    pairs: Pairs
    reaches: Floats
    """(owners,) how far beyond gaps contacts of each are looked for [m]."""
    clearing: Clearing
    """What starts inside of something, on its way out."""
    tally: Tally
    """What users may be told of it."""
    colliders: Sequence[Collider]
    absent: Booleans
    """(colliders,) which are a point or a line for now, and so touch nothing; changes."""
    pliable: Booleans
    """(N,) which particles of cloth may be pinched between colliders."""
    crossed: Floats
    """(N,) for how long each touches no body yet since it was pinched [s]; changes."""
    memory: Memory | None = None
    """What contacts start from; changes."""
    pinched: Pinched = NONE
    """What has no room between colliders; changes."""

    @cached_property
    def pair_reaches(self) -> Floats:
        """(owners, owners) the larger of both reaches [m]."""
        return np.maximum.outer(self.reaches, self.reaches)

    @property
    def leaving(self) -> Integers:
        """(N, owners) `Surfaces.leaving`."""
        return self.surfaces.leaving

    @property
    def being_led_out(self) -> Booleans:
        """(N,) which particles are on their way out of anything."""
        if not self.surfaces.any_leaving:  # as mostly
            return np.zeros(len(self.leaving), dtype=bool)
        return np.asarray(((self.leaving > 0) & (self.leaving < PINCHED)).any(axis=1))

    @property
    def first_fixed(self) -> int:
        """The first particle of colliders."""
        return int(self.surfaces.starts[self.bodies])

    def gathered(self, bodies: Sequence[Floats], colliders: Sequence[Floats]) -> Floats:
        """(3, N) of bodies (3, n), whose first particles are vertices, and colliders (v, 3)."""
        counts = np.diff(self.surfaces.starts)
        vertices = [rows[:, :count] for rows, count in zip(bodies, counts, strict=False)]
        places = [
            np.full_like(rows.T, np.nan) if gone else rows.T
            for rows, gone in zip(colliders, self.absent, strict=True)
        ]
        return np.concatenate([*vertices, *places], axis=1)

    def look_at_colliders(
        self, bodies: Sequence[Floats], starts: Sequence[Floats], ends: Sequence[Floats]
    ) -> None:
        """Leaves out those that are a point or a line at either end (v, 3) of their way [m].

        What comes to be where bodies (3, n) are has them come out of it, as what starts there.
        """
        absent = self.absent.copy()
        for number, ways in enumerate(zip(starts, ends, strict=True)):
            different = ways[:1] if ways[0] is ways[1] else ways
            self.absent[number] = not all(map(self.colliders[number].has_area, different))
        for number in np.flatnonzero(absent & ~self.absent).tolist():
            appear(self.clearing, self.bodies + number, self.gathered(bodies, starts))


def prepare(
    models: Sequence[SoftBodyModel],
    meshes: Sequence[MeshData],
    colliders: Sequence[Collider],
    places: Sequence[Floats],
) -> Meeting | None:
    """What may touch, and nothing where nothing may.

    Parameters
    ----------
    places : per collider (v, 3), where its vertices are at the start [m].
    """
    bodies = [model.settings for model in models]
    meets = who_meets(bodies, meshes, len(colliders))
    if not meets.any():
        return None
    surfaces = [_surface(*body) for body in zip(models, meshes, strict=True)]
    surfaces += [
        Surface(rows.T, collider.triangles.T, NO_EDGES, collider.single_sided, is_collider=True)
        for collider, rows in zip(colliders, places, strict=True)
    ]
    still = [np.zeros(len(rows)) for rows in places]
    held = [model.touching == 0.0 for model in models] + [rows == 0.0 for rows in still]
    strung = np.concatenate([*map(_strung, models), *(rows > 0.0 for rows in still)])
    spanned = np.concatenate([*map(_spanned, models, meshes), *(rows > 0.0 for rows in still)])
    joined = join_surfaces(surfaces, meets, distances(bodies, colliders))
    thick = np.array([*(body.thickness for body in bodies), *(0.0 for _ in colliders)])
    soft = np.array([body.body_type == "SOFT" for body in bodies] + [False] * len(colliders))
    return Meeting(
        surfaces=joined,
        clearing=start_clearing(joined, soft, len(bodies), np.concatenate(held)),
        strung=strung,
        spanned=spanned,
        shortest=_shortest(joined, models, strung & ~spanned),
        thinner=np.concatenate([_thinner(model) for model in models] + still),
        pairs=laws(bodies, colliders),
        bodies=len(bodies),
        own={body: slice(*joined.starts[body : body + 2].tolist()) for body in range(len(bodies))},
        tally=start_tally(len(surfaces)),
        reaches=REACH * np.minimum(thick, joined.longest),
        colliders=colliders,
        absent=np.zeros(len(colliders), dtype=bool),
        pliable=np.concatenate([*map(_pliable, models), *(rows > 0.0 for rows in still)]) & ~strung,
        crossed=np.zeros(joined.rest.shape[1]),
    )


def _surface(model: SoftBodyModel, mesh: MeshData) -> Surface:
    """What a body touches others with: its mesh, or the finer skin of a solid of large faces."""
    if model.solid is None or not model.solid.surface.cut:
        return Surface(mesh.positions.T, model.triangles, mesh.edges.T, exempt=mesh.exempt)
    skin = model.solid.surface
    return Surface(skin.spread(mesh.positions).T, skin.triangles, NO_EDGES)


def _shortest(surfaces: Surfaces, models: Sequence[SoftBodyModel], strung: Booleans) -> Floats:
    """(N,) each particle's shortest edge [m]; solids, shells and ropes give way as a whole."""
    shortest = np.full(surfaces.rest.shape[1], np.inf)
    lengths = magnitudes(np.diff(surfaces.rest[:, surfaces.edges], axis=1)[:, 0])
    for ends in surfaces.edges:
        np.minimum.at(shortest, ends, lengths)
    for model, (start, stop) in zip(models, pairwise(surfaces.starts), strict=False):
        if model.solid is not None or model.shell is not None:
            shortest[start:stop] = np.inf
    shortest[strung] = np.inf
    return shortest


def _strung(model: SoftBodyModel) -> Booleans:
    """(v,) which of what touches is strung on ropes without rings."""
    its = np.zeros(len(model.touching), dtype=bool)
    its[model.ropes.trees.strips.path] = True
    return its


def _spanned(model: SoftBodyModel, mesh: MeshData) -> Booleans:
    """(v,) which of what touches hangs together with more than one pin."""
    count = len(model.touching)
    pieces = find_components(count, mesh.edges if model.solid is None else NO_EDGES.T)
    return np.asarray(np.bincount(pieces, model.touching == 0.0)[pieces] > 1.0)


def _thinner(model: SoftBodyModel) -> Floats:
    """(v,) how much less than half of the body's thickness its vertices keep [m]."""
    own = model.thicknesses[: len(model.touching)]
    return np.asarray((model.settings.thickness - own) / 2)


def _pliable(model: SoftBodyModel) -> Booleans:
    """(v,) which vertices of a body are free, and moved by nothing but their own places."""
    whole = model.solid is None and model.shell is None and model.pieces is None
    return np.asarray((model.touching > 0.0) & whole)
