"""What the core takes from Blender: one body's mesh, and what is sampled at each frame."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MeshData:
    """One body's mesh in world space, as it stands at the first frame."""

    name: str
    """The object's name, for messages."""
    positions: Floats
    """(n, 3) vertex positions [m]; they are also the rest shape."""
    edges: Integers
    """(m, 2) vertex indices of every edge, those of faces and loose ones."""
    face_starts: Integers
    """(f + 1,) where each face begins in `face_vertices`; the last entry is its length."""
    face_vertices: Integers
    """(c,) vertex indices of all face corners, face after face."""
    pin_weights: Floats
    """(n,) 0 = free, 1 = follows `Sample.targets` exactly, between = drawn towards it."""
    velocities: Floats
    """(n, 3) velocity at the first frame [m/s]."""


@dataclass(frozen=True, eq=False)
class Ground:
    """A plane that bodies rest on: {x : normal · (x − point) = 0}, solid below."""

    point: Floats
    """(3,) a point of the plane [m]."""
    normal: Floats
    """(3,) unit vector that points out of the ground."""


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
    ground: Ground | None
    """The ground plane, if there is one."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The result at one frame."""

    frame: int
    """Scene frame of the sample that led here."""
    positions: list[Floats]
    """Per body (n, 3) [m]."""
