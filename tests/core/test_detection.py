"""Contacts are found: every pair that comes near, with the right normals; and nothing passes.

The measure is a brute force of its own, over all pairs and many moments of the way.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import combinations, product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import ArrayLike, NDArray

from tests.core.bodies import flat_sheet, sphere, split
from tests.core.intersections import crossings
from verlet_addon.core.arrays import Floats, selected
from verlet_addon.core.compiled import backend
from verlet_addon.core.contacts.broad_phase import surfaces as surfaces_module
from verlet_addon.core.contacts.broad_phase.bvh_refit import activate_all, fit, fit_all
from verlet_addon.core.contacts.broad_phase.bvh_traversal import (
    BVHPairs,
    candidate_pairs,
    near_leaves,
)
from verlet_addon.core.contacts.broad_phase.searches import (
    CONTACTS,
    TUNNELLING,
    FoundPairs,
    SearchCriteria,
    room_for_near_pairs,
    room_for_rows,
)
from verlet_addon.core.contacts.broad_phase.surfaces import Surface, Surfaces, join_surfaces
from verlet_addon.core.contacts.manifold.contact_rows import sum_weighted
from verlet_addon.core.contacts.manifold.contacts import Contacts
from verlet_addon.core.contacts.manifold.persistent_contacts import find_contacts, find_pairs
from verlet_addon.core.contacts.narrow_phase.near_pairs import (
    are_active,
    find_rows_of_near,
    pair_deviations,
)
from verlet_addon.core.contacts.narrow_phase.row_search import candidate_owners, find_rows
from verlet_addon.core.contacts.solve.contact_statistics import take_counts
from verlet_addon.core.contacts.solve.tunnelling_guard import find_tunnelling, prevent_tunnelling
from verlet_addon.core.errors import KernelError
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.team.threads import thread_count, working_team

GAP = 0.05
MOMENTS = np.linspace(0.0, 1.0, 6)
Feature = tuple[int, ...]
seeds = st.integers(0, 10**6)


def surface(
    points: ArrayLike,
    triangles: ArrayLike = (),
    edges: ArrayLike = (),
    *,
    single_sided: bool = False,
    is_collider: bool = False,
) -> Surface:
    """A surface of points (n, 3), the corners of its triangles and the ends of loose edges."""
    return Surface(
        rest=np.array(points, dtype=float).T,
        triangles=np.array(triangles, dtype=np.int64).reshape(-1, 3).T,
        edges=np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        single_sided=single_sided,
        is_collider=is_collider,
    )


def bowed(mesh: MeshData, height: float, *, size: float, bow: float) -> Surface:
    """A collider of a flat sheet's triangles, so large, that falls off from its middle."""
    x, y = ((mesh.positions[:, :2] - 0.5) * size).T
    points = np.stack([x + 0.5, y + 0.5, height - bow * (x * x + y * y)], axis=1)
    return surface(points, mesh.face_vertices.reshape(-1, 3), is_collider=True)


def all_meet(*parts: Surface, gap: float = GAP) -> Surfaces:
    """Surfaces that meet each other and themselves."""
    count = len(parts)
    return join_surfaces(parts, np.ones((count, count), dtype=bool), np.full((count, count), gap))


def strewn(rng: np.random.Generator, count: int, size: float) -> Surface:
    """Triangles and a rope of three edges, strewn through a cube of half a metre."""
    points = 0.5 * rng.random((count, 1, 3)) + size * rng.random((count, 3, 3))
    rope = 0.5 * rng.random((1, 3)) + size * rng.random((4, 3))
    first = 3 * count
    return surface(
        np.concatenate([points.reshape(-1, 3), rope]),
        np.arange(first).reshape(-1, 3),
        [(first + k, first + k + 1) for k in range(3)],
    )


def square(height: float = 0.0, *, single_sided: bool = False) -> Surface:
    """A square of two metres and two triangles that face up."""
    points = [(-1, -1, height), (1, -1, height), (1, 1, height), (-1, 1, height)]
    return surface(points, [(0, 1, 2), (0, 2, 3)], single_sided=single_sided)


def elements(surfaces: Surfaces) -> list[Feature]:
    """The corners of every triangle, and the ends of every loose edge."""
    loose = surfaces.edges[:, surfaces.sides[0] < 0]
    return [tuple(row) for part in (surfaces.triangles, loose) for row in part.T.tolist()]


