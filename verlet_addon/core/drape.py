"""Bodies simulated until they rest, while all around them stands still, or after it has moved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from math import sqrt

import numpy as np

from .arrays import Floats
from .mesh import MeshData
from .scene import Collider, Frame, Sample
from .settings import BodySettings, SceneSettings
from .simulation import start_simulation

REST_DISTANCE = 0.005
"""Share of its size within which each vertex of a body at rest has stayed… With half, a rope that
swings rests after 3.5 s in place of 3.7 s, 0.06 mm from where it hangs; with twice, after 2.6 s, 1
mm from there."""
REST_SECONDS = 1.0
"""…for so long [s]; within less, a large cloth hardly moves where its swing turns round. With half,
that rope rests after 2.6 s, 1.3 mm from where it hangs; with twice, after 4.7 s, 0.001 mm from
there."""


@dataclass(frozen=True, eq=False)
class Settling:
    """Bodies at one moment on their way to rest."""

    seconds: float
    """Simulated so far [s]."""
    frame: Frame
    is_at_rest: bool
    """Whether all of them rest."""
    speed: float
    """Of the fastest vertex [m/s]."""
    fastest: str
    """The body of that vertex."""


class _RestTest:
    """Test whether one body rests."""

    def __init__(self, mesh: MeshData) -> None:
        self.size = _size(mesh)
        self._origins, self._seconds = mesh.positions, 0.0

    def add(self, positions: Floats, duration: float) -> bool:
        """Whether the body rests at its next positions (n, 3) [m], so long after the last [s]."""
        self._seconds += duration
        if _farthest(positions, self._origins) > REST_DISTANCE * self.size:
            self._origins, self._seconds = positions, 0.0
        return self._seconds >= REST_SECONDS * (1.0 - 1e-9)


def drape(
    meshes: Sequence[MeshData],
    body_settings: Sequence[BodySettings],
    scene_settings: SceneSettings,
    still: Sample,
    colliders: Sequence[Collider] = (),
    *,
    way: Sequence[Sample] = (),
) -> Iterator[Settling]:
    """Yields all bodies after each duration of the samples, without end.

    Bodies move in air so thick that they reach rest without another swing: a pendulum as long as a
    body is critically damped by 2 √(g / size). Where they rest does not depend on the air.

    Parameters
    ----------
    still : all that surrounds the bodies, at every moment after the way.
    way : samples before it, from where the bodies start; they do not rest on the way.
    Others, and errors : as `simulate` has them.
    """
    settings = [
        _in_thick_air(own, _size(mesh), still.gravity)
        for own, mesh in zip(still.settings or body_settings, meshes, strict=True)
    ]
    first, *later = (replace(sample, settings=settings) for sample in (*way, still))
    simulation = start_simulation(meshes, settings, scene_settings, first, colliders)
    tests = [_RestTest(mesh) for mesh in meshes]
    before = simulation.frame().positions
    seconds = 0.0
    for number, sample in enumerate(chain(later, repeat(later[-1] if later else first)), start=1):
        frame = simulation.advance(sample)
        places = frame.positions
        moved = [_farthest(*each) for each in zip(places, before, strict=True)]
        resting = [
            number > len(way) and test.add(x, sample.duration)
            for test, x in zip(tests, places, strict=True)
        ]
        before, fastest = places, int(np.argmax(moved))
        seconds += sample.duration
        yield Settling(
            seconds=seconds,
            frame=frame,
            is_at_rest=all(resting),
            speed=moved[fastest] / sample.duration,
            fastest=meshes[fastest].name,
        )


def _size(mesh: MeshData) -> float:
    """The diagonal of the mesh's bounding box at rest [m]."""
    return float(np.linalg.norm(np.ptp(mesh.at_rest, axis=0)))


def _farthest(positions: Floats, others: Floats) -> float:
    """The largest distance of corresponding points (n, 3) [m]."""
    return sqrt(float(((positions - others) ** 2).sum(axis=1).max(initial=0.0)))


def _in_thick_air(settings: BodySettings, size: float, gravity: Floats) -> BodySettings:
    """The settings of a body of a size [m], critically damped under gravity (3,) [m/s²]."""
    pull = abs(settings.gravity) * float(np.linalg.norm(gravity))
    if size == 0.0:
        return settings
    return replace(settings, damping=max(settings.damping, 2.0 * sqrt(pull / size)))
