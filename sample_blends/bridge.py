"""The geometry of the rope bridge sample, drawn to the side as if a gust had just left it."""

from collections.abc import Callable
from dataclasses import dataclass
from math import radians

import numpy as np
from numpy.typing import NDArray

from sample_blends.stage import Points, grid

SPAN, WIDTH, RAIL = 6.0, 0.9, 1.0
DECK_HEIGHT = 1.7
BUNTING_HEIGHT = DECK_HEIGHT + RAIL + 0.5

Place = Callable[[Points, Points, Points], Points]


@dataclass(frozen=True)
class Net:
    """A mesh of faces and of ropes that hang on them."""

    vertices: Points
    faces: NDArray[np.int64]
    ropes: NDArray[np.int64]
    """(m, 2) edges without faces."""
    uv: Points
    """UV coordinates of the vertices; anything on ropes."""
    pinned: NDArray[np.int64]


def swung(height: float, *, sag: float, angle: float) -> Place:
    """Maps (share of the span, to the side, up) to where it is on a sagging way swung aside."""

    def place(t: Points, side: Points, up: Points) -> Points:
        turn = radians(angle) * np.sin(np.pi * t)
        fall = 4 * sag * t * (1 - t) - up
        y = fall * np.sin(turn) + side * np.cos(turn)
        z = height - fall * np.cos(turn) + side * np.sin(turn)
        return np.stack((SPAN * (t - 0.5), y, z), axis=1)

    return place


def bridge(columns: int = 128, rows: int = 16, *, apart: int = 8) -> Net:
    """A deck with hand ropes, held together by suspenders every so many columns."""
    flat, faces, uv = grid(columns, rows, lambda u, v: (u, WIDTH * (v - 0.5), 0 * u))
    on_deck = swung(DECK_HEIGHT, sag=0.55, angle=45)
    on_rail = swung(DECK_HEIGHT + RAIL, sag=0.45, angle=45)
    points, ropes = [on_deck(*flat.T)], []
    count = len(flat)
    along = np.linspace(0, 1, columns + 1)
    chain = np.arange(columns)
    pinned = [np.arange(rows + 1) * (columns + 1) + end for end in (0, columns)]
    for side, first in ((-0.5, 0), (0.5, rows * (columns + 1))):
        rail = count
        points.append(on_rail(along, np.full_like(along, side * WIDTH), 0 * along))
        high, low = points[-1], points[0][first : first + columns + 1]
        ropes.append(np.stack((rail + chain, rail + chain + 1), axis=1))
        pinned.append(np.array((rail, rail + columns)))
        count += columns + 1
        for column in range(apart, columns, apart):
            up = np.linspace(0, 1, apart + 1)[1:-1, None]
            points.append(low[column] + up * (high[column] - low[column]))
            line = np.array((first + column, *range(count, count + len(up)), rail + column))
            ropes.append(np.stack((line[:-1], line[1:]), axis=1))
            count += len(up)
    return Net(
        vertices=np.concatenate(points),
        faces=faces,
        ropes=np.concatenate(ropes),
        uv=np.pad(uv, ((0, count - len(uv)), (0, 0))),
        pinned=np.concatenate(pinned),
    )


def bunting(pennants: int = 12, *, columns: int = 6, rows: int = 9, gap: int = 2) -> Net:
    """A line with pennants."""
    pitch = columns + gap
    along = np.linspace(0, 1, pennants * pitch + gap + 1)
    string = np.column_stack((along, 0 * along, 0 * along))
    points, faces = [string], []
    uv = [np.column_stack((along, 0 * along))]
    count = len(string)
    for number in range(pennants):
        first = gap + number * pitch
        top = along[first : first + columns + 1]
        middle = top.mean()
        down = np.linspace(0, 1, rows + 1)[1:, None]
        across = middle + (top - middle) * (1 - 0.85 * down)
        depth = np.broadcast_to(-0.34 * down, across.shape)
        points.append(np.column_stack((across.ravel(), 0 * across.ravel(), depth.ravel())))
        uv.append(np.column_stack((0 * across.ravel() + middle, -depth.ravel())))
        index = np.concatenate(
            [first + np.arange(columns + 1), count + np.arange(across.size)]
        ).reshape(rows + 1, columns + 1)
        corners = (index[1:, :-1], index[1:, 1:], index[:-1, 1:], index[:-1, :-1])
        faces.append(np.stack([corner.ravel() for corner in corners], axis=1))
        count += across.size
    between = np.array([i for i in range(len(along) - 1) if (i - gap) % pitch >= columns])
    place = swung(BUNTING_HEIGHT, sag=0.35, angle=60)
    return Net(
        vertices=place(*np.concatenate(points).T) + np.array((0.0, WIDTH / 2, 0.0)),
        faces=np.concatenate(faces),
        ropes=np.stack((between, between + 1), axis=1),
        uv=np.concatenate(uv),
        pinned=np.array((0, len(along) - 1)),
    )
