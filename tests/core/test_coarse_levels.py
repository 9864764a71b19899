"""Coarse levels hold a body together without ever holding it shorter than it is."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from tests.core.bodies import (
    disc,
    lengths,
    make_mesh,
    moved,
    rotation,
    sheet,
    sphere,
    tube,
)
from verlet_addon.core.arrays import Floats, Integers
from verlet_addon.core.compiled import backend
from verlet_addon.core.geometry.faces import face_diagonals, read_corners
from verlet_addon.core.geometry.graph import Graph, find_neighbours
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.stretch.coarse_levels import (
    MAX_STRAIGHT_DETOUR,
    Level,
    build_levels,
    choose_coarse,
)

UP = (0.0, 0.0, 1.0)
FLAT: dict[str, MeshData] = {
    "quads": sheet(12),
    "triangles": sheet(12, triangles=True),
    "disc": disc(8),
}


def graph_of(mesh: MeshData) -> Graph:
    """Edges, and the diagonals of faces."""
    across, _ = face_diagonals(read_corners(mesh))
    pairs = np.concatenate([mesh.edges, across])
    return Graph(pairs, lengths(mesh.positions, pairs))


def levels_of(mesh: MeshData, normals: Floats, *, pins: tuple[int, ...] = ()) -> list[Level]:
    """The levels of a mesh whose vertices all weigh the same."""
    count = len(mesh.positions)
    pinned = np.isin(np.arange(count), pins)
    return build_levels(
        graph_of(mesh),
        mesh.positions,
        np.broadcast_to(normals, (count, 3)),
        np.ones(count),
        pinned,
    )


def limits(mesh: MeshData, level: Level) -> tuple[Floats, Floats]:
    """Each coarse distance, and the straight line between its ends [m]."""
    pairs, limit = limited(level)
    return limit, lengths(mesh.positions, pairs)


def limited(level: Level) -> tuple[Integers, Floats]:
    """Pairs of the model's particles that a level keeps together, and how far apart they may be."""
    pairs = [batch.particles.reshape(2, -1).T for batch in level.limits]
    limit = [batch.rest_lengths for batch in level.limits]
    return level.particles[np.concatenate(pairs)], np.concatenate(limit)


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("turn", [0.0, 0.8])
def test_flat_cloth_is_measured_straight(name: str, turn: float) -> None:
    """On a flat sheet a coarse distance is the straight line, unless the way is far longer."""
    matrix = rotation((1, 2, 3), turn)
    mesh = moved(FLAT[name], matrix)
    levels = levels_of(mesh, matrix @ UP)
    assert levels
    for level in levels:
        limit, straight = limits(mesh, level)
        assert (limit > straight * (1 - 1e-9)).all()
        near = limit < 1.15 * straight
        np.testing.assert_allclose(limit[near], straight[near], rtol=1e-6)
        assert near.mean() > 0.5


def test_sphere_is_not_held_shorter_than_it_is() -> None:
    """On a sphere a coarse distance lies between the straight line and the way over the mesh."""
    mesh = sphere(20, 12)
    for level in levels_of(mesh, mesh.positions / 0.5):
        limit, straight = limits(mesh, level)
        assert (limit > straight * (1 - 1e-9)).all()
        over = 2 * 0.5 * np.arcsin(np.minimum(straight, 1.0))
        assert (limit < 1.5 * over).all()


def half_tube(columns: int, *, triangles: bool) -> tuple[MeshData, Floats, Floats]:
    """Cloth that is bent to half a tube, its normals, and (n, 3) where it lies unrolled."""
    radius = 0.4
    mesh = sheet(columns, 10, triangles=triangles)
    angle = mesh.positions[:, 0] * np.pi
    # The mesh's chords are shorter than its arcs: what the cloth itself can reach is flat.
    step = 2 * radius * np.sin(np.pi / columns / 2) * columns
    flat = mesh.positions * (step, 1.0, 1.0)
    normals = np.stack([np.sin(angle), 0.0 * angle, np.cos(angle)], axis=1)
    mesh.positions[:, ::2] = radius * normals[:, ::2]
    return mesh, normals, flat


def corrugated(waves: int, *, triangles: bool) -> tuple[MeshData, Floats, Floats]:
    """Cloth in so many waves of 48 columns, its normals, and (n, 3) where it lies drawn out."""
    mesh = sheet(48, triangles=triangles)
    column = np.rint(48 * mesh.positions[:, 0]).astype(int)
    x = np.linspace(0.0, 1.0, 49)
    height = 0.12 / waves * np.sin(2 * np.pi * waves * x)
    way = np.append(0.0, np.cumsum(np.hypot(np.diff(x), np.diff(height))))
    slope = np.gradient(height, x)[column]
    flat = np.stack([way[column], mesh.positions[:, 1], 0.0 * slope], axis=1)
    mesh.positions[:, 2] = height[column]
    normals = np.stack([-slope, 0.0 * slope, np.ones_like(slope)], axis=1)
    return mesh, normals / np.sqrt(1.0 + slope**2)[:, None], flat


@pytest.mark.parametrize("triangles", [False, True], ids=["quads", "triangles"])
@pytest.mark.parametrize(
    "shape",
    [
        partial(half_tube, 16),
        partial(half_tube, 40),
        partial(corrugated, 3),
        partial(corrugated, 12),
    ],
    ids=["coarse tube", "tube", "waves", "creases"],
)
def test_bent_cloth_may_unroll(
    shape: Callable[..., tuple[MeshData, Floats, Floats]], triangles: bool
) -> None:
    """Bent cloth is as long, unrolled, as the way along it: no coarse distance is shorter."""
    mesh, normals, flat = shape(triangles=triangles)
    levels = levels_of(mesh, normals)
    assert levels
    for level in levels:
        pairs, limit = limited(level)
        assert (limit > lengths(flat, pairs) * (1 - 1e-6)).all()


