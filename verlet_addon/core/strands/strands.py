"""Strands of one body at rest: how densely they stand around each of their points."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, sum_by
from ..geometry.rest_shape import RestShape
from ..kernel import Struct

AXIS_BITS = 20
"""Size: bits of the number of a grid node along an axis. Nodes 2²⁰ spacings apart have one key, but
are farther apart than hair is long."""


@dataclass(frozen=True, eq=False)
class Strands:
    """Points of strands that rub and press on each other, n of them."""

    masses: Floats
    """(n,) [kg]"""
    inverse_masses: Floats
    """(n,) 0 = pinned [1/kg]."""
    rest_densities: Floats
    """(n,) mass per grid node around each point at rest [kg]."""
    spacing: float
    """Distance of grid nodes [m]."""
    friction: float
    """Rate at which velocities approach the mean of those around [1/s]."""
    pressure: float
    """Acceleration between two nodes of which one is twice as dense as at rest [m/s²]."""


def _table_size(strands: Strands) -> int:
    """Number of places for nodes: a power of 2, larger than their number can be."""
    return 1 << (8 * len(strands.masses)).bit_length()


Struct(
    "strands",
    Strands,
    reads="masses inverse_masses rest_densities spacing friction pressure",
    table=(int, _table_size),
    keys=(Integers, lambda strands: np.zeros(_table_size(strands), dtype=np.int64)),
    places=(Integers, lambda strands: np.zeros(8 * len(strands.masses), dtype=np.int64)),
    scratch={
        "nodes": lambda strands: (_table_size(strands), 5),
        "moves": lambda strands: (len(strands.masses), 3),
        "excesses": lambda strands: len(strands.masses),
    },
)


def build_strands(shape: RestShape) -> Strands | None:
    """The strands of hair that rub or press on each other; None of other bodies."""
    body = shape.settings
    if body.body_type != "HAIR" or not (body.strand_friction or body.strand_pressure):
        return None
    keys, weights, _ = nodes_around(shape.mesh.positions.T, body.strand_spacing)
    nodes = number_nodes(keys)
    return Strands(
        masses=shape.masses,
        inverse_masses=shape.inverse_masses,
        rest_densities=np.asarray((weights * _node_sums(nodes, weights * shape.masses)).sum(0)),
        spacing=body.strand_spacing,
        friction=body.strand_friction,
        pressure=body.strand_pressure,
    )


def nodes_around(positions: Floats, spacing: float) -> tuple[Integers, Floats, Floats]:
    """(8, n) keys and weights of the nodes around positions (3, n), and (3, 8, n) their slopes.

    Weights are trilinear; slopes are their derivatives by the position, times the spacing.
    """
    places = positions / spacing
    lowest = np.floor(places)
    shares = places - lowest
    cells = lowest.astype(np.int64)
    keys, weights, slopes = [], [], []
    for corner in np.ndindex(2, 2, 2):
        key = np.zeros(positions.shape[1], dtype=np.int64)
        for axis in range(3):
            part = (cells[axis] + corner[axis]) & ((1 << AXIS_BITS) - 1)
            key |= part << (AXIS_BITS * axis)
        each = [shares[axis] if corner[axis] else 1.0 - shares[axis] for axis in range(3)]
        signs = [1.0 if upper else -1.0 for upper in corner]
        keys.append(key)
        weights.append(each[0] * each[1] * each[2])
        slopes.append(
            [
                signs[0] * each[1] * each[2],
                signs[1] * each[0] * each[2],
                signs[2] * each[0] * each[1],
            ]
        )
    return np.array(keys), np.array(weights), np.array(slopes).transpose(1, 0, 2)


def number_nodes(keys: Integers) -> Integers:
    """(8, n) numbers from 0 of the nodes with these keys."""
    _, numbers = np.unique(keys, return_inverse=True)
    return np.asarray(numbers.reshape(keys.shape))


def _node_sums(nodes: Integers, values: Floats) -> Floats:
    """(8, n) sums of values (8, n) over each node."""
    return np.asarray(sum_by(nodes.ravel(), values.ravel(), int(nodes.max()) + 1)[nodes])
