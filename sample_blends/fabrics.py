"""Round cloths that lie on small tables, as in Cusick's drape meter, one for each material."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sample_blends.stage import (
    Color,
    Pattern,
    Points,
    add_mesh,
    camera,
    empty_scene,
    light_and_ground,
    make_body,
    plain,
    rod,
)
from verlet_addon.blender.settings.materials import give_material

RADIUS, TABLE, HEIGHT = 0.15, 0.09, 0.12
"""Radii of the cloths and of the tables, and height of the tables [m]."""
LOOKS: dict[str, tuple[Color, Color, float]] = {
    "SILK": ((0.55, 0.05, 0.12), (0.70, 0.16, 0.20), 0.35),
    "COTTON": ((0.75, 0.73, 0.68), (0.16, 0.30, 0.55), 0.2),
    "DENIM": ((0.03, 0.07, 0.18), (0.05, 0.11, 0.26), 0.0),
    "WOOL": ((0.25, 0.24, 0.23), (0.36, 0.34, 0.31), 0.1),
    "LEATHER": ((0.16, 0.06, 0.025), (0.17, 0.065, 0.028), 0.0),
    "RUBBER_SHEET": ((0.02, 0.02, 0.022), (0.022, 0.022, 0.024), 0.0),
    "PAPER": ((0.83, 0.82, 0.78), (0.80, 0.79, 0.75), 0.3),
}
"""Two colours of the stripes, and how much light comes through."""


def fabrics(names: Sequence[str] = ("SILK", "WOOL", "COTTON", "LEATHER", "DENIM")) -> None:
    """Materials side by side, let go flat; each falls into its own folds."""
    empty_scene(frame_end=72)
    wood = plain("Wood", (0.30, 0.19, 0.10))
    for number, name in enumerate(names):
        place = (0.21 * (number - (len(names) - 1) / 2), 0.36 * (number % 2 - 0.5), 0.0)
        table = rod(f"Table for {name.title()}", length=HEIGHT, radius=TABLE - 0.004, material=wood)
        table.location = place
        cloth = _cloth(name.title().replace("_", " "), name)
        cloth.location = (*place[:2], HEIGHT + 0.002)
    light_and_ground()
    camera((0.0, -1.45, 0.8), (0.0, 0.0, 0.06), lens=42)


def _cloth(label: str, name: str) -> Any:
    """Adds a round cloth that is held on the table."""
    first, second, through = LOOKS[name]
    pattern = Pattern(label, translucency=through)
    stripe = pattern.math("FRACT", pattern.math("MULTIPLY", pattern.u, 12), 0)
    looks = pattern.color(stripe, {0.0: first, 0.5: second})
    vertices, faces = _disc(20)
    uv = vertices[:, :2] / (2 * RADIUS) + 0.5
    obj = add_mesh(label, vertices, faces=faces, uv=uv, material=looks)
    held = np.flatnonzero(np.linalg.norm(vertices, axis=1) < TABLE + 1e-6)
    make_body(obj, "CLOTH", pinned=held)
    give_material(obj.verlet, name)
    obj.verlet.thickness = 0.002
    return obj


def _disc(rings: int) -> tuple[Points, NDArray[np.int64]]:
    """A flat disc of triangles: ring k has 6 k vertices."""
    points, starts = [(0.0, 0.0, 0.0)], [0]
    for ring in range(1, rings + 1):
        starts.append(len(points))
        angles = np.arange(6 * ring) * np.pi / (3 * ring)
        far = RADIUS * ring / rings
        points += [(far * np.cos(angle), far * np.sin(angle), 0.0) for angle in angles]

    def vertex(ring: int, place: int) -> int:
        return starts[ring] + place % (6 * ring) if ring else 0

    faces = []
    for ring in range(1, rings + 1):
        for sector in range(6):
            for k in range(ring):
                inner, outer = sector * (ring - 1) + k, sector * ring + k
                left, right = vertex(ring, outer), vertex(ring, outer + 1)
                faces.append((vertex(ring - 1, inner), left, right))
                if k < ring - 1:
                    faces.append((vertex(ring - 1, inner), right, vertex(ring - 1, inner + 1)))
    return np.array(points), np.array(faces, dtype=np.int64)
