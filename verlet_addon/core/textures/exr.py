"""OpenEXR files of half or single floats: scan lines, compressed in blocks of 16."""

from pathlib import Path
from struct import pack
from zlib import compress

import numpy as np

from ..arrays import Floats

_MAGIC, _VERSION = 20000630, 2
_HALF, _FLOAT = 1, 2
_ZIP, _LINES = 3, 16
"""Number of the compression, and of the rows that are compressed at once."""


def write_exr(path: Path, colors: Floats, *, half: bool) -> None:
    """Writes colors (h, w, 3), the top row first, as halves of 16 bits or as floats of 32."""
    height, width, _ = colors.shape
    # Channels are in the order of their names: B, G, R.
    values = np.moveaxis(colors[..., ::-1], 2, 1).astype("<f2" if half else "<f4")
    blocks = [_block(values[top : top + _LINES], top) for top in range(0, height, _LINES)]
    header = _header(width, height, _HALF if half else _FLOAT)
    starts = len(header) + 8 * len(blocks) + np.cumsum([0, *map(len, blocks[:-1])])
    path.write_bytes(header + starts.astype("<u8").tobytes() + b"".join(blocks))


def _header(width: int, height: int, kind: int) -> bytes:
    """Magic number, version and attributes."""
    channels = b"".join(pack("<2siBxxxii", name, kind, 0, 1, 1) for name in (b"B", b"G", b"R"))
    window = pack("<iiii", 0, 0, width - 1, height - 1)
    attributes = (
        (b"channels", b"chlist", channels + b"\0"),
        (b"compression", b"compression", bytes([_ZIP])),
        (b"dataWindow", b"box2i", window),
        (b"displayWindow", b"box2i", window),
        (b"lineOrder", b"lineOrder", b"\0"),
        (b"pixelAspectRatio", b"float", pack("<f", 1)),
        (b"screenWindowCenter", b"v2f", pack("<ff", 0, 0)),
        (b"screenWindowWidth", b"float", pack("<f", 1)),
    )
    each = (
        name + b"\0" + kind + b"\0" + pack("<i", len(value)) + value
        for name, kind, value in attributes
    )
    return pack("<ii", _MAGIC, _VERSION) + b"".join(each) + b"\0"


def _block(rows: Floats, top: int) -> bytes:
    """Some rows, compressed: low bytes before high ones, then differences, then zlib."""
    plain = rows.tobytes()
    data = np.frombuffer(plain, np.uint8)
    sorted_bytes = np.concatenate([data[::2], data[1::2]])
    sorted_bytes[1:] = np.diff(sorted_bytes) + np.uint8(128)
    packed = compress(sorted_bytes.tobytes())
    shortest = packed if len(packed) < len(plain) else plain
    return pack("<ii", top, len(shortest)) + shortest
