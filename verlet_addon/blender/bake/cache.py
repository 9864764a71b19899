"""A bake in files: point caches of its bodies, their record, and all that a bake goes on from."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from ...core.checkpoint import read_checkpoint, write_checkpoint
from ...core.errors import CheckpointError, FileError
from ...core.scene import Sample
from ...core.simulation import Simulation
from ..scene.file_errors import errors_named
from ..scene.pc2 import create_pc2, flush_to_disk, keep_samples, read_samples, read_size
from .cache_hold import release
from .cache_record import NAME, Block, CachedBody, CacheRecord, read_record, write_record

MOST_STATES = 6
"""Number of stored simulations of a cache, apart from those that others depend on."""


@dataclass(eq=False)
class Cache:
    """A folder with the point caches of bodies that are simulated together, and their record.

    The simulation is stored at some frames, and the samples of the scene at all frames between. So
    it can go on from each frame, although the scene may have changed since.
    """

    folder: Path
    record: CacheRecord
    begun: int = 0
    """When its record was written before this bake [ns since 1970], as its file system says."""

    def points(self, body: CachedBody) -> Path:
        """The point cache of a body."""
        return self.folder / body.file

    def create_points(self) -> None:
        """Writes the point caches without any frame."""
        for body in self.record.bodies:
            create_pc2(self.points(body), vertex_count=body.vertices, frame_start=self.record.start)

    def samples_since(self, body: CachedBody, frame: int, end: int) -> int:
        """CRC-32 of the samples of a body from a frame to the end, both included."""
        return _checksum(self.points(body), frame - self.record.start, end - frame + 1)

    def intact_end(self, alone: CachedBody | None = None) -> int:
        """The last frame up to which all point caches, or that of one body, are as written."""
        record, end = self.record, self.record.start - 1
        asked = [
            (number, body)
            for number, body in enumerate(record.bodies)
            if alone is None or body is alone
        ]
        complete = min(self._size(body) for _, body in asked)
        for block in record.blocks:
            if block.end - record.start + 1 > complete or any(
                self.samples_since(body, end + 1, block.end) != block.checksums[number]
                for number, body in asked
            ):
                break
            end = block.end
        return end

    def _size(self, body: CachedBody) -> int:
        """Number of complete samples of a body; 0 where its file is missing or damaged."""
        try:
            size = read_size(self.points(body))
        except (OSError, ValueError):
            return 0
        return size.samples if size.vertices == body.vertices else 0

    def write_state(self, frame: int, simulation: Simulation) -> None:
        """Stores the simulation at a frame."""
        with errors_named("write", self.folder):
            self._write_state(frame, simulation)

    def _write_state(self, frame: int, simulation: Simulation) -> None:
        """Writes a state of the simulation, with errors of the file system as they are."""
        write_checkpoint(self._state(frame), simulation)
        self.record.states = sorted({*self.record.states, frame})

    def add_block(self, block: Block, samples: list[Sample], simulation: Simulation | None) -> None:
        """Stores frames that were appended to the point caches, and the simulation at the last.

        Parameters
        ----------
        samples : the scene at each of these frames.
        simulation : None to store the frames alone.
        """
        record = self.record
        with errors_named("write", self.folder):
            for body in record.bodies:
                flush_to_disk(self.points(body))
                body.written = self.points(body).stat().st_mtime_ns
            write_checkpoint(self._inputs(block.end), samples)
            if simulation is not None:
                self._write_state(block.end, simulation)
            record.blocks.append(block)
            surplus = self._surplus_states()
            record.states = [frame for frame in record.states if frame not in surplus]
            write_record(self.folder, record)
            for frame in surplus:
                self._state(frame).unlink(missing_ok=True)

    def _surplus_states(self) -> set[int]:
        """Frames of stored simulations of which the others are spread most evenly."""
        record = self.record
        needed = {record.start, *(frame - 1 for frame in record.cuts)}
        kept, surplus = list(record.states), set()
        while len(kept) > MOST_STATES + len(needed):
            gaps = {
                after - before: frame
                for before, frame, after in zip(kept, kept[1:], kept[2:], strict=False)
                if frame not in needed
            }
            if not gaps:
                break
            surplus.add(gaps[min(gaps)])
            kept.remove(gaps[min(gaps)])
        return surplus

    def keep(self, end: int) -> None:
        """Drops all frames after one; the frames before it, and that one, stay byte by byte."""
        record = self.record
        dropped = [block for block in record.blocks if block.end > end]
        states = [frame for frame in record.states if frame > end]
        with errors_named("write", self.folder):
            if dropped:
                self._shorten(dropped[0], end)
            record.blocks = [block for block in record.blocks if block.end <= end]
            record.states = [frame for frame in record.states if frame <= end]
            record.cuts = [frame for frame in record.cuts if frame <= end + 1]
            record.extremes = [each for each in record.extremes if each.frame <= end]
            for body in record.bodies:
                keep_samples(self.points(body), body.vertices, end - record.start + 1)
                body.written = self.points(body).stat().st_mtime_ns
            write_record(self.folder, record)
            for path in (
                *(self._inputs(block.end) for block in dropped),
                *map(self._state, states),
            ):
                path.unlink(missing_ok=True)

    def _shorten(self, block: Block, end: int) -> None:
        """Adds a block with those frames of another one that end at a frame, if there are any."""
        record = self.record
        number = record.blocks.index(block)
        before, remarks = record.start - 1, list[list[str]]()
        if number:
            before, remarks = record.blocks[number - 1].end, record.blocks[number - 1].remarks
        if end <= before:
            return
        samples = [each for each in self._read_inputs(block.end) if each.frame <= end]
        write_checkpoint(self._inputs(end), samples)
        checksums = [self.samples_since(body, before + 1, end) for body in record.bodies]
        record.blocks.insert(number, Block(end, checksums, remarks))

    def remove_unfinished(self) -> None:
        """Deletes files that were not written to their end."""
        for path in self.folder.glob("*.part"):
            path.unlink()

    def read_state(self, frame: int) -> Simulation:
        """The simulation at a frame of the cache, as it was when that frame was simulated.

        Raises
        ------
        FileError
            What it needs is missing or damaged.
        """
        record = self.record
        earliest = max((cut - 1 for cut in record.cuts if cut <= frame), default=record.start)
        able = [each for each in record.states if earliest <= each <= frame]
        problem: Exception = CheckpointError("no simulation is stored")
        for begin in reversed(able):
            try:
                simulation: Simulation = read_checkpoint(self._state(begin))
                for sample in self.samples(begin, frame):
                    simulation.advance(sample)
            except CheckpointError as error:
                problem = error
            else:
                return simulation
        raise FileError(
            f"The cache {self.folder} cannot go on from frame {frame}: {problem}; bake "
            "again from the start",
            self.folder,
        )

    def samples(self, begin: int, end: int) -> Iterator[Sample]:
        """Yields the scene at each frame after `begin`, up to `end`."""
        before = self.record.start - 1
        for block in self.record.blocks:
            if block.end > begin and before < end:
                read = self._read_inputs(block.end)
                yield from (each for each in read if begin < each.frame <= end)
            before = block.end

    def _read_inputs(self, end: int) -> list[Sample]:
        """The scene at each frame of the block that ends at a frame."""
        samples: list[Sample] = read_checkpoint(self._inputs(end))
        return samples

    def _state(self, frame: int) -> Path:
        """The file with the simulation at a frame."""
        return self.folder / f"state_{frame}.npy"

    def _inputs(self, end: int) -> Path:
        """The file with the scene at each frame of the block that ends at a frame."""
        return self.folder / f"inputs_{end}.npy"


def read_cache(folder: Path) -> Cache:
    """The cache in a folder.

    Raises
    ------
    FileError
        It has no record, or one that is damaged or of another version.
    """
    return Cache(folder, read_record(folder), (folder / NAME).stat().st_mtime_ns)


def last_written(folder: Path) -> int:
    """When any file of a cache was last written [ns since 1970], as its file system says."""
    newest = 0
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # of another process, which has just renamed it
            newest = max(newest, path.stat().st_mtime_ns)
    return newest


def _checksum(path: Path, first: int, count: int) -> int:
    """CRC-32 of successive samples of a point cache."""
    found = 0
    for sample in read_samples(path, first, count):
        found = crc32(sample.data, found)
    return found


def remove_cache(folder: Path) -> None:
    """Deletes all files of a cache, its folder, and the one around it once empty."""
    release(folder)
    with errors_named("delete", folder):
        for pattern in ("*.pc2", "state_*.npy*", "inputs_*.npy*", f"{NAME}*"):
            for path in folder.glob(pattern):
                path.unlink()
        for each in (folder, folder.parent):
            if not any(each.iterdir()):
                each.rmdir()
