"""Scenes at random: bodies and a collider that fly at each other, apart at the start."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tests.core.bodies import Body, block, moved, rope, rotation, sheet, sphere, split, thrown
from tests.core.colliders import Moving, ball, plate
from tests.core.intersections import joined, near, passing
from verlet_addon.core.arrays import Booleans, Floats
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.scene import Frame
from verlet_addon.core.settings import BodySettings, BodyType

PLACES = np.array([(0.0, 0.0, 0.0), (0.9, 0.0, 0.0), (0.0, 0.9, 0.0), (0.0, 0.0, 0.9)])
"""Middles of what is in a scene; nothing is wider than 0.85 m."""
Shape = Callable[[np.random.Generator], MeshData]
BODIES: dict[str, Shape] = {
    "quads": lambda rng: sheet(int(rng.integers(3, 10)), size=rng.uniform(0.3, 0.6)),
    "triangles": lambda rng: sheet(
        int(rng.integers(3, 10)), size=rng.uniform(0.3, 0.6), triangles=True
    ),
    "bag": lambda rng: sphere(int(rng.integers(4, 9)), int(rng.integers(3, 6)), radius=0.2),
    "rope": lambda rng: rope(_winding(int(rng.integers(4, 16)))),
    "jelly": lambda _: split(block((0.25,) * 3, (4,) * 3)),
}
TYPES: dict[str, BodyType] = {"rope": "ROPE", "jelly": "SOFT"}
"""Types of bodies that are no cloth."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Bodies and moving colliders."""

    bodies: list[Body]
    colliders: list[Moving]

    def crossings(self, frame: Frame, time: float) -> set[tuple[str, str]]:
        """The names of all that cross at a frame, but for colliders, and jelly with itself."""
        meshes = [mesh for mesh, _ in self.bodies]
        surfaces = [(mesh.edges, split(mesh).face_vertices.reshape(-1, 3)) for mesh in meshes]
        for shape, _ in self.colliders:
            edges = np.concatenate([shape.triangles[:, [k, k - 1]] for k in range(3)])
            surfaces.append((edges, shape.triangles))
        places = [*frame.positions]
        places += [place(time) if callable(place) else place for _, place in self.colliders]
        positions, edges, triangles, owners = joined(places, surfaces)
        pairs = near(positions, edges, triangles)
        both = np.stack([owners[edges[0, pairs[0]]], owners[triangles[0, pairs[1]]]])
        pairs = pairs[:, self._meets()[tuple(both)]]
        found = passing(positions, edges, triangles, pairs)
        names = [mesh.name for mesh in meshes] + ["Collider"] * len(self.colliders)
        one, other = owners[edges[0, found[0]]], owners[triangles[0, found[1]]]
        return {(names[a], names[b]) for a, b in zip(one.tolist(), other.tolist(), strict=True)}

    def _meets(self) -> Booleans:
        """(o, o) bool, pairs of bodies and colliders that are not to cross."""
        count = len(self.bodies)
        meets = np.ones((count + len(self.colliders),) * 2, dtype=bool)
        meets[count:, count:] = False
        meets[range(count), range(count)] = [own.body_type != "SOFT" for _, own in self.bodies]
        return meets


def random_scene(kinds: tuple[str, ...], seed: int, *, speed: float, collider: bool) -> Scene:
    """Bodies of these kinds, at most three, that fly towards their middle at up to this speed."""
    rng = np.random.default_rng(seed)
    places, thickness = rng.permutation(PLACES), float(rng.choice([0.005, 0.02]))
    bodies = []
    for number, kind in enumerate(kinds):
        mesh = BODIES[kind](rng)
        centred = moved(mesh, np.eye(3), -mesh.positions.mean(axis=0))
        turned = moved(centred, rotation(rng.normal(size=3), rng.uniform(0.0, np.pi)))
        spin = np.cross(rng.normal(size=3) * rng.choice([0.0, 5.0]), turned.positions)
        named = replace(turned, name=f"{kind} {number}")
        flying = thrown(named, spin + _towards_middle(rng, places[number], speed))
        body = BodySettings(
            body_type=TYPES.get(kind, "CLOTH"),
            thickness=thickness,
            use_self_collision=True,
            friction=float(rng.choice([0.0, 0.5, 1.0])),
            bend_compliance=float(rng.choice([1e5, 10.0])),
            stretch_compliance=float(rng.choice([0.0, 1e-3])),
        )
        bodies.append((moved(flying, np.eye(3), places[number]), body))
    around = [_random_collider(rng, places[3], speed)] if collider else []
    return Scene(bodies, around)


def _random_collider(rng: np.random.Generator, start: Floats, speed: float) -> Moving:
    """A ball or a plate that flies towards the middle, and turns."""
    if rng.integers(2):
        shape, points = ball(radius=0.15, fine=int(rng.choice([6, 12])), friction=0.5)
    else:
        shape, points = plate(size=0.5, cells=int(rng.choice([1, 4])), friction=0.5)
    axis, turning = rng.normal(size=3), float(rng.choice([0.0, 5.0, 20.0]))
    way = _towards_middle(rng, start, speed)

    def place(time: float) -> Floats:
        turned = points @ rotation(axis, turning * time).T
        return np.asarray(turned + start + way * time)

    return shape, place


def _towards_middle(rng: np.random.Generator, place: Floats, speed: float) -> Floats:
    """(3,) a velocity at which all would meet near one point [m/s]."""
    return np.asarray((0.3 - place) * (rng.uniform(0.3, 1.0) * speed))


def _winding(count: int) -> Floats:
    """(count, 3) points of a line that winds a little, 60 cm long."""
    along = np.linspace(-0.3, 0.3, count)
    return np.stack([along, 0.05 * np.sin(10.0 * along), 0.0 * along], axis=1)
