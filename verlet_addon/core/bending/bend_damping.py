"""Surfaces that resist bends, and bending quickly: k (g + τ g'), as Kelvin and Voigt have it.

Solved implicitly, as XPBD damps (Macklin, Müller, Chentanez, *XPBD*, 2016, eq. 26), that is
k (1 + τ/h) (g − θ g₋), where g₋ is the bend of the step before and θ = τ/(h + τ): a bend stiffer by
1 + τ/h, drawn to θ g₋. Such a bend leaves a step with g = −α̃ λ. So it is drawn to θ g₋ if it enters
the next one with θ λ instead of 0; solvers need not know. They go in the same order in every step:
what is compared then differs by motion alone, and what is at rest is bent as without damping.

Why cloth has it: yarns rub on each other, so of the moment that bends it a share never comes back
(S. Kawabata, *The Standardization and Analysis of Hand Evaluation*, 1980, 2HB beside B; E. Miguel
and others, *Modeling and Estimation of Internal Friction in Cloth*, 2013). That share also slows
what hardly moves: g₋ follows the bend with some play, and what is within it resists as
k τ/h (g − g₋), so by η k g at most, until g₋ has slipped there. The multipliers do not turn with
the body: what spins is bent less, by a hundredth of its length at half a turn a second.
"""

import numpy as np

from ..arrays import Floats
from .constraints import BendBatches
from .numpy_kernels import bend_violations, loop_bends, stiff_bend_forces, strip_bends

DAMPING_TIME = 0.07
"""τ for each 1/s of a body's damping, and at most [s]. With 0.1 the rim of a fold of three layers
trembles by 15 mm/s instead of 10; with 0.04 by 2, but baking what falls over a sphere takes a tenth
longer. Drapes are the same with any, on average of some starts."""

INTERNAL_FRICTION = 0.15
"""η for each 1/s of a body's damping, and at most: half or so of what is measured on woven cloth
that is bent to a radius of a centimetre. Sheets of 51 and 101 vertices a side that hang over a
sphere in folds move by 1 mm/s on average after three seconds; without, by 1.5 or more."""

SLIP_SHARE = 0.2
"""Share of the distance to the bend by which g₋ slips in each step where friction would hold it: a
hanging sheet approaches its frictionless shape with a time constant of DAMPING_TIME / SLIP_SHARE, a
third of a second. Without, a clamped sheet would droop by an eighth less for ever."""


def play_share(dt: float) -> float:
    """By what share of themselves bends may have changed before what they start from follows."""
    return INTERNAL_FRICTION * dt / DAMPING_TIME


def stiffening(damping: float, dt: float) -> float:
    """1 + τ/h: how many times as much damped bends resist what bends them within a step."""
    return 1.0 + DAMPING_TIME * min(damping, 1.0) / dt


def set_static_multipliers(bends: BendBatches, positions: Floats) -> None:
    """Sets multipliers of surfaces as though nothing had bent them any further for long."""
    for soft in bends.soft:
        soft.multipliers[...] = _static_multipliers(
            bend_violations(positions, soft)[1], soft.scaled_compliances
        )
    for strip in bends.strips:
        strip.multipliers[...] = _static_multipliers(
            strip_bends(positions, strip)[1], strip.scaled_compliances
        )
    for loop in bends.loops:
        bend = loop_bends(positions, loop)[-1]
        loop.multipliers[:, loop.twists] = _static_multipliers(bend, loop.scaled_compliances)
    for stiff in bends.stiff:
        stiff.multipliers[...] = -stiff_bend_forces(
            positions, stiff, np.zeros_like(stiff.multipliers)
        )


def _static_multipliers(bend: Floats, scaled_compliances: Floats) -> Floats:
    """λ that bends have once they hold still; what is rigid needs none."""
    soft = scaled_compliances > 0.0
    return np.where(soft, -bend / np.where(soft, scaled_compliances, 1.0), 0.0)