def element_pairs(surfaces: Surfaces) -> Iterator[tuple[Feature, Feature]]:
    """Any two that share no particle."""
    pairs = combinations(elements(surfaces), 2)
    return ((first, second) for first, second in pairs if not set(first) & set(second))


def apart(x: Floats, first: Feature, second: Feature) -> float:
    """How far two triangles or edges are apart that do not cross, x being (3, N) [m]."""
    features = [
        *product(_sides(first, 1), _sides(second, 3)),
        *product(_sides(first, 3), _sides(second, 1)),
        *product(_sides(first, 2), _sides(second, 2)),
    ]
    return min(distance(x[:, a].T, x[:, b].T) for a, b in features)


def _sides(element: Feature, size: int) -> list[Feature]:
    """Its corners, edges, or itself."""
    return list(combinations(element, min(size, len(element))))


def distance(first: Floats, second: Floats) -> float:
    """Between the hulls of two sets of points (k, 3), the least over all corners and faces [m]."""
    least = np.inf
    for a, b in product(_faces(len(first)), _faces(len(second))):
        p, q = first[list(a)], second[list(b)]
        system = np.concatenate([p[1:] - p[0], q[0] - q[1:]]).T
        shares = np.linalg.lstsq(system, q[0] - p[0], rcond=None)[0]
        own, other = shares[: len(a) - 1], shares[len(a) - 1 :]
        if (shares >= 0.0).all() and own.sum() <= 1.0 and other.sum() <= 1.0:
            least = min(least, float(np.linalg.norm(p[0] - q[0] + system @ shares)))
    return least


def _faces(count: int) -> list[Feature]:
    """Every corner, edge and face of a simplex."""
    return [face for size in range(1, count + 1) for face in combinations(range(count), size)]


def found_pairs(contacts: Contacts) -> set[frozenset[int]]:
    """The particles of each."""
    return {frozenset(row) for row in contacts.particles.T.tolist()}


def crossing_count(surfaces: Surfaces, positions: Floats) -> int:
    """How many edges and triangles pass through each other."""
    return crossings(positions, surfaces.edges, surfaces.triangles).shape[1]


