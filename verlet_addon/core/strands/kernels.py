"""Friction and pressure among strands in NumPy, on a grid that carries their mean motion.

Masses and momenta of points are spread to the nodes of a grid around them, and what the nodes have
on average acts on the points (L. Petrovic, M. Henne, J. Anderson, *Volumetric Methods for
Simulation and Rendering of Hair*, 2005). Contacts between all pairs of strands would take far more
time, and nobody sees a single one.
"""

import numpy as np

from ..arrays import NONZERO, Floats, sum_by
from ..kernel import Sized, kernel
from .strands import Strands, nodes_around, number_nodes

MOST_EXCESS = 1.0
"""Largest excess of density over that at rest, relative to it, that pressure grows with: strands
that stand alone at rest would be thrown out of the first tuft that they meet."""


@kernel()
def rub_strands(
    previous_positions: Sized, positions: Floats, strands: Strands, dt: float, former_dt: float
) -> None:
    """Changes the velocities of strands by what is around them, through `previous_positions`.

    Friction moves velocities towards the mean around them by the share k h / (1 + k h) in a step;
    momentum is conserved. Pressure comes from the energy Σ m e(ρ/ρ₀) of densities ρ = Σ w M, where
    M = Σ w m are the masses of nodes, with e' = k s (ρ/ρ₀ − 1) above 1, k the acceleration and s
    the spacing: −Σ ∇w (M e'/ρ₀ + Σ w m e'/ρ₀). A force that is no gradient would keep hair moving.

    Parameters
    ----------
    previous_positions : (3, n), changed [m].
    positions : (3, n) at the start of the step [m].
    dt, former_dt : lengths of this step and of the one before [s].
    """
    keys, weights, slopes = nodes_around(positions, strands.spacing)
    nodes = number_nodes(keys)
    count = int(nodes.max()) + 1

    def on_nodes(values: Floats) -> Floats:
        return sum_by(nodes.ravel(), (weights * values).ravel(), count)

    # A point on a plane of nodes has nothing on those beyond.
    masses = np.maximum(on_nodes(strands.masses), NONZERO)
    moved = positions - previous_positions
    share = strands.friction * dt / (1.0 + strands.friction * dt)
    change = np.empty_like(moved)
    for axis in range(3):
        mean = on_nodes(strands.masses * moved[axis]) / masses
        change[axis] = share * ((weights * mean[nodes]).sum(axis=0) - moved[axis])
    if strands.pressure > 0.0:
        density = (weights * masses[nodes]).sum(axis=0)
        excess = np.clip(density / strands.rest_densities - 1.0, 0.0, MOST_EXCESS)
        excess /= strands.rest_densities
        rise = masses[nodes] * excess + on_nodes(strands.masses * excess)[nodes]
        change -= strands.pressure * dt * former_dt * (slopes * rise).sum(axis=1)
    previous_positions -= change * (strands.inverse_masses > 0.0)
