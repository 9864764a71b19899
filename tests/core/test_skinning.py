"""Motion as bones and weights: exact where it is made of bones, and never with wrong weights."""

from itertools import combinations, pairwise
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from verlet_addon.core.arrays import Floats
from verlet_addon.core.errors import SettingsError
from verlet_addon.core.skinning import decomposition
from verlet_addon.core.skinning.decomposition import MOST, Decomposition, Skinning
from verlet_addon.core.skinning.weights import fit_weights

SEEDS = st.integers(0, 10_000)
some = settings(max_examples=20)


def decompose(motion: Floats, count: int) -> Skinning:
    """The motion as at most so many bones."""
    return result(decomposition.decompose(motion, count))


def decompose_within(motion: Floats, tolerance: float, count: int) -> Skinning:
    """The motion as the fewest bones within a tolerance."""
    return result(decomposition.decompose_within(motion, tolerance, count))


def result(running: Decomposition) -> Skinning:
    """What a decomposition returns in the end."""
    while True:
        try:
            next(running)
        except StopIteration as end:
            return cast(Skinning, end.value)


def rotations(generator: np.random.Generator, count: int) -> Floats:
    """(count, 3, 3) random rotations."""
    found, _ = np.linalg.qr(generator.normal(size=(count, 3, 3)))
    return np.asarray(found * np.linalg.det(found)[:, None, None])


def pieces_in_motion(seed: int, pieces: int, each: int = 20, frames: int = 6) -> Floats:
    """(f, n, 3) motion of rigid pieces apart from each other."""
    generator = np.random.default_rng(seed)
    places = generator.normal(size=(pieces, each, 3)) + 10 * np.arange(pieces)[:, None, None]
    moved = [places.reshape(-1, 3)]
    for _ in range(frames - 1):
        turned = places @ rotations(generator, pieces) + generator.normal(size=(pieces, 1, 3))
        moved.append(turned.reshape(-1, 3))
    return np.stack(moved)


def wave(frames: int = 12, side: int = 12) -> Floats:
    """(f, n, 3) motion of a sheet that waves."""
    x, y = (each.ravel() for each in np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side)))
    return np.stack(
        [np.stack([x, y, 0.1 * np.sin(6 * x + 2 * y + 0.6 * f)], axis=1) for f in range(frames)]
    )


def played(skinning: Skinning) -> Floats:
    """(f, n, 3) what bones and weights give, by the formula of skinning."""
    moved = np.einsum("bfxy,ny->bfnx", skinning.transforms[..., :3], skinning.rest)
    moved += skinning.transforms[:, :, None, :, 3]
    return np.asarray(np.einsum("nb,bfnx->fnx", skinning.weights, moved))


