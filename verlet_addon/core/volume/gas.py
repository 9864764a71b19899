"""Pressure of gas on the walls of chambers."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, sum_by
from .chambers import Chambers
from .kernels import volumes_and_gradients

MAX_GAS_TAUTNESS = 30.0
"""Largest h² T/(l m) that a pressure may cause, for tension T, length l and mass m of the average
link. At 100 some balls of 360 to 2,700 vertices oscillated."""


@dataclass(eq=False)
class Gas:
    """The gas in a body's s chambers, with n particles."""

    chambers: Chambers
    predicted_volumes: Floats
    """(s,) volumes that inertia and gas alone led to in the last step [m³]."""
    pressures: Floats
    """(s,) gauge pressures in the last step [Pa]."""
    pressure_shares: Floats
    """(n,) share of the pressure that acts on each particle."""
    tautness: float
    """T/(l m p) of the average link of the chamber where it is largest: a ball of radius r under
    pressure p has the tension p r/2 per width, so T = p r l/2, with r = 3 V/A [m/kg]."""
    tension: Floats | None = None
    """(k,) multipliers of the walls' links at the last warm start, below 0 for tension [kg m]."""


def fill_chambers(
    chambers: Chambers, positions: Floats, pressure_shares: Floats, inverse_masses: Floats
) -> Gas:
    """Gas in chambers with walls at positions (3, n); `pressure_shares` (n,) see `Gas`."""
    volumes, _ = volumes_and_gradients(positions, chambers)
    walls, count = chambers.particles, len(volumes)
    inverse_mass_sums = sum_by(walls, inverse_masses, count + 1)[:count]
    free = sum_by(walls, (inverse_masses > 0.0).astype(np.float64), count + 1)[:count]
    tautness = (
        1.5 * chambers.rest_volumes / chambers.areas * inverse_mass_sums / np.maximum(free, 1.0)
    )
    return Gas(chambers, volumes, np.zeros_like(volumes), pressure_shares, float(tautness.max()))


def gas_pressure_forces(
    positions: Floats,
    gas: Gas,
    inverse_masses: Floats,
    *,
    start: Floats,
    pressure: float,
    h_squared: float,
) -> Floats:
    """(3, n) h² p ∇V on the walls, with p V = `pressure` V₀ at the end of the step [kg m].

    Inertia leads to the volume V, and gas alone from there to V + w p h², w = Σ |∇V|²/m. Cloth and
    contacts then reduce the volume by E, which is estimated by the reduction in the step before. So
    p solves (V − E + w h² p) p = `pressure` V₀, which has exactly one positive root, and is exact
    at equilibrium. An explicit pressure would be unstable. Flat chambers have no rest volume; in
    them p is `pressure`.

    Parameters
    ----------
    positions : (3, n) positions after inertia [m].
    inverse_masses : (n,) [1/kg].
    start : (3, n) positions at the start of the step [m].
    pressure : gauge pressure at the rest volume [Pa].
    h_squared : factor that turns accelerations into displacements [s²].
    """
    chambers, count = gas.chambers, len(gas.predicted_volumes)
    reduction = gas.predicted_volumes - volumes_and_gradients(start, chambers)[0]
    volumes, gradients = volumes_and_gradients(positions, chambers)
    mobilities = (gradients * gradients).sum(axis=0) * inverse_masses * gas.pressure_shares
    mobility = h_squared * sum_by(chambers.particles, mobilities, count + 1)[:count]
    amount = pressure * chambers.rest_volumes
    pressures = _positive_root(mobility, volumes - reduction, amount)
    pressures[chambers.flat] = pressure
    gas.pressures = pressures
    gas.predicted_volumes = volumes + mobility * pressures
    return np.asarray(
        gradients * gas.pressure_shares * np.append(h_squared * pressures, 0.0)[chambers.particles]
    )


def step_refinement(gas: Gas, pressure: float, h_squared: float) -> float:
    """Factor by which steps must be shorter for this pressure [Pa]; up to 1, they need not be."""
    return float(np.sqrt(h_squared * pressure * gas.tautness / MAX_GAS_TAUTNESS))


def _positive_root(a: Floats, b: Floats, c: Floats) -> Floats:
    """The positive root of a x² + b x = c, for a, c ≥ 0, without cancellation."""
    root = np.sqrt(b * b + 4.0 * a * c)
    rising = b > 0.0
    over = np.where(rising, 2.0 * c, root - b)
    under = np.where(rising, root + b, 2.0 * a)
    return np.asarray(over / np.where(under > 0.0, under, np.inf))
