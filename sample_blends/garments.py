"""Cloth that is sewn together, and cloth that tears."""

from math import radians
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from sample_blends.stage import (
    Pattern,
    Points,
    add_mesh,
    animate,
    camera,
    empty_scene,
    grid,
    light_and_ground,
    make_body,
    plain,
    rod,
)
from verlet_addon.blender.settings.materials import give_material

FIGURE = (
    (0.0, 0.60),
    (0.20, 0.62),
    (0.19, 0.80),
    (0.155, 0.98),
    (0.14, 1.08),
    (0.165, 1.25),
    (0.195, 1.34),
    (0.185, 1.39),
    (0.060, 1.44),
    (0.055, 1.50),
    (0.085, 1.60),
    (0.075, 1.72),
    (0.0, 1.76),
)
"""Half widths of a dressmaker's figure at their heights [m]; it is two thirds as deep as wide."""


def dress() -> None:
    """Two flat panels, before and behind a figure, are sewn to a dress, which then falls."""
    scene = empty_scene(frame_end=72)
    animate(scene, "gravity", {24: (0.0, 0.0, 0.0), 32: (0.0, 0.0, -9.81)})
    figure = _figure()
    figure.modifiers.new("Collision", "COLLISION")
    figure.collision.thickness_outer = 0.004
    figure.collision.cloth_friction = 6.0
    design = Pattern("Dress", translucency=0.15)
    stripe = design.math("FRACT", design.math("MULTIPLY", design.v, 14), 0)
    looks = design.color(stripe, {0.0: (0.62, 0.10, 0.16), 0.8: (0.80, 0.74, 0.62)})
    vertices, faces, seams, uv = _panels(columns=24, rows=40)
    obj = add_mesh("Dress", vertices, edges=seams, faces=faces, uv=uv, material=looks)
    make_body(obj, "CLOTH", pinned=np.zeros(0, int))
    give_material(obj.verlet, "SILK")
    obj.verlet.use_sewing, obj.verlet.sewing_force = True, 0.06
    obj.verlet.damping, obj.verlet.thickness = 3.0, 0.004
    rod("Stand", length=0.62, radius=0.015, material=plain("Wood", (0.16, 0.075, 0.03)))
    light_and_ground()
    camera((0.5, -3.1, 1.4), (0.0, 0.0, 1.15), lens=50)


def _figure() -> Any:
    """Adds a closed, round figure without arms."""
    heights = np.array(FIGURE)
    z = np.linspace(0.60, 1.76, 60)
    half = np.interp(z, heights[:, 1], heights[:, 0])
    half = np.convolve(np.pad(half, 2, mode="edge"), np.ones(5) / 5, mode="valid")
    half[[0, -1]] = 0.002
    angle = np.arange(40) * 2 * np.pi / 40
    points = np.stack(
        [
            np.outer(half, np.cos(angle)).ravel(),
            np.outer(half, np.sin(angle)).ravel() * 2 / 3,
            np.repeat(z, 40),
        ],
        axis=1,
    )
    row, column = np.divmod(np.arange(59 * 40), 40)
    onward = (column + 1) % 40
    faces = np.stack(
        [row * 40 + column, row * 40 + onward, (row + 1) * 40 + onward, (row + 1) * 40 + column],
        axis=1,
    )
    return add_mesh("Figure", points, faces=faces, material=plain("Linen", (0.62, 0.55, 0.45)))


def _panels(
    *, columns: int, rows: int
) -> tuple[Points, NDArray[np.int64], NDArray[np.int64], Points]:
    """Vertices, faces, seams and UV coordinates of the front and the back."""

    def place(u: Points, v: Points) -> list[Points]:
        half = np.interp(v, [0.0, 0.45, 0.8, 1.0], [0.42, 0.27, 0.26, 0.17])
        # The shoulders slope, and the neck is cut out of them.
        neck = 0.08 * np.clip(1 - np.abs(2 * u - 1) / 0.4, 0, None) ** 0.5
        top = 1.47 - 0.05 * np.abs(2 * u - 1) - neck
        return [half * (2 * u - 1), 0 * u, 0.62 + (top - 0.62) * v]

    flat, faces, uv = grid(columns, rows, place)
    front, back = flat + np.array((0, -0.17, 0)), flat + np.array((0, 0.17, 0))
    at = np.arange(len(flat)).reshape(rows + 1, columns + 1)
    sides = at[: round(0.72 * rows), [0, -1]].ravel()  # above are holes for arms
    quarter = round(0.3 * columns)
    shoulders = np.concatenate([at[-1, : quarter + 1], at[-1, -quarter - 1 :]])
    sewn = np.unique(np.concatenate([sides, shoulders]))
    return (
        np.concatenate([front, back]),
        np.concatenate([faces, faces[:, ::-1] + len(flat)]),
        np.stack([sewn, sewn + len(flat)], axis=1),
        np.concatenate([uv, uv]),
    )


