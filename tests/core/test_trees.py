"""Ropes that branch are solved directly, however they branch."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.core.bodies import WEIGHTLESS, frames, lengths, make_mesh, pinned, simulated, strains
from verlet_addon.core.arrays import Floats, Integers
from verlet_addon.core.ropes.constraints import with_start_spring_forces
from verlet_addon.core.ropes.kernels import project_trees
from verlet_addon.core.ropes.rope_trees import (
    TreeBatches,
    build_trees,
    find_tree_edges,
    tree_batches,
)
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.stretch.strip_batches import StripBatch, strip_batches

G = 9.81


def grow(seed: int, count: int) -> Integers:
    """(count − 1, 2) edges of a random tree; some of it long paths, some of it bushes."""
    random = np.random.default_rng(seed)
    reach = random.integers(1, count + 1)
    parents = [int(random.integers(max(0, k - reach), k)) for k in range(1, count)]
    names = random.permutation(count)
    return np.array([(names[p], names[k]) for k, p in enumerate(parents, start=1)], dtype=np.int64)


def sample(seed: int, count: int, pins: int) -> tuple[Integers, Floats, Floats, TreeBatches]:
    """A random tree's edges, inverse masses, positions (3, n) and batches; forces are 1 m/h² kg."""
    random = np.random.default_rng(seed + 1)
    edges = grow(seed, count)
    inverse_masses = random.uniform(0.5, 2.0, count)
    inverse_masses[random.choice(count, pins, replace=False)] = 0.0
    trees = build_trees(
        edges, np.ones(count - 1), random.choice([0.0, 0.3], count - 1), inverse_masses == 0.0
    )
    strips = with_start_spring_forces(
        strip_batches(trees.strips, inverse_masses, 1.0, regularization=0.0)
    )
    batches = tree_batches(trees, strips, inverse_masses)
    return edges, inverse_masses, random.normal(size=(3, count)), batches


def links(batch: StripBatch) -> list[tuple[int, int, int]]:
    """(place, first particle, second particle) of every link of a batch."""
    inside = np.flatnonzero(batch.labels[1:] == batch.labels[:-1]).tolist()
    return [(k, int(batch.path[k]), int(batch.path[k + 1])) for k in inside]


TREES = {"seed": st.integers(0, 10_000), "count": st.integers(2, 40), "pins": st.integers(0, 1)}


@settings(max_examples=60, deadline=None)
@given(**TREES)
def test_every_edge_is_in_one_path_and_junctions_carry(seed: int, count: int, pins: int) -> None:
    """All edges are there once, and each particle has one path that moves it."""
    edges, _, _, trees = sample(seed, count, pins)
    found = [
        sorted(pair) for generation in trees.generations for _, *pair in links(generation.batch)
    ]
    assert sorted(found) == sorted(np.sort(edges, axis=1).tolist())
    firsts = [np.flatnonzero(np.diff(each.batch.labels, prepend=-1)) for each in trees.generations]
    owned = [
        np.delete(each.batch.path, first[each.supports >= 0])
        for each, first in zip(trees.generations, firsts, strict=True)
    ]
    np.testing.assert_array_equal(np.sort(np.concatenate(owned)), np.arange(count))


