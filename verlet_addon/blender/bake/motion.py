"""The motion of one body as coordinates of shape keys, and its distance from another form of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ..settings.unit_texts import length_text


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion of one body."""

    frames: Sequence[int]
    """Scene frames, ascending; vertices move in straight lines between them."""
    points: NDArray[np.float32]
    """(len(frames), n, 3) coordinates in the object's own space, as `way_to_key` gives them."""
    linear: Floats
    """(len(frames), 3, 3) linear part of the object's world matrix at each frame."""
    loop: int = 0
    """Number of frames after which the first one follows anew; 0 for motion that ends."""

    @property
    def last(self) -> int:
        """The last frame that is neither held nor repeated."""
        return self.frames[0] + self.loop - 1 if self.loop else self.frames[-1]

    def stepped(self, step: int) -> "Motion":
        """The motion with every `step`-th frame alone, and the last where it ends."""
        if step == 1:
            return self
        last = [] if self.loop else [self.frames[-1]]
        wanted = {*range(self.frames[0], self.frames[-1] + 1, step), *last}
        kept = [place for place, frame in enumerate(self.frames) if frame in wanted]
        return replace(
            self,
            frames=[self.frames[place] for place in kept],
            points=self.points[kept],
            linear=self.linear[kept],
        )


class Deviation(NamedTuple):
    """Distances of vertices from another motion, over its frames and halfway between them."""

    worst: float
    """The largest one [m]."""
    rms: float
    """The root mean square [m]."""

    def describe(self) -> str:
        """Words for the user."""
        return f"{length_text(self.worst)} at worst, {length_text(self.rms)} rms"


def deviation(motion: Motion, shown: Motion) -> Deviation:
    """Distances of `shown`, which has some of the frames of a motion, from the motion itself."""
    if shown is motion:
        return Deviation(0.0, 0.0)
    worst, squares, count = 0.0, 0.0, 0
    before: Floats | None = None
    for linear, error in _errors(motion, shown):
        for each in (error,) if before is None else (error, (before + error) / 2):
            distances = np.einsum("nx,nx->n", each @ linear.T, each @ linear.T)
            worst = max(worst, float(distances.max(initial=0.0)))
            squares, count = squares + float(distances.sum()), count + len(distances)
        before = error
    return Deviation(worst**0.5, (squares / max(count, 1)) ** 0.5)


def _errors(motion: Motion, shown: Motion) -> Iterator[tuple[Floats, Floats]]:
    """Linear map and errors (n, 3) in an object's space, frame by frame, with the first anew."""
    at = _interpolated(shown)
    frames = list(zip(motion.frames, motion.points, motion.linear, strict=True))
    if motion.loop:
        frames.append((motion.frames[0] + motion.loop, motion.points[0], motion.linear[0]))
    for frame, points, linear in frames:
        yield linear, at(frame) - points.astype(np.float64)


def _interpolated(motion: Motion) -> Callable[[int], Floats]:
    """Function that returns the points (n, 3) of a motion at a frame."""
    frames, points = list(motion.frames), list(motion.points)
    if motion.loop:
        frames.append(motion.frames[0] + motion.loop)
        points.append(points[0])

    def at(frame: int) -> Floats:
        after = min(max(int(np.searchsorted(frames, frame)), 1), max(len(frames) - 1, 0))
        if len(frames) == 1:
            return np.asarray(points[0], np.float64)
        share = (frame - frames[after - 1]) / (frames[after] - frames[after - 1])
        before, behind = (np.asarray(points[place], np.float64) for place in (after - 1, after))
        return np.asarray(before * (1.0 - share) + behind * share)

    return at