def check(skinning: Skinning, motion: Floats, count: int) -> None:
    """Weights are convex and few, bones rigid, and errors those of the formula."""
    weights, turned = skinning.weights, skinning.transforms[..., :3]
    assert weights.shape[1] <= count
    assert weights.min() >= 0.0
    assert (weights > 0.0).sum(axis=1).max() <= MOST
    assert (weights > 0.0).any(axis=0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(turned @ turned.swapaxes(-1, -2) - np.eye(3), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(turned), 1.0, atol=1e-9)
    errors = np.linalg.norm(played(skinning) - motion, axis=2)
    np.testing.assert_allclose(skinning.errors, errors, atol=1e-9)


@pytest.mark.parametrize("pieces", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_rigid_pieces_are_found_exactly(seed: int, pieces: int) -> None:
    motion = pieces_in_motion(seed, pieces)
    skinning = decompose(motion, pieces)
    check(skinning, motion, pieces)
    assert skinning.worst <= 1e-6


def test_the_progress_of_a_decomposition_goes_from_nothing_to_nearly_all() -> None:
    """In small steps, between which a caller can stop."""
    shares = [each.share for each in decomposition.decompose(wave(), 3)]
    assert shares[0] == 0.0
    assert 0.9 < shares[-1] < 1.0
    assert all(0.0 <= after - before < 0.1 for before, after in pairwise(shares))


@some
@given(SEEDS, st.integers(1, 6))
def test_any_motion_has_convex_weights_of_few_rigid_bones(seed: int, count: int) -> None:
    generator = np.random.default_rng(seed)
    motion = generator.normal(size=(4, 9, 3)) + generator.normal(size=3) * 100
    check(decompose(motion, count), motion, count)


@pytest.mark.parametrize("motion", [np.zeros((3, 1, 3)), np.zeros((1, 5, 3)), np.ones((4, 6, 3))])
def test_a_point_one_frame_and_coincident_vertices_are_bones_too(motion: Floats) -> None:
    skinning = decompose(motion, 8)
    check(skinning, motion, 8)
    assert skinning.worst <= 1e-9


def test_more_bones_come_nearer_and_every_run_gives_the_same() -> None:
    motion = wave()
    found = [decompose(motion, count) for count in (1, 2, 4, 8, 16)]
    rms = [skinning.rms for skinning in found]
    assert rms == sorted(rms, reverse=True)
    assert rms[-1] < rms[0] / 30
    again = decompose(motion, 8)
    assert again.weights.tobytes() == found[3].weights.tobytes()
    assert again.transforms.tobytes() == found[3].transforms.tobytes()


def test_where_the_whole_moves_does_not_matter() -> None:
    motion, generator = wave(), np.random.default_rng(3)
    carried = motion @ rotations(generator, len(motion)) + generator.normal(
        size=(len(motion), 1, 3)
    )
    assert decompose(carried, 4).rms == pytest.approx(decompose(motion, 4).rms, rel=0.2)


def test_large_meshes_learn_from_a_part() -> None:
    small, large = wave(side=20), wave(side=50)
    assert decompose(large, 6).rms == pytest.approx(decompose(small, 6).rms, rel=0.2)


@pytest.mark.parametrize("seed", range(4))
def test_the_fewest_bones_within_a_tolerance(seed: int) -> None:
    assert decompose_within(pieces_in_motion(seed, 3), 1e-4, 32).weights.shape[1] == 3


def test_a_tolerance_out_of_reach_takes_all_bones() -> None:
    motion = wave()
    found = decompose_within(motion, 1e-9, 6)
    assert found.weights.shape[1] == 6
    within = decompose_within(motion, 3e-3, 64)
    count = within.weights.shape[1]
    assert within.rms <= 3e-3
    assert decompose(motion, count - 1).rms > 3e-3


def test_no_bones_is_an_error() -> None:
    with pytest.raises(SettingsError, match="1 bone or more, not 0"):
        decompose(wave(), 0)


@some
@given(SEEDS)
def test_weights_of_all_bones_are_the_best(seed: int) -> None:
    """Compared with the best of all sets of bones, each solved by itself."""
    generator = np.random.default_rng(seed)
    frames, count, size = 3, 4, 5
    transforms = np.concatenate(
        [
            rotations(generator, count * frames).reshape(count, frames, 3, 3),
            generator.normal(size=(count, frames, 3, 1)),
        ],
        axis=3,
    )
    points = np.vstack([generator.normal(size=(3, size)), np.ones(size)])
    motion = generator.normal(size=(frames, 3, size))
    found = fit_weights(points, motion, transforms, np.eye(count)[np.zeros(size, int)], count)
    ways = (transforms @ points).reshape(count, -1, size) - motion.reshape(-1, size)
    for vertex in range(size):
        products = ways[:, :, vertex] @ ways[:, :, vertex].T
        best = min(
            best_of(products, list(chosen))
            for number in range(1, count + 1)
            for chosen in combinations(range(count), number)
        )
        assert found[vertex] @ products @ found[vertex] <= best * (1 + 1e-3)


def best_of(products: Floats, chosen: list[int]) -> float:
    """The least wᵀ D w of these bones with sum 1; infinite if a weight is below 0."""
    solved = np.linalg.solve(products[np.ix_(chosen, chosen)], np.ones(len(chosen)))
    return float(1 / solved.sum()) if (solved >= 0).all() else float("inf")