def check_rows(contacts: Contacts) -> None:
    """Normals are unit vectors, and weights those of points within the features."""
    np.testing.assert_allclose(np.linalg.norm(contacts.normals, axis=0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(contacts.weights.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(contacts.weights).sum(axis=0), 2.0, rtol=1e-12)


@settings(max_examples=6)
@given(seed=seeds)
def test_every_pair_that_comes_near_on_its_way_is_found(seed: int) -> None:
    """None that a brute force finds nearer than its gap, at any of many moments, is missing."""
    rng = np.random.default_rng(seed)
    surfaces = all_meet(strewn(rng, 1, 0.4), strewn(rng, 1, 0.4))
    start = surfaces.rest
    end = start + rng.normal(size=start.shape) * rng.choice([0.02, 0.2])
    contacts = find_contacts(surfaces, start, end, skin=10.0)
    check_rows(contacts)
    rows = found_pairs(contacts)
    for first, second in element_pairs(surfaces):
        owners = surfaces.owners[[first[0], second[0]]]
        gap = min(GAP, 0.9 * apart(start, first, second)) if owners[0] == owners[1] else GAP
        nearest = min(apart(start + t * (end - start), first, second) for t in MOMENTS)
        found = any(row <= {*first, *second} for row in rows)
        assert nearest > 0.999 * gap or found


def test_of_many_bodies_only_those_near_each_other_are_looked_at() -> None:
    """A hundred squares in a row, by turns half and twice the reach apart: fifty of 4,950 pairs."""
    beyond = 0.01
    steps = (GAP + beyond) * np.where(np.arange(99) % 2, 2.0, 0.5)
    parts = [square(height) for height in np.append(0.0, steps.cumsum())]
    surfaces = all_meet(*parts)
    places = surfaces.rest.copy()
    skins = np.full(places.shape[1], beyond / 2)
    for owner in range(100):
        fit(surfaces, owner, places, places, skins)
    pairs = candidate_owners(surfaces, CONTACTS, 0.0).owners.T.tolist()
    assert [pair for pair in pairs if pair[0] != pair[1]] == [[k, k + 1] for k in range(0, 100, 2)]
    found = find_contacts(surfaces, places, places, beyond)
    assert {tuple(pair) for pair in np.sort(found.owners, axis=0).T.tolist()} == {
        (k, k + 1) for k in range(0, 100, 2)
    }


@settings(max_examples=20)
@given(seed=seeds)
def test_what_stands_still_is_found_as_far_apart_as_it_is(seed: int) -> None:
    """The least value of the rows of two triangles or edges is their distance."""
    rng = np.random.default_rng(seed)
    surfaces = all_meet(strewn(rng, 1, 0.3), strewn(rng, 1, 0.3))
    start = surfaces.rest
    contacts = find_contacts(surfaces, start, start, skin=0.03)
    check_rows(contacts)
    points = start[:, contacts.particles]
    values = np.einsum("ak,jk,ajk->k", contacts.normals, contacts.weights, points)
    rows = list(zip(map(set, contacts.particles.T.tolist()), values, strict=True))
    for first, second in element_pairs(surfaces):
        if surfaces.owners[first[0]] != surfaces.owners[second[0]]:
            true = apart(start, first, second)
            least = min((value for row, value in rows if row <= {*first, *second}), default=np.inf)
            assert (least < np.inf) == (true < GAP + 0.03)
            assert min(least, true) == pytest.approx(true, rel=1e-7, abs=1e-9)


def test_a_tree_finds_what_trying_all_pairs_finds() -> None:
    """Boxes within boxes leave nothing out, of several owners, some of which do not meet."""
    rng = np.random.default_rng(0)
    parts = [strewn(rng, count, 0.2) for count in (12, 7, 1, 9)]
    collides = np.ones((4, 4), dtype=bool)
    collides[0, 0] = collides[1, 3] = collides[3, 1] = False
    surfaces = join_surfaces(parts, collides, np.full((4, 4), GAP))
    start = surfaces.rest
    rows = found_pairs(find_contacts(surfaces, start, start, skin=0.0))
    near = []
    for first, second in element_pairs(surfaces):
        a, b = surfaces.owners[[first[0], second[0]]]
        if a != b:
            found = any(row <= {*first, *second} for row in rows)
            between = start[:, first].mean(axis=1) - start[:, second].mean(axis=1)
            close = np.abs(between).max() < 0.25 and apart(start, first, second) < GAP
            assert found == (close and collides[a, b])
            near.append(found)
    assert sum(near) > 5


def test_a_flat_piece_as_large_as_what_it_keeps_off_itself_is_passed_over() -> None:
    """However many of its own cells its distance reaches over: it lies nowhere on itself."""
    mesh = flat_sheet("triangles", 16)
    sheet = all_meet(surface(mesh.positions, mesh.face_vertices.reshape(-1, 3)), gap=0.6)
    fit(sheet, 0, sheet.rest, sheet.rest, np.zeros(sheet.rest.shape[1]))
    both = sheet.bvhs[0], sheet.bvhs[0]
    vertices, edges = candidate_pairs(*both, near_leaves(*both, 0.6))
    assert vertices.size == edges.size == 0


def test_only_what_is_near_active_particles_is_searched() -> None:
    """Then no pair of theirs is missing, and what is far from all of them is not among the rest."""
    rng = np.random.default_rng(1)
    surfaces = all_meet(*(strewn(rng, 40, 0.1) for _ in range(2)))
    start = surfaces.rest
    every = find_contacts(surfaces, start, start, skin=0.0)
    active = np.zeros(start.shape[1], dtype=bool)
    active[every.particles[0, ::10]] = True
    near = find_contacts(surfaces, start, start, skin=0.0, active=active)
    wanted = {row for row in found_pairs(every) if active[list(row)].any()}
    assert wanted <= found_pairs(near) <= found_pairs(every)
    assert len(near.gaps) < 0.7 * len(every.gaps)


def test_incident_features_and_what_lies_together_at_rest_are_left_alone() -> None:
    """Layers nearer than the gap do not touch; pressed, they keep nine tenths of what it was."""
    below, above = square(), square(0.01)
    points = np.concatenate([below.rest, above.rest], axis=1).T
    layers = surface(points, [*below.triangles.T, *(above.triangles.T + 4)])
    surfaces = all_meet(layers)
    assert not find_contacts(surfaces, surfaces.rest, surfaces.rest, skin=0.0).gaps.size
    pressed = surfaces.rest * np.array([[1.0], [1.0], [0.8]])
    contacts = find_contacts(surfaces, pressed, pressed, skin=0.0)
    assert len(contacts.gaps)
    np.testing.assert_allclose(contacts.gaps, 0.009)


def fold(half: float) -> Floats:
    """(3, 6) two squares of half a metre that share an edge, opened by twice this angle [rad].

    Their diagonals, 0 to 3 and 1 to 4, lead across each other as slight ridges.
    """
    across, up = 0.5 * np.cos(half), 0.5 * np.sin(half)
    ends = [(0.0, 0.0), (across, up), (across, -up)]
    points = np.array([(x, y, z) for x, z in ends for y in (0.0, 0.5)]).T
    points[2, [2, 5]] += 0.005, -0.005
    return points


@pytest.mark.parametrize("half", [0.005, 0.02, 0.03, 0.039])
def test_a_fold_is_opened_no_farther_than_to_where_it_is_held(half: float) -> None:
    """Pushed to beyond that, hanging cloth fell back and was pushed again, at 5 cm/s for ever."""
    squares = surface(fold(np.pi / 2).T, [(0, 3, 2), (0, 1, 3), (1, 0, 4), (1, 4, 5)])
    surfaces = all_meet(squares)

    def held(half: float) -> Floats:
        x = fold(half)
        found = find_contacts(surfaces, x, x, skin=GAP)
        crossing = (np.sort(found.particles, axis=0).T == [0, 1, 3, 4]).all(axis=1)
        return np.asarray(found.gaps[crossing])

    (gap,) = held(half)
    opened = np.arcsin(gap / 0.5)  # the diagonals are as far apart as their middles
    (there,) = held(opened)
    assert there == pytest.approx(gap, rel=1e-2)


@pytest.mark.parametrize(("gap", "held"), [(0.05, True), (2.0, True), (5.0, False)])
def test_the_guard_keeps_no_piece_smaller_than_its_distance_from_folding(
    gap: float, *, held: bool
) -> None:
    """A corner of a square that folds through the other half of it is free where that is small."""
    surfaces = all_meet(square(), gap=gap)
    start, end = surfaces.rest.copy(), surfaces.rest.copy()
    start[:, 1], end[:, 1] = (-0.5, 0.5, 0.1), (-0.5, 0.5, -0.1)
    passing = find_tunnelling(surfaces, start, end, np.ones(4))
    assert bool(len(passing.gaps)) == held


def test_a_search_does_not_depend_on_common_motion() -> None:
    """A folded sheet in a gale has the contacts that it has in calm air, for as many tests."""
    mesh = flat_sheet("triangles", 20)
    across, along, _ = mesh.positions.T
    places = np.stack([np.minimum(across, 1.0 - across), along, 0.01 * (across > 0.5)])
    places += np.random.default_rng(1).normal(0.0, 1e-3, places.shape)
    surfaces = all_meet(surface(places.T, mesh.face_vertices.reshape(-1, 3)), gap=0.02)
    gale = surfaces.longest * np.array([[30.0], [9.0], [-15.0]])
    found = []
    for carried in (0.0 * gale, gale):
        surfaces.take_searches()
        contacts = find_contacts(surfaces, places, places + carried, skin=0.01)
        found.append((contacts.keys.tolist(), int(surfaces.tests.sum())))
    assert found[0] == found[1]
    assert len(found[0][0]) > 100


def test_the_guard_keeps_layers_apart_that_lie_together_at_rest() -> None:
    """Two squares in one surface, nearer than its distance, pass through each other no more."""
    points = np.concatenate([square().rest, square(0.01).rest], axis=1).T
    halves = square().triangles.T
    layers = all_meet(surface(points, [*halves, *(halves + 4)]))
    fallen = layers.rest - [[0.0], [0.0], [0.03]] * (layers.rest[2] > 0.0)
    assert len(find_tunnelling(layers, layers.rest, fallen, np.ones(8)).gaps)


@pytest.mark.parametrize("speed", [0.04, 0.3, 30.0])
def test_normals_are_those_of_the_moment_of_touching(speed: float) -> None:
    """A corner that falls on a square, and slides as fast, is kept above it, at any speed."""
    needle = surface([(-0.5, 0.3, 0.03 + GAP), (-0.5, 0.3, 1.0), (-0.49, 0.3, 1.0)], [(0, 1, 2)])
    surfaces = all_meet(needle, square())
    end = surfaces.rest.copy()
    end[:, :3] += np.array([[0.5 * speed], [0.1 * speed], [-speed]])
    contacts = find_contacts(surfaces, surfaces.rest, end, skin=0.0)
    (row,) = np.flatnonzero(contacts.particles[0] == 0)
    np.testing.assert_allclose(contacts.normals[:, row], [0.0, 0.0, 1.0], atol=1e-9)
    share = 0.03 / speed  # of the way at which it touches
    touched = surfaces.rest[:, contacts.particles[1:, row]] @ -contacts.weights[1:, row]
    expected = np.array([-0.5, 0.3]) + share * speed * np.array([0.5, 0.1])
    np.testing.assert_allclose(touched[:2], expected, atol=0.02 * GAP)


def test_only_the_front_of_a_single_sided_surface_touches() -> None:
    """What is behind may come out; what is before may not go in."""
    needle = surface([(0.2, 0.3, 0.0), (0.2, 0.3, 1.0), (0.21, 0.3, 1.0)], [(0, 1, 2)])
    flipped = surface(needle.rest.T * [1, 1, -1], [(0, 1, 2)])
    for part, side in ((needle, 1.0), (flipped, -1.0)):
        for gap, expected in ((0.5, True), (1.5, True)):
            start = part.rest + np.array([[0.0], [0.0], [side * 0.1]])
            end = start - np.array([[0.0], [0.0], [side * gap]])
            for single_sided in (True, False):
                surfaces = all_meet(
                    surface(start.T, [(0, 1, 2)]), square(single_sided=single_sided)
                )
                ends = np.concatenate([end, surfaces.rest[:, 3:]], axis=1)
                found = len(find_contacts(surfaces, surfaces.rest, ends, skin=0.0).gaps) > 0
                assert found == (expected and (side > 0.0 or not single_sided))


@pytest.mark.parametrize("way", [0.0, 1.0])
def test_degenerate_pairs_have_finite_rows(way: float) -> None:
    """Parallel edges, coincident corners, triangles without area, points on triangles."""
    flat = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.5, 0.0, 0.0)]
    point = [(0.5, 0.0, 0.0)] * 3
    parts = [surface(corners, [(0, 1, 2)]) for corners in (flat, flat, point, point)]
    surfaces = all_meet(*parts, square())
    end = surfaces.rest.copy()
    end[2] += way * np.linspace(-1.0, 1.0, end.shape[1])
    contacts = find_contacts(surfaces, surfaces.rest, end, skin=0.1)
    assert len(contacts.gaps)
    check_rows(contacts)
    kept = prevent_tunnelling(surfaces, surfaces.rest, end, np.ones(end.shape[1]))
    assert np.isfinite(kept).all()


