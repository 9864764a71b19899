"""Surfaces of a body on which moving air acts."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..geometry.faces import Corners
from ..geometry.rest_shape import RestShape

AIR_DENSITY = 1.225
"""Density of air at sea level and 15 °C [kg/m³]."""
DRAG_COEFFICIENT = 1.2
"""Drag coefficient of a flat plate across the stream, and of a round rope."""


@dataclass(frozen=True, eq=False)
class ExposedSurface:
    """Faces, and edges without faces, on which moving air acts."""

    corners: Corners
    """Corners of all faces."""
    plate_factors: Floats
    """(f,) ½ ρ c; half of that for faces of solids, which have air on one side alone [kg/m³]."""
    edges: Integers
    """(e, 2) edges without faces."""
    rope_factor: float
    """½ ρ c d, with d the diameter of edges without faces [kg/m²]."""


def build_exposed_surface(shape: RestShape) -> ExposedSurface:
    """Faces of a body, and edges without faces as ropes of twice its thickness in diameter."""
    factor = 0.5 * AIR_DENSITY * DRAG_COEFFICIENT
    inside = shape.settings.body_type == "SOFT"
    return ExposedSurface(
        corners=shape.corners,
        plate_factors=np.full(len(shape.areas), factor / 2 if inside else factor),
        edges=shape.mesh.edges[shape.loose],
        rope_factor=factor * 2.0 * shape.settings.thickness,
    )