def test_curved_cloth_is_measured_as_if_unrolled() -> None:
    """Round a tube the finest level allows 0.1 % more than what is really there, on average.

    Ways along the edges of triangles are 4 % longer, and would hold nothing together.
    """
    mesh, normals, flat = half_tube(40, triangles=True)
    pairs, limit = limited(levels_of(mesh, normals)[-1])
    excess = limit / lengths(flat, pairs) - 1.0
    near = excess < MAX_STRAIGHT_DETOUR - 1.0
    assert near.mean() > 0.5
    assert excess[near].mean() < 1e-3


def test_slit_cloth_may_gape() -> None:
    """Across a slit the way round its end counts, not the gap."""
    mesh = sheet(24)
    graph = graph_of(mesh)
    middle = mesh.positions[graph.pairs]
    crosses = ((middle[:, 0, 0] - 0.54) * (middle[:, 1, 0] - 0.54) < 0) & (
        middle[..., 1].min(axis=1) > 0.2
    )
    count = len(mesh.positions)
    slit = Graph(graph.pairs[~crosses], graph.lengths[~crosses])
    levels = build_levels(
        slit,
        mesh.positions,
        np.broadcast_to(UP, (count, 3)),
        np.ones(count),
        np.zeros(count, dtype=bool),
    )
    tip, seen = np.array([0.54, 0.25, 0.0]), 0
    for level in levels:
        pairs, limit = limited(level)
        ends = mesh.positions[pairs]
        straight = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        round_the_tip = np.linalg.norm(ends - tip, axis=2).sum(axis=1)
        opposite = (ends[:, 0, 0] - 0.54) * (ends[:, 1, 0] - 0.54) < 0
        share = (tip[0] - ends[:, 0, 0]) / np.where(opposite, ends[:, 1, 0] - ends[:, 0, 0], 1.0)
        crossing = ends[:, 0, 1] + share * (ends[:, 1, 1] - ends[:, 0, 1])
        # Ways that are hardly longer than the straight line count as that.
        far = opposite & (crossing > tip[1]) & (round_the_tip > MAX_STRAIGHT_DETOUR * straight)
        assert (limit[far] > round_the_tip[far] - 1e-9).all()
        seen += far.sum()
    assert seen, "some pairs should lie on both sides of the slit"


@pytest.mark.parametrize(
    ("mesh", "normals"),
    [(sheet(12), np.array(UP)), (disc(8), np.array(UP)), (tube(16, 10), np.zeros(3))],
)
def test_corrections_are_handed_down_whole(mesh: MeshData, normals: Floats) -> None:
    """Every child's weights add up to 1, those of pinned children to 0; masses are all there."""
    pins = (0, 5, 40)
    levels = levels_of(mesh, normals, pins=pins)
    assert levels
    for level in levels:
        sums = level.weights.sum(axis=1)
        held = np.isin(level.children, pins)
        np.testing.assert_allclose(sums[~held], 1.0)
        np.testing.assert_array_equal(level.weights[held], 0.0)
        assert (level.weights >= 0.0).all()
        assert np.isin(level.particles, level.children).all()
        inverse_masses = np.zeros(len(level.particles))
        for batch in level.limits:
            inverse_masses[batch.particles] = [*batch.first_masses, *batch.second_masses]
        assert (inverse_masses[np.isin(level.particles, pins)] == 0.0).all()
        masses = 1.0 / inverse_masses[inverse_masses > 0.0]
        assert 0.0 < masses.sum() <= len(mesh.positions) + 1e-9


def test_levels_get_coarser() -> None:
    """From coarse to fine each level has several times the particles of the one before."""
    sizes = [len(level.particles) for level in levels_of(sheet(24), np.array(UP))]
    assert sizes == sorted(sizes)
    assert len(sizes) >= 2
    assert all(fine > 2 * coarse for coarse, fine in pairwise(sizes))


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")
@pytest.mark.parametrize("mesh", [*FLAT.values(), sphere(20, 12)], ids=[*FLAT, "sphere"])
@pytest.mark.parametrize("pins", [(), (0,), (3, 4, 5, 70)])
def test_compiled_levels_are_the_same(mesh: MeshData, pins: tuple[int, ...]) -> None:
    """Where particles lie unevenly, and where many are as good as each other."""
    shaken = np.random.default_rng(0).normal(scale=0.01, size=mesh.positions.shape)
    pinned = np.isin(np.arange(len(mesh.positions)), pins)
    for positions in (mesh.positions, mesh.positions + shaken):
        pairs = graph_of(mesh).pairs
        graph = Graph(pairs, lengths(positions, pairs))
        neighbours = find_neighbours(graph, len(pinned))
        expected = choose_coarse.reference(neighbours, pinned)
        np.testing.assert_array_equal(choose_coarse(neighbours, pinned), expected)


def test_pins_stay_in_every_level() -> None:
    """Pins that are not neighbours of each other are never coarsened away."""
    for level in levels_of(sheet(12), np.array(UP), pins=(0, 12, 168)):
        assert np.isin((0, 12, 168), level.particles).all()


def test_small_bodies_need_no_levels() -> None:
    """Where a sweep reaches everything anyway, there are none."""
    assert levels_of(sheet(3), np.array(UP)) == []


def test_scraps_that_hang_together_with_nothing_have_no_levels() -> None:
    """However many of them a mesh has: there is nothing to carry a pull across."""
    triangle = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    points = [(x + 3.0 * k, y, z) for k in range(40) for x, y, z in triangle]
    faces = [(3 * k, 3 * k + 1, 3 * k + 2) for k in range(40)]
    assert not levels_of(make_mesh(points, faces=faces), np.array(UP))
