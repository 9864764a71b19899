"""Strips cover every edge once, cross nothing of their own colour, and are solved exactly."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.core.bodies import WEIGHTLESS, disc, lengths, make_mesh, rope, sheet, sphere, tube
from verlet_addon.core.arrays import Integers
from verlet_addon.core.linear.tridiagonal import factorize, solve
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.stretch.kernels import project_strips
from verlet_addon.core.stretch.strip_batches import strip_batches
from verlet_addon.core.stretch.strip_paths import Strips, build_strips

MESHES = {
    "quads": sheet(5, 4),
    "triangles": sheet(4, triangles=True),
    "disc": disc(4),
    "tube": tube(7, 4),
    "sphere": sphere(8, 6),
    "ring": make_mesh(np.eye(4, 3), edges=[(0, 1), (1, 2), (2, 3), (3, 0)]),
    "star": make_mesh([*np.eye(3), *-np.eye(3), WEIGHTLESS], edges=[(6, k) for k in range(6)]),
    "eight": make_mesh(
        [(0, 0, 0), (1, 1, 0), (1, -1, 0), (-1, 1, 0), (-1, -1, 0)],
        edges=[(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)],
    ),
}
every_mesh = pytest.mark.parametrize("mesh", MESHES.values(), ids=MESHES)


def strips_of(mesh: MeshData, pairs: Integers | None = None, *, loose: bool = False) -> Strips:
    """The strips of a mesh's edges, with no compliance."""
    edges = mesh.edges if pairs is None else pairs
    return build_strips(
        mesh.positions,
        edges,
        lengths(mesh.positions, edges),
        np.zeros(len(edges)),
        np.zeros(len(edges)),
        np.full(len(edges), loose),
    )


def links(strips: Strips) -> list[tuple[int, int]]:
    """The pairs that strips consist of, lower number first."""
    ends = zip(strips.path[:-1].tolist(), strips.path[1:].tolist(), strict=True)
    return [
        (min(a, b), max(a, b))
        for (a, b), linked in zip(ends, strips.linked, strict=False)
        if linked
    ]


@every_mesh
@pytest.mark.parametrize("loose", [False, True])
def test_every_edge_once(mesh: MeshData, loose: bool) -> None:
    """Strips consist of exactly the edges, with their own rest lengths."""
    strips = strips_of(mesh, loose=loose)
    assert sorted(links(strips)) == sorted(map(tuple, mesh.edges.tolist()))
    joined = strips.linked[:-1]
    along = lengths(mesh.positions, np.stack([strips.path[:-1], strips.path[1:]], axis=1))
    np.testing.assert_allclose(strips.rest_lengths[:-1][joined], along[joined])
    assert not strips.linked[strips.starts[1:] - 1].any(), "a gap ends every colour"


@every_mesh
@pytest.mark.parametrize("loose", [False, True])
def test_no_particle_twice_in_a_color(mesh: MeshData, loose: bool) -> None:
    """All that is solved at once moves different particles."""
    strips = strips_of(mesh, loose=loose)
    for start, stop in zip(strips.starts[:-1], strips.starts[1:], strict=True):
        together = strips.path[start:stop]
        assert len(np.unique(together)) == len(together)


@given(st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda p: p[0] < p[1])))
def test_any_graph_is_covered(pairs: set[tuple[int, int]]) -> None:
    """Whatever edges a mesh has, each is in one strip, and strips of a colour do not meet."""
    points = np.random.default_rng(3).normal(size=(9, 3))
    mesh = make_mesh(points, edges=sorted(pairs))
    strips = strips_of(mesh, loose=True)
    assert sorted(links(strips)) == sorted(pairs)
    for start, stop in zip(strips.starts[:-1], strips.starts[1:], strict=True):
        assert len(np.unique(strips.path[start:stop])) == stop - start


def test_a_grid_becomes_its_rows_and_columns() -> None:
    """A grid of quads has one strip for each row and column, in two colours."""
    strips = strips_of(sheet(5, 4))
    assert len(strips.starts) - 1 == 2
    assert np.count_nonzero(~strips.linked) == 6 + 5
    sizes = np.diff(np.flatnonzero(~strips.linked), prepend=-1)
    assert sorted(sizes.tolist()) == [5] * 6 + [6] * 5


def test_a_rope_is_one_strip_round_any_corner() -> None:
    """A rope of five edges that doubles back is one strip."""
    strips = strips_of(rope(np.eye(3)[[0, 1, 2, 0, 1, 2]] * np.arange(1, 7)[:, None]), loose=True)
    assert len(strips.path) == 6