def test_vertices_that_are_nowhere_touch_nothing() -> None:
    """NaN and infinity in one triangle leave the rest of its surface to be found."""
    parts = [square(), square(0.02)]
    surfaces = all_meet(*parts)
    start = surfaces.rest.copy()
    start[:, 1], start[:, 5] = np.nan, np.inf
    contacts = find_contacts(surfaces, start, start, skin=0.0)
    assert {1, 5}.isdisjoint(contacts.particles.ravel().tolist())
    assert np.isfinite(contacts.normals).all()
    assert (contacts.particles[0] == 3).any()


@pytest.mark.slow
@settings(max_examples=30)
@given(seed=seeds, speed=st.sampled_from([0.02, 0.1, 1.0, 50.0]))
def test_nothing_passes(seed: int, speed: float) -> None:
    """Whatever moves at random crosses nothing that it did not cross; and only it is held back."""
    rng = np.random.default_rng(seed)
    surfaces = all_meet(strewn(rng, 3, 0.2), strewn(rng, 4, 0.2), gap=0.02)
    start = surfaces.rest
    if crossing_count(surfaces, start):
        return
    end = start + rng.normal(size=start.shape) * speed
    kept = prevent_tunnelling(surfaces, start, end, np.ones(start.shape[1]))
    assert crossing_count(surfaces, kept) == 0
    again = prevent_tunnelling(surfaces, start, kept, np.ones(start.shape[1]))
    np.testing.assert_array_equal(again, kept)


