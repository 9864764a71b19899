"""Cloth and nets whose pins are farther apart than they are long are drawn out, and hang still."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats, Integers, ranges
from ..build import build_model
from ..geometry.faces import read_corners
from ..geometry.graph import Graph, Neighbours, edge_lengths, find_neighbours
from ..geometry.rest_shape import FIRM_PIN, painted
from ..mesh import MeshData
from ..model import SoftBodyModel
from ..phases.step_data import Body
from ..settings import BodySettings
from ..state import outdate
from ..stretch.tethers import build_tethers

SLACK = 1e-3
"""What is drawn out is made longer than pins need by this share, so that sweeps find where all
fits; pins that are farther apart by less draw nothing out."""
ONWARD = 0.9
"""A particle leads nearer to a pin if it is nearer by this share of the way to it."""


@dataclass(eq=False)
class Drawn:
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
    onward: Neighbours
    """From each particle, those that lead nearer to its pin."""
    growth: Floats
    """(n,) how many times as long each is made."""
    built: object = None
    """The constraints that were built so."""
    asked: tuple[Floats, ...] = ()
    """Targets that were asked about last…"""
    needed: Floats | None = None
    """…and the growth that they need."""


def can_be_drawn(model: SoftBodyModel) -> bool:
    """Whether a body has pins, and lengths that do not yield; ropes without rings see to theirs."""
    lengths, rings = model.lengths.edges.path, model.ropes.rings.path
    firm = model.settings.stretch_compliance == 0.0 and len(lengths) + len(rings) > 0
    return firm and model.solid is None and model.water is None and len(model.pinned) > 1


def lies_as_at_rest(mesh: MeshData, settings: BodySettings, *targets: Floats) -> bool:
    """Whether pins are where they are at rest, at all targets (n, 3): no way is too short then."""
    pinned = np.flatnonzero(mesh.pin_weights >= FIRM_PIN)
    rest = mesh.at_rest[pinned]
    return settings.shrinking <= 0.0 and all(np.array_equal(at[pinned], rest) for at in targets)


def find_ways(mesh: MeshData, settings: BodySettings) -> Drawn:
    """The ways over each edge that leads from what is nearest to one pin to what is to another."""
    n, pinned = len(mesh.positions), mesh.pin_weights >= FIRM_PIN
    corners = read_corners(mesh)
    across = np.stack([corners.vertex, corners.after_next], axis=1)
    pairs = np.concatenate([mesh.edges, across[across[:, 0] != across[:, 1]]])
    shares = 1.0 - settings.shrinking * painted(mesh.paint.shrinking, pairs)
    graph = Graph(pairs, edge_lengths(mesh.at_rest, pairs) * shares)
    tethers = build_tethers(graph, pinned)
    pin, distance = np.arange(n), np.where(pinned, 0.0, np.inf)
    pin[tethers.particles], distance[tethers.particles] = tethers.pins, tethers.lengths
    one, other = pairs.T
    over = (pin[one] != pin[other]) & ~(pinned[one] & pinned[other])
    over &= np.isfinite(distance[one] + distance[other])
    one, other = one[over], other[over]
    return Drawn(
        pin_weights=mesh.pin_weights,
        shrinking=settings.shrinking,
        pins=np.stack([pin[one], pin[other]]),
        lengths=distance[one] + graph.lengths[over] + distance[other],
        middles=np.stack([one, other]),
        onward=_onward(graph, pin, distance),
        growth=np.ones(n),
    )


def _onward(graph: Graph, pin: Integers, distance: Floats) -> Neighbours:
    """From each particle those around it through which a way to its pin leads, or nearly."""
    n = len(pin)
    ways = find_neighbours(graph, n)
    here = np.repeat(np.arange(n), ways.counts)
    finite = np.isfinite(distance[here])
    nearer = np.where(finite, distance[here], 0.0) - np.where(finite, distance[ways.others], 0.0)
    kept = (pin[ways.others] == pin[here]) & (nearer >= ONWARD * ways.lengths) & (nearer > 0.0)
    starts = np.concatenate([[0], np.cumsum(kept)])[ways.starts]
    return Neighbours(starts, ways.others[kept], ways.lengths[kept])


def needed_growth(drawn: Drawn, *targets: Floats) -> Floats:
    """(n,) how many times as long a body has to be where its pins, (n, 3) each, are."""
    one, other = drawn.pins
    apart = [np.linalg.norm(places[one] - places[other], axis=1) for places in targets]
    growth = np.ones(len(drawn.growth))
    shares = np.max(apart, axis=0) / drawn.lengths
    longer = shares > 1.0 + SLACK
    at, shares = drawn.middles[:, longer].ravel(), np.tile((1.0 + SLACK) * shares[longer], 2)
    while len(at):
        higher = shares > growth[at]
        np.maximum.at(growth, at[higher], shares[higher])
        at = np.unique(at[higher])
        counts = drawn.onward.counts[at]
        shares = np.repeat(growth[at], counts)
        at = drawn.onward.others[ranges(drawn.onward.starts[at], counts)]
    return growth


def _needed_as_before(drawn: Drawn, *targets: Floats) -> Floats:
    """(n,) the same, which is known where nothing has moved since it was asked last."""
    if drawn.needed is None or not all(map(np.array_equal, drawn.asked, targets)):
        drawn.asked, drawn.needed = targets, needed_growth(drawn, *targets)
    return drawn.needed


def is_known(drawn: Drawn | None, mesh: MeshData, settings: BodySettings) -> bool:
    """Whether ways are those of a body that is held and shrunk so."""
    if drawn is None or drawn.shrinking != settings.shrinking:
        return False
    return np.array_equal(drawn.pin_weights, mesh.pin_weights)


def lengthen(body: Body, drawn: Drawn, mesh: MeshData, *targets: Floats) -> Body:
    """The body, in motion, as long as it has to be for its pins to get to all targets (n, 3)."""
    model, state = body
    growth = _needed_as_before(drawn, *targets)
    was_drawn = drawn.built is model.lengths
    if np.array_equal(growth, drawn.growth if was_drawn else np.ones(len(growth))):
        return body
    settings = model.settings
    if (growth == 1.0).all():
        longer = build_model(mesh, settings)
    else:
        left = painted(mesh.paint.shrinking, np.arange(len(growth))[:, None])
        paint = replace(mesh.paint, shrinking=(1.0 - settings.shrinking * left) * growth - 1.0)
        longer = build_model(replace(mesh, paint=paint), replace(settings, shrinking=-1.0))
    drawn.growth, drawn.built = growth, longer.lengths
    outdate(state)
    return replace(longer, settings=settings), state
