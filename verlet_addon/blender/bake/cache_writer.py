"""The frames of a bake to a cache, written one by one as they are simulated."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...core.scene import Frame, Sample
from ...core.simulation import Simulation
from ..scene.file_errors import errors_named
from ..scene.key_points import local_positions
from ..scene.pc2 import append_sample
from ..scene.sampling import Stage
from .cache import Cache
from .cache_record import Block, write_record
from .statistics import BakeStatistics

SHARE = 60.0
"""Least time from storing the simulation to storing it again, by the time that storing takes."""
SECONDS = 10.0
"""Least time from storing the simulation to storing it again, however quickly it is stored [s]."""
MOST_HELD = 64 * 2**20
"""Size of the samples of the scene from which on they are stored in any case [B]."""


class CacheWriter:
    """Receiver of the results of a bake, which appends them to the point caches of the bodies.

    Parameters
    ----------
    simulation
        The simulation, whose current sample is that of the result to write.
    gauge
        The statistics of the bake up to the result to write.
    last
        The last frame that is kept of the cache; results up to it are left out.
    begin
        Function that makes the cache ready for the first frame after `last`, and returns it.
    """

    def __init__(
        self,
        stage: Stage,
        simulation: Simulation,
        gauge: BakeStatistics,
        last: int,
        begin: Callable[[], Cache],
    ) -> None:
        self._stage, self._simulation, self._begin = stage, simulation, begin
        self._gauge = gauge
        self.last = last
        self.cache: Cache | None = None
        """The cache, from the first frame on that is written."""
        self._samples: list[Sample] = []
        self._held = 0
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
            points = np.ascontiguousarray(local_positions(obj, depsgraph, positions), "<f4")
            path = self.cache.points(body)
            with errors_named("write", path):
                append_sample(path, points, result.frame - record.start)
            self._checksums[number] = crc32(points.data, self._checksums[number])
        record.note_extremes(self._gauge.extremes)
        before = self._samples[-1] if self._samples else None
        self._samples.append(_sharing(self._simulation.sample, before))
        self.last = result.frame
        self._held += _new_bytes(self._samples[-1], before)
        if monotonic() - self._saved >= max(SHARE * self._seconds, SECONDS):
            self.save()
        elif self._held > MOST_HELD:
            self._save_frames(None)

    def end_at(self, frame: int) -> None:
        """Does nothing: the cache ends with the last frame collected."""

    def remarks(self) -> list[str]:
        """No sentences: caches show each vertex as it was simulated."""
        return []

    def save(self) -> None:
        """Stores the simulation and all frames since it was stored last; errors as of `collect`."""
        if self.cache is None or not self._samples:
            return
        started = monotonic()
        self._save_frames(self._simulation)
        self._saved = monotonic()
        self._seconds = self._saved - started

    def _save_frames(self, simulation: Simulation | None) -> None:
        """Stores all frames since the last were stored, and the simulation if it is given."""
        assert self.cache is not None
        remarks = [[str(each), each.grade, each.body] for each in self._gauge.warnings()]
        block = Block(self.last, self._checksums, remarks)
        self.cache.add_block(block, self._samples, simulation)
        self._samples, self._checksums = [], [0] * len(self._checksums)
        self._held = 0


class PointWriter:
    """Writer of a cache whose frames are known, without the simulation that led to them."""

    def __init__(self, cache: Cache) -> None:
        self._cache, self._count = cache, 0
        self._checksums = [0] * len(cache.record.bodies)

    def append(self, points: Sequence[Floats | NDArray[np.float32]]) -> None:
        """Appends a sample of each body, (n, 3) in its object's space."""
        for place, (body, each) in enumerate(zip(self._cache.record.bodies, points, strict=True)):
            sample = np.ascontiguousarray(each, "<f4")
            append_sample(self._cache.points(body), sample, self._count)
            self._checksums[place] = crc32(sample.data, self._checksums[place])
        self._count += 1

    def close(self) -> None:
        """Writes the record of all samples."""
        record = self._cache.record
        for body in record.bodies:
            body.written = self._cache.points(body).stat().st_mtime_ns
        record.blocks.append(Block(record.start + self._count - 1, self._checksums))
        write_record(self._cache.folder, record)


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


def _new_bytes(sample: Sample, before: Sample | None) -> int:
    """Size of the arrays of a sample that the one before does not have [B]."""
    groups = ("targets", "pin_weights", "colliders")
    known = {id(each) for name in groups if before is not None for each in getattr(before, name)}
    return sum(
        each.nbytes for name in groups for each in getattr(sample, name) if id(each) not in known
    )


def _shared(arrays: Sequence[Floats], before: Sequence[Floats]) -> list[Floats]:
    """The arrays, each replaced by the one before if both are equal."""
    if len(arrays) != len(before):
        return list(arrays)
    return [
        old if np.array_equal(new, old) else new for new, old in zip(arrays, before, strict=True)
    ]