@settings(max_examples=30)
@given(seed=seeds, speed=st.sampled_from([0.1, 1.0, 50.0]))
def test_what_cannot_be_stopped_takes_along_what_it_hits(seed: int, speed: float) -> None:
    """Triangles without inverse mass fly on, and nothing that they hit stays behind them."""
    rng = np.random.default_rng(seed)
    surfaces = all_meet(strewn(rng, 3, 0.2), strewn(rng, 3, 0.2), gap=0.02)
    start = surfaces.rest
    if crossing_count(surfaces, start):
        return
    movable = surfaces.owners == 0
    end = start.copy()
    end[:, ~movable] += speed * rng.normal(size=(3, 1))
    kept = prevent_tunnelling(surfaces, start, end, movable.astype(float))
    np.testing.assert_array_equal(kept[:, ~movable], end[:, ~movable])
    assert crossing_count(surfaces, kept) == 0


def test_the_guard_leaves_free_motion_alone() -> None:
    """What passes nothing ends where it was going, to the last bit."""
    rng = np.random.default_rng(2)
    surfaces = all_meet(strewn(rng, 5, 0.2), gap=0.02)
    end = surfaces.rest + np.array([[3.0], [1.0], [-100.0]])
    kept = prevent_tunnelling(surfaces, surfaces.rest, end, np.ones(end.shape[1]))
    np.testing.assert_array_equal(kept, end)


