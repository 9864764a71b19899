"""Integration schemes: the Verlet step of the solver, and schemes from the literature for study.

In the formulas x is position, v velocity, a acceleration, c damping, h this step and h₋ the step
before.
"""

from collections.abc import Callable, Iterator
from functools import partial
from math import exp
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, by_value
from .drag import decay_span, mean_decay, mean_ramp
from .errors import SettingsError

Option = TypeVar("Option")
Gain = Floats | float
Gains = Callable[[float, float, Floats], tuple[Gain, Gain]]
Field = Callable[[Floats, Floats, float], Floats]
Clock = list[tuple[float, float]]
Start = Callable[[Floats, Floats, float], Floats]
Scheme = Callable[[Field, Floats, Floats, Clock, Start], Iterator[Floats]]

MAX_START_DECAY = 300.0
"""Bound against overflow: largest damping × step in a backward step, for the square of e³⁰⁰ is
still a finite float."""
NO_DAMPING = np.zeros(())
"""Damping of the study schemes, in which drag is a part of the acceleration."""


# The solver's step: x' = x + (x − x₋)·velocity_gain + a·acceleration_gain


def verlet_gains(dt: float, _previous_dt: float, damping: Floats) -> tuple[Gain, Gain]:
    """VERLET, which ignores h₋: x' = x + (x − x₋)·e^(−c h) + a·h·(1 − e^(−c h))/c."""
    return _gains(1.0, dt, dt, damping)


def tcv_gains(dt: float, previous_dt: float, damping: Floats) -> tuple[Gain, Gain]:
    """TCV, time-corrected: x' = x + (x − x₋)·(h/h₋)·e^(−c h) + a·h·(1 − e^(−c h))/c."""
    return _gains(dt / previous_dt, dt, dt, damping)


def tcv_exact_gains(dt: float, previous_dt: float, damping: Floats) -> tuple[Gain, Gain]:
    """TCV_EXACT: x' = x + (x − x₋)·(h/h₋)·e^(−c s) + a·h·(1 − e^(−c s))/c, s from `decay_span`."""
    return _gains(dt / previous_dt, dt, decay_span(dt, previous_dt, damping), damping)


def _gains(ratio: float, dt: float, span: Gain, damping: Floats) -> tuple[Gain, Gain]:
    """The gains for a ratio of step lengths, where drag acts over `span` [s]."""
    decay = damping * span
    return ratio * by_value(exp, -decay), dt * span * mean_decay(decay)


GAINS: dict[str, Gains] = {
    "VERLET": verlet_gains,
    "TCV": tcv_gains,
    "TCV_EXACT": tcv_exact_gains,
}


def step_gains(
    integrator: str, dt: float, previous_dt: float, damping: ArrayLike
) -> tuple[Floats, Floats]:
    """Computes the two factors of a Verlet step with drag.

    ``x' = x + (x − x₋)·velocity_gain + a·acceleration_gain``

    TCV_EXACT solves v' = a − c v exactly for constant a and any steps; without drag, its factors
    are h/h₋ and h(h + h₋)/2. For TCV the factors are h/h₋ and h², for VERLET 1 and h². Where steps
    are equal, all three have the same factors, with and without drag.

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
        In the shape of `damping`; without unit, and [s²].

    Raises
    ------
    SettingsError
        If the integrator is unknown or a step is not above 0.

    Notes
    -----
    J. Dummer, *A Simple Time-Corrected Verlet Integration Method*, eq. 7 (TCV); *Verlet
    integration* in the free encyclopedia (VERLET; TCV_EXACT without drag); the exact drag is
    derived in ``docs/how_it_works/integrators.md``.
    """
    gains, drag = _choose("integrator", integrator, GAINS), np.asarray(damping, dtype=float)
    if not (0.0 < dt < np.inf and 0.0 < previous_dt < np.inf):
        raise SettingsError(
            f"steps of {previous_dt:g} s and then {dt:g} s; both must be finite and above 0"
        )
    velocity_gain, acceleration_gain = (
        np.broadcast_to(gain, drag.shape) for gain in gains(dt, previous_dt, drag)
    )
    return velocity_gain, acceleration_gain


