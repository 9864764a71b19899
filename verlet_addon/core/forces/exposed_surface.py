"""What of a body is exposed to the air."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..geometry.faces import Corners
from ..geometry.rest_shape import RestShape

AIR_DENSITY = 1.225
"""At sea level and 15 °C [kg/m³]."""
DRAG_COEFFICIENT = 1.2
"""Of a flat plate across the stream, and of a round rope."""


@dataclass(frozen=True, eq=False)
class ExposedSurface:
    """What of a body is exposed to the air."""

    corners: Corners
    """Of all faces."""
    plate_factors: Floats
    """(f,) ½ ρ c; half of that for faces that have the body behind them [kg/m³]."""
    edges: Integers
    """(e, 2) without faces."""
    rope_factor: float
    """½ ρ c d [kg/m²]"""


def build_exposed_surface(shape: RestShape) -> ExposedSurface:
    """What of a body is exposed: faces, and edges that carry none, twice its thickness wide."""
    factor = 0.5 * AIR_DENSITY * DRAG_COEFFICIENT
    inside = shape.settings.body_type == "SOFT"
    return ExposedSurface(
        corners=shape.corners,
        plate_factors=np.full(len(shape.areas), factor / 2 if inside else factor),
        edges=shape.mesh.edges[shape.loose],
        rope_factor=factor * 2.0 * shape.settings.thickness,
    )
