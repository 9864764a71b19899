"""What rolls on the ground comes to rest: it is pressed flat there, and is not quite elastic."""

import numpy as np

from ..arrays import NONZERO, Floats, cross, sum_by
from ..contact.plane import along
from ..linear.rotations import turning_of
from ..momentum.numpy_kernels import find_turns
from .lattice import Embedding
from .numpy_touching import System

LEVER = 3.0 / 16.0 * np.sqrt(5.0)
"""The moment that resists rolling is 3/16 α a P (D. Tabor, 1955; K. L. Johnson, *Contact
Mechanics*, 1985, eq. 9.2); a, how far what is pressed flat reaches along the way, is √5 times the
root mean square of a load as Hertz has it. α is 1: nothing of the work of pressing a body flat
comes back, or what topples would still rock by 0.1 m/s three seconds after a fall from a metre."""


def resist_rolling(
    system: System, start: Floats, nodes: Floats, beneath: Floats | float = 0.0
) -> None:
    """Lets pieces that something presses on turn less; `nodes` is written to.

    What sticks turns about where it touches, and its way is slowed with its turn. What slides turns
    about its own centre: if it does not turn there, it does not roll. What turns while the cells
    that are pressed do not, leans. The lever is at most friction × how high the centre of mass is.

    Parameters
    ----------
    start, nodes : (3, m) at the beginning and the end of the step [m].
    beneath : (3,) how far that turns on which pieces are pressed, beside what `start` takes off.
    """
    stops, embedding, masses = system.stops, system.embedding, system.masses
    components = system.components
    points = np.flatnonzero(stops.loads > 0.0)
    sliding = stops.grips[points] < stops.stiffnesses[points]
    carriers, weights = embedding.nodes[points], embedding.weights[points]
    labels, before = components[carriers[:, 0]], nodes.copy()
    places = (weights * nodes[:, carriers]).sum(axis=2)
    pressed = pressed_nodes(embedding, stops.loads, len(masses))
    for label in np.unique(labels[labels >= 0]):
        load = np.where(labels == label, stops.loads[points], 0.0)
        total = float(load.sum())
        centre = (load * places).sum(axis=1) / total
        normal = (load * stops.normals[:, points]).sum(axis=1)
        normal /= max(_size(normal), NONZERO)
        friction = float((load * stops.frictions[points]).sum()) / total
        members = np.flatnonzero(components == label)
        arms, weighty = before[:, members] - centre[:, None], masses[members]
        moved = before[:, members] - start[:, members]
        middle = (arms * weighty).sum(axis=1) / weighty.sum()
        slid = float(np.where(sliding, load, 0.0).sum()) / total
        own = arms - slid * middle[:, None]
        spin, second = _spin_and_second(weighty, own, moved)
        spin -= normal * (normal * spin).sum()
        turn = find_turns(second, spin)[0]
        there = turn_of(pressed[members], before[:, members], moved) - beneath
        rolls = float((there * turn).sum()) / max(float((turn * turn).sum()), NONZERO)
        rolls = min(max(rolls, 0.0), 1.0)
        turn = rolls * turn
        ahead = cross(turn, normal)
        reach = along(ahead / max(_size(ahead), NONZERO), places - centre[:, None])
        width = float(np.sqrt((load * reach * reach).sum() / total))
        lever = min(LEVER * width, friction * max(float((normal * middle).sum()), 0.0))
        share = min(1.0, lever * total / max(rolls * _size(spin[0]), NONZERO))
        nodes[:, members] -= cross(share * turn, own)


def pressed_nodes(embedding: Embedding, loads: Floats, count: int) -> Floats:
    """(m,) how much of the loads (p,) on points presses on the cells of so many nodes."""
    points = np.flatnonzero(loads > 0.0)
    shares = np.abs(embedding.weights[points]) * loads[points, None]
    return sum_by(embedding.nodes[points].ravel(), shares.ravel(), count)


def turn_of(weights: Floats, places: Floats, moved: Floats) -> Floats:
    """(3,) how nodes of some weights (n,) at places (3, n) that moved (3, n) have turned."""
    total = weights.sum()
    arms = places - (weights * places).sum(axis=1, keepdims=True) / total
    ways = moved - (weights * moved).sum(axis=1, keepdims=True) / total
    spin, second = _spin_and_second(weights, arms, ways)
    return np.asarray(find_turns(second, spin)[0])


def _spin_and_second(weights: Floats, arms: Floats, moved: Floats) -> tuple[Floats, Floats]:
    """(1, 3) spin of arms (3, n) of some weights (n,) that moved (3, n); (1, 3, 3) Σ w a aᵀ."""
    weighty = weights * arms
    spin = turning_of(np.einsum("ik,jk->ij", moved, weighty)[None])
    return spin, np.einsum("ik,jk->ij", weighty, arms)[None]


def _size(vector: Floats) -> float:
    """Length of a vector (3,)."""
    return float(np.sqrt((vector * vector).sum()))
