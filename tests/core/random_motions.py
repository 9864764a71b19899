"""Small surfaces of every kind, strewn at random, and random ways of theirs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tests.core.bodies import flat_sheet, rotation, sphere, split
from tests.core.intersections import crossings
from verlet_addon.core.arrays import Floats, Integers
from verlet_addon.core.contacts.broad_phase.surfaces import Surface, Surfaces, join_surfaces

GAP = 0.04
"""Gap of all owners [m]."""
Part = tuple[Surface, Floats]
"""A surface, and the places (3, n) where it starts [m]."""
NO_FACES = np.empty((0, 3), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Motion:
    """Surfaces on their way from `start` to `end` (3, N) [m]."""

    surfaces: Surfaces
    start: Floats
    end: Floats

    def at(self, moment: float) -> Floats:
        """(3, N) positions at a moment, 0 … 1 [m]."""
        return self.start + moment * (self.end - self.start)


def soup(rng: np.random.Generator) -> Part:
    """Single triangles of 5 to 30 cm."""
    centres = 0.4 * rng.random((int(rng.integers(2, 9)), 1, 3))
    points = (centres + rng.uniform(0.05, 0.3) * rng.random((len(centres), 3, 3))).reshape(-1, 3)
    return _surface(points, np.arange(len(points)).reshape(-1, 3)), points.T


def sheet(rng: np.random.Generator) -> Part:
    """A sheet in narrow zigzag folds, crumpled."""
    mesh = flat_sheet(str(rng.choice(["triangles", "strewn triangles"])), int(rng.integers(3, 8)))
    flat, fold = 0.6 * mesh.positions, rng.uniform(0.15, 0.6)
    way, along, _ = flat.T
    zigzag = fold - np.abs(way % (2.0 * fold) - fold)
    start = np.stack([zigzag, along, rng.uniform(0.05, 0.5) * way])
    start += rng.normal(size=start.shape) * rng.choice([1e-3, 5e-3])
    return _surface(flat, mesh.face_vertices.reshape(-1, 3)), start


def rope(rng: np.random.Generator) -> Part:
    """A chain of edges that winds about."""
    steps = rng.normal(size=(int(rng.integers(3, 16)), 3)) * rng.uniform(0.02, 0.1)
    points = np.cumsum(steps + rng.normal(size=3) * 0.03, axis=0)
    edges = np.stack([np.arange(len(points) - 1), np.arange(1, len(points))], axis=1)
    return _surface(points, NO_FACES, edges), points.T


def ball(rng: np.random.Generator) -> Part:
    """A closed surface of a body or a collider, of which one side or both touch."""
    shape = split(sphere(int(rng.integers(3, 9)), int(rng.integers(2, 6)), radius=0.15))
    points = shape.positions * rng.uniform(0.5, 1.5, size=3)
    one_sided, is_collider = rng.integers(2, size=2).astype(bool).tolist()
    whole = _surface(points, shape.face_vertices.reshape(-1, 3))
    return replace(whole, single_sided=one_sided, is_collider=is_collider), points.T


def collar(rng: np.random.Generator) -> Part:
    """A flat ring that is cut open, and wound so far that its ends may lie on each other."""
    cells, inner = int(rng.integers(5, 12)), rng.uniform(0.05, 0.15)
    angles = np.linspace(0.3, 2.0 * np.pi - 0.3, cells + 1)
    low = np.arange(cells)[:, None, None]
    faces = low + np.array([[0, cells + 1, cells + 2], [0, cells + 2, 1]])
    places = []
    for turned, rise in ((1.0, 0.0), (rng.uniform(0.9, 1.3), rng.uniform(0.0, 0.1))):
        way = np.stack([np.cos(turned * angles), np.sin(turned * angles)])
        places.append(
            [*np.concatenate([inner * way, 0.2 * way], axis=1), np.tile(rise * angles, 2)]
        )
    flat, wound = np.array(places)
    return _surface(flat.T, faces.reshape(-1, 3)), wound


KINDS: dict[str, Callable[[np.random.Generator], Part]] = {
    each.__name__: each for each in (soup, sheet, rope, ball, collar)
}


def random_motion(kinds: tuple[str, ...], seed: int, *, speed: float) -> Motion:
    """The motion of parts of these kinds, on ways of about this length [m].

    Where they would cross at the start, they are strewn anew, farther and farther apart.
    """
    rng = np.random.default_rng(seed)
    for spread in np.linspace(0.1, 1.0, 30):
        parts = [KINDS[kind](rng) for kind in kinds]
        places = [_turned(rng, start) + rng.normal(size=(3, 1)) * spread for _, start in parts]
        surfaces = _joined([surface for surface, _ in parts])
        start = np.concatenate(places, axis=1)
        if not crossings(start, surfaces.edges, surfaces.triangles).size:
            break
    ends = [_carried(rng, start, speed) for start in places]
    return Motion(surfaces, start, np.concatenate(ends, axis=1))


def _joined(parts: Sequence[Surface]) -> Surfaces:
    """Surfaces that meet each other and themselves."""
    both = len(parts), len(parts)
    return join_surfaces(parts, np.ones(both, dtype=bool), np.full(both, GAP))


def _turned(rng: np.random.Generator, points: Floats) -> Floats:
    """Points (3, n) about their middle, turned at random."""
    turn = rotation(rng.normal(size=3), rng.uniform(0.0, np.pi))
    return np.asarray(turn @ (points - points.mean(axis=1, keepdims=True)))


def _carried(rng: np.random.Generator, start: Floats, speed: float) -> Floats:
    """Points (3, n) that are shifted, turned about their middle, and strewn."""
    middle = start.mean(axis=1, keepdims=True)
    turn = rotation(rng.normal(size=3), rng.uniform(0.0, min(speed, 0.1)) * 10.0)
    shift, strew = rng.normal(size=(3, 1)), rng.normal(size=start.shape)
    share = rng.random()
    moved = speed * (share * shift + (1.0 - share) * strew)
    return np.asarray(middle + turn @ (start - middle) + moved)


def _surface(points: Floats, triangles: Integers, edges: Integers | None = None) -> Surface:
    """A surface of points (n, 3) with these corners (t, 3) and loose edges (e, 2)."""
    loose = np.empty((0, 2), dtype=np.int64) if edges is None else edges
    return Surface(rest=points.T.copy(), triangles=triangles.T, edges=loose.T)