def torn_banner() -> None:
    """A banner between two poles, which a storm tears where it was split beforehand."""
    empty_scene(frame_end=120)
    wood = plain("Wood", (0.16, 0.075, 0.03))
    width, height, foot = 2.4, 0.9, 1.0
    for x in (-width / 2, width / 2):
        rod("Pole", length=foot + height + 0.1, radius=0.03, material=wood).location = (x, 0, 0)
    design = Pattern("Banner", translucency=0.25)
    band = design.math("FRACT", design.math("MULTIPLY", design.v, 1.5), 0)
    looks = design.color(
        band, {0.0: (0.05, 0.16, 0.30), 0.34: (0.80, 0.76, 0.66), 0.66: (0.05, 0.16, 0.30)}
    )
    columns, rows = 64, 24
    vertices, faces, uv = grid(
        columns, rows, lambda u, v: [width * (u - 0.5), 0.02 * np.sin(9 * u), foot + height * v]
    )
    vertices, faces, uv, seams = _split(vertices, faces, uv, columns, rows)
    obj = add_mesh("Banner", vertices, edges=seams, faces=faces, uv=uv, material=looks)
    edge = np.arange(rows + 1) * (columns + 1)
    make_body(obj, "CLOTH", pinned=np.concatenate([edge, edge + columns]))
    give_material(obj.verlet, "COTTON")
    obj.verlet.use_tearing, obj.verlet.tear_strength = True, 20.0
    bpy.ops.object.effector_add(
        type="WIND", location=(0.0, -3.0, 1.4), rotation=(radians(-90), 0.0, 0.0)
    )
    wind: Any = bpy.context.object
    wind.field.noise, wind.field.seed = 4.0, 3
    animate(wind.field, "strength", {1: 0.0, 60: 14.0, 120: 9.0})
    light_and_ground(ground=(0.10, 0.20, 0.05))
    camera((1.7, -4.3, 1.4), (0.1, 0.0, 1.2), lens=42)


def _split(
    vertices: Points, faces: NDArray[np.int64], uv: Points, columns: int, rows: int
) -> tuple[Points, NDArray[np.int64], Points, NDArray[np.int64]]:
    """Cuts a grid from top to bottom along a ragged line, as Split for Tearing does."""
    ragged = np.random.default_rng(4).integers(-1, 2, rows + 1).cumsum()
    column = np.clip(round(0.6 * columns) + ragged, 2, columns - 2)
    cached_row, column_of = np.divmod(np.arange(columns * rows), columns)
    right = column_of >= column[cached_row]
    # A row of faces is cut at one column; where the next one is cut elsewhere, so is the way there.
    count = columns + 1
    cut = {row * count + c for row in range(rows + 1) for c in _passed(column, row, rows)}
    doubles = np.array(sorted(cut))
    new = np.arange(len(vertices))
    new[doubles] = len(vertices) + np.arange(len(doubles))
    faces = np.where(right[:, None], new[faces], faces)
    used = np.isin(doubles, faces) & np.isin(new[doubles], faces)
    seams = np.stack([doubles, new[doubles]], axis=1)[used]
    return (
        np.concatenate([vertices, vertices[doubles]]),
        faces,
        np.concatenate([uv, uv[doubles]]),
        seams,
    )


def _passed(column: NDArray[np.int64], row: int, rows: int) -> range:
    """The columns at which the cut crosses or follows a row of vertices."""
    below, above = column[max(row - 1, 0)], column[min(row, rows - 1)]
    return range(min(below, above), max(below, above) + 1)
