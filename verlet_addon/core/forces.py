"""What accelerates particles from outside: the one place that everyone asks."""

import numpy as np

from .arrays import Floats


def accelerations(positions: Floats, gravity: Floats) -> Floats:
    """(3, n) of particles at these positions (3, n) [m/s²], the drag of still air apart."""
    return np.broadcast_to(gravity[:, None], positions.shape)