def test_the_guard_does_not_hold_what_starts_in_one_place() -> None:
    """Two surfaces that coincide have no sides to be kept on, and go where they were going."""
    surfaces = all_meet(square(), square())
    end = surfaces.rest.copy()
    end[2, :4] -= 0.1
    kept = prevent_tunnelling(surfaces, surfaces.rest, end, np.ones(end.shape[1]))
    np.testing.assert_array_equal(kept, end)


def test_the_guard_leaves_alone_what_turns_about_a_contact() -> None:
    """A long edge that another crosses at twice the touching distance, however far its ends go."""
    above = surface([(0.0, -1.0, 0.01), (0.0, 1.0, 0.01)], edges=[(0, 1)])
    surfaces = all_meet(above, surface([(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)], edges=[(0, 1)]))
    end = surfaces.rest.copy()
    end[2, 2:] = -0.3, 0.3
    assert not len(find_tunnelling(surfaces, surfaces.rest, end, np.ones(4)).gaps)


def test_what_other_constraints_pull_down_comes_apart_from_step_to_step() -> None:
    """The guard has the last word, or a corner would come so near that its side is uncertain."""
    needle = surface([(-0.5, 0.3, 1e-4), (-0.5, 0.3, 1.0), (-0.49, 0.3, 1.0)], [(0, 1, 2)])
    surfaces = all_meet(needle, square())
    start = surfaces.rest.copy()
    free = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0])

    def pull_down(positions: Floats) -> None:
        positions[2, 0] = -0.01

    for _ in range(20):
        end = start.copy()
        pull_down(end)
        start = prevent_tunnelling(surfaces, start, end, free, pull_down)
    assert start[2, 0] > 2 * TUNNELLING.gap_share * GAP


@pytest.mark.parametrize("loose", [False, True])
@pytest.mark.parametrize("edge", [False, True])
def test_the_guard_lets_what_crosses_come_apart(*, edge: bool, loose: bool) -> None:
    """A triangle, or a loose edge, through the middle of a square or its side; and never back."""
    points = np.array([(0.3, 0.1, 0.2), (0.3, 0.1, -0.1), (0.3, 0.4, -0.1)])
    points[:, 0] += 0.65 * edge
    low = surface(points[:2], edges=[(0, 1)]) if loose else surface(points, [(0, 1, 2)])
    surfaces = all_meet(square(), low, gap=0.02)
    apart = surfaces.rest.copy()
    apart[:, 4:] += np.array([[0.2], [0.0], [0.0]]) if edge else np.array([[0.0], [0.0], [-0.4]])
    free = np.ones(apart.shape[1])
    assert crossing_count(surfaces, surfaces.rest)
    assert not crossing_count(surfaces, apart)
    np.testing.assert_array_equal(prevent_tunnelling(surfaces, surfaces.rest, apart, free), apart)
    back = prevent_tunnelling(surfaces, apart, surfaces.rest, free)
    assert not crossing_count(surfaces, back)