systems = st.integers(1, 70).flatmap(
    lambda n: st.tuples(
        st.lists(st.floats(-1.0, 1.0), min_size=n - 1, max_size=n - 1),
        st.lists(st.floats(0.1, 2.0), min_size=n, max_size=n),
        st.lists(st.floats(-10.0, 10.0), min_size=n, max_size=n),
    )
)


@given(systems)
def test_cyclic_reduction_solves(system: tuple[list[float], list[float], list[float]]) -> None:
    """Cyclic reduction finds what a full solve finds, for any number of unknowns."""
    beside, extra, right = map(np.array, system)
    diagonal = np.abs(np.append(beside, 0.0)) + np.abs(np.insert(beside, 0, 0.0)) + extra
    matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    found = solve(factorize(diagonal, beside, len(diagonal).bit_length()), right)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-9, atol=1e-9)


def test_cyclic_reduction_of_many_right_hand_sides() -> None:
    """Rows of right-hand sides are solved as each alone."""
    random = np.random.default_rng(0)
    right = random.normal(size=(3, 21))
    diagonal, beside = random.uniform(2.1, 3.0, 21), random.uniform(-1.0, 1.0, 20)
    matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    found = solve(factorize(diagonal, beside, 5), right)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right.T).T, rtol=1e-12)


def test_stretched_line_is_mended_at_once() -> None:
    """One solve gives every edge of a straight strip its length, held at one end or at none."""
    for fixed in (False, True):
        line = rope(np.linspace((0, 0, 0), (1, 0, 0), 34))
        strips = strips_of(line, loose=True)
        inverse_masses = np.random.default_rng(2).uniform(0.5, 2.0, 34)
        inverse_masses[0] *= not fixed
        batches = strip_batches(strips, inverse_masses, 1.0, regularization=0.0)
        positions = np.ascontiguousarray(line.positions.T) * 1.5
        centre = positions @ (1.0 / np.where(inverse_masses > 0.0, inverse_masses, np.inf))
        project_strips(positions, batches)
        np.testing.assert_allclose(lengths(positions.T, line.edges), 1 / 33, rtol=1e-9)
        if fixed:
            np.testing.assert_array_equal(positions[:, 0], 0.0)
        else:
            np.testing.assert_allclose(positions @ (1.0 / inverse_masses), centre, atol=1e-9)


@pytest.mark.parametrize(("share", "least", "most"), [(0.3, 0.5, 0.5), (0.8, 0.8, 0.82)])
def test_yielding_line_gives_way_to_pushing_but_keeps_half(
    share: float, least: float, most: float
) -> None:
    """Edges that yield stay pushed together, but none is left shorter than half its length."""
    line = rope(np.linspace((0, 0, 0), (1, 0, 0), 11))
    edges, rest = line.edges, lengths(line.positions, line.edges)
    soft, hard = np.full(10, 1e3), np.zeros(10)
    strips = build_strips(line.positions, edges, rest, hard, soft, np.ones(10, dtype=bool))
    batches = strip_batches(strips, np.ones(11), 1.0, regularization=0.0)
    positions = np.ascontiguousarray(line.positions.T) * share
    project_strips(positions, batches)
    found = lengths(positions.T, edges) / rest
    assert found.min() > least - 1e-9
    assert found.max() < most + 1e-9


@pytest.mark.parametrize("tension", [1e-12, 1e-6, 0.02])
def test_little_tension_does_not_unfold_what_is_pushed_together(tension: float) -> None:
    """Once a push has taken up the tension, what is left of it meets an edge that yields."""
    line = rope(np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]))
    soft, hard = np.full(1, 9.0), np.zeros(1)
    rest, loose = np.ones(1), np.ones(1, dtype=bool)
    strips = build_strips(line.positions, line.edges, rest, hard, soft, loose)
    (batch,) = strip_batches(strips, np.array([0.0, 1.0]), 1.0, regularization=0.0)
    batch.multipliers[0] = -tension
    positions = np.array([[0.0, 0.6], [0.0, 0.0], [0.0, 0.0]])
    project_strips(positions, [batch])
    # The edge pushes by μ, its compression over 9, and has moved its end by μ and the tension.
    push = (0.4 - tension) / 10.0
    np.testing.assert_allclose(positions[0, 1], 0.6 + tension + push, rtol=1e-12)
    np.testing.assert_allclose(batch.multipliers[0], push, rtol=1e-12)
