"""The icon: a cloth that blows from a pole, drawn pixel by pixel."""

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.float64]
SIZE, FINER = 256, 4
"""Width and height; how many times finer it is drawn [pixels]."""
TOP, BOTTOM = np.array((0.99, 0.55, 0.24)), np.array((0.85, 0.20, 0.33))
"""Colours of the background."""
CLOTH, SHADE = np.array((1.0, 0.98, 0.94)), np.array((0.47, 0.37, 0.60))
"""Colours of the cloth where it faces the light and where it turns away."""
POLE = np.array((0.20, 0.11, 0.26))
LEFT, RIGHT, LOW, HIGH = 0.22, 0.86, 0.36, 0.80
"""Edges of the cloth, without its waves."""
THREADS = (4, 3)
"""Numbers of patches across and up."""


def icon() -> Image:
    """The icon, (256, 256, 4) from the bottom up: red, green, blue, opacity from 0 to 1."""
    steps = (np.arange(SIZE * FINER) + 0.5) / (SIZE * FINER)
    x, y = np.meshgrid(steps, steps)
    inside = _rounded(x, y, margin=0.02, radius=0.2)
    picture = BOTTOM + (TOP - BOTTOM) * y[..., None]
    picture[_on_cloth(*_cloth(x - 0.02, y + 0.04))] *= 0.80
    pole = (np.abs(x - 0.185) < 0.035) & (y > 0.10) & (y < 0.86)
    ball = np.hypot(x - 0.185, y - 0.865) < 0.058
    across, up = _cloth(x, y)
    on_cloth = _on_cloth(across, up)
    picture[on_cloth] = _colors(across, up)[on_cloth]
    picture[pole | ball] = POLE
    finer = np.dstack((picture * inside[..., None], inside))
    small: Image = finer.reshape(SIZE, FINER, SIZE, FINER, 4).mean(axis=(1, 3))
    small[..., :3] /= np.maximum(small[..., 3:], 1e-6)
    return small


def _rounded(x: Image, y: Image, *, margin: float, radius: float) -> NDArray[np.bool_]:
    """Whether places are in a square with round corners."""
    reach = 0.5 - margin - radius
    over = [np.maximum(np.abs(each - 0.5) - reach, 0) for each in (x, y)]
    near: NDArray[np.bool_] = np.hypot(*over) < radius
    return near


def _phase(across: Image) -> Image:
    """Phase of the waves so far across the cloth [rad]."""
    return 2 * np.pi * 1.05 * across - 0.5


def _cloth(x: Image, y: Image) -> tuple[Image, Image]:
    """How far across and up the cloth places are, from 0 to 1 on it."""
    across = (x - LEFT) / (RIGHT - LEFT)
    wave = 0.075 * np.clip(across, 0, 1) ** 0.7 * np.sin(_phase(across))
    return across, (y - wave - LOW) / (HIGH - LOW)


def _on_cloth(across: Image, up: Image) -> NDArray[np.bool_]:
    """Whether places are on the cloth."""
    return (across > 0) & (across < 1) & (up > 0) & (up < 1)


def _colors(across: Image, up: Image) -> Image:
    """Colours of the cloth: dark where it turns away from the light, with threads on it."""
    dark = np.clip(0.5 - 0.62 * np.cos(_phase(across) - 0.35 + 0.5 * (up - 0.5)), 0, 1)
    color: Image = CLOTH + (SHADE - CLOTH) * (0.9 * dark)[..., None]
    for share, patches, width in ((across, THREADS[0], 0.022), (up, THREADS[1], 0.026)):
        apart = np.abs(share * patches - np.round(share * patches)) / patches
        color[(apart < width / 2) & (share > 0.05) & (share < 0.95)] *= (0.80, 0.72, 0.78)
    return color