def start_displacement(
    velocity: ArrayLike, acceleration: ArrayLike, previous_dt: float, damping: ArrayLike
) -> Floats:
    """Computes x − x₋ over an imagined step before the first, from the velocity at the start.

    ``x − x₋ = v (e^(c h₋) − 1)/c − a (e^(c h₋) − 1 − c h₋)/c²``, without drag v h₋ − ½ a h₋²

    Parameters
    ----------
    velocity, acceleration
        At the start [m/s] and [m/s²], the acceleration without the drag.
    previous_dt
        Length of the imagined step [s]; TCV_EXACT is exact for any length.
    damping
        As for `step_gains`, and broadcast against the velocity. Where damping × previous_dt exceeds
        300, the start velocity, which decays within a hundredth of a step, is damped faster.

    Notes
    -----
    J. Dummer, *A Simple Time-Corrected Verlet Integration Method*, eq. 2 run backwards; the drag
    is derived in ``docs/how_it_works/integrators.md``.
    """
    drift, bend = start_gains(previous_dt, damping)
    return np.asarray(np.multiply(velocity, drift) - np.multiply(acceleration, bend))


def start_gains(previous_dt: float, damping: ArrayLike) -> tuple[Floats, Floats]:
    """The factors of velocity and acceleration in `start_displacement`, v·drift − a·bend."""
    decay = -np.minimum(np.multiply(damping, previous_dt), MAX_START_DECAY)
    return previous_dt * mean_decay(decay), previous_dt * previous_dt * mean_ramp(decay)


# The schemes for study: each yields the positions after the steps of `clock`, pairs of (t, h)


def _euler(field: Field, x: Floats, v: Floats, clock: Clock, _start: Start) -> Iterator[Floats]:
    """Semi-implicit Euler: v' = v + a h; x' = x + v' h."""
    for t, h in clock:
        v = v + field(x, v, t) * h
        x = x + v * h
        yield x


def _improved_euler(
    field: Field, x: Floats, v: Floats, clock: Clock, _start: Start
) -> Iterator[Floats]:
    """Euler with a second-order position: x' = x + v h + ½ a h²; v' = v + a h."""
    for t, h in clock:
        a = field(x, v, t)
        x = x + v * h + a * h * h / 2
        v = v + a * h
        yield x


def _velocity_verlet(
    field: Field, x: Floats, v: Floats, clock: Clock, _start: Start
) -> Iterator[Floats]:
    """Velocity Verlet: x' = x + v h + ½ a h²; v' = v + ½(a + a')h, a' at velocity v + a h."""
    for t, h in clock:
        a = field(x, v, t)
        x = x + v * h + a * h * h / 2
        v = v + (a + field(x, v + a * h, t + h)) * h / 2
        yield x


def _leapfrog(field: Field, x: Floats, v: Floats, clock: Clock, _start: Start) -> Iterator[Floats]:
    """Leapfrog, with velocity u at half steps: u' = u + a(h₋ + h)/2; x' = x + u' h."""
    previous_h = clock[0][1]
    u = v - field(x, v, 0.0) * previous_h / 2
    for t, h in clock:
        a = field(x, v, t)
        u = u + a * (previous_h + h) / 2
        x = x + u * h
        v = u + a * h / 2
        previous_h = h
        yield x


def _two_positions(
    gains: Gains, field: Field, x: Floats, v: Floats, clock: Clock, start: Start
) -> Iterator[Floats]:
    """Verlet schemes, with the step of the solver: x' = x + (x − x₋)·gain + a·acceleration_gain."""
    previous_h = clock[0][1]
    displacement = start(v, field(x, v, 0.0), previous_h)
    for t, h in clock:
        a = field(x, v, t)
        velocity_gain, acceleration_gain = gains(h, previous_h, NO_DAMPING)
        displacement = displacement * velocity_gain + a * acceleration_gain
        x = x + displacement
        v = displacement / h + a * h / 2
        previous_h = h
        yield x


SCHEMES: dict[str, Scheme] = {
    "euler": _euler,
    "improved_euler": _improved_euler,
    "verlet": partial(_two_positions, verlet_gains),
    "tcv": partial(_two_positions, tcv_gains),
    "tcv_exact": partial(_two_positions, tcv_exact_gains),
    "velocity_verlet": _velocity_verlet,
    "leapfrog": _leapfrog,
}
STARTS: dict[str, Start] = {
    "taylor": lambda v, a, h: start_displacement(v, a, h, 0.0),
    "naive": lambda v, _, h: v * h,
}
"""x₀ − x₋₁ by v₀, a₀ and h₋: v₀ h₋ − ½ a₀ h₋², and v₀ h₋, with an error of ½ a₀ h₋²."""


