"""Rows of contacts: what their kernels promise, on contacts at random."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.core.bodies import built_state, sheet
from tests.core.both_bodies import in_numpy
from verlet_addon.core.arrays import Floats
from verlet_addon.core.compiled import backend
from verlet_addon.core.contacts.manifold import contact_rows as row_kernels
from verlet_addon.core.contacts.manifold.contact_rows import ContactRows
from verlet_addon.core.contacts.manifold.contacts import Contacts
from verlet_addon.core.contacts.manifold.row_setup import (
    PairProperties,
    PredictedMotion,
    cache_rows,
    make_rows,
)
from verlet_addon.core.contacts.solve.alternation import TouchingBody, alternate
from verlet_addon.core.settings import BodySettings
from verlet_addon.core.state import ready_batches
from verlet_addon.core.stretch.distance_limits import GoalRadii

GAP = 0.01
DT = 1 / 240
seeds = st.integers(0, 10**6)


def random_rows(seed: int, count: int = 30, pins: int = 5) -> tuple[ContactRows, Floats, Floats]:
    """Rows of two owners, of whom some are pinned, and where their particles end and began."""
    rng = np.random.default_rng(seed)
    size = 40
    start = rng.uniform(-0.1, 0.1, (3, size))
    end = start + rng.normal(0.0, 0.01, start.shape)
    particles = np.stack([rng.permutation(size)[:4] for _ in range(count)], axis=1)
    second = rng.dirichlet([1, 1, 1], count).T
    weights = np.concatenate([np.ones((1, count)), -second])
    normals = rng.normal(size=(3, count))
    normals /= np.linalg.norm(normals, axis=0)
    owners, keys = np.tile([[0], [1]], (1, count)), np.arange(count)
    contacts = Contacts(particles, weights, normals, np.full(count, GAP), owners, keys)
    pairs = PairProperties(np.full((2, 2), 0.5), np.full((2, 2), 0.3), np.zeros((2, 2)))
    masses = np.where(np.arange(size) < pins, 0.0, 1.0 + np.arange(size))
    pull = np.tile([[0.0], [0.0], [-9.81]], (1, size))
    motion = PredictedMotion(masses, start, end, pull, np.zeros(size, dtype=bool), DT)
    return make_rows(contacts, pairs, motion), end, start


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")
@pytest.mark.parametrize("with_motion", [True, False])
def test_rounds_of_contacts_and_lengths_are_the_same_in_one_call(*, with_motion: bool) -> None:
    """To the bit: cloth and loose points in contact, some near where they are drawn to."""
    outcomes = []
    for call in (alternate, alternate.reference):
        rows, positions, _ = random_rows(5, pins=0)
        model, state = built_state((sheet(5, size=0.2), BodySettings()))
        batches, limits = ready_batches(model, state, "TCV", DT), None
        loose, points = np.ascontiguousarray(positions[:, 36:]), np.ones(4)
        cloth = TouchingBody(
            state.positions, 0, 36, batches, model.inverse_masses, state.sweeps, limits, []
        )
        near = GoalRadii(np.arange(2), np.zeros((3, 2)), np.full(2, 0.05))
        other = TouchingBody(loose, 36, 40, None, points, np.zeros(1, dtype=np.int64), near, [])
        rounds = call([cloth, other], positions, rows, 1e-4, 5, with_motion=with_motion)
        outcomes.append((rounds, positions, state.positions, loose, *state.sweeps))
    assert outcomes[0][-1] == (4 if with_motion else 0), "a sweep between two rounds"
    for mine, reference in zip(*outcomes, strict=True):
        np.testing.assert_array_equal(mine, reference)


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_compiled_rows_agree_with_the_reference(seed: int) -> None:
    """Turn after turn is row after row: what is written differs by no more than rounding."""
    outcomes = []
    for kernels in (in_numpy(row_kernels), row_kernels):
        rows, positions, previous = random_rows(seed)
        for _ in range(3):
            kernels.project_rows(positions, rows)
        kernels.rebound_rows(previous, positions, rows)
        moved = np.zeros_like(positions)
        kernels.push_rows(moved, rows)
        outcomes.append(
            (positions, previous, rows.normal_multipliers, rows.friction_multipliers, moved)
        )
    assert (outcomes[0][2] > 0.0).any()
    for expected, found in zip(*outcomes, strict=True):
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * scale)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_rows_hold_and_rub_by_coulombs_law(seed: int) -> None:
    """Solved often enough, nothing is nearer than it may be, and friction stays in its cone."""
    rows, positions, _ = random_rows(seed, count=8)
    for _ in range(300):
        in_numpy(row_kernels).project_rows(positions, rows)
    assert (rows.heights(positions) > rows.targets - 1e-6).all()
    assert (rows.normal_multipliers >= 0.0).all()
    friction_multipliers = np.linalg.norm(rows.friction_multipliers, axis=0)
    assert (friction_multipliers <= rows.friction * rows.normal_multipliers * (1.0 + 1e-9)).all()
    np.testing.assert_allclose(
        (rows.friction_multipliers * rows.normals).sum(axis=0), 0.0, atol=1e-12
    )


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_what_touches_pushes_back_as_much(seed: int) -> None:
    """Contacts between what is free do not change momentum."""
    rows, positions, previous = random_rows(seed, pins=0)
    formerly = positions.copy(), previous.copy()
    in_numpy(row_kernels).project_rows(positions, rows)
    in_numpy(row_kernels).rebound_rows(previous, positions, rows)
    masses = 1.0 / (1.0 + np.arange(positions.shape[1]))
    for now, before in zip((positions, previous), formerly, strict=True):
        assert np.abs(now - before).max() > 1e-4
        np.testing.assert_allclose(((now - before) * masses).sum(axis=1), 0.0, atol=1e-15)


def test_what_touches_beside_a_pin_throws_nothing_far() -> None:
    """A table that rises through a curtain, at a pin, threw the next vertex 2,000 km away."""
    end, share = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.005]]), 1e-9
    contact = Contacts(
        particles=np.array([[0], [1], [2], [2]]),
        weights=np.array([[1.0 - share], [share], [-1.0], [0.0]]),
        normals=np.array([[0.0], [0.0], [1.0]]),
        gaps=np.array([GAP]),
        owners=np.array([[0], [1]]),
        keys=np.array([0]),
    )
    none, still = np.zeros((2, 2)), np.zeros_like(end)
    masses = np.array([0.0, 1.0, 0.0])
    motion = PredictedMotion(masses, end.copy(), end, still, np.zeros(3, dtype=bool), DT)
    rows = make_rows(contact, PairProperties(none, none, none), motion)
    in_numpy(row_kernels).project_rows(end, rows)
    assert np.abs(end).max() <= 1.0


@pytest.mark.parametrize(
    ("height", "strained", "share"),
    [(1.0, False, 0.5), (0.85, False, 0.75), (0.5, False, 1.0), (0.5, True, 0.5)],
)
def test_a_contact_that_cloth_creeps_into_starts_from_all_it_pushed(
    height: float, strained: bool, share: float
) -> None:
    """One that holds starts from half, and so does one that pushes where edges are stretched."""
    end = np.array([[0.2, 0.0, 1.0, 0.0], [0.2, 0.0, 0.0, 1.0], [height * GAP, 0.0, 0.0, 0.0]])
    contact = Contacts(
        particles=np.array([[0], [1], [2], [3]]),
        weights=np.array([[1.0], [-0.6], [-0.2], [-0.2]]),
        normals=np.array([[0.0], [0.0], [1.0]]),
        gaps=np.array([GAP]),
        owners=np.array([[0], [1]]),
        keys=np.array([0]),
    )
    none, masses = np.zeros((2, 2)), np.array([1.0, 0.0, 0.0, 0.0])
    motion = PredictedMotion(masses, end, end, np.zeros_like(end), np.zeros(4, dtype=bool), DT)
    rows = make_rows(contact, PairProperties(none, none, none), motion)
    rows.normal_multipliers[:] = 2.0
    stretched, cacheable = np.array([strained, False, False, False]), np.array([True])
    cache = cache_rows(rows, cacheable, stretched, cache_rows(rows, cacheable, stretched, None))
    assert cache.rows.normal_multipliers[0] == pytest.approx(2.0 * share)
