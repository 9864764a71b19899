"""What plots of pictures show over time: numbers of the points (n, 3) of a body in world space."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
MEASURES: dict[str, tuple[str, Callable[[Points], float]]] = {
    "tip_x": ("sideways [m]", lambda points: float(points[0, 0])),
    "tip": ("height of the tip [m]", lambda points: float(points[-1, 2])),
    "lowest": ("height of the lowest point [m]", lambda points: float(points[:, 2].min())),
    "highest": ("height of the highest point [m]", lambda points: float(points[:, 2].max())),
    "fall": ("height [widths]", lambda points: float(points[:, 2].mean() / np.ptp(points[:, 0]))),
    "middle": ("height of the middle [m]", lambda points: float(points[:, 2].mean())),
}
"""Name of the vertical axis, and the number."""
