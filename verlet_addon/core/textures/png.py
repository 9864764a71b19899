"""PNG files of 16 bits a channel."""

from pathlib import Path
from struct import pack
from zlib import compress, crc32

import numpy as np

from ..arrays import Floats

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_UP = 2
"""Filter that stores differences from the row above: the frame before, in textures of motion."""


def write_png(path: Path, colors: Floats) -> None:
    """Writes colors (h, w, 3) from 0 to 1, the top row first, with 16 bits a channel."""
    height, width, _ = colors.shape
    values = np.rint(np.clip(colors, 0, 1) * 65535).astype(">u2")
    rows = values.reshape(height, -1).view(np.uint8)
    filtered = np.full((height, rows.shape[1] + 1), _UP, np.uint8)
    filtered[:, 1:] = rows
    filtered[1:, 1:] -= rows[:-1]
    header = pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", compress(filtered.tobytes())), (b"IEND", b""))
    path.write_bytes(_SIGNATURE + b"".join(_chunk(*each) for each in chunks))


def _chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk with its length and checksum."""
    return pack(">I", len(data)) + kind + data + pack(">I", crc32(kind + data))
