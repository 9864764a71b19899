"""The law of depenetration, from closed surfaces and from the ground alike.

What starts inside comes out along a direction of its own: its depth is prescribed and decreases
smoothly, so that it gains no speed. What keeps its shape is shifted as a whole.
"""

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, Integers

EXIT_SPEED, MIN_EXIT_TIME, DEPENETRATION_TIME = 0.5, 0.1, 0.5
"""Mean speed at which particles move out [m/s], in no less than the second, and no more than the
third [s]. With half of the first, jelly in a box is 58 mm behind, with twice, a napkin 140 mm
ahead; with half and with twice of the second, a sleeve in its arm stretches by 2 % in place of 1 %;
with twice of the third a cube in the ground is not out after a second."""


@dataclass(frozen=True, eq=False)
class InitialDepths:
    """Depths at which particles start inside of something, and how long ago that was."""

    depths: Floats
    """(k,) initial depths along a direction outwards [m]."""
    ages: Floats
    """(k,) time since then [s]; changes."""

    def prescribed_heights(self, gaps: Floats, later: float = 0.0) -> Floats:
        """(k,) heights above the surface that particles keep, at a time `later` [s] than now [m].

        A particle ends at its gap (k,) [m]. Of its way there 1 − (1 + 2 s) (1 − s)² is done after
        the share s of its time: its speed is 0 at both ends.
        """
        times = np.clip(self.depths / EXIT_SPEED, MIN_EXIT_TIME, DEPENETRATION_TIME)
        share = np.minimum((self.ages + later) / times, 1.0)
        left = (1.0 + 2.0 * share) * (1.0 - share) ** 2
        return np.asarray(gaps - (self.depths + gaps) * left)


def piece_shifts(pieces: Integers, count: int, rises: Floats, directions: Floats) -> Floats:
    """(3, count + 1) displacements of pieces that move out as a whole [m]; the last is 0.

    Each takes the largest of the `rises` (k,) of its particles, along its direction (3, k). A
    contact correction would become speed, and squash it. Numbers of `pieces` (k,) are −1 for none.
    """
    shifts = np.zeros((3, count + 1))
    order = np.lexsort((-rises, pieces))
    found, first = np.unique(pieces[order], return_index=True)
    most = order[first]
    shifts[:, found] = rises[most] * directions[:, most]
    shifts[:, -1] = 0.0
    return shifts
