"""Noise that is the same for the same place or seed, in step with Blender's own."""

import numpy as np

from ..arrays import Floats, Integers

OCTAVES = 3
"""Each of half the size and half the strength of the one before."""

_PERMUTATION = np.frombuffer(
    bytes.fromhex(
        "a2a0193bf8ebaaeef31c67281ded00de952edc3f3a82354d6cba36d0f60c7932"
        "d159f4088b63892fb8b49783f28f18c751146587482042a880b54013b2227e57"
        "bc7f6b9d864cc8db7cd5254e5a557450cdb37abbc3cbb6e2e4ecfd980b96d39e"
        "5ca164f18161e1c42472498c904b843438ab78ca1f01d79311c158a931f9446d"
        "bf339c5f0994a38506c69a1e7b461530272b1b713c5bd66f62ac4fc2c00eb123"
        "a7df47b0776905e9e6e776730ffe6e9b56ef12a537fcaed9038edd10b9cec98d"
        "da2abd68179fbed40accd2e8433d70b7027d99d80d608a042c3e92e5af5307e0"
        "29a6c5e3f5f74a41266a165e522d21adf091ffea54fa661a4539cf75a488fb5d"
    ),
    dtype=np.uint8,
).astype(np.int64)
"""The shuffled bytes of Blender's `noise.cc`: with others, eddies would be in other places."""
_TABLE = np.concatenate([_PERMUTATION, _PERMUTATION])


def turbulence(places: Floats, size: float) -> Floats:
    """(3, n) vectors, each component −1 … 1, of eddies of a size at places (3, n) [m]."""
    scaled = places / size if size else places
    return np.stack([_octaves(np.roll(scaled, -axis, axis=0)) for axis in range(3)])


def _octaves(places: Floats) -> Floats:
    """(n,) noise of three sizes, together −1 … 1."""
    total = np.zeros(places.shape[1])
    for octave in range(OCTAVES):
        total += gradient_noise(places * 2.0**octave) * 0.5**octave
    return np.asarray(total / (2.0 - 0.5 ** (OCTAVES - 1)))


def gradient_noise(places: Floats) -> Floats:
    """(n,) smooth noise, 0 at whole coordinates: K. Perlin, *Improving Noise* (2002)."""
    cells = np.floor(places)
    inside = places - cells
    fade = inside**3 * (inside * (inside * 6.0 - 15.0) + 10.0)
    x, y, z = np.asarray(cells, dtype=np.int64) & 255
    total = np.zeros(places.shape[1])
    for corner in np.ndindex(2, 2, 2):
        i, j, k = corner
        hashed = _TABLE[_TABLE[_TABLE[x + i] + y + j] + z + k]
        shares = np.where(np.array(corner)[:, None] == 1, fade, 1.0 - fade)
        total += shares[0] * shares[1] * shares[2] * _slope(hashed, *(inside.T - corner).T)
    return total


def _slope(hashed: Integers, x: Floats, y: Floats, z: Floats) -> Floats:
    """(n,) one of twelve slopes, along the diagonals of a cube's faces."""
    low = hashed & 15
    first = np.where(low < 8, x, y)
    second = np.where(low < 4, y, np.where((low == 12) | (low == 14), x, z))
    return np.asarray(np.where(low & 1, -first, first) + np.where(low & 2, -second, second))


def gust(seed: int, frame: int) -> float:
    """A number from −1 to 1 that a field's noise is multiplied by, new in every frame.

    It is the first that Blender draws in that frame, from the generator of POSIX `drand48`.
    """
    state = (((seed + abs(frame)) & 0xFFFFFFFF) << 16) | 0x330E
    draws = []
    for _ in range(2):
        state = (state * 0x5DEECE66D + 0xB) & (2**48 - 1)
        draws.append(state >> 17)
    level = (draws[0] + 1) % 128
    return (1.0 if level > 64 else -1.0) * level / (1.0 + draws[1] / 2**31) / 128.0