@settings(max_examples=60, deadline=None)
@given(**TREES)
def test_one_step_is_that_of_the_full_system(seed: int, count: int, pins: int) -> None:
    """(J M⁻¹ Jᵀ + α) Δλ = −(C + α λ) with NumPy's dense solver moves every particle alike."""
    _, w, positions, trees = sample(seed, count, pins)
    rows, softness, violation = [], [], []
    for generation in trees.generations:
        generation.batch.multipliers[...] = -0.1
        for k, a, b in links(generation.batch):
            span = positions[:, b] - positions[:, a]
            row = np.zeros((3, count))
            row[:, b] = span / np.linalg.norm(span)
            row[:, a] = -row[:, b]
            rows.append(row.ravel())
            softness.append(generation.batch.scaled_compliances[k])
            violation.append(np.linalg.norm(span) - 1.0 - 0.1 * softness[-1])
    jacobian = np.array(rows)
    system = (jacobian * np.tile(w, 3)) @ jacobian.T + np.diag(softness)
    change = np.linalg.lstsq(system, -np.array(violation), rcond=None)[0]
    expected = positions + ((jacobian.T @ change) * np.tile(w, 3)).reshape(3, count)
    project_trees(positions, trees)
    np.testing.assert_allclose(positions, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("substeps", [2, 10])
def test_every_link_of_a_mobile_carries_what_hangs_on_it(substeps: int) -> None:
    """A tree of springs at rest: each link is longer by compliance × the weight below it."""
    # Two branches hang side by side from the end of the first link.
    points = [(0.0, 0.0, -depth) for depth in (0.0, 1.0, 1.5, 1.7, 2.5, 2.3)]
    mesh = pinned(make_mesh(points, edges=[(0, 1), (1, 2), (1, 3), (3, 4), (2, 5)]), [0])
    body = BodySettings(body_type="ROPE", mass=1.0, stretch_compliance=1e-3, damping=30.0)
    (track,) = simulated([(mesh, body)], frames(2.0, 24), SceneSettings(substeps=substeps))
    rest, found = lengths(mesh.positions, mesh.edges), lengths(track[-1], mesh.edges)
    shares = np.zeros(6)
    np.add.at(shares, mesh.edges.ravel(), np.repeat(rest / 2, 2))
    weights = G * shares / shares.sum()
    below = {(0, 1): [1, 2, 3, 4, 5], (1, 2): [2, 5], (1, 3): [3, 4], (2, 5): [5], (3, 4): [4]}
    expected = [1e-3 * weights[below[a, b]].sum() for a, b in mesh.edges.tolist()]
    np.testing.assert_allclose(found / rest - 1.0, expected, rtol=1e-4)


def test_a_swinging_bush_keeps_its_lengths() -> None:
    """No link of a rope with 31 branches stretches while it falls from its pin and swings."""
    random = np.random.default_rng(0)
    points, edges, tips = [np.zeros(3)], [], [(0, np.array([0.0, 0.0, -1.0]), 5)]
    while tips:
        at, direction, depth = tips.pop()
        for _ in range(8):
            points.append(points[at] + direction / 40)
            edges.append((at, len(points) - 1))
            at = len(points) - 1
        for _ in range(2 * (depth > 1)):
            turned = direction + random.normal(size=3)
            tips.append((at, turned / np.linalg.norm(turned), depth - 1))
    mesh = pinned(make_mesh(points, edges=edges), [0])
    (track,) = simulated([(mesh, BodySettings(body_type="ROPE"))], frames(2.0, 24))
    assert np.abs(strains(mesh, track)).max() < 1e-6
    assert np.abs(track[-1] - track[0]).max() > 0.2, "it should have swung"


def test_rings_are_told_from_trees() -> None:
    """Only components without any ring are trees."""
    edges = np.array([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (6, 7), (2, 8)])
    expected = [False, False, False, True, True, True, False]
    assert find_tree_edges(9, edges).tolist() == expected


def test_free_tree_stays_at_rest() -> None:
    """Nothing pulls at a branching rope that nothing acts on."""
    points = np.random.default_rng(3).normal(size=(12, 3))
    mesh = make_mesh(points, edges=grow(5, 12))
    (track,) = simulated(
        [(mesh, BodySettings(body_type="ROPE"))], frames(0.25, 24), gravity=WEIGHTLESS
    )
    np.testing.assert_allclose(track[-1], points, rtol=0, atol=1e-9)


MEETING: dict[str, tuple[list[tuple[float, float, float]], list[tuple[int, int]]]] = {
    "three": ([(0, 0, 0), (1, 0, 0), (-0.3, 0.4, 0), (-0.1, -1.2, 0.3)], [(0, 1), (0, 2), (0, 3)]),
    "four at two junctions": (
        [
            (-0.5, 0, 0),
            (0.5, 0, 0),
            (-0.9, 0.7, 0),
            (-0.8, -0.9, 0.2),
            (0.7, 0.8, -0.1),
            (1, -1, 0),
        ],
        [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5)],
    ),
}
"""Corners, and the ropes between them; those with one rope are pinned."""


@pytest.mark.parametrize("name", MEETING)
@pytest.mark.parametrize("pulled", [0.02, 0.3])
def test_ropes_that_meet_and_are_pulled_longer_than_they_are_hang_still(
    name: str, pulled: float
) -> None:
    """Where no place of a junction is near enough to all pins, as balanced springs would be.

    They flew about at 4 m/s and more. In the limit their pulls, by strain, add up to nothing.
    """
    corners, ropes = MEETING[name]
    points, edges = [np.array(corner, dtype=float) for corner in corners], []
    for first, last in ropes:
        way = [first, *range(len(points), len(points) + 5), last]
        points += [points[first] + (points[last] - points[first]) * k / 6 for k in range(1, 6)]
        edges += [(way[k], way[k + 1]) for k in range(6)]
    ends = np.flatnonzero(np.bincount(np.array(edges).ravel()) == 1)
    mesh = pinned(make_mesh(points, edges=edges), ends)

    def targets(time: float) -> list[Floats]:
        moved = mesh.positions.copy()
        moved[ends] *= 1.0 + pulled * min(time / 0.25, 1.0)
        return [moved]

    body = BodySettings(body_type="ROPE", damping=5.0)
    (track,) = simulated([(mesh, body)], frames(2.0, 24), targets=targets)
    assert np.abs(np.diff(track[-12:], axis=0)).max() * 24 < 5e-3
    strained = strains(mesh, track[-1])
    assert strained.max() < 1.3 * pulled + 1e-6
    forces = np.zeros_like(mesh.positions)
    for (a, b), strain in zip(mesh.edges, strained, strict=True):
        way = track[-1, b] - track[-1, a]
        forces[[a, b]] += np.outer([1.0, -1.0], strain * way / np.linalg.norm(way))
    free = np.delete(forces, ends, axis=0)
    assert np.linalg.norm(free, axis=1).max() < 0.01 * pulled
