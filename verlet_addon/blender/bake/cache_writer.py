"""The frames of a bake to a cache, written one by one as they are simulated."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic
from zlib import crc32

import numpy as np

from ...core.arrays import Floats
from ...core.scene import Frame, Sample
from ...core.simulation import Simulation
from ..scene.file_errors import errors_named
from ..scene.key_points import shown_points
from ..scene.pc2 import append_sample
from ..scene.sampling import Stage
from .cache import Cache
from .cache_record import Block

SHARE = 30.0
"""Least time from storing the simulation to storing it again, by the time that storing takes."""


class CacheWriter:
    """Receiver of the results of a bake, which appends them to the point caches of the bodies.

    Parameters
    ----------
    simulation
        The simulation, whose current sample is that of the result to write.
    last
        The last frame that is kept of the cache; results up to it are left out.
    begin
        Function that makes the cache ready for the first frame after `last`, and returns it.
    """

    def __init__(
        self, stage: Stage, simulation: Simulation, last: int, begin: Callable[[], Cache]
    ) -> None:
        self._stage, self._simulation, self._begin = stage, simulation, begin
        self.last = last
        self.cache: Cache | None = None
        """The cache, from the first frame on that is written."""
        self._samples: list[Sample] = []
        self._checksums = [0] * len(stage.body_names)
        self._seconds, self._saved = 0.0, 0.0

    def collect(self, result: Frame) -> None:
        """Appends a result at the scene's current frame, and now and then stores the simulation.

        Raises
        ------
        DiskFullError, FileError
            A file cannot be written; the cache ends with the frames that were stored before.
        """
        if result.frame <= self.last:
            return
        if self.cache is None:
            self.cache = self._begin()
        record, depsgraph = self.cache.record, self._stage.depsgraph
        each = zip(self._stage.bodies, record.bodies, result.positions, strict=True)
        for number, (obj, body, positions) in enumerate(each):
            points = np.ascontiguousarray(shown_points(obj, depsgraph, positions), "<f4")
            path = self.cache.points(body)
            with errors_named("write", path):
                append_sample(path, points, result.frame - record.start)
            self._checksums[number] = crc32(points.data, self._checksums[number])
        before = self._samples[-1] if self._samples else None
        self._samples.append(_sharing(self._simulation.sample, before))
        self.last = result.frame
        if monotonic() - self._saved >= SHARE * self._seconds:
            self.save()

    def end_at(self, frame: int) -> None:
        """Does nothing: the cache ends with the last frame collected."""

    def save(self) -> None:
        """Stores the simulation and all frames since it was stored last; errors as of `collect`."""
        if self.cache is None or not self._samples:
            return
        started = monotonic()
        self.cache.add_block(Block(self.last, self._checksums), self._samples, self._simulation)
        self._samples, self._checksums = [], [0] * len(self._checksums)
        self._saved = monotonic()
        self._seconds = self._saved - started


def _sharing(sample: Sample, before: Sample | None) -> Sample:
    """The sample with arrays of the one before where these are equal, so that each is kept once."""
    if before is None:
        return sample
    return replace(
        sample,
        targets=_shared(sample.targets, before.targets),
        pin_weights=_shared(sample.pin_weights, before.pin_weights),
        colliders=_shared(sample.colliders, before.colliders),
    )


def _shared(arrays: Sequence[Floats], before: Sequence[Floats]) -> list[Floats]:
    """The arrays, each replaced by the one before if both are equal."""
    if len(arrays) != len(before):
        return list(arrays)
    return [
        old if np.array_equal(new, old) else new for new, old in zip(arrays, before, strict=True)
    ]