def trajectory(
    scheme: str,
    acceleration: Callable[[Floats, Floats, float], ArrayLike],
    x0: ArrayLike,
    v0: ArrayLike,
    time_steps: ArrayLike,
    *,
    start: str = "taylor",
) -> Floats:
    """Integrates positions from x0 and v0 with a scheme.

    Parameters
    ----------
    scheme
        ``euler``, ``improved_euler``, ``verlet``, ``tcv``, ``tcv_exact``, ``velocity_verlet`` or
        ``leapfrog``.
    acceleration
        ``acceleration(x, v, t)``, a number or of the shape of `x0`, at positions x, velocities v
        and time t since the start. The first v is `v0`. Later, the Euler schemes pass their own v;
        ``velocity_verlet`` its own v and, at the end of the step, v + a h; the others
        (x − x₋)/h₋ + ½ a₋ h₋, the mean velocity of the last step extrapolated to its end.
    x0, v0
        Start position, of any shape, and velocity, a number or of the same shape.
    time_steps
        Every h in turn, above 0.
    start
        Position before the first for ``verlet``, ``tcv`` and ``tcv_exact``; the other schemes start
        from v0 itself. The step before the first has the length of the first. ``taylor``:
        x₋₁ = x₀ − v₀ h₋ + ½ a₀ h₋²; ``naive``: x₋₁ = x₀ − v₀ h₋, to show its error.

    Returns
    -------
    positions
        ``(len(time_steps) + 1, …)``, the first being `x0`.

    Raises
    ------
    SettingsError
        If the scheme or the start is unknown, a step is not above 0, or the shapes do not fit.

    Notes
    -----
    J. Dummer, *A Simple Time-Corrected Verlet Integration Method*: ``euler``, ``improved_euler``,
    ``verlet``, ``tcv`` (eq. 7), both starts (eq. 2). *Verlet integration* in the free encyclopedia:
    ``tcv_exact``, ``velocity_verlet``, ``leapfrog``.

    Examples
    --------
    >>> trajectory("tcv_exact", lambda x, v, t: -10.0, 0.0, 5.0, [0.1, 0.3, 0.6])
    array([0.  , 0.45, 1.2 , 0.  ])
    """
    run = _choose("scheme", scheme, SCHEMES)
    imagine = _choose("start", start, STARTS)
    x = np.asarray(x0, dtype=float)
    v = _broadcast("v0", v0, x)
    clock = _clock(time_steps)

    def field(x: Floats, v: Floats, t: float) -> Floats:
        return _broadcast("the acceleration", acceleration(x, v, t), x)

    moved = run(field, x, v, clock, imagine) if clock else ()
    return np.stack([x, *moved])


def _clock(time_steps: ArrayLike) -> Clock:
    """Start and length of every step; raises SettingsError if a step is not above 0."""
    steps = np.asarray(time_steps, dtype=float)
    if steps.ndim != 1:
        raise SettingsError(f"time_steps have shape {steps.shape}; give one row of steps")
    wrong = np.flatnonzero(~((steps > 0.0) & (steps < np.inf)))
    if len(wrong):
        first = wrong[0]
        raise SettingsError(f"time step {first} is {steps[first]:g} s; make it finite and above 0")
    return list(zip((np.cumsum(steps) - steps).tolist(), steps.tolist(), strict=True))


def _broadcast(what: str, value: ArrayLike, positions: Floats) -> Floats:
    """The value broadcast to the shape of the positions; raises SettingsError if impossible."""
    values = np.asarray(value, dtype=float)
    try:
        return np.broadcast_to(values, positions.shape)
    except ValueError:
        raise SettingsError(
            f"{what} has shape {values.shape}; give a number or the shape {positions.shape} of x0"
        ) from None


def _choose(what: str, name: str, options: dict[str, Option]) -> Option:
    """The option with a name; raises SettingsError if there is none."""
    if name not in options:
        raise SettingsError(f"{what} is {name!r}; choose one of {', '.join(options)}")
    return options[name]
