"""What rolls on the ground comes to rest: it is pressed flat there, and is not quite elastic."""

import numpy as np

from ..arrays import Floats, Integers, contracted
from .body import Solid
from .grid import symmetric_axes

LEVER = 0.1
"""Rolling resistance's lever over a body's size, for a friction of 1; soft tyres have 0.03,
and what is as soft as jelly more. Lumps of 0.5 kg dropped from 1 m lie still after 3 s."""


def resist_rolling(
    solid: Solid, start: Floats, nodes: Floats, points: Integers, loads: Floats, friction: float
) -> Floats:
    """(3, m) nodes, of which pieces that touch the ground turn less about where they do.

    The moment is at most lever × load, as Coulomb's friction is at most its coefficient × load.

    Parameters
    ----------
    start, nodes : (3, m) at the beginning and the end of the step [m].
    points, loads : (k,) particles that touch, and how strongly, times h² [kg m].
    friction : coefficient of the two surfaces.
    """
    lever = LEVER * friction * float(solid.lattice.volumes.sum()) ** (1 / 3)
    labels = solid.free_components[solid.embedding.nodes[points, 0]]
    slower = nodes.copy()
    for label in np.unique(labels[labels >= 0]):
        load = np.where(labels == label, np.maximum(loads, 0.0), 0.0)
        if load.sum() > 0.0:
            carriers = solid.embedding.nodes[points]
            places = (solid.embedding.weights[points] * nodes[:, carriers]).sum(axis=2)
            centre = (load * places).sum(axis=1) / load.sum()
            members = np.flatnonzero(solid.free_components == label)
            arms = nodes[:, members] - centre[:, None]
            moved = nodes[:, members] - start[:, members]
            spin, turn = _turn(arms, moved, solid.masses[members])
            share = min(1.0, lever * float(load.sum()) / max(spin, 1e-300))
            slower[:, members] -= share * np.cross(turn[:, None], arms, axis=0)
    return slower


def _turn(arms: Floats, moved: Floats, masses: Floats) -> tuple[float, Floats]:
    """Angular momentum of masses (n,) at arms (3, n) that have moved (3, n), and (3,) the turn."""
    spin = (np.cross(arms, moved, axis=0) * masses).sum(axis=1)
    second = (arms[:, None] * arms * masses).sum(axis=2)
    moments, axes = symmetric_axes(np.trace(second) * np.eye(3) - second)
    about = contracted(axes.T, spin) / np.maximum(moments, 1e-9 * moments[2])
    return float(np.sqrt((spin * spin).sum())), contracted(axes, about)
