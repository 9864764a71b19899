"""The integration schemes of the sources, and the step that the solver takes with them.

In the formulas x is position, v velocity, a acceleration, c damping, h this step, h₋ the step before.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .errors import SettingsError
from .mesh import Floats

Option = TypeVar("Option")
Gains = Callable[[float, float, ArrayLike], tuple[ArrayLike, ArrayLike]]
Field = Callable[[Floats, Floats, float], Floats]
Clock = list[tuple[float, float]]
Start = Callable[[Floats, Floats, float], Floats]
Scheme = Callable[[Field, Floats, Floats, Clock, Start], Iterator[Floats]]

MAX_START_DECAY = 300.0
"""Largest damping × step run backwards: e³⁰⁰ can still be squared in a float."""


# The solver's step: x' = x + (x − x₋)·velocity_gain + a·acceleration_gain


def verlet_gains(
    dt: float, previous_dt: float, damping: ArrayLike
) -> tuple[ArrayLike, ArrayLike]:
    """x' = x + (x − x₋)·e^(−c h) + a h²."""
    return np.exp(-np.multiply(damping, dt)), dt * dt


def tcv_gains(dt: float, previous_dt: float, damping: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
    """x' = x + (x − x₋)·(h/h₋)·e^(−c h) + a h²."""
    return dt / previous_dt * np.exp(-np.multiply(damping, dt)), dt * dt


def tcv_exact_gains(
    dt: float, previous_dt: float, damping: ArrayLike
) -> tuple[ArrayLike, ArrayLike]:
    """x' = x + (x − x₋)·(h/h₋)·e^(−c s) + a·h·(1 − e^(−c s))/c, s from `_mean_span`."""
    span = _mean_span(dt, previous_dt, np.asarray(damping, dtype=float))
    decay = np.multiply(damping, span)
    return dt / previous_dt * np.exp(-decay), dt * span * _mean_decay(decay)


GAINS: dict[str, Gains] = {
    "VERLET": verlet_gains,
    "TCV": tcv_gains,
    "TCV_EXACT": tcv_exact_gains,
}


def step_gains(
    integrator: str, dt: float, previous_dt: float, damping: ArrayLike
) -> tuple[Floats, Floats]:
    """Returns the two factors of a Verlet step with drag.

    ``x' = x + (x − x₋)·velocity_gain + a·acceleration_gain``

    TCV_EXACT follows v' = a − c v without error for constant a, whatever the steps; without drag its
    factors are h/h₋ and h(h + h₋)/2. TCV and VERLET multiply the former displacement by e^(−c h), so
    that their drag, too, hardly depends on the number of steps.

    Parameters
    ----------
    integrator
        ``VERLET``, ``TCV`` or ``TCV_EXACT``.
    dt, previous_dt
        This step and the one before [s], both above 0.
    damping
        Rate c at which free motion decays [1/s], 0 or more; a scalar or any shape.

    Returns
    -------
    velocity_gain, acceleration_gain
        Of the shape of `damping`; plain number and [s²].

    Raises
    ------
    SettingsError
        If the integrator is unknown or a step is not above 0.

    Notes
    -----
    J. Dummer, *A Simple Time-Corrected Verlet Integration Method*, eq. 7 (TCV); *Verlet integration*
    in the free encyclopedia (VERLET; TCV_EXACT without drag); the exact drag is derived in
    ``docs/integrators.md``.
    """
    gains = _choose("integrator", integrator, GAINS)
    if not (0.0 < dt < np.inf and 0.0 < previous_dt < np.inf):
        raise SettingsError(
            f"steps of {previous_dt:g} s and then {dt:g} s; both must be finite and above 0"
        )
    velocity_gain, acceleration_gain = np.broadcast_arrays(
        *gains(dt, previous_dt, damping), np.asarray(damping, dtype=float)
    )[:2]
    return velocity_gain, acceleration_gain


def start_displacement(
    velocity: ArrayLike, acceleration: ArrayLike, previous_dt: float, damping: ArrayLike
) -> Floats:
    """Returns x − x₋ over an imagined step before the first, from the velocity at the start.

    ``x − x₋ = v (e^(c h₋) − 1)/c − a (e^(c h₋) − 1 − c h₋)/c²``, which is v h₋ − ½ a h₋² without drag

    Parameters
    ----------
    velocity, acceleration
        At the start [m/s] and [m/s²], the acceleration without the drag.
    previous_dt
        Length of the imagined step [s]; TCV_EXACT is exact from here with any.
    damping
        As for `step_gains`, and broadcast against the velocity. Where damping × previous_dt passes
        300, the start velocity, which would not carry a hundredth of a step, is damped faster.

    Notes
    -----
    J. Dummer, *A Simple Time-Corrected Verlet Integration Method*, eq. 2 run backwards; the drag
    is derived in ``docs/integrators.md``.
    """
    decay = -np.minimum(np.multiply(damping, previous_dt), MAX_START_DECAY)
    growth = _mean_decay(decay)
    bend = _mean_ramp(decay)
    return np.asarray(
        np.multiply(velocity, previous_dt * growth)
        - np.multiply(acceleration, previous_dt * previous_dt * bend)
    )


def _mean_decay(decay: Floats) -> Floats:
    """(1 − e^(−z))/z, the mean of e^(−z τ) over τ = 0 … 1; 1 where z = 0."""
    z = np.where(decay == 0.0, 1.0, decay)
    return np.where(decay == 0.0, 1.0, -np.expm1(-z) / z)


def _mean_ramp(decay: Floats) -> Floats:
    """(e^(−z) − 1 + z)/z², by its series where the difference would lose digits."""
    z = np.where(np.abs(decay) < 0.1, 1.0, decay)
    closed = (np.expm1(-z) + z) / (z * z)
    series = np.polynomial.polynomial.polyval(decay, _RAMP_SERIES)
    return np.where(np.abs(decay) < 0.1, series, closed)


def _mean_span(dt: float, previous_dt: float, damping: Floats) -> Floats:
    """The time s over which drag acts between the middles of two steps; (h + h₋)/2 where c = 0.

    The mean velocities ū of successive steps under v' = a − c v obey ū' − a/c = (ū − a/c)·e^(−c s)
    with c s = c(h + h₋)/2 + ln S(c h₋/2) − ln S(c h/2) and S(z) = sinh(z)/z.
    """
    after = dt * _log_sinhc_over(damping * dt / 2)
    before = previous_dt * _log_sinhc_over(damping * previous_dt / 2)
    return (dt + previous_dt + before - after) / 2


def _log_sinhc_over(z: Floats) -> Floats:
    """ln(sinh(z)/z)/z, by its series where the logarithm would lose digits."""
    series = z * np.polynomial.polynomial.polyval(z * z, _LOG_SINHC_SERIES)
    far = np.maximum(z, 0.1)
    return np.where(z < 0.1, series, 1.0 + np.log(-np.expm1(-2 * far) / (2 * far)) / far)


_RAMP_SERIES = (-1.0) ** np.arange(10) / np.cumprod(np.arange(1.0, 12.0))[1:]
_LOG_SINHC_SERIES = np.array([1 / 6, -1 / 180, 1 / 2835, -1 / 37800, 1 / 467775])


def _choose(what: str, name: str, options: dict[str, Option]) -> Option:
    """The option of that name; raises SettingsError if there is none."""
    if name not in options:
        raise SettingsError(f"{what} is {name!r}; choose one of {', '.join(options)}")
    return options[name]
