"""The scene around bodies, as the core is told of it frame by frame, and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Floats, Integers
from .field import Field
from .settings import BodySettings

LEAST_AREA = 1e-12
"""What no triangle of a collider exceeds, if it is a point or a line [m²]…"""
AREA_SAMPLE = 64
"""…and so many of them mostly tell that one does."""


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane at one moment: {x : normal · (x − point) = 0}; ground is solid below it."""

    point: Floats
    """(3,) [m]"""
    normal: Floats
    """(3,) unit vector, out of the ground."""

    @property
    def level(self) -> float:
        """How far up its normal it is [m]."""
        return float((self.normal * self.point).sum())

    def heights(self, positions: Floats) -> Floats:
        """(n,) of positions (3, n) above it [m]; NumPy's own sum, for BLAS wakes idle threads."""
        return np.asarray(np.einsum("x,xk->k", self.normal, positions) - self.level)

    def towards(self, other: "Plane", share: float) -> "Plane":
        """The plane a share of the way to another; its normal is shorter where it turns."""
        return Plane(
            point=self.point + (other.point - self.point) * share,
            normal=self.normal + (other.normal - self.normal) * share,
        )


def same_plane(first: Plane | None, second: Plane | None) -> bool:
    """Whether a plane stands where another does; or whether there is neither."""
    if first is None or second is None:
        return first is second
    return bool((first.point == second.point).all() and (first.normal == second.normal).all())


@dataclass(frozen=True, eq=False)
class Collider:
    """A surface that bodies meet, and that moves as it is animated."""

    name: str
    """The object's name, for messages."""
    triangles: Integers
    """(t, 3) vertex indices, counter-clockwise seen from outside; the same at every frame."""
    outer: float
    """Distance kept in front of the surface, besides the body's own thickness [m]."""
    friction: float
    """Coulomb coefficient; the slipperier of two touching surfaces decides."""
    restitution: float
    """Share of a body's bounce that it leaves, 0 … 1."""
    single_sided: bool
    """Whether it stops bodies at its front alone, and lets those behind come out."""

    def has_area(self, places: Floats) -> bool:
        """Whether it is more than a point or a line where its vertices are, (v, 3) [m]."""
        for triangles in (self.triangles[:AREA_SAMPLE], self.triangles):
            a, b, c = places[triangles.T]
            if (np.abs(np.cross(b - a, c - a)) > 2.0 * LEAST_AREA).any():
                return True
        return False


@dataclass(frozen=True, eq=False)
class Sample:
    """The scene at one frame, as far as bodies feel it."""

    frame: int
    """Scene frame, for messages and the caller."""
    duration: float
    """Simulated time since the sample before [s]: time scale × frame duration; 0 freezes."""
    gravity: Floats
    """(3,) acceleration [m/s²]."""
    targets: list[Floats]
    """Per body (n, 3): the animated mesh [m], which pinned vertices follow."""
    ground: Plane | None
    """The ground plane, if there is one."""
    mirrors: Sequence[Sequence[Plane]] = ()
    """Per body, where its mirrors are; left empty where no body has any."""
    fields: Sequence[Sequence[Field]] = ()
    """Per body, the force fields that it feels; left empty where there are none."""
    pin_weights: Sequence[Floats] = ()
    """Per body (n,), what holds it from here to the next sample in place of `MeshData.pin_weights`;
    left empty where that does not change."""
    colliders: Sequence[Floats] = ()
    """Per collider (v, 3): where its vertices are [m]; they go straight from sample to sample."""
    settings: Sequence[BodySettings] = ()
    """Per body, its settings on the way here; left empty where none changes."""
    pressures: Sequence[float] = ()
    """Per body, that of its gas at its rest volume [Pa]; left empty where none changes."""

    @property
    def every_field(self) -> Sequence[Sequence[Field]]:
        """Per body, the force fields that it feels, also where there are none."""
        return self.fields or [()] * len(self.targets)

    @property
    def every_mirror(self) -> Sequence[Sequence[Plane]]:
        """Per body, where its mirrors are, also where no body has any."""
        return self.mirrors or [()] * len(self.targets)


@dataclass(frozen=True, eq=False)
class Frame:
    """The result at one frame."""

    frame: int
    """Scene frame of the sample that led here."""
    positions: list[Floats]
    """Per body (n, 3) [m]."""
    deepest: Sequence[float] = ()
    """Per body, how much nearer than its distance it came to anything since the frame before [m];
    left empty where there is nothing to meet."""
    remarks: Sequence[str] = ()
    """What the user should know of what happened since the frame before, in one sentence each."""
