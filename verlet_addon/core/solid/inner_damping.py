"""Inner damping of a solid: Kelvin–Voigt damping at the frequency at which it vibrates.

A material of loss factor η loses the share 1 − exp(−2π η) of its energy in each period of a free
vibration, at any frequency (S. H. Crandall, *The Role of Damping in Vibration Theory*, 1970).
Kelvin–Voigt damping, stress = E (strain + τ × strain rate), has the loss factor ω τ at the angular
frequency ω. So τ = η/ω, for the frequency of the present motion by a quotient of energies:
ω² = Σ v · K v / Σ d · K d for velocities v, the displacements d of about the last period, and the
stiffness K. Rigid motion has no such energy: pins may carry a solid along, and it may fall and
spin. Of several vibrations at once, each loses the more the faster it is.
"""

from dataclasses import dataclass
from math import exp

import numpy as np

from ..arrays import Floats

SLOWEST = 1e-3
"""Smallest frequency that is assumed, times the solid's wave time: a rod swings as slowly that is
thirty times as long as it is thick. What is slower is no vibration, and is not damped by more."""
FASTEST = 1.0
"""Largest frequency that is assumed, times the wave time; those of whole bodies are below. Without,
the first moments after an impact would count as a fast vibration."""
FIRST = 0.3
"""Frequency that is assumed at first, times the wave time: that of a cube that stands and sways."""
LEAK = 0.2
"""Rate at which motion is forgotten, as a share of ω: over most of a period."""
ROUNDING = 1e-12
"""Rounding: strain energies are measured beyond this share of what the same motion would have if
all nodes moved against each other."""


@dataclass(eq=False)
class Vibration:
    """The frequency of a solid of m nodes, measured from step to step over about a period."""

    displacements: Floats | None = None
    """(3, m) displacements d of about the last period [m]; None = none yet."""
    resistances: Floats | None = None
    """(3, m) stiffness × these displacements [N]."""
    strain: float = 0.0
    """Σ h d · K d over past steps of length h, with less weight the longer ago [J s]."""
    strain_rate: float = 0.0
    """Σ h v · K v over past steps for velocities v, with the same weights [J/s]."""

    def frequency(self, wave_time: float) -> float:
        """Angular frequency ω [rad/s] of a solid with this wave time [s]."""
        if self.strain <= 0.0:
            return FIRST / wave_time
        square = self.strain_rate / self.strain / (1.0 + LEAK * LEAK)
        return float(np.clip(np.sqrt(square), SLOWEST / wave_time, FASTEST / wave_time))

    def measure(self, moves: Floats, resistances: Floats, dt: float, wave_time: float) -> None:
        """Takes in displacements (3, m) [m] of a step, and stiffness × these (3, m) [N]."""
        if self.displacements is None or self.resistances is None:
            self.displacements, self.resistances = np.zeros_like(moves), np.zeros_like(moves)
        kept = exp(-dt * LEAK * self.frequency(wave_time))  # NumPy's depends on the processor
        self.displacements = kept * self.displacements + moves
        self.resistances = kept * self.resistances + resistances
        strain = float((self.displacements * self.resistances).sum())
        self.strain = kept * self.strain + dt * max(0.0, strain)
        strain_rate = float((moves * resistances).sum()) / dt
        self.strain_rate = kept * self.strain_rate + max(0.0, strain_rate)
