"""Motion of vertices as the colors of a texture, in the layout of OpenVAT.

OpenVAT (Luke Stilson, github.com/sharpen3d/openvat, version 1.1): vertices are stored from the last
to the first, from left to right, and go on a number of rows further down, as many as there are
frames; the frames of a vertex are below each other. Red, green and blue are x, y and z of the
offset from the mesh, from `Min` to `Max` of a JSON file.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Floats
from .errors import SettingsError

SMALLEST, LARGEST = 64, 8192
"""Smallest and largest side of a texture, which are powers of 2; OpenVAT's heights may be less."""


@dataclass(frozen=True)
class Layout:
    """The places of vertices and frames in a texture."""

    vertices: int
    frames: int
    width: int
    height: int

    def uv(self) -> Floats:
        """(n, 2) place of each vertex at the first frame, from the lower left corner."""
        order = np.arange(self.vertices)[::-1]
        u = (order % self.width + 0.5) / self.width
        v = 1 - (order // self.width * self.frames + 0.5) / self.height
        return np.stack([u, v], axis=1)

    def texture(self, colors: Floats) -> Floats:
        """(h, w, 3) texture, the top row first, of colors (f, n, 3)."""
        blocks = -(-self.vertices // self.width)
        padded = np.zeros((self.frames, blocks * self.width, 3), colors.dtype)
        padded[:, : self.vertices] = colors[:, ::-1]
        rows = padded.reshape(self.frames, blocks, self.width, 3).swapaxes(0, 1)
        texture = np.zeros((self.height, self.width, 3), colors.dtype)
        texture[: blocks * self.frames] = rows.reshape(-1, self.width, 3)
        return texture


def fitting_layout(vertices: int, frames: int) -> Layout:
    """The layout with the smallest texture whose sides differ by a factor of 2 at most, if any has.

    Raises
    ------
    SettingsError
        They do not fit into a texture of 8192 by 8192.
    """
    found: list[tuple[bool, int, Layout]] = []
    width = SMALLEST
    while width <= LARGEST:
        rows = -(-vertices // width) * frames
        height = 1 << (rows - 1).bit_length()
        if height <= LARGEST:
            slim = not 0.5 <= width / height <= 2
            found.append((slim, width * height, Layout(vertices, frames, width, height)))
        width *= 2
    if not found:
        raise SettingsError(
            f"{vertices} vertices at {frames} frames do not fit into a texture of {LARGEST} by "
            f"{LARGEST}; bake fewer frames, or split the mesh"
        )
    return min(found, key=lambda each: each[:2])[2]


@dataclass(frozen=True)
class Range:
    """Bounds of offsets, which colors from 0 to 1 stand for."""

    low: Floats
    """(3,) [m]."""
    high: Floats
    """(3,) [m]."""

    def colors(self, offsets: Floats) -> Floats:
        """Colors of offsets (…, 3)."""
        size = self.high - self.low
        return np.asarray((offsets - self.low) / np.where(size > 0, size, 1.0))

    def description(self, frames: int) -> dict[str, Any]:
        """Content of OpenVAT's JSON file."""
        low, high = self.low.tolist(), self.high.tolist()
        return {"os-remap": {"Min": low, "Max": high, "Frames": frames}}


def range_of(offsets: Floats) -> Range:
    """The exact bounds of offsets (f, n, 3)."""
    flat = offsets.reshape(-1, 3)
    return Range(flat.min(axis=0).astype(np.float64), flat.max(axis=0).astype(np.float64))
