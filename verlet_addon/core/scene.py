"""Input and output of the core: samples of the scene around bodies, and resulting frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import add

import numpy as np

from .arrays import Floats, Integers
from .field import Field
from .settings import BodySettings, SceneSettings

LEAST_AREA = 1e-12
"""Rounding: largest triangle area of a collider that is only a point or a line [m²]."""


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane at one moment: {x : normal · (x − point) = 0}; ground is solid below it."""

    point: Floats
    """(3,) any point of the plane [m]."""
    normal: Floats
    """(3,) unit vector, out of the ground."""

    @property
    def level(self) -> float:
        """Signed distance of the plane from the origin, normal · point [m]."""
        return float((self.normal * self.point).sum())

    def heights(self, positions: Floats) -> Floats:
        """(n,) heights of positions (3, n) above the plane [m]; einsum, for BLAS starts threads."""
        return np.asarray(np.einsum("x,xk->k", self.normal, positions) - self.level)

    def towards(self, other: "Plane", share: float) -> "Plane":
        """Linear interpolation to another plane; a turning normal becomes shorter than 1."""
        return Plane(
            point=self.point + (other.point - self.point) * share,
            normal=self.normal + (other.normal - self.normal) * share,
        )


def same_plane(first: Plane | None, second: Plane | None) -> bool:
    """Whether two planes have the same point and normal, or both are None."""
    if first is None or second is None:
        return first is second
    return bool((first.point == second.point).all() and (first.normal == second.normal).all())


def plane_between(before: Plane | None, after: Plane | None, share: float) -> Plane | None:
    """The plane at a share of the way between two; the same object if it is at rest."""
    if before is None or after is None or same_plane(before, after):
        return after
    plane = before.towards(after, share)
    return Plane(plane.point, plane.normal / np.linalg.norm(plane.normal))


def plane_shift(before: Plane | None, after: Plane | None, steps: int) -> Floats:
    """(3,) displacement of a plane in each of some equal steps between two [m]."""
    if before is None or after is None:
        return np.zeros(3)
    return np.asarray((after.point - before.point) / steps)


@dataclass(frozen=True, eq=False)
class Collider:
    """An animated surface that bodies collide with; `Sample.colliders` has its positions."""

    name: str
    """The object's name, for messages."""
    triangles: Integers
    """(t, 3) vertex indices, counter-clockwise seen from outside; the same at every frame."""
    outer: float
    """Distance kept in front of the surface, in addition to the body's thickness [m]."""
    friction: float
    """Coulomb coefficient; the lower one of two touching surfaces applies."""
    restitution: float
    """Factor on a body's restitution, 0 … 1."""
    single_sided: bool
    """Whether only the front stops bodies; bodies behind it move out freely."""

    def has_area(self, places: Floats) -> bool:
        """Whether any triangle has an area with vertices at places (v, 3) [m]."""
        # One of the first nearly always has an area: 0.03 ms in place of 16 ms for 100,000.
        for triangles in (self.triangles[:64], self.triangles):
            a, b, c = places[triangles.T]
            if (np.abs(np.cross(b - a, c - a)) > 2.0 * LEAST_AREA).any():
                return True
        return False


@dataclass(frozen=True, eq=False)
class GoalSprings:
    """Damped springs that draw vertices of one body towards targets: m a = k (target − x) − c v.

    They act on the way to one sample, and those on the way to the next may be others.
    """

    vertices: Integers
    """(g,) each of them once; pinned ones follow their pins alone."""
    targets: Floats
    """(g, 3) at the sample [m]; on the way there they go straight from the targets of the sample
    before, or from where a vertex is that no spring drew."""
    stiffnesses: Floats
    """(g,) k [N/m]; 0 = no spring, infinite = the vertex is at its target."""
    dampings: Floats
    """(g,) c [kg/s]"""


