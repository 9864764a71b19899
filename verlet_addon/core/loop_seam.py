"""The seam of a loop: the frames where a motion repeats best, and springs or a fade to there.

A motion of N frames repeats if frame b = a + N shows what frame a shows, as fast. Springs draw
each vertex to where it was N frames before, more and more firmly over the last frames, and hold it
there exactly over the very last ones.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .arrays import Floats, Integers
from .errors import SettingsError
from .geometry.graph import edge_lengths
from .scene import GoalSprings, Sample
from .simulation import Simulation

MOST_BLENDED = 24
"""Number of frames before the seam in which the motion may differ from that of a plain bake."""
HELD = 4
"""Number of frames before the seam from which on vertices are exactly where they are to be."""
LEAST = 2 * HELD
"""Least number of blended frames, and least length of a loop."""
_FIRST_RATE, _LAST_RATE = 1.0, 80.0
"""Angular frequencies of the springs, as multiples of one over the time in which they act. The last
ones follow within a frame; from first to last they grow geometrically."""
_SWEEPS = 60
"""Number of sweeps over all edges of a faded frame."""

Positions = Sequence[NDArray[np.float32]]
"""Per body, (n, 3) positions of its vertices in the space of its object."""


@dataclass(frozen=True)
class Seam:
    """Frames of a loop: the last one shows what the first one shows."""

    start: int
    end: int
    blended: int
    """Number of frames before the end in which the motion is drawn to that before the start."""

    @property
    def length(self) -> int:
        """Number of frames after which the motion repeats."""
        return self.end - self.start

    def share(self, frame: int) -> float:
        """Share of the blended frames before a frame: from 0 to 1, where vertices are held."""
        done = (self.blended - (self.end - frame)) / (self.blended - HELD)
        return min(max(done, 0.0), 1.0)


def check_length(length: int, frames: range) -> None:
    """Raises SettingsError if no loop of a length fits into a range of frames."""
    if length < LEAST:
        raise SettingsError(f"The loop has {length} frames; set it to {LEAST} or more")
    if len(frames) <= length + LEAST:
        raise SettingsError(
            f"A loop of {length} frames needs {length + LEAST + 1} frames or more to choose from, "
            f"and there are {len(frames)}, {frames[0]} to {frames[-1]}; raise End to "
            f"{frames[0] + length + LEAST} or later, or shorten the loop"
        )


def find_seam(track: Sequence[Positions], first: int, length: int) -> Seam:
    """The two frames, so far apart, that are nearest to each other in place and speed.

    Parameters
    ----------
    track : positions at each frame, of which `first` is the first.
    """
    check_length(length, range(first, first + len(track)))
    room = len(track) - 1 - length
    blended = min(MOST_BLENDED, length, room)
    costs = [_cost(track, place, place + length) for place in range(blended, room + 1)]
    start = first + blended + int(np.argmin(costs))
    return Seam(start, start + length, blended)


def _cost(track: Sequence[Positions], here: int, there: int) -> float:
    """Sum of squares of the distances between two frames, and between those they lead on to."""
    total = 0.0
    now = zip(track[here], track[there], track[here - 1], track[there - 1], strict=True)
    for one, other, before_one, before_other in now:
        apart = one - other
        faster = apart - (before_one - before_other)
        total += float((apart**2).sum() + HELD**2 * (faster**2).sum())
    return total


class Guide:
    """Springs that draw a second simulation into the first one, N frames before.

    Parameters
    ----------
    track : positions of the first simulation at each frame in the space of each object, so that a
        loop goes along with objects that move; `first` is the first frame.
    to_world : function that converts positions of a body, by its number, to the world's space at
        the frame of the last sample that was taken.
    """

    def __init__(
        self,
        track: Sequence[Positions],
        first: int,
        seam: Seam,
        to_world: Callable[[int, NDArray[np.float32]], Floats],
    ) -> None:
        self._track, self._first, self._seam, self._to_world = track, first, seam, to_world

    def lead(self, simulation: Simulation, samples: Iterator[Sample]) -> Iterator[Sample]:
        """The samples, with springs in those before the seam."""
        unblended = self._seam.end - self._seam.blended
        before: list[Floats] = []
        for sample in samples:
            if sample.frame < unblended:
                yield sample
                continue
            former = self._track[sample.frame - self._seam.length - self._first]
            now = [self._to_world(number, places) for number, places in enumerate(former)]
            if before and sample.duration > 0.0:
                springs = [
                    self._springs(simulation, number, sample, *places)
                    for number, places in enumerate(zip(before, now, strict=True))
                ]
                sample = replace(sample, goal_springs=springs)  # noqa: PLW2901
            before = now
            yield sample

    def _springs(
        self,
        simulation: Simulation,
        number: int,
        sample: Sample,
        before: Floats,
        targets: Floats,
    ) -> GoalSprings:
        """Springs of one body, critically damped, to where the first simulation was.

        Damped springs follow a target that moves at v by 2 v / ω later, so theirs is ahead by it.
        """
        vertices, share = np.arange(len(targets)), self._seam.share(sample.frame)
        if share == 1.0:
            return GoalSprings(
                vertices, targets, np.full(len(targets), np.inf), np.zeros(len(targets))
            )
        rate = _FIRST_RATE * (_LAST_RATE / _FIRST_RATE) ** share
        rate /= self._seam.blended * sample.duration
        masses = _masses(simulation, number)[: len(targets)]
        velocities = (targets - before) / sample.duration
        return GoalSprings(
            vertices, targets + 2.0 / rate * velocities, masses * rate**2, 2.0 * masses * rate
        )


def _masses(simulation: Simulation, number: int) -> Floats:
    """(n,) masses of a body's particles; 0 where they are pinned [kg]."""
    inverse = simulation.bodies[number][0].inverse_masses
    return np.divide(1.0, inverse, out=np.zeros_like(inverse), where=inverse > 0.0)


def fade(
    shown: NDArray[np.float32], former: NDArray[np.float32], edges: Integers, share: float
) -> NDArray[np.float32]:
    """A mix of two frames of a body, (n, 3), with edges as long as in one of them or in between.

    Parameters
    ----------
    share : weight of `former`, from 0 to 1.
    """
    weight = share * share * (3.0 - 2.0 * share)
    one, other = shown.astype(np.float64), former.astype(np.float64)
    mixed = one + weight * (other - one)
    if weight in (0.0, 1.0) or not len(edges):
        return mixed.astype(np.float32)
    lengths = np.stack([edge_lengths(places, edges) for places in (one, other)])
    shortest, longest = lengths.min(axis=0), lengths.max(axis=0)
    counts = np.maximum(np.bincount(edges.ravel(), minlength=len(mixed)), 1)[:, None]
    for _ in range(_SWEEPS):
        ways = mixed[edges[:, 1]] - mixed[edges[:, 0]]
        now = np.maximum(np.linalg.norm(ways, axis=1), 1e-12)
        moves = (0.5 * (1.0 - np.clip(now, shortest, longest) / now))[:, None] * ways
        corrections = np.zeros_like(mixed)
        np.add.at(corrections, edges[:, 0], moves)
        np.add.at(corrections, edges[:, 1], -moves)
        mixed += 1.5 * corrections / counts
    return mixed.astype(np.float32)
