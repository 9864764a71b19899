"""Overstretched pins: inextensible bodies get longer rest lengths between pins too far apart."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats, Integers, ranges
from ..bodies.step_data import Body
from ..build import build_model
from ..geometry.faces import read_corners
from ..geometry.graph import Graph, Neighbours, edge_lengths, find_neighbours
from ..geometry.rest_shape import FIRM_PIN, painted_shares
from ..mesh import MeshData
from ..model import SoftBodyModel
from ..settings import BodySettings
from ..state import invalidate_batches
from ..stretch.distance_limits import build_tethers

PIN_SLACK = 1e-3
"""Rest lengths are increased by this share beyond the need of the pins, so that sweeps converge;
pins that are overstretched by a smaller share change nothing. With half, cloth whose pins part by
30 % has a worst edge that is 35.4 % longer in place of 35.2 %; with twice, 35.0 %."""


@dataclass(eq=False)
class PinPaths:
    """Shortest paths between pins of one body, and the growth that rest lengths have now."""

    pin_weights: Floats
    """(n,) pin weights that the paths are for."""
    shrinking: float
    """The setting `shrinking` that the paths are for."""
    pins: Integers
    """(2, k) pins at both ends of each path."""
    lengths: Floats
    """(k,) rest lengths of paths [m]."""
    middles: Integers
    """(2, k) ends of an edge in the middle of each path, each nearest to the pin at its side."""
    towards_pins: Neighbours
    """Neighbours of each particle on shortest paths, or nearly, to its nearest pin."""
    growth: Floats
    """(n,) current factors on rest lengths, 1 or more."""
    built: object = None
    """The length constraints that were built with `growth`."""


def can_be_lengthened(model: SoftBodyModel) -> bool:
    """Whether a body has several pins and inextensible edges; open ropes are lengthened elsewhere.

    See `ropes.constraints.lengthen_ropes`.
    """
    lengths, rings = model.lengths.edges.path, model.ropes.rings.path
    firm = model.settings.stretch_compliance == 0.0 and len(lengths) + len(rings) > 0
    return firm and len(model.pinned) > 1


def pins_are_at_rest(mesh: MeshData, settings: BodySettings, *targets: Floats) -> bool:
    """Whether pins have rest positions in all targets (n, 3) [m]: no path is too short then."""
    pinned = np.flatnonzero(mesh.pin_weights >= FIRM_PIN)
    rest = mesh.at_rest[pinned]
    return settings.shrinking <= 0.0 and all(np.array_equal(at[pinned], rest) for at in targets)


def find_pin_paths(mesh: MeshData, settings: BodySettings) -> PinPaths:
    """Shortest paths between pins, one across each edge whose ends have different nearest pins."""
    n, pinned = len(mesh.positions), mesh.pin_weights >= FIRM_PIN
    corners = read_corners(mesh)
    across = np.stack([corners.vertex, corners.after_next], axis=1)
    pairs = np.concatenate([mesh.edges, across[across[:, 0] != across[:, 1]]])
    shares = 1.0 - settings.shrinking * painted_shares(mesh.paint.shrinking, pairs)
    graph = Graph(pairs, edge_lengths(mesh.at_rest, pairs) * shares)
    tethers = build_tethers(graph, pinned)
    pin, distance = np.arange(n), np.where(pinned, 0.0, np.inf)
    pin[tethers.particles], distance[tethers.particles] = tethers.pins, tethers.lengths
    one, other = pairs.T
    over = (pin[one] != pin[other]) & ~(pinned[one] & pinned[other])
    over &= np.isfinite(distance[one] + distance[other])
    one, other = one[over], other[over]
    return PinPaths(
        pin_weights=mesh.pin_weights,
        shrinking=settings.shrinking,
        pins=np.stack([pin[one], pin[other]]),
        lengths=distance[one] + graph.lengths[over] + distance[other],
        middles=np.stack([one, other]),
        towards_pins=_neighbours_towards_pins(graph, pin, distance),
        growth=np.ones(n),
    )


def _neighbours_towards_pins(graph: Graph, pin: Integers, distance: Floats) -> Neighbours:
    """Neighbours that are nearer to the pin of a particle, by nearly the length of the edge."""
    n = len(pin)
    neighbours = find_neighbours(graph, n)
    here = np.repeat(np.arange(n), neighbours.counts)
    with np.errstate(invalid="ignore"):  # what reaches no pin is its own
        nearer = distance[here] - distance[neighbours.others]
    kept = (nearer >= 0.9 * neighbours.lengths) & (nearer > 0.0)
    return neighbours.select(kept & (pin[neighbours.others] == pin[here]))


def needed_growth(pin_paths: PinPaths, *targets: Floats) -> Floats:
    """(n,) factors on rest lengths that all targets, (n, 3) each, need [m]; 1 where they fit.

    The factor of each path is assigned to all particles from its middle towards both pins.
    """
    one, other = pin_paths.pins
    apart = [np.linalg.norm(places[one] - places[other], axis=1) for places in targets]
    growth = np.ones(len(pin_paths.growth))
    shares = np.max(apart, axis=0) / pin_paths.lengths
    longer = shares > 1.0 + PIN_SLACK
    at, shares = (
        pin_paths.middles[:, longer].ravel(),
        np.tile((1.0 + PIN_SLACK) * shares[longer], 2),
    )
    while len(at):
        higher = shares > growth[at]
        np.maximum.at(growth, at[higher], shares[higher])
        at = np.unique(at[higher])
        counts = pin_paths.towards_pins.counts[at]
        shares = np.repeat(growth[at], counts)
        at = pin_paths.towards_pins.others[ranges(pin_paths.towards_pins.starts[at], counts)]
    return growth


def is_current(pin_paths: PinPaths | None, mesh: MeshData, settings: BodySettings) -> bool:
    """Whether paths were computed for these pin weights and this shrinking."""
    if pin_paths is None or pin_paths.shrinking != settings.shrinking:
        return False
    return np.array_equal(pin_paths.pin_weights, mesh.pin_weights)


def lengthen(body: Body, pin_paths: PinPaths, mesh: MeshData, *targets: Floats) -> Body:
    """The body with the rest lengths that its pins need at all targets (n, 3) [m]."""
    model, state = body
    growth = needed_growth(pin_paths, *targets)
    was_lengthened = pin_paths.built is model.lengths
    if np.array_equal(growth, pin_paths.growth if was_lengthened else np.ones(len(growth))):
        return body
    settings = model.settings
    if (growth == 1.0).all():
        longer = build_model(mesh, settings)
    else:
        left = painted_shares(mesh.paint.shrinking, np.arange(len(growth))[:, None])
        paint = replace(mesh.paint, shrinking=(1.0 - settings.shrinking * left) * growth - 1.0)
        longer = build_model(replace(mesh, paint=paint), replace(settings, shrinking=-1.0))
    pin_paths.growth, pin_paths.built = growth, longer.lengths
    invalidate_batches(state)
    return replace(longer, settings=settings), state
