"""Motion under linear drag, v' = a − c v, solved exactly over a step for any damping c ≥ 0.

With start velocity v, the mean velocity over a step h is a/c + (v − a/c)·M(c h), and the
displacement is v h M(c h) + a h² N(c h). M is `mean_decay`, N is `mean_ramp`.
"""

from math import expm1, factorial, log

import numpy as np

from .arrays import Floats, by_value

SMALL_DECAY = 0.1
"""z below which the power series are used: the closed forms would lose digits. With half, relative
errors of `_log_sinhc_over` grow from 6e-14 to 2e-13; with twice, to 1e-13."""
_RAMP_SERIES = tuple((-1) ** k / factorial(k + 2) for k in range(10))
_LOG_SINHC_SERIES = (1 / 6, -1 / 180, 1 / 2835, -1 / 37800, 1 / 467775)


def mean_decay(z: Floats) -> Floats:
    """(1 − e^(−z))/z, the mean of e^(−z τ) over τ = 0 … 1."""
    divisor = np.where(z == 0.0, 1.0, z)
    return np.where(z == 0.0, 1.0, -by_value(expm1, -divisor) / divisor)


def mean_ramp(z: Floats) -> Floats:
    """(e^(−z) − 1 + z)/z², the mean of (1 − e^(−z τ))/z over τ = 0 … 1."""
    small = np.abs(z) < SMALL_DECAY
    divisor = np.where(small, 1.0, z)
    closed = (by_value(expm1, -divisor) / divisor + 1.0) / divisor
    series = _power_series(np.where(small, z, 0.0), _RAMP_SERIES)
    return np.where(small, series, closed)


def decay_span(dt: float, previous_dt: float, damping: Floats) -> Floats:
    """The time s over which drag acts between the mean velocities of two steps [s].

    The mean velocities ū obey ū' − a/c = (ū − a/c)·e^(−c s), where
    c s = c (h + h₋)/2 + ln S(c h₋/2) − ln S(c h/2) and S(z) = sinh(z)/z:
    h for equal steps, (h + h₋)/2 for unequal steps without drag.
    """
    if dt == previous_dt:  # the usual case, where the logarithms cancel
        return np.full_like(damping, dt)
    before = previous_dt * _log_sinhc_over(damping * previous_dt / 2)
    after = dt * _log_sinhc_over(damping * dt / 2)
    return (dt + previous_dt + before - after) / 2


def _log_sinhc_over(z: Floats) -> Floats:
    """ln(sinh(z)/z)/z."""
    near, far = np.minimum(z, SMALL_DECAY), np.maximum(z, SMALL_DECAY)
    series = near * _power_series(near * near, _LOG_SINHC_SERIES)
    closed = 1.0 + by_value(log, -by_value(expm1, -2.0 * far) / (2.0 * far)) / far
    return np.where(z < SMALL_DECAY, series, closed)


def _power_series(z: Floats, coefficients: tuple[float, ...]) -> Floats:
    """Σ cₖ zᵏ."""
    total = np.zeros_like(z)
    for coefficient in reversed(coefficients):
        total = total * z + coefficient
    return total
