"""Cloth and nets whose pins are farther apart than they are long are drawn out, and hang still."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats, Integers, ranges
from ..build import build_model
from ..geometry.faces import read_corners
from ..geometry.graph import Graph, Neighbours, edge_lengths, find_neighbours
from ..geometry.rest_shape import FIRM_PIN, painted_shares
from ..mesh import MeshData
from ..model import SoftBodyModel
from ..phases.step_data import Body
from ..settings import BodySettings
from ..state import invalidate_batches
from ..stretch.tethers import build_tethers

PIN_SLACK = 1e-3
"""What is drawn out is made longer than pins need by this share, so that sweeps find where all
fits; pins that are farther apart by less draw nothing out."""
MIN_APPROACH = 0.9
"""A particle leads nearer to a pin if it is nearer by this share of the way to it."""


@dataclass(eq=False)
class PinPaths:
    """The shortest ways between pins of one body, and how much longer they have to be now."""

    pin_weights: Floats
    """(n,) those that hold it."""
    shrinking: float
    """By what share all rest lengths were shorter."""
    pins: Integers
    """(2, k) where each way begins and ends."""
    lengths: Floats
    """(k,) how long it is at rest [m]."""
    middles: Integers
    """(2, k) two neighbours in the middle of the way, each nearest to its pin."""
    towards_pins: Neighbours
    """From each particle, those that lead nearer to its pin."""
    growth: Floats
    """(n,) how many times as long each is made."""
    built: object = None
    """The constraints that were built so."""
    cached_targets: tuple[Floats, ...] = ()
    """Targets of the last call…"""
    cached_growth: Floats | None = None
    """…and the growth that they need."""


def can_be_lengthened(model: SoftBodyModel) -> bool:
    """Whether a body has pins, and lengths that do not yield; ropes without rings see to theirs."""
    lengths, rings = model.lengths.edges.path, model.ropes.rings.path
    firm = model.settings.stretch_compliance == 0.0 and len(lengths) + len(rings) > 0
    return firm and model.solid is None and model.water is None and len(model.pinned) > 1


def pins_are_at_rest(mesh: MeshData, settings: BodySettings, *targets: Floats) -> bool:
    """Whether pins are where they are at rest, at all targets (n, 3): no way is too short then."""
    pinned = np.flatnonzero(mesh.pin_weights >= FIRM_PIN)
    rest = mesh.at_rest[pinned]
    return settings.shrinking <= 0.0 and all(np.array_equal(at[pinned], rest) for at in targets)


def find_pin_paths(mesh: MeshData, settings: BodySettings) -> PinPaths:
    """The ways over each edge that leads from what is nearest to one pin to what is to another."""
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
    """From each particle those around it through which a way to its pin leads, or nearly."""
    n = len(pin)
    neighbours = find_neighbours(graph, n)
    here = np.repeat(np.arange(n), neighbours.counts)
    finite = np.isfinite(distance[here])
    nearer = np.where(finite, distance[here], 0.0) - np.where(
        finite, distance[neighbours.others], 0.0
    )
    kept = (
        (pin[neighbours.others] == pin[here])
        & (nearer >= MIN_APPROACH * neighbours.lengths)
        & (nearer > 0.0)
    )
    starts = np.concatenate([[0], np.cumsum(kept)])[neighbours.starts]
    return Neighbours(starts, neighbours.others[kept], neighbours.lengths[kept])


def needed_growth(pin_paths: PinPaths, *targets: Floats) -> Floats:
    """(n,) how many times as long a body has to be where its pins, (n, 3) each, are."""
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


def _cached_growth(pin_paths: PinPaths, *targets: Floats) -> Floats:
    """(n,) the same, which is known where nothing has moved since the last call."""
    if pin_paths.cached_growth is None or not all(
        map(np.array_equal, pin_paths.cached_targets, targets)
    ):
        pin_paths.cached_targets, pin_paths.cached_growth = (
            targets,
            needed_growth(pin_paths, *targets),
        )
    return pin_paths.cached_growth


def is_current(pin_paths: PinPaths | None, mesh: MeshData, settings: BodySettings) -> bool:
    """Whether ways are those of a body that is held and shrunk so."""
    if pin_paths is None or pin_paths.shrinking != settings.shrinking:
        return False
    return np.array_equal(pin_paths.pin_weights, mesh.pin_weights)


def lengthen(body: Body, pin_paths: PinPaths, mesh: MeshData, *targets: Floats) -> Body:
    """The body, in motion, as long as it has to be for its pins to get to all targets (n, 3)."""
    model, state = body
    growth = _cached_growth(pin_paths, *targets)
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
