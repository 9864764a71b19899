"""Gas that presses on what encloses it."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, sum_by
from .chambers import Chambers
from .compiled_kernels import volumes_and_gradients

MAX_START_SWELL = 0.01
"""In the step in which it comes in, gas alone would swell a chamber by no more than this share:
what cloth takes back of that tells the next step how much more it holds."""
MAX_GAS_TAUTNESS = 30.0
"""Tension that holds gas is solved for up to this h² T/(l m) of the average link; at 100 some balls
began to shake, of 360 to 2,700 vertices, quads and triangles."""


@dataclass(eq=False)
class Gas:
    """The gas in a body's chambers."""

    chambers: Chambers
    predicted_volumes: Floats
    """(s,) the volumes that the last step would have led to without cloth and contacts [m³]."""
    pressures: Floats
    """(s,) over the outside, in the last step [Pa]."""
    pressure_shares: Floats
    """(n,) share of it that each particle feels."""
    tautness: float
    """Of the average link of the tautest chamber, h² T/(l m), for each Pa and s² of h²: a ball of
    radius r under pressure p has a tension of p r/2, so T = p r l/2, and r = 3 V/A [m/kg]."""
    tension: Floats | None = None
    """(k,) times h², negative where links pull, that its walls remembered two steps ago [kg m]."""


def fill_chambers(
    chambers: Chambers, positions: Floats, pressure_shares: Floats, inverse_masses: Floats
) -> Gas:
    """Gas in chambers whose walls are at positions (3, n) and feel such shares of it (n,)."""
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
    """(3, n) h² p ∇V, which presses walls outwards, p V = `pressure` V₀ at the end of the step.

    Gas alone would take the chamber to V + w p h², w = Σ |∇V|²/m; the cloth around it, and what
    lies against that, take part of it back: as much as in the step before. So p solves
    (V − E + w h² p) p = `pressure` V₀, which has one positive root however much gas there is, and
    where nothing changes any more p is right to the last digit. Explicitly, gas would be unstable.
    Flat chambers, which hold nothing at rest, are blown up with that pressure.

    Parameters
    ----------
    positions : (3, n) where inertia leads.
    start : (3, n) where the step began.
    pressure : at the rest volume, over the outside [Pa].
    h_squared : the step's factor of acceleration [s²].
    """
    chambers, count = gas.chambers, len(gas.predicted_volumes)
    reduction = gas.predicted_volumes - volumes_and_gradients(start, chambers)[0]
    volumes, gradients = volumes_and_gradients(positions, chambers)
    mobilities = (gradients * gradients).sum(axis=0) * inverse_masses * gas.pressure_shares
    mobility = h_squared * sum_by(chambers.particles, mobilities, count + 1)[:count]
    amount = pressure * chambers.rest_volumes
    pressures = _positive_root(mobility, volumes - reduction, amount)
    pressures[chambers.flat] = pressure
    max_pressures = (
        MAX_START_SWELL * chambers.rest_volumes / np.where(mobility > 0.0, mobility, np.inf)
    )
    gas.pressures = pressures = np.where(
        gas.pressures > 0.0, pressures, np.minimum(pressures, max_pressures)
    )
    gas.predicted_volumes = volumes + mobility * pressures
    return np.asarray(
        gradients * gas.pressure_shares * np.append(h_squared * pressures, 0.0)[chambers.particles]
    )


def step_refinement(gas: Gas, pressure: float, h_squared: float) -> float:
    """How many times as short steps would have to be for this pressure; up to 1 they may stay."""
    return float(np.sqrt(h_squared * pressure * gas.tautness / MAX_GAS_TAUTNESS))


def _positive_root(a: Floats, b: Floats, c: Floats) -> Floats:
    """The positive x of a x² + b x = c, for a, c ≥ 0, without loss of digits."""
    root = np.sqrt(b * b + 4.0 * a * c)
    rising = b > 0.0
    over = np.where(rising, 2.0 * c, root - b)
    under = np.where(rising, root + b, 2.0 * a)
    return np.asarray(over / np.where(under > 0.0, under, np.inf))