def crumpled(rng: np.random.Generator) -> tuple[Surfaces, Floats, Floats]:
    """A sheet folded over a ball of one side, a hill and itself, with a rope, on its way."""
    sheet_mesh, ball_mesh = flat_sheet("strewn triangles", 12), split(sphere(12, 8, radius=0.3))
    faces = [mesh.face_vertices.reshape(-1, 3) for mesh in (sheet_mesh, ball_mesh)]
    rope = [(0.1 * k, 0.5, 0.02) for k in range(10)]
    parts = [
        surface(sheet_mesh.positions, faces[0]),
        surface(rope, (), [(k, k + 1) for k in range(9)]),
        surface(ball_mesh.positions + np.array([0.5, 0.5, -0.29]), faces[1], single_sided=True),
        bowed(flat_sheet("strewn triangles", 24), -0.02, size=1.2, bow=0.2),
    ]
    surfaces = all_meet(*parts, gap=0.03)
    start = surfaces.rest.copy()
    sheet_x = start[0, :169].copy()
    start[0, :169] = np.where(sheet_x > 0.7, 1.4 - sheet_x, sheet_x)
    start[2, :169] += np.where(sheet_x > 0.7, 0.04, 0.0)
    start += rng.normal(size=start.shape) * np.where(surfaces.owners < 3, 0.003, 0.0)
    return surfaces, start, start + rng.normal(size=start.shape) * 0.01


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels have one thread")
@pytest.mark.parametrize("threads", ["2", "5"])
def test_threads_find_the_same_to_the_last_bit(
    threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many look for what touches, in a sheet large enough for five; and as much work."""
    one, other = (searched_by(each, monkeypatch) for each in ("1", threads))
    assert vars(one[0].work) == vars(other[0].work)
    assert one[0].work.pair_tests > one[0].work.contact_rows == one[1].gaps.size > 1000
    for each in fields(Contacts):
        np.testing.assert_array_equal(*(getattr(found, each.name) for _, found in (one, other)))


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels have one thread")
def test_threads_give_up_after_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some get farther than others before all of them stop; what they did then does not count."""
    monkeypatch.setattr(surfaces_module, "MAX_TESTS_PER_PARTICLE", 1)
    one, other = (searched_by(each, monkeypatch) for each in ("1", "5"))
    assert one[0].given_up == other[0].given_up == {(0, 0)}
    assert vars(one[0].work) == vars(other[0].work)
    assert one[0].work.leaf_tests == one[0].max_tests[0, 0] + 1 == one[0].tests[0, 0]


def searched_by(threads: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Surfaces, Contacts]:
    """A folded sheet of waves, and the contacts that so many threads find."""
    monkeypatch.setenv("VERLET_THREADS", threads)
    mesh = flat_sheet("strewn triangles", 100)
    rng = np.random.default_rng(0)
    start = mesh.positions.T.copy()
    start[2] = 0.02 * np.sin(40.0 * start[0]) * np.sin(30.0 * start[1])
    start[0] = np.where(start[0] > 0.6, 1.2 - start[0], start[0])
    end = start + rng.normal(size=start.shape) * 0.002
    surfaces = all_meet(surface(mesh.positions, mesh.face_vertices.reshape(-1, 3)), gap=0.004)
    with working_team(int(threads)):
        return surfaces, find_contacts(surfaces, start, end, skin=0.002)


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels need no room")
def test_what_there_is_no_room_for_is_found_all_the_same() -> None:
    """With room for five rows and three near pairs, and with that of the search before."""
    surfaces, start, end = crumpled(np.random.default_rng(0))
    given = surfaces, start, end, CONTACTS, None, np.full(start.shape[1], 0.005)
    expected, near = find_pairs(*given)
    assert min(expected.gaps.size, near.capacity) > 100
    surfaces.buffers[:] = [(room_for_rows(5), room_for_near_pairs(3))]
    for _ in range(2):
        found, listed = find_pairs(*given)
        for each in fields(Contacts):
            np.testing.assert_array_equal(getattr(found, each.name), getattr(expected, each.name))
        np.testing.assert_array_equal(listed.clearances, near.clearances)


@pytest.mark.parametrize("wish", ["0", "many", "-2"])
def test_threads_that_cannot_be_are_named(wish: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One clear sentence."""
    monkeypatch.setenv("VERLET_THREADS", wish)
    with pytest.raises(KernelError, match=f"VERLET_THREADS is '{wish}'"):
        thread_count()


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")
@pytest.mark.parametrize("criteria", [CONTACTS, TUNNELLING], ids=["contacts", "guard"])
@given(seed=seeds)
@settings(max_examples=8)
def test_compiled_kernels_find_the_same_to_the_last_bit(
    criteria: SearchCriteria, seed: int
) -> None:
    """Trees, pairs, weights, normals, gaps and the work done, whichever kernels serve."""
    surfaces, start, end = crumpled(np.random.default_rng(seed))
    found = []
    for library in (backend().library, None):
        with patch.object(backend(), "library", library):
            found.append(
                [part.tobytes() for part in searched(surfaces, start, end, criteria, seed)]
            )
    assert found[0] == found[1]


def searched(
    surfaces: Surfaces, start: Floats, end: Floats, criteria: SearchCriteria, seed: int
) -> list[NDArray[Any]]:
    """Everything that a search writes and finds."""
    surfaces.paths[:] = np.nan
    chances = np.random.default_rng(seed).random(start.shape[1])
    active = chances < 0.01
    fit_all(surfaces, start, end, 0.01 * chances)
    surfaces.active[:] = active
    activate_all(surfaces)
    flags = [bvh.active[1:].copy() for bvh in surfaces.bvhs]
    surfaces.active[:] = True
    activate_all(surfaces)
    fitted = [part for bvh in surfaces.bvhs for part in (bvh.boxes[1:], bvh.cones[1:])]
    fitted += [surfaces.edge_turns, surfaces.corner_turns]
    pairs = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 2)]
    take_counts(surfaces.work)
    lists_of_pairs = [*([pair] for pair in pairs), pairs]
    both = [
        find_rows(surfaces, BVHPairs([surfaces.pair_of(*pair) for pair in some]), criteria)
        for some in lists_of_pairs
    ]
    assert both[0][0].capacity + both[2][0].capacity
    assert both[-1][1].capacity > 100 or criteria.all_touching
    found: list[FoundPairs] = [each for rows_and_near in both for each in rows_and_near]
    known = selected(both[-1][1], np.lexsort(both[-1][1].features[::-1]))
    way = np.full(start.shape[1], 0.002)
    rows = room_for_rows(500)
    tests = np.zeros(1, dtype=np.int64)
    count = find_rows_of_near(surfaces, known, TUNNELLING, way, rows, tests)
    found.append(rows.first(count))
    listed = [are_active(surfaces, known, active), pair_deviations(surfaces, known, way)]
    parts = [selected(each, np.lexsort(each.features[::-1])) for each in found]
    lists = [part for each in parts for part in vars(each).values()]
    particles = np.random.default_rng(seed).integers(start.shape[1], size=(4, 50))
    weights = end[0][particles]
    sums = sum_weighted(start, particles, weights)
    counts = np.array([*take_counts(surfaces.work).values()])
    return [*fitted, *flags, *lists, *listed, sums, counts, tests]


def test_corners_of_fine_colliders_count_only_where_they_stick_out() -> None:
    """On a smooth hill only a sheet's own corners do, and a spike in it as well."""
    sheet, fine = flat_sheet("triangles", 4), flat_sheet("triangles", 40)
    hill = bowed(fine, 0.0, size=2.0, bow=0.05)
    lying = surface(
        sheet.positions + np.array([0, 0, 1.2 * GAP]), sheet.face_vertices.reshape(-1, 3)
    )
    for spike in (0.0, 0.6 * GAP):
        points = hill.rest.copy()
        tip = int(np.linalg.norm(points - [[0.4], [0.4], [0.0]], axis=0).argmin())
        points[2, tip] += spike
        surfaces = all_meet(lying, replace(hill, rest=points))
        found = find_contacts(surfaces, surfaces.rest, surfaces.rest, skin=GAP)
        between = found.chosen((found.owners == [[0], [1]]).all(axis=0))
        assert set(range(25)) <= set(between.particles[0].tolist())
        others = found.chosen((found.owners == [[1], [0]]).all(axis=0)).particles[0]
        assert ((len(sheet.positions) + tip) in others) == (spike > 0.0)
        away = surfaces.rest[:2, others] - points[:2, [tip]]
        assert (np.abs(away) < 1.5 * 2.0 / 40).all()


@pytest.mark.parametrize("kind", ["no faces", "one point", "inside out", "passes through itself"])
def test_hostile_colliders_leave_finite_motion(kind: str) -> None:
    """Nothing crashes or is lost, whatever a collider's mesh is like."""
    rng = np.random.default_rng(0)
    ball_mesh = split(sphere(8, 6, radius=0.3))
    points, faces = ball_mesh.positions.copy(), ball_mesh.face_vertices.reshape(-1, 3)
    if kind == "no faces":
        faces = faces[:0]
    elif kind == "one point":
        points *= 0.0
    elif kind == "inside out":
        faces = faces[:, ::-1]
    else:
        points += rng.normal(size=points.shape) * 0.2
    collider = surface(points, faces, single_sided=True)
    surfaces = all_meet(strewn(rng, 5, 0.3), collider)
    movable = (surfaces.owners == 0).astype(float)
    end = surfaces.rest + rng.normal(size=surfaces.rest.shape) * 0.1
    check_rows(find_contacts(surfaces, surfaces.rest, end, skin=0.05))
    kept = prevent_tunnelling(surfaces, surfaces.rest, end, movable)
    assert np.isfinite(kept).all()
    np.testing.assert_array_equal(kept[:, movable == 0.0], end[:, movable == 0.0])
