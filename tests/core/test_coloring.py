"""Constraints of one colour share no particle, and none is lost."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.core.bodies import disc, pinned, sheet, simulated, sphere, strains
from verlet_addon.core.coloring import color_constraints
from verlet_addon.core.settings import BodySettings, SceneSettings

COUNT = 12


def rows(width: int) -> st.SearchStrategy[list[list[int]]]:
    """Constraints of different particles each."""
    row = st.lists(st.integers(0, COUNT - 1), min_size=width, max_size=width, unique=True)
    return st.lists(row, max_size=40)


@given(st.sampled_from([2, 3, 4]).flatmap(rows).filter(bool))
def test_no_color_touches_a_particle_twice(members: list[list[int]]) -> None:
    """Every constraint has one colour, and within a colour all particles differ."""
    table = np.array(members, dtype=np.int64)
    order, starts = color_constraints(table)
    assert sorted(order.tolist()) == list(range(len(members)))
    assert starts[0] == 0
    assert starts[-1] == len(members)
    for start, stop in pairwise(starts):
        together = table[order[start:stop]].ravel()
        assert len(np.unique(together)) == len(together)
        assert stop > start, "no colour is empty"


@given(rows(2))
def test_colors_are_few(members: list[list[int]]) -> None:
    """Greedy colouring needs at most one colour more than any edge has neighbours."""
    table = np.array(members, dtype=np.int64).reshape(-1, 2)
    _, starts = color_constraints(table)
    degree = np.bincount(table.ravel(), minlength=COUNT)
    most = max(((degree[a] - 1) + (degree[b] - 1) for a, b in members), default=-1)
    assert len(starts) - 1 <= most + 1


def test_order_within_a_color_is_kept() -> None:
    """The result depends on the order of the mesh alone: within a colour it stays."""
    for mesh in (sheet(6), disc(4)):
        order, starts = color_constraints(mesh.edges)
        for start, stop in pairwise(starts):
            assert (np.diff(order[start:stop]) > 0).all()


@pytest.mark.parametrize("degree", [3, 64, 65, 200])
def test_edges_that_meet_have_as_many_colors(degree: int) -> None:
    """However many there are: where 200 edges meet they are 200."""
    star = np.stack([np.zeros(degree, dtype=np.int64), np.arange(1, degree + 1)], axis=1)
    assert len(color_constraints(star)[1]) == degree + 1


def test_a_ball_hangs_by_its_pole() -> None:
    """Many edges meet there, one after the other: what is pinned stays, what is joined holds."""
    mesh = sphere(20, 10)
    mesh = pinned(mesh, [int(mesh.positions[:, 2].argmax())])
    (track,) = simulated([(mesh, BodySettings())], np.full(12, 1 / 24), SceneSettings())
    found = strains(mesh, track)
    assert found.max() < 0.02
    pins = np.flatnonzero(mesh.pin_weights)
    np.testing.assert_array_equal(track[:, pins], np.broadcast_to(track[0, pins], (13, 1, 3)))