@dataclass(frozen=True, eq=False)
class Sample:
    """The scene at one frame, as far as it acts on bodies."""

    frame: int
    """Scene frame, for messages and the caller."""
    duration: float
    """Simulated time since the sample before [s]: time scale × frame duration; 0 freezes."""
    gravity: Floats
    """(3,) acceleration [m/s²]."""
    targets: list[Floats]
    """Per body (n, 3): vertices of the animated mesh, which pinned vertices follow [m]."""
    ground: Plane | None
    """The ground plane, if there is one."""
    mirrors: Sequence[Sequence[Plane]] = ()
    """Per body, the planes of its mirrors; empty if no body has any."""
    fields: Sequence[Sequence[Field]] = ()
    """Per body, the force fields that act on it; empty if there are none."""
    pin_weights: Sequence[Floats] = ()
    """Per body (n,), pin weights from this sample to the next, in place of
    `MeshData.pin_weights`; empty if they are constant."""
    colliders: Sequence[Floats] = ()
    """Per collider (v, 3): vertex positions [m]; linear in time from sample to sample."""
    settings: Sequence[BodySettings] = ()
    """Per body, its settings from the sample before to this one; empty if they are constant."""
    pressures: Sequence[float] = ()
    """Per body, the pressure of its gas at its rest volume [Pa]; empty if it is constant."""
    scene_settings: SceneSettings | None = None
    """Settings of the scene from the sample before to this one; None if they are constant."""
    pulls: Sequence[Floats | None] = ()
    """Per body (n, 3), accelerations besides gravity, linear in time from sample to sample; cloth
    and ropes without mirrors [m/s²]. None, or left empty, where there are none."""
    goal_springs: Sequence[GoalSprings | None] = ()
    """Per body, the springs that draw it on the way here; left empty where there are none."""

    @property
    def every_field(self) -> Sequence[Sequence[Field]]:
        """`fields`, with an empty entry per body if there are none."""
        return self.fields or [()] * len(self.targets)

    @property
    def every_pull(self) -> Sequence[Floats | None]:
        """`pulls`, with None per body if there are none."""
        return self.pulls or [None] * len(self.targets)

    @property
    def every_mirror(self) -> Sequence[Sequence[Plane]]:
        """`mirrors`, with an empty entry per body if there are none."""
        return self.mirrors or [()] * len(self.targets)


@dataclass(frozen=True)
class ContactSearch:
    """Work of the searches for contacts between two objects, or an object and itself."""

    searches: int = 0
    """Number of searches."""
    tests: int = 0
    """Number of pairs of leaves of both BVHs that were tested."""

    def __add__(self, other: "ContactSearch") -> "ContactSearch":
        """Work of both."""
        return ContactSearch(self.searches + other.searches, self.tests + other.tests)


@dataclass(frozen=True)
class SolverWork:
    """Work of the solvers since the frame before, of all bodies."""

    steps: int = 0
    """Number of time steps; 0 where nothing moves."""
    sweeps: int = 0
    """Number of sweeps over the lengths of surfaces."""
    linearizations: int = 0
    """Number of linearizations of the edges near rigid pieces."""
    solid_solutions: int = 0
    """Number of solutions for the stress of solids."""
    contact_searches: int = 0
    """Number of searches for contacts, and for pairs that pass through each other, each for all
    owners; 0 where nothing moves."""
    leaf_tests: int = 0
    """Number of pairs of leaves of BVHs that these searches tested."""
    pair_tests: int = 0
    """Number of pairs of features, near each other by their boxes, whose distance they measured."""
    contact_rows: int = 0
    """Number of contacts that they found; those kept from a step before are not found again."""
    contact_passes: int = 0
    """Number of passes over the contacts of an island, each of which projects all of them."""
    island_solutions: int = 0
    """Number of solutions for the contacts of a group of bodies that touch each other."""
    guarded_steps: int = 0
    """Number of steps in which the tunnelling guard moved particles."""

    def __add__(self, other: "SolverWork") -> "SolverWork":
        """Work of both."""
        return SolverWork(*map(add, vars(self).values(), vars(other).values()))


@dataclass(frozen=True, eq=False)
class Frame:
    """The result at one frame."""

    frame: int
    """Scene frame of the sample."""
    positions: list[Floats]
    """Per body (n, 3) vertex positions [m]."""
    deepest: Sequence[float] = ()
    """Per body, the largest violation of a contact's gap since the frame before [m]; empty if
    nothing can touch."""
    remarks: Sequence[str] = ()
    """Diagnostics for the user since the frame before, one sentence each."""
    contact_searches: Mapping[tuple[str, str], ContactSearch] = field(default_factory=dict)
    """Searches for contacts since the frame before, by the names of two objects."""
    work: SolverWork = SolverWork()
    """Work of the solvers since the frame before."""
    swings: Sequence[float] = ()
    """Per body, the largest distance of flesh from its pose, 0 for others [m]."""
    threads: int = 1
    """Number of threads that were the fastest so far; the only member that may differ between two
    simulations of the same."""
