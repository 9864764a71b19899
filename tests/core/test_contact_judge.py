"""Brute force judges contacts: nothing near is left out, and nothing that passes.

Each law is tried on a few random motions, and on thousands in `make test-all`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from tests.core.bodies import frames, results
from tests.core.brute_force import (
    gaps_of,
    kinds_of,
    passing_pairs,
    uncovered,
)
from tests.core.random_motions import GAP, KINDS, Motion, random_motion
from tests.core.random_scenes import BODIES, random_scene
from verlet_addon.core.arrays import Booleans, Integers
from verlet_addon.core.contacts.broad_phase.searches import CONTACTS, TUNNELLING
from verlet_addon.core.contacts.broad_phase.skins import skin_limits
from verlet_addon.core.contacts.manifold.contacts import Contacts
from verlet_addon.core.contacts.manifold.persistent_contacts import (
    find_contacts,
    find_pairs,
    refresh_contacts,
)
from verlet_addon.core.contacts.narrow_phase.kernels import MIN_START_SHARE, UNGUARDED_GAP_SHARE
from verlet_addon.core.contacts.narrow_phase.proximity import NEAREST
from verlet_addon.core.settings import SceneSettings

Law = Callable[..., None]
EVERYWHERE = 10.0
"""A skin within which everything is near [m]."""
parts = st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3).map(tuple)
seeds = st.integers(0, 10**6)


def judged(
    few: int, many: int, *known: dict[str, Any], **given_: st.SearchStrategy[Any]
) -> Callable[[Law], Law]:
    """Decorates a law: it is tried on known examples and a few others, and on many at night."""

    def join(law: Law) -> Law:
        for each in known:
            law = example(**each)(law)

        @pytest.mark.parametrize("count", [few, pytest.param(many, marks=pytest.mark.nightly)])
        def test(count: int) -> None:
            settings(max_examples=count)(given(**given_)(law))()

        test.__doc__ = law.__doc__
        return test

    return join


@judged(
    20,
    5000,
    kinds=parts,
    seed=seeds,
    speed=st.sampled_from([0.0, 0.01, 0.1, 1.0]),
    skin=st.sampled_from([0.0, 0.01, GAP, 0.2]),
)
def test_a_search_finds_what_a_search_of_all_pairs_finds(
    kinds: tuple[str, ...], seed: int, speed: float, skin: float
) -> None:
    """The same rows to the last bit: boxes and bounds leave out none, and add none.

    Each particle has a skin of its own, up to half of `skin` [m].
    """
    motion = random_motion(kinds, seed, speed=speed)
    path = motion.surfaces, motion.start, motion.end
    skins = 0.5 * skin * np.random.default_rng(seed).random(motion.start.shape[1])
    every, (near, _) = find_contacts(*path, EVERYWHERE), find_pairs(*path, CONTACTS, None, skins)
    ends = motion.end[:, every.particles]
    heights = np.einsum("ak,jk,ajk->k", every.normals, every.weights, ends)
    gaps = np.choose(
        kinds_of(motion.surfaces, every)[0],
        [gaps_of(motion.surfaces, kind, every.particles) for kind in range(2)],
    )
    reach = (np.abs(every.weights) * skins[every.particles]).sum(axis=0)
    expected = every.chosen(heights < gaps + reach)
    for name, found in vars(near).items():
        np.testing.assert_array_equal(found, getattr(expected, name), err_msg=name)


@judged(5, 4000, kinds=parts, seed=seeds, speed=st.sampled_from([0.0, 0.01, 0.1]))
def test_whatever_comes_within_its_gap_has_a_row_or_a_nearer_neighbour_has(
    kinds: tuple[str, ...], seed: int, speed: float
) -> None:
    """Of surfaces that touch on both sides, and keep the same distance everywhere."""
    motion = random_motion(kinds, seed, speed=speed)
    motion.surfaces.single_sided[:] = False
    motion.surfaces.rest[:] *= 100.0
    found = find_contacts(motion.surfaces, motion.start, motion.end, EVERYWHERE)
    assert uncovered(motion, found, np.linspace(0.0, 1.0, 17 if speed else 1)) == []


@judged(8, 5000, kinds=parts, seed=seeds, speed=st.sampled_from([0.01, 0.1, 1.0, 10.0]))
def test_the_guard_finds_every_pair_that_passes(
    kinds: tuple[str, ...], seed: int, speed: float
) -> None:
    """By the signs of volumes; but for those of small pieces, which it leaves free to fold."""
    motion = without_cones(random_motion(kinds, seed, speed=speed))
    motion.surfaces.single_sided[:] = False
    found, _ = find_pairs(motion.surfaces, motion.start, motion.end, TUNNELLING, None)
    known = set(zip(*kinds_of(motion.surfaces, found).tolist(), strict=True))
    for kind in range(2):
        features, particles = passing_pairs(motion, kind, np.linspace(0.0, 1.0, 33))
        unknown = [(kind, *pair) not in known for pair in features.T.tolist()]
        missed = np.array(unknown, dtype=bool) & is_guarded(motion, kind, particles)
        assert not missed.any(), features[:, missed]


def is_guarded(motion: Motion, kind: int, particles: Integers) -> Booleans:
    """(k,) bool, pairs that start on a side, and are not joined by a short edge."""
    surfaces, split = motion.surfaces, 2 if kind else 1
    gaps = gaps_of(surfaces, kind, particles)
    apart = NEAREST[kind](motion.start[:, particles])[2] > MIN_START_SHARE * gaps
    count = len(surfaces.owners)
    low, high = surfaces.edges.min(axis=0), surfaces.edges.max(axis=0)
    one, other = particles[:split, None], particles[None, split:]
    keys = np.minimum(one, other) * count + np.maximum(one, other)
    joined = np.isin(keys, low * count + high).any(axis=(0, 1))
    small = joined & (gaps < UNGUARDED_GAP_SHARE * GAP)
    return np.asarray(apart & ~small)


@judged(
    9,
    5000,
    # Edges turn on another way, and hide no longer what they hid on the first.
    {"kinds": ("rope", "ball"), "seed": 0, "speed": 0.0},
    kinds=parts,
    seed=seeds,
    speed=st.sampled_from([0.0, 0.01, 0.1, 1.0]),
)
def test_near_pairs_answer_for_other_ways_of_a_step(
    kinds: tuple[str, ...], seed: int, speed: float
) -> None:
    """As a search of all pairs does, where all deviate a little, some more, and all more."""
    motion, other = (without_cones(random_motion(kinds, seed, speed=speed)) for _ in range(2))
    surfaces, start, rng = motion.surfaces, motion.start, np.random.default_rng(seed)
    count = start.shape[1]
    given = np.full(count, GAP / 2), skin_limits(surfaces, np.full(len(surfaces.bvhs), GAP / 2))
    known = refresh_contacts(None, surfaces, start, motion.end, *given)
    limits = known.most
    towards = rng.normal(size=start.shape)
    towards *= limits / np.linalg.norm(towards, axis=0)
    some = rng.random(count) < 0.2
    for shares in (0.9, np.where(some, 5.0, 0.9), 5.0):
        way = start, motion.end + towards * shares
        assert_same(
            known.find_tunnelling(surfaces, *way, None),
            find_pairs(other.surfaces, *way, TUNNELLING, None)[0],
        )
        assert_same(
            known.find_contacts(surfaces, *way, some),
            find_contacts(other.surfaces, *way, GAP, some),
        )


def without_cones(motion: Motion) -> Motion:
    """The motion of surfaces that are searched also where they are flat."""
    surfaces = motion.surfaces
    for owner, bvh in enumerate(surfaces.bvhs):
        none = np.zeros_like(bvh.connected_starts)
        surfaces.bvhs[owner] = replace(bvh, connected=bvh.connected[:0], connected_starts=none)
    return motion


def assert_same(found: Contacts, expected: Contacts) -> None:
    """Both are the same contacts; a common displacement may differ, and so their last digits."""
    np.testing.assert_array_equal(found.keys, expected.keys)
    for name in ("weights", "normals", "gaps"):
        both = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(*both, rtol=1e-6, atol=1e-6, err_msg=name)


def flight(*kinds: str, seed: int, substeps: int, collider: bool) -> dict[str, Any]:
    """An example of the law below, in which something passes unless it is guarded."""
    given_ = {"kinds": kinds, "seed": seed, "substeps": substeps, "collider": collider}
    return given_ | {"speed": 10.0}


@judged(
    1,
    1500,
    flight("quads", "rope", "quads", seed=45, substeps=5, collider=True),
    flight("bag", seed=11, substeps=2, collider=True),
    flight("quads", "rope", "triangles", seed=59, substeps=1, collider=True),
    flight("jelly", "rope", "bag", seed=22, substeps=1, collider=False),
    kinds=st.lists(st.sampled_from(sorted(BODIES)), min_size=1, max_size=3).map(tuple),
    seed=seeds,
    speed=st.sampled_from([2.0, 10.0]),
    substeps=st.sampled_from([1, 2, 5]),
    collider=st.booleans(),
)
def test_what_flies_at_random_crosses_nothing(
    kinds: tuple[str, ...], seed: int, speed: float, substeps: int, *, collider: bool
) -> None:
    """At none of ten frames, however long the steps are: by a test of edges in whole numbers."""
    scene = random_scene(kinds, seed, speed=speed, collider=collider)
    steps = SceneSettings(substeps=substeps)
    bake = results(scene.bodies, frames(10 / 24, 24), steps, colliders=scene.colliders)
    for number, frame in enumerate(bake):
        assert scene.crossings(frame, number / 24) == set(), f"at frame {number}"
