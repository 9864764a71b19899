"""How far a strand droops that is held level at its root: the elastica under its own weight."""

from functools import cache

import numpy as np

from ..arrays import Floats

_STEP = 0.01
"""Step of the integration from the tip, in its units of length."""
_LOGITS = np.concatenate((np.linspace(9.0, -6.0, 300), np.linspace(-6.5, -180.0, 300)))
"""Logits of the angles of tips to the plumb line, as shares of a right angle."""


def droop_of(load: float) -> float:
    """Share of its length by which the tip of a strand hangs below its root.

    Parameters
    ----------
    load : weight per length times the cube of the length, over the bending stiffness.
    """
    loads, droops = _table()
    if load <= loads[0]:
        return load / 8.0
    return float(np.interp(np.log(load), np.log(loads), droops))


def load_of(droop: float) -> float:
    """The inverse of `droop_of`: the load under which a tip hangs by a share of the length."""
    loads, droops = _table()
    if droop <= droops[0]:
        return 8.0 * droop
    return float(np.exp(np.interp(droop, droops, np.log(loads))))


@cache
def _table() -> tuple[Floats, Floats]:
    """Loads in rising order, and their droops.

    From the tip, at a distance s, the angle ε to the plumb line obeys ε'' = s sin ε, with lengths
    in units of (B / w)^⅓; where it is π/2, the strand is level, which is the root.
    """
    angle = np.pi / 2 / (1.0 + np.exp(-_LOGITS))
    slope, sunk, place = np.zeros_like(angle), np.zeros_like(angle), 0.0
    lengths, droops = np.zeros_like(angle), np.zeros_like(angle)
    while not lengths.all():
        before = angle, sunk
        middle, middle_slope = (
            angle + 0.5 * _STEP * slope,
            slope + 0.5 * _STEP * place * np.sin(angle),
        )
        bend = (place + 0.5 * _STEP) * np.sin(np.minimum(middle, np.pi))
        angle, slope = angle + _STEP * middle_slope, slope + _STEP * bend
        sunk = sunk + _STEP * np.cos(middle)
        share = (np.pi / 2 - before[0]) / np.maximum(angle - before[0], 1e-300)
        ends = (angle >= np.pi / 2) & (lengths == 0.0)
        lengths[ends] = place + _STEP * share[ends]
        droops[ends] = before[1][ends] + (sunk - before[1])[ends] * share[ends]
        angle, place = np.minimum(angle, np.pi / 2), place + _STEP
    return lengths**3, droops / lengths
