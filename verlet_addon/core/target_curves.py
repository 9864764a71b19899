"""Animated meshes between samples, as cubic curves: for ropes that come back to their shape.

A straight way from frame to frame would bend their shape by the corners in it, and by others at
another frame rate. Only samples that are already known count, so that a bake is the same as what a
live simulation shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .arrays import Floats
from .kernel import Struct
from .model import SoftBodyModel


@dataclass(frozen=True, eq=False)
class TargetMotion:
    """The motion of one body's animated mesh at a sample."""

    targets: Floats
    """(n, 3) positions [m]."""
    rates: Floats
    """(n, 3) mean velocities since the sample before [m/s]."""
    duration: float
    """Time since the sample before [s]; 0 at the first one."""
    velocities: Floats
    """(n, 3) velocities [m/s]."""


def start_motion(targets: Floats, velocities: Floats) -> TargetMotion:
    """The motion at the first sample, of targets and velocities (n, 3)."""
    return TargetMotion(targets, velocities, 0.0, velocities)


def next_motion(former: TargetMotion, targets: Floats, duration: float) -> TargetMotion:
    """The motion at the next sample, after a duration [s].

    Its velocities are those of the parabola through the last three samples or, after the first one,
    of that with its velocity.
    """
    rates = (targets - former.targets) / duration
    share = duration / (duration + former.duration)
    velocities = rates + share * (rates - former.rates)
    return TargetMotion(targets, rates, duration, velocities)


def follows_targets(model: SoftBodyModel) -> bool:
    """Whether the shape of a body's ropes is that of its animated mesh."""
    return model.rods is not None and model.settings.has_animated_rest


@dataclass(frozen=True, eq=False)
class TargetCurve:
    """Targets (n, 3) from one sample to the next [m], on a straight line or a cubic curve."""

    start: Floats
    end: Floats
    bends: tuple[Floats, Floats] | None = None
    """(n, 3) by which velocities at both ends, times the duration, exceed those of the line [m]."""

    @cached_property
    def rests(self) -> bool:
        """Whether the targets are the same all the way."""
        still = self.bends is None or not any(bend.any() for bend in self.bends)
        return self.start is self.end and still

    def at(self, share: float) -> Floats:
        """(n, 3) targets at a share of the way, above 0."""
        if self.rests or share == 1.0:
            return self.end
        line = self.start + (self.end - self.start) * share
        if self.bends is None:
            return np.asarray(line)
        first, last = self.bends
        rest = 1.0 - share
        return np.asarray(line + share * rest * (rest * first - share * last))


def pull_way(before: Floats | None, after: Floats | None) -> TargetCurve | None:
    """The way of a body's accelerations besides gravity (n, 3) between two samples [m/s²]."""
    return None if after is None else TargetCurve(after if before is None else before, after)


def _bend(curve: TargetCurve, end: int) -> Floats:
    """(n, 3) one of `bends`, 0 for a straight line."""
    return np.zeros_like(curve.end) if curve.bends is None else curve.bends[end]


Struct(
    "target_curve",
    TargetCurve,
    reads="start end",
    first=(Floats, lambda curve: _bend(curve, 0)),
    last=(Floats, lambda curve: _bend(curve, 1)),
)


def bent_curve(
    start: Floats, end: Floats, motions: Sequence[TargetMotion], duration: float
) -> TargetCurve:
    """The cubic curve between targets (n, 3) with the velocities of the motions at both ends."""
    way = end - start
    first, last = (motion.velocities * duration - way for motion in motions)
    return TargetCurve(start, end, (first, last))
