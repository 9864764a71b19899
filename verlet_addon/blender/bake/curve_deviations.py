"""Deviations of baked curves from the ropes that were simulated for them."""

from collections.abc import Sequence

import bpy

from ...core.arrays import Floats
from ..scene.curve_lines import line_gap
from ..scene.curve_points import is_curve
from ..settings.unit_texts import length_text

VISIBLE = 1e-4
"""Distances up to this are not told [m]."""


class CurveDeviations:
    """The largest distance of each curve from its rope during a bake."""

    def __init__(self) -> None:
        self._gaps: dict[str, float] = {}

    def measure(self, bodies: Sequence[bpy.types.Object], positions: Sequence[Floats]) -> None:
        """Takes the positions (n, 3) of all bodies at a baked frame [m]."""
        for obj, line in zip(bodies, positions, strict=True):
            if is_curve(obj):
                self._gaps[obj.name] = max(self._gaps.get(obj.name, 0.0), line_gap(obj, line))

    def remarks(self) -> list[str]:
        """One sentence for each curve whose splines cannot take the shape of its rope."""
        return [
            f"{name} shows its rope within {length_text(gap)}, since its splines have fewer "
            "control points; subdivide it, or make it a mesh by Rope Mesh from Curve"
            for name, gap in self._gaps.items()
            if gap > VISIBLE
        ]
