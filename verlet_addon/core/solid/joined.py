"""Solids that touch each other as one system: the same forces act on both, each way."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Integers, dot
from ..contact.response import ContactRows, eased
from .barriers import HAIR, LIFTS, Barriers
from .lattice import Embedding
from .numpy_touching import Holds, Stops, System


@dataclass(frozen=True, eq=False)
class Meets:
    """Places at which some solids touch each other, k of them, each between four points."""

    solids: Integers
    """(4, k) numbers of the solids that these are of…"""
    points: Integers
    """(4, k) …and theirs among its points."""
    weights: Floats
    """(4, k) above 0 on the side that normals point to, below on the other; their sum is 0."""
    normals: Floats
    """(3, k) unit vectors."""
    levels: Floats
    """(k,) how far apart they have to be along these [m]."""
    frictions: Floats
    """(k,) Coulomb coefficients."""
    keys: Integers
    """(k,) the same from step to step; −1 for none."""

    def shares(self, number: int) -> tuple[Integers, Floats]:
        """(4, k) points of one of the solids, and their weights, 0 for those of others."""
        mine = self.solids == number
        return np.where(mine, self.points, 0), np.where(mine, self.weights, 0.0)

    def apart(self, points: Sequence[Floats]) -> Floats:
        """(3, k) how far apart they are, of points (3, p) of each solid."""
        found = np.zeros_like(self.normals)
        for number, its in enumerate(points):
            own, weights = self.shares(number)
            for each, share in zip(own, weights, strict=True):
                found += share * its[:, each]
        return found

    def felt_by(self, number: int, chosen: Integers) -> Barriers:
        """What one of the solids feels of others at some places, as if these were colliders."""
        points, weights = self.shares(number)
        weights = weights[:, chosen]
        sides = np.sign(weights.sum(axis=0))
        return Barriers(
            points=points[:, chosen],
            shares=weights * sides,
            normals=self.normals[:, chosen] * sides,
            levels=np.zeros(len(chosen)),
            frictions=self.frictions[chosen],
            starts=np.zeros((3, len(chosen))),
            shifts=np.zeros((3, len(chosen))),
        )


def find_meets(rows: ContactRows, own: Sequence[slice], dt: float) -> Meets:
    """The rows between points of some solids alone, each of which has its own in the world."""
    solids, points = np.full_like(rows.particles, -1), np.zeros_like(rows.particles)
    for number, its in enumerate(own):
        mine = (rows.particles >= its.start) & (rows.particles < its.stop)
        solids[mine], points[mine] = number, rows.particles[mine] - its.start
    chosen = np.flatnonzero((solids >= 0).all(axis=0))
    normals, gaps = rows.normals[:, chosen], rows.gaps[chosen]
    heights = dot(normals, rows.anchors[:, chosen])
    return Meets(
        solids=solids[:, chosen],
        points=points[:, chosen],
        weights=rows.weights[:, chosen],
        normals=normals,
        levels=np.minimum(gaps, heights + eased(gaps - heights, dt)),
        frictions=rows.friction[chosen],
        keys=rows.keys[chosen],
    )


def join(
    systems: Sequence[System], meets: Meets, skins: Sequence[Floats], anchors: Floats
) -> System:
    """All systems as one, in which solids are kept apart where they meet.

    Parameters
    ----------
    skins : per solid (p,) how stiff points are that others touch, times h² [kg].
    anchors : (3, k) how far apart friction holds them [m].
    """
    points = slices(len(each.stops.levels) for each in systems)
    nodes = slices(len(each.masses) for each in systems)
    labels = slices(int(each.components.max(initial=-1)) + 1 for each in systems)
    apart = meets.apart([each.arrival for each in systems])
    stops = [*(each.stops for each in systems), _stops_between(meets, skins, anchors)]
    return System(
        parts=[part for each in systems for part in each.parts],
        embedding=_embedding(systems, nodes, points, meets),
        masses=side_by_side(each.masses for each in systems),
        diagonal=side_by_side(each.diagonal for each in systems),
        arrival=side_by_side([*(each.arrival for each in systems), apart]),
        components=side_by_side(
            np.where(each.components < 0, -1, each.components + its.start)
            for each, its in zip(systems, labels, strict=True)
        ),
        places=side_by_side(each.places for each in systems),
        holds=Holds(
            points=side_by_side(
                each.holds.points + its.start for each, its in zip(systems, points, strict=True)
            ),
            stiffnesses=side_by_side(each.holds.stiffnesses for each in systems),
            targets=side_by_side(each.holds.targets for each in systems),
        ),
        stops=Stops(
            *(side_by_side(getattr(each, field.name) for each in stops) for field in fields(Stops))
        ),
    )


def _stops_between(meets: Meets, skins: Sequence[Floats], anchors: Floats) -> Stops:
    """What keeps solids apart where they meet: the skins of both, one behind the other."""
    firm = np.zeros((2, len(meets.levels)))
    for number, skin in enumerate(skins):
        points, weights = meets.shares(number)
        for side, shares in enumerate((weights, -weights)):
            firm[side] += (np.maximum(shares, 0.0) * skin[points]).sum(axis=0)
    return Stops(
        normals=meets.normals,
        levels=meets.levels,
        frictions=meets.frictions,
        stiffnesses=1.0 / (1.0 / firm).sum(axis=0),
        start=anchors,
        anchors=anchors,
        grips=np.full_like(meets.levels, -1.0),
        loads=np.zeros_like(meets.levels),
    )


def _embedding(
    systems: Sequence[System], nodes: Sequence[slice], points: Sequence[slice], meets: Meets
) -> Embedding:
    """The embedding of all points, and after them of how far apart solids are where they meet."""
    count = len(meets.levels)
    own = [each.embedding for each in systems]
    # What colliders touch is carried by more nodes than points themselves are.
    used = [int(np.flatnonzero((each.weights != 0.0).any(axis=0)).max()) + 1 for each in own]
    width = max(*used, 4 * max(used)) if count else max(used)
    found = Embedding(
        np.zeros((points[-1].stop + count, width), dtype=np.int64),
        np.zeros((points[-1].stop + count, width)),
    )
    for each, many, its, carriers in zip(own, used, points, nodes, strict=True):
        found.nodes[its] = carriers.start
        found.nodes[its, :many] = each.nodes[:, :many] + carriers.start
        found.weights[its, :many] = each.weights[:, :many]
    most, firsts = max(used), np.array([its.start for its in points])
    for corner in range(4):
        where = firsts[meets.solids[corner]] + meets.points[corner]
        its = slice(corner * most, (corner + 1) * most)
        found.nodes[-count:, its] = found.nodes[where, :most]
        found.weights[-count:, its] = found.weights[where, :most] * meets.weights[corner, :, None]
    return found


def part(meets: Meets, points: Sequence[Floats]) -> None:
    """Puts points (3, p) of each solid outside of others; the nearest is left to the deepest."""
    for _ in range(LIFTS):
        depths = meets.levels - dot(meets.normals, meets.apart(points))
        order = np.argsort(depths, kind="stable")
        order = order[depths[order] > 0.0]
        if not len(order):
            break
        ways = meets.normals[:, order] * (depths[order] / 2 + HAIR)
        for number in range(len(points)):
            moves = np.zeros_like(points[number])
            for own, weights in zip(*meets.shares(number), strict=True):
                mine = np.flatnonzero(weights[order])
                moves[:, own[order[mine]]] = ways[:, mine] * np.sign(weights[order[mine]])
            points[number][:] += moves


def side_by_side(parts: Iterable[NDArray[Any]]) -> Any:
    """Arrays (…, k) of all solids, one after the other."""
    return np.ascontiguousarray(np.concatenate(list(parts), axis=-1))


def slices(counts: Iterable[int]) -> list[slice]:
    """Where each of them has its own there."""
    return [slice(*ends) for ends in pairwise(accumulate(counts, initial=0))]
