"""Tethers: the way along the mesh to the nearest pin."""

import numpy as np
from hypothesis import given, strategies as st

from tests.core.bodies import flat_sheet, pinned, sheet
from verlet_addon.core.geometry.graph import Graph, edge_lengths
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.stretch.distance_limits import build_tethers

STREWN, EVEN = flat_sheet("strewn triangles", 7), sheet(7)


@given(
    mesh=st.sampled_from([STREWN, EVEN]), pins=st.lists(st.integers(0, 63), max_size=9, unique=True)
)
def test_tethers_are_the_shortest_ways(mesh: MeshData, pins: list[int]) -> None:
    """Every particle is held by its nearest pin, by the first of several that are as near."""
    mesh = pinned(mesh, np.array(pins, dtype=int))
    graph = Graph(mesh.edges, np.round(edge_lengths(mesh.positions, mesh.edges), 4))
    between = np.full((64, 64), np.inf)
    between[tuple(graph.pairs.T)] = between[tuple(graph.pairs.T[::-1])] = graph.lengths
    np.fill_diagonal(between, 0.0)
    for middle in range(64):
        between = np.minimum(between, between[:, middle, None] + between[middle])
    held = np.isin(np.arange(64), pins)
    tethers = build_tethers(graph, held)
    if not pins:
        assert not len(tethers.particles)
        return
    np.testing.assert_array_equal(tethers.particles, np.flatnonzero(~held))
    ways = between[np.sort(pins)][:, ~held]
    np.testing.assert_allclose(tethers.lengths, ways.min(axis=0), rtol=1e-12)
    chosen = between[tethers.pins, tethers.particles]
    np.testing.assert_allclose(chosen, tethers.lengths, rtol=1e-12)


def test_of_pins_equally_near_the_first_counts() -> None:
    """Which pin holds a particle does not depend on the order in which ways are followed."""
    pairs = np.array([(0, 1), (1, 2), (2, 3), (3, 4)])
    tethers = build_tethers(Graph(pairs, np.ones(4)), np.arange(5) % 4 == 0)
    np.testing.assert_array_equal(tethers.pins, [0, 0, 4])
