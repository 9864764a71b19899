"""Bodies simulated until they rest, while all around them stands still, or after it has moved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from math import inf, sqrt

import numpy as np

from .arrays import Floats
from .mesh import MeshData
from .scene import Collider, Frame, Sample
from .settings import BodySettings, SceneSettings
from .simulation import start_simulation

REST_DISTANCE = 0.005
"""Distance, as a share of a body's size, within which all vertices of a body at rest have stayed
for REST_SECONDS. With half, a rope that swings rests after 3.5 s in place of 3.7 s, 0.06 mm from
where it hangs; with twice, after 2.6 s, 1 mm from there."""
REST_SECONDS = 1.0
"""Time for which vertices of a body at rest have stayed within REST_DISTANCE [s]; within less, a
large cloth hardly moves where its swing turns round. With half, a rope that swings rests after 2.6
s, 1.3 mm from where it hangs; with twice, after 4.7 s, 0.001 mm from there."""


LEAST_FRICTION = 0.02
"""Share of its friction with which a body lands that slides into place…"""
SLIDING_TIME = 4.0
"""…and the time within which that grows to all of it, in units of √(size / gravity)."""
LEAST_SPEED = 0.05
"""Least speed of a body that lands, in units of √(size · gravity): a tenth of that at which it
falls in thick air. What is draped again, at rest, is slower, and does not slide once more."""


@dataclass(frozen=True, eq=False)
class Settling:
    """Bodies at one moment on their way to rest."""

    seconds: float
    """Simulated so far [s]."""
    frame: Frame
    is_at_rest: bool
    """Whether all of them rest."""
    speed: float
    """Speed of the fastest vertex [m/s]."""
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


class _GrowingFriction:
    """The friction of one body, which grows from the moment at which the body is fastest.

    That is where it lands; friction that is whole at once would hold what hangs between its first
    contacts as taut as it came down.
    """

    def __init__(self, mesh: MeshData, fall_time: float) -> None:
        """Friction of a body that falls by its own size in about so long [s]; 0 = whole at once."""
        self._before, self._duration = mesh.positions, SLIDING_TIME * fall_time
        self._seconds = self._duration
        self._highest_speed = LEAST_SPEED * _size(mesh) / fall_time if fall_time > 0.0 else inf

    def add(self, positions: Floats, duration: float) -> bool:
        """Whether it is whole at the next positions (n, 3) [m], so long after the last [s]."""
        speed = float(np.linalg.norm(positions - self._before, axis=1).mean()) / duration
        self._before, self._seconds = positions, self._seconds + duration
        if speed > self._highest_speed:
            self._highest_speed, self._seconds = speed, 0.0
        return self._seconds >= self._duration

    def settings(self, whole: BodySettings) -> BodySettings:
        """The body's settings with its friction so far."""
        if self._seconds >= self._duration:
            return whole
        share = LEAST_FRICTION ** (1.0 - self._seconds / self._duration)
        return replace(whole, friction=share * whole.friction)


def drape(
    meshes: Sequence[MeshData],
    body_settings: Sequence[BodySettings],
    scene_settings: SceneSettings,
    still: Sample,
    colliders: Sequence[Collider] = (),
    *,
    way: Sequence[Sample] = (),
    slide: bool = False,
) -> Iterator[Settling]:
    """Yields all bodies after each duration of the samples, without end.

    Bodies move in air so thick that they reach rest without another swing: a pendulum as long as a
    body is critically damped by 2 √(g / size). Where they rest does not depend on the air, but on
    whether they slide.

    Parameters
    ----------
    still : all that surrounds the bodies, at every moment after the way.
    way : samples before it, from where the bodies start; they do not rest on the way.
    slide : whether cloth and ropes slide into place: from where one lands, its friction grows from
        little to its own within 4 √(size / g), and none rests before.
    Others, and errors : as `simulate` has them.
    """
    settings = [
        _in_thick_air(own, _size(mesh), still.gravity)
        for own, mesh in zip(still.settings or body_settings, meshes, strict=True)
    ]
    fall_times = _fall_times(settings, meshes, still.gravity) if slide else [0.0] * len(meshes)
    frictions = list(map(_GrowingFriction, meshes, fall_times))
    first, *later = (replace(sample, settings=settings) for sample in (*way, still))
    simulation = start_simulation(meshes, settings, scene_settings, first, colliders)
    tests = [_RestTest(mesh) for mesh in meshes]
    before = simulation.frame().positions
    seconds = 0.0
    for number, sample in enumerate(chain(later, repeat(later[-1] if later else first)), start=1):
        now = [each.settings(own) for each, own in zip(frictions, settings, strict=True)]
        frame = simulation.advance(replace(sample, settings=now))
        places = frame.positions
        moved = [_farthest(*each) for each in zip(places, before, strict=True)]
        grown = [each.add(x, sample.duration) for each, x in zip(frictions, places, strict=True)]
        resting = [
            number > len(way) and test.add(x, sample.duration)
            for test, x in zip(tests, places, strict=True)
        ]
        before, fastest = places, int(np.argmax(moved))
        seconds += sample.duration
        yield Settling(
            seconds=seconds,
            frame=frame,
            is_at_rest=all(resting) and all(grown),
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
    pull = _pull(settings, gravity)
    if size == 0.0:
        return settings
    return replace(settings, damping=max(settings.damping, 2.0 * sqrt(pull / size)))


def _fall_times(
    settings: Sequence[BodySettings], meshes: Sequence[MeshData], gravity: Floats
) -> list[float]:
    """Per body, √(size / g) of a cloth or rope under gravity (3,), and 0 without gravity [s]."""
    pulls = [_pull(own, gravity) if own.dimension < 3 else 0.0 for own in settings]
    sizes = map(_size, meshes)
    return [
        sqrt(size / pull) if pull > 0.0 else 0.0 for size, pull in zip(sizes, pulls, strict=True)
    ]


def _pull(settings: BodySettings, gravity: Floats) -> float:
    """The acceleration of a body by gravity (3,) [m/s²]."""
    return abs(settings.gravity) * float(np.linalg.norm(gravity))
