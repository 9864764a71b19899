"""Damping of surface bends: a moment k (g + τ g') for a bend g, as in a Kelvin–Voigt material.

Implicit, as XPBD's damping (Macklin, Müller, Chentanez, *XPBD*, 2016, eq. 26), this is
k (1 + τ/h) (g − θ g₋), where g₋ is the bend of the step before and θ = τ/(h + τ): a bend stiffer by
1 + τ/h, with the target θ g₋. Since a projection ends with g = −α̃ λ, starting the next step from
θ λ instead of 0 has the same effect as that target; the projections themselves are unchanged. Bends
are projected in the same order in every step, so that the difference of two steps is due to motion
alone and the shape at rest is that without damping.

Internal friction: the yarns of cloth rub on each other, so that a share of a bending moment is not
recovered (S. Kawabata, *The Standardization and Analysis of Hand Evaluation*, 1980, 2HB beside B;
E. Miguel and others, *Modeling and Estimation of Internal Friction in Cloth*, 2013). It also slows
folds that hardly move: g₋ follows the bend with some play. Within the play the moment is
k τ/h (g − g₋), at most η k g, until g₋ has slipped to the bend. Multipliers do not rotate with the
body: one that spins at half a turn per second bends less, by a hundredth of its length.
"""

import numpy as np

from ..arrays import Floats
from .constraints import BendBatches
from .kernels import bend_violations, path_bends, stiff_bend_forces

LOSS_FACTOR = 0.3
"""Inner damping at which the damping time and the internal friction are those below: the loss
factor (τ + h) ω + 2 η/π of what bends to and fro in two and a half seconds. All of it is
proportional to the setting."""

DAMPING_TIME = 0.07
"""τ at that loss factor [s]. With 0.1 the rim of a fold of three layers jitters by 15 mm/s instead
of 10; with 0.04 by 2, but cloth that falls over a sphere takes a tenth longer to bake. Drapes from
several initial states are the same on average."""

INTERNAL_FRICTION = 0.15
"""η at that loss factor: about half of what is measured on woven cloth bent to a radius of a
centimetre. Sheets of 51 and 101 vertices a side that hang over a sphere in folds move by 1 mm/s on
average after three seconds; without friction, by 1.5 or more."""

SLIP_SHARE = 0.2
"""Least share of its distance to the bend by which g₋ follows per step, also within its play: a
hanging sheet approaches its frictionless shape with a time constant of DAMPING_TIME / SLIP_SHARE, a
third of a second. Without slip, a clamped sheet would droop by an eighth less for ever."""


def _share(inner_damping: float) -> float:
    """Inner damping over LOSS_FACTOR, rounded, because Blender stores single-precision numbers."""
    return round(inner_damping / LOSS_FACTOR, 6)


def retardation_time(inner_damping: float) -> float:
    """τ of all damping for a loss factor, that of implicit steps included [s]."""
    return DAMPING_TIME * _share(inner_damping)


def damping_time(inner_damping: float, dt: float) -> float:
    """τ for a loss factor and steps of dt [s].

    An implicit step damps as τ = h does. So that this depends on the loss factor as well, τ + h is
    proportional to it, except below what the steps alone damp, where τ is 0.
    """
    share = _share(inner_damping)
    return max(DAMPING_TIME * share - dt * (1.0 - share), 0.0)


def play_share(inner_damping: float, dt: float) -> float:
    """η h/τ: half the play of g₋, as a share of the bend, for a loss factor and steps of dt [s]."""
    time = damping_time(inner_damping, dt)
    return INTERNAL_FRICTION * _share(inner_damping) * dt / time if time else 0.0


def stiffening(inner_damping: float, dt: float) -> float:
    """1 + τ/h: factor on the stiffness of damped bends, for a loss factor and steps of dt [s]."""
    return 1.0 + damping_time(inner_damping, dt) / dt


def set_static_multipliers(bends: BendBatches, positions: Floats) -> None:
    """Sets the multipliers of surfaces for bends that do not change, at positions (3, n)."""
    for soft in bends.soft:
        soft.multipliers[...] = _static_multipliers(
            bend_violations(positions, soft)[1], soft.scaled_compliances
        )
    for path in bends.paths:
        bend = path_bends(positions, path)[-1]
        path.multipliers[:, path.slots] = _static_multipliers(bend, path.scaled_compliances)
    for stiff in bends.stiff:
        stiff.multipliers[...] = -stiff_bend_forces(
            positions, stiff, np.zeros_like(stiff.multipliers)
        )


def _static_multipliers(bend: Floats, scaled_compliances: Floats) -> Floats:
    """λ = −g/α̃ of bends g that do not change; 0 for rigid ones."""
    soft = scaled_compliances > 0.0
    return np.where(soft, -bend / np.where(soft, scaled_compliances, 1.0), 0.0)
