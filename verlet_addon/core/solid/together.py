"""Solids that touch each other, moved on as one."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ..arrays import Floats, Integers, cross, sum_by, sum_products
from ..geometry.graph import find_components
from ..momentum.compiled_kernels import conserve_momentum
from ..momentum.numpy_kernels import find_turns
from .barriers import Barriers, beyond, held, lift
from .body import Clung, Lying
from .compiled_kernels import interpolate
from .compiled_touching import press, settle
from .joined import Meets, join, part, side_by_side, slices
from .motion import (
    Drive,
    Leap,
    acting_with,
    alike,
    find_pulls,
    precision,
    rests,
    stay,
)
from .numpy_touching import System, across
from .rolling import pressed_nodes, resist_rolling, turn_of


@dataclass(frozen=True, eq=False)
class Group:
    """Solids that touch each other, the colliders in their way, and where they meet."""

    leaps: Sequence[Leap]
    barriers: Sequence[Barriers]
    meets: Meets

    @property
    def drives(self) -> list[Drive]:
        """What moves each of them in this step."""
        return list(map(_drive, self.leaps))


def _drive(leap: Leap) -> Drive:
    """What moves a solid in this step."""
    assert leap.drive is not None
    return leap.drive


def arrive_together(group: Group) -> list[Floats]:
    """Moves solids on by one step as `motion.arrive` does one; (3, p) where points of each are."""
    leaps, drives, meets = group.leaps, group.drives, group.meets
    acts = [rows for each in zip(leaps, group.barriers, strict=True) for rows in acting_with(*each)]
    acts += [getattr(meets, field.name) for field in fields(meets)]
    for leap, drive in zip(leaps, drives, strict=True):
        leap.state.anchors[:] = drive.anchors
    lying = [leap.state.lying for leap in leaps if leap.state.lying is not None]
    if len(lying) == len(leaps) and all(alike(acts, each.acting) for each in lying):
        for leap, drive in zip(leaps, drives, strict=True):
            stay(leap, drive)
            leap.state.grasped, leap.state.clung = drive.grasped, drive.clung
        return [each.points.copy() for each in lying]
    points = _solved(group)
    resting = all(map(rests, leaps, drives))
    acting = [rows.copy() for rows in acts] if resting else []
    for leap, drive, places in zip(leaps, drives, points, strict=True):
        leap.state.lying = Lying(acting, places.copy()) if resting else None
        if resting:
            stay(leap, drive)
    return points


def _solved(group: Group) -> list[Floats]:
    """(3, p) where points of each are once stress and what stops them are solved for."""
    leaps, drives, meets = group.leaps, group.drives, group.meets
    states, systems = [leap.state for leap in leaps], []
    for leap, drive, each in zip(leaps, drives, group.barriers, strict=True):
        leap.system.stops.grips.fill(-1.0)
        systems.append(beyond(leap.system, each, leap.solid.surface.stands_for, drive.grasped))
    skins = [leap.system.stops.stiffnesses * leap.solid.surface.stands_for for leap in leaps]
    # Points as their nodes carry them: those that were put outside of others have not slid.
    starts = [
        interpolate(leap.solid.embedding, drive.start)
        for leap, drive in zip(leaps, drives, strict=True)
    ]
    system = join(systems, meets, skins, meets.apart(starts) - _recall(drives, meets))
    moves = side_by_side(state.moves for state in states)
    press(system, side_by_side(map(find_pulls, leaps, drives)), moves, precision(leaps))
    places, points = settle(system, _land(group, systems, system, moves)), []
    each_stops = [each.stops for each in systems]
    own = slices(len(stops.levels) for stops in each_stops)
    for leap, barriers, its, stops in zip(leaps, group.barriers, own, each_stops, strict=True):
        count = len(leap.solid.weight)
        stops.anchors[:] = system.stops.anchors[:, its]
        leap.state.anchors[:] = stops.anchors[:, :count]
        leap.state.grasped = held(stops, barriers, count)
        points.append(places[:, its][:, :count].copy())
        lift(barriers, points[-1])
    between = slice(own[-1].stop, None)
    slid = across(meets.normals, places[:, between] - system.stops.anchors[:, between])
    clings = np.flatnonzero(~np.isnan(slid[0]) & (meets.keys >= 0))
    for state in states:
        state.clung = Clung(meets.keys[clings], slid[:, clings])
    part(meets, points)
    return points


def _recall(drives: Sequence[Drive], meets: Meets) -> Floats:
    """(3, k) how far places have been drawn out of where they cling [m]."""
    found = np.zeros_like(meets.normals)
    slid = side_by_side(drive.clung.slid for drive in drives)
    keys, first = np.unique(side_by_side(drive.clung.keys for drive in drives), return_index=True)
    if len(keys):
        place = np.searchsorted(keys, meets.keys).clip(max=len(keys) - 1)
        same = keys[place] == meets.keys
        found[:, same] = slid[:, first[place[same]]]
    return found


def _land(group: Group, systems: Sequence[System], system: System, moves: Floats) -> Floats:
    """(3, m) where nodes of all end, by moves (3, m).

    Solids on which nothing presses but each other keep their momentum together. What rolls is
    slowed beside what it rolls on.
    """
    start = side_by_side(drive.start for drive in group.drives)
    whole, inverse_masses = _whole(system, len(group.meets.levels)), 1.0 / system.masses
    arrived = system.places + moves
    nodes = conserve_momentum(whole, inverse_masses, system.places, arrived, about=start)
    own = slices(len(each.masses) for each in systems)
    ends = [nodes[:, its] for its in own]
    ways = list(map(_Way.of, group.leaps, ends))
    points = slices(len(each.stops.levels) for each in systems)
    slowed = []
    for number, places in enumerate(points):
        for name in ("grips", "loads"):
            getattr(systems[number].stops, name)[:] = getattr(system.stops, name)[places]
        slowed.append(_slowed(group, system, systems[number], number, ends, ways))
    before = start + (nodes - side_by_side(slowed))
    before = conserve_momentum(whole, inverse_masses, start, before, about=nodes)
    for leap, its in zip(group.leaps, own, strict=True):
        state = leap.state
        state.nodes, state.previous_nodes = nodes[:, its].copy(), before[:, its].copy()
        state.moves = state.nodes - leap.system.places
    return nodes


def _whole(system: System, meets: int) -> Integers:
    """(m,) labels of nodes that keep their momentum together, −1 of those that something stops.

    The last stops are where solids meet, so many.
    """
    stops, embedding, labels = system.stops, system.embedding, system.components
    # What soft pins draw keeps no momentum.
    drawn = labels[embedding.nodes[system.holds.points, 0]]
    labels = np.where(np.isin(labels, drawn), -1, labels)
    loaded = np.flatnonzero(stops.loads > 0.0)
    carried = embedding.weights[loaded] != 0.0
    found = np.where(carried, labels[embedding.nodes[loaded]], labels.max(initial=-1) + 1)
    first, found = found.min(axis=1), np.where(carried, found, -1)
    last = found.max(axis=1)
    # What is held stops others as the ground does.
    stopped = (loaded < len(stops.loads) - meets) | (first < 0)
    count = int(labels.max(initial=-1)) + 1
    merged = find_components(count, np.stack([first[~stopped], last[~stopped]], axis=1))
    free = np.ones(count, dtype=bool)
    free[merged[last[stopped & (last >= 0)]]] = False
    kept = np.append(np.where(free[merged], merged, -1), -1)[labels]
    return np.asarray(np.unique(np.append(kept, -1), return_inverse=True)[1][:-1].reshape(-1) - 1)


@dataclass(frozen=True, eq=False)
class _Way:
    """How a solid moves in a step, but for its strain."""

    centre: Floats
    """(3, 1) where it began [m]."""
    shift: Floats
    """(3, 1) [m]"""
    turn: Floats
    """(3, 1)"""

    @classmethod
    def of(cls, leap: Leap, nodes: Floats) -> "_Way":
        """The way to nodes (3, m)."""
        masses, start = leap.solid.masses, _drive(leap).start
        centre, shift = (
            (masses * rows).sum(axis=1, keepdims=True) / masses.sum()
            for rows in (start, nodes - start)
        )
        arms, all_one = start - centre, np.zeros(len(masses), dtype=np.int64)
        second = sum_products(all_one, arms * masses, arms, 1)
        spin = (masses * cross(arms, nodes - start)).sum(axis=1)
        return cls(centre, shift, find_turns(second, spin[None]).T)

    def at(self, places: Floats) -> Floats:
        """(3, k) how far places (3, k) go with it [m]."""
        return np.asarray(self.shift + np.cross(self.turn, places - self.centre, axis=0))


def _turned(leap: Leap, nodes: Floats, touched: Barriers, loads: Floats) -> Floats:
    """(3,) how far the cells of a solid have turned on which loads (k,) press, to nodes (3, m)."""
    start, carried = _drive(leap).start, leap.solid.embedding
    shares = touched.shares * loads
    points = sum_by(touched.points.ravel(), shares.ravel(), len(carried.nodes))
    pressed = pressed_nodes(carried, points, start.shape[1])
    return turn_of(pressed, start, nodes - start)


def _slowed(
    group: Group,
    system: System,
    own: System,
    number: int,
    ends: Sequence[Floats],
    ways: Sequence[_Way],
) -> Floats:
    """(3, m) nodes of one solid, slowed where it rolls on whatever it touches."""
    leap, drive, meets = group.leaps[number], group.drives[number], group.meets
    stops, found, start = system.stops, ends[number].copy(), drive.start
    beneath = np.zeros(3)
    between = len(stops.loads) - len(meets.levels)
    sides = (meets.solids == number).sum(axis=0)
    chosen = np.flatnonzero((stops.loads[between:] > 0.0) & (sides % 4 > 0))
    if len(chosen):
        its = between + chosen
        felt = own.stops.loads.sum() + stops.loads[its].sum()
        others = np.where(meets.solids == number, -1, meets.solids)[:, chosen].max(axis=0)
        for other in np.unique(others):
            its_own = np.flatnonzero(others == other)
            loads, way = stops.loads[its[its_own]], ways[other]
            start = start + loads.sum() / felt * way.at(drive.start)
            touched = meets.felt_by(int(other), chosen[its_own])
            turned = _turned(group.leaps[other], ends[other], touched, loads)
            beneath += loads.sum() / felt * (turned - way.turn[:, 0])
        barriers = group.barriers[number].with_more(meets.felt_by(number, chosen))
        with_others = beyond(leap.system, barriers, leap.solid.surface.stands_for, drive.grasped)
        for name in ("grips", "loads", "stiffnesses"):
            rows = getattr(own.stops, name), getattr(stops, name)[its]
            getattr(with_others.stops, name)[:] = np.concatenate(rows)
        own = with_others
    resist_rolling(own, start, found, beneath)
    return found
