"""Scenes of cloth: each builds a body named Body; its docstring is the caption of pictures."""

from math import radians

import numpy as np

from docs.figures.scenes.parts import ball, box, closed_ball, cloth, start
from sample_blends.stage import camera, make_body


def hanging() -> None:
    """A cloth that hangs from its upper corners."""
    start()
    n = 24
    cloth(n, n, lambda u, v: (u - 0.5, 0 * u, 0.35 + v), pinned=(n * (n + 1), (n + 1) ** 2 - 1))
    camera((0.7, -2.6, 1.0), (0.0, 0.0, 0.7), lens=52)


def ledge() -> None:
    """A strip of cloth, held at its left end."""
    start()
    rows, columns = 8, 24
    pinned = (np.arange(rows + 1)[:, None] * (columns + 1) + np.array((0, 1))).ravel()
    cloth(columns, rows, lambda u, v: (0.6 * u, 0.25 * v, 0 * u + 0.5), pinned=pinned, mass=0.03)
    box((-0.04, 0.125, 0.245), (0.12, 0.27, 0.49))
    camera((0.7, -1.7, 0.75), (0.2, 0.0, 0.3), lens=55)


def on_ball(*, aside: float = 0.0, cells: int = 28) -> None:
    """A sheet that was let fall on a ball."""
    start()
    cloth(cells, cells, lambda u, v: (u - 0.5 + aside, v - 0.5, 0 * u + 0.85))
    ball((0.0, 0.0, 0.45), 0.3)
    camera((0.5, -2.4, 1.1), (aside / 2, 0.0, 0.36), lens=60)


def tilted() -> None:
    """A napkin on a slope of 20°."""
    start()
    cloth(12, 12, lambda u, v: (0.4 * u - 0.6, 0.4 * v - 0.2, 0.62 - 0.364 * (0.4 * u)))
    box((0.0, 0.0, 0.35), (1.6, 0.8, 0.05), turned=(0.0, radians(20), 0.0), name="Slope")
    camera((0.6, -2.4, 1.2), (0.0, 0.0, 0.3), lens=50)


def cushion() -> None:
    """A cushion: two round pieces of cloth, joined at their rims, that lie on the ground."""
    start()
    obj = closed_ball((0.0, 0.0, 0.08), (0.5, 0.5, 0.03))
    make_body(obj, "CLOTH", pinned=np.zeros(0, np.int64), mass=0.2)
    camera((0.5, -2.0, 0.9), (0.0, 0.0, 0.12), lens=55)


def pendulum() -> None:
    """A cloth that swings from its upper edge."""
    start()
    n = 16
    top = np.arange(n + 1) + n * (n + 1)
    cloth(n, n, lambda u, v: (1.0 - v, u - 0.5, 0 * u + 1.3), pinned=top)
    camera((0.6, -3.0, 1.0), (0.0, 0.0, 0.7), lens=50)
