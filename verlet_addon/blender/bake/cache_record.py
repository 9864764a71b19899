"""Records of caches: a side file with the frames, inputs and checksums of the point caches.

PC2 has no room for these. The record is replaced as a whole, so it is always complete.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from ...core.errors import FileError
from ...core.remark import Grade, Remark
from .record import BakeInputs
from .statistics import Extremes

FORMAT = 1
"""Version of the layout; a record of another one is refused."""
NAME = "bake.json"
_REMEDY = "bake again"


@dataclass
class CachedBody:
    """One body of a cache."""

    name: str
    file: str
    """Name of its point cache in the folder of the record."""
    vertices: int
    settings: str
    """Digest of its settings, as in `BakeInputs`."""
    read: str
    """Digest of all else that acts on it, as in `BakeInputs`."""
    written: int = 0
    """Time of the last change of the point cache, from its file system [ns since 1970]."""


@dataclass
class Block:
    """Successive frames of a cache, which end where the next block begins."""

    end: int
    """Last frame."""
    checksums: list[int]
    """Per body, CRC-32 of the samples of these frames."""
    remarks: list[list[str]] = field(default_factory=list)
    """Warnings on all frames up to the last: of each the sentence, its grade and its body."""


@dataclass
class CacheRecord:
    """Frames, inputs and checksums of a cache."""

    scene: str
    start: int
    """First frame."""
    kernels: str
    """Kernels with which it was simulated."""
    bodies: list[CachedBody]
    blocks: list[Block] = field(default_factory=list)
    states: list[int] = field(default_factory=list)
    """Frames at which the simulation is stored, in rising order."""
    cuts: list[int] = field(default_factory=list)
    """Frames from which it was simulated again; what is stored before them does not lead on."""
    extremes: list[Extremes] = field(default_factory=list)
    """The extremes at each frame where they exceed those before."""

    @property
    def end(self) -> int:
        """The last frame; the one before the first if there are none."""
        return self.blocks[-1].end if self.blocks else self.start - 1

    @property
    def names(self) -> list[str]:
        """Names of the bodies."""
        return [body.name for body in self.bodies]

    @property
    def inputs(self) -> list[BakeInputs]:
        """Per body, the digests of its inputs."""
        return [BakeInputs(body.settings, body.read) for body in self.bodies]

    def note_extremes(self, now: Extremes) -> None:
        """Adds the extremes at a new last frame, if they differ from those before."""
        if not self.extremes or self.extremes[-1] != replace(now, frame=self.extremes[-1].frame):
            self.extremes.append(now)

    def extremes_at(self, frame: int) -> Extremes | None:
        """The extremes of all frames up to one; None in records that have none."""
        return next((each for each in reversed(self.extremes) if each.frame <= frame), None)

    def remarks_at(self, frame: int) -> list[Remark]:
        """The warnings on all frames up to one, which the last block before it has."""
        stored = [block.remarks for block in self.blocks if block.end <= frame]
        return [
            Remark(text, grade=cast(Grade, grade), body=body)
            for text, grade, body in (stored[-1] if stored else [])
        ]

    def set_inputs(self, inputs: Sequence[BakeInputs]) -> None:
        """Notes other inputs, from which the cache goes on."""
        for body, now in zip(self.bodies, inputs, strict=True):
            body.settings, body.read = now.settings, now.read


def write_record(folder: Path, record: CacheRecord) -> None:
    """Writes the record of a cache; the former one is there until the new one is complete."""
    content = {"format": FORMAT, **asdict(record)}
    partial = folder / f"{NAME}.part"
    with partial.open("w", encoding="utf-8") as file:
        json.dump({**content, "digest": _digest(content)}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / NAME)


def read_record(folder: Path) -> CacheRecord:
    """Reads the record of a cache.

    Raises
    ------
    FileError
        It is missing, damaged, or of another version.
    """
    path = folder / NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found, version = content.pop("digest"), content.pop("format")
        if version != FORMAT:
            raise FileError(
                f"The cache {folder} has format {version}, and this version of the add-on reads "
                f"{FORMAT}; {_REMEDY}",
                path,
            )
        if found != _digest({"format": version, **content}):
            raise ValueError("its checksum does not match")
        bodies = [CachedBody(**body) for body in content.pop("bodies")]
        blocks = [Block(**block) for block in content.pop("blocks")]
        extremes = [Extremes(**each) for each in content.pop("extremes", [])]
        return CacheRecord(**content, bodies=bodies, blocks=blocks, extremes=extremes)
    except FileNotFoundError as error:
        raise FileError(f"The cache {folder} has no {NAME}; {_REMEDY}", path) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileError(f"The record {path} is damaged ({error}); {_REMEDY}", path) from error


def _digest(content: dict[str, Any]) -> str:
    """SHA-256 of a record."""
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
