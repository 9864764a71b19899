"""What colliders do to a solid, as stops that are solved for together with its stress."""

from dataclasses import dataclass, fields, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, dot
from ..contact.response import ContactRows, eased
from .lattice import Embedding
from .numpy_touching import Stops, System

LIFTS = 4
"""How often points are put outside of what they touch; once does but in corners."""
HAIR = 1e-9
"""So much farther out than they have to be, for nobody else to push them [m]."""


@dataclass(frozen=True, eq=False)
class Barriers:
    """Surfaces that places on a solid's skin are kept off, k of them."""

    points: Integers
    """(4, k) of the solid, between which each place is."""
    shares: Floats
    """(4, k) of these, whose sum is 1; 0 for those that are not of the solid."""
    normals: Floats
    """(3, k) unit vectors away from the surfaces."""
    levels: Floats
    """(k,) how far along its normal each has to be [m]."""
    frictions: Floats
    """(k,) Coulomb coefficients."""
    starts: Floats
    """(3, k) where places were when the step began, moved on as the surfaces do [m]."""
    shifts: Floats
    """(3, k) how far these do [m]."""

    def with_more(self, others: "Barriers") -> "Barriers":
        """These, and after them others."""
        both = ((getattr(self, each.name), getattr(others, each.name)) for each in fields(self))
        return Barriers(*(np.concatenate(each, axis=-1) for each in both))

    def between(self, points: Floats) -> Floats:
        """(3, k) where places are, of points (3, p)."""
        return np.asarray(np.einsum("jk,ajk->ak", self.shares, points[:, self.points]))


def find_barriers(
    rows: ContactRows, own: slice, fixed: int, start: Floats, end: Floats, dt: float
) -> Barriers:
    """The rows between a solid's points, `own`, and colliders, which begin at `fixed`.

    Parameters
    ----------
    start, end : (3, N) of all bodies and colliders when the step begins and ends [m].
    """
    mine = (rows.particles >= own.start) & (rows.particles < own.stop)
    others = rows.particles >= fixed
    chosen = np.flatnonzero((mine | others).all(axis=0) & mine.any(axis=0) & others.any(axis=0))
    particles, mine = rows.particles[:, chosen], mine[:, chosen]
    sides = np.sign((rows.weights[:, chosen] * mine).sum(axis=0))
    weights = rows.weights[:, chosen] * sides
    shares, others = np.where(mine, weights, 0.0), np.where(mine, 0.0, -weights)

    def touched(places: Floats) -> Floats:
        return np.asarray(np.einsum("jk,ajk->ak", others, places[:, particles]))

    normals, former, now = rows.normals[:, chosen] * sides, touched(start), touched(end)
    points = np.where(mine, particles - own.start, 0)
    began = np.einsum("jk,ajk->ak", shares, start[:, np.where(mine, particles, 0)])
    heights, gaps = dot(normals, began - former), rows.gaps[chosen]
    return Barriers(
        points=points,
        shares=shares,
        normals=normals,
        levels=np.minimum(gaps, heights + eased(gaps - heights, dt)) + dot(normals, now),
        frictions=rows.friction[chosen],
        starts=began + now - former,
        shifts=now - former,
    )


def beyond(system: System, barriers: Barriers, stands_for: Floats, grasped: Floats) -> System:
    """The system in which places are stopped as well as points.

    Parameters
    ----------
    stands_for : (p,) `Skin.stands_for`.
    grasped : (3, p) where friction of colliders has held each point before, else nan [m].
    """
    stops, many = system.stops, len(barriers.levels)
    stiffnesses = barriers.between((stops.stiffnesses * stands_for)[None])
    vertices, alone = _alone(barriers)
    anchors = np.where(alone, grasped[:, vertices] + barriers.shifts, np.nan)
    return replace(
        system,
        embedding=_with_places(system.embedding, barriers),
        arrival=np.concatenate([system.arrival, barriers.between(system.arrival)], axis=1),
        stops=Stops(
            normals=np.concatenate([stops.normals, barriers.normals], axis=1),
            levels=np.concatenate([stops.levels, barriers.levels]),
            frictions=np.concatenate([stops.frictions, barriers.frictions]),
            stiffnesses=np.concatenate([stops.stiffnesses, stiffnesses[0]]),
            start=np.concatenate([stops.start, barriers.starts], axis=1),
            anchors=np.concatenate([stops.anchors, anchors], axis=1),
            grips=np.full(len(stops.grips) + many, -1.0),
            loads=np.zeros(len(stops.loads) + many),
        ),
    )


def _alone(barriers: Barriers) -> tuple[Integers, Booleans]:
    """(k,) the point with the largest share in each place, and (k,) bool, whether that is all."""
    rows = barriers.shares.argmax(axis=0)
    columns = np.arange(len(rows))
    return barriers.points[rows, columns], barriers.shares[rows, columns] > 1.0 - 1e-9


def _with_places(embedding: Embedding, barriers: Barriers) -> Embedding:
    """The embedding of points, and after them of places, which up to three points carry."""
    order = np.argsort(-barriers.shares, axis=0, kind="stable")
    most = max(1, int((barriers.shares > 0.0).sum(axis=0).max(initial=1)))
    points = np.take_along_axis(barriers.points, order, axis=0)[:most].T
    shares = np.take_along_axis(barriers.shares, order, axis=0)[:most].T
    width = most * embedding.nodes.shape[1]
    nodes = embedding.nodes[points].reshape(-1, width)
    weights = (embedding.weights[points] * shares[:, :, None]).reshape(-1, width)
    more = ((0, 0), (0, nodes.shape[1] - embedding.nodes.shape[1]))
    return Embedding(
        np.concatenate([np.pad(embedding.nodes, more), nodes]),
        np.concatenate([np.pad(embedding.weights, more), weights]),
    )


def lift(barriers: Barriers, points: Floats) -> None:
    """Puts points (3, p) outside of what they press on; the nearest is left to the deepest."""
    for _ in range(LIFTS):
        depths = barriers.levels - dot(barriers.normals, barriers.between(points))
        order = np.argsort(depths, kind="stable")
        order = order[depths[order] > 0.0]
        moves = np.zeros_like(points)
        for own, shares in zip(barriers.points[:, order], barriers.shares[:, order], strict=True):
            carries = shares > 0.0
            pressed = order[carries]
            moves[:, own[carries]] = barriers.normals[:, pressed] * (depths[pressed] + HAIR)
        points += moves


def held(stops: Stops, barriers: Barriers, count: int) -> Floats:
    """(3, p) where friction of colliders holds each of so many points now, else nan [m]."""
    vertices, alone = _alone(barriers)
    anchors, found = stops.anchors[:, count:], np.full((3, count), np.nan)
    kept = alone & ~np.isnan(anchors[0])
    found[:, vertices[kept]] = anchors[:, kept]
    return found
