"""Persistent contacts and near pairs: searches only where something moved, and nothing missed."""

from dataclasses import fields, replace

import numpy as np
import pytest

from tests.core.bodies import floor, frames, moved, samples, sheet
from tests.core.test_detection import crumpled
from verlet_addon.core.arrays import Floats
from verlet_addon.core.contacts.broad_phase.searches import TUNNELLING
from verlet_addon.core.contacts.broad_phase.skins import SkinLimits, skin_limits
from verlet_addon.core.contacts.broad_phase.surfaces import Surfaces
from verlet_addon.core.contacts.manifold.contacts import Contacts
from verlet_addon.core.contacts.manifold.persistent_contacts import (
    PersistentContacts,
    find_contacts,
    find_pairs,
    refresh_contacts,
)
from verlet_addon.core.scene import Frame
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

SKIN = 0.02


def skins_of(surfaces: Surfaces) -> tuple[Floats, SkinLimits]:
    """(N,) skins of half of SKIN, and their limits."""
    skins = np.full(len(surfaces.owners), SKIN / 2)
    return skins, skin_limits(surfaces, np.full(len(surfaces.bvhs), SKIN / 2))


def same(first: Contacts, second: Contacts) -> bool:
    """Whether two searches found the same contacts, to the last bit."""
    pairs = [(getattr(first, each.name), getattr(second, each.name)) for each in fields(Contacts)]
    return all(np.array_equal(*pair) for pair in pairs)


@pytest.mark.parametrize("seed", range(4))
def test_persistent_contacts_equal_a_search_of_all_pairs(seed: int) -> None:
    """Where some particles moved by more than the tolerance, and all others stayed."""
    rng = np.random.default_rng(seed)
    surfaces, start, end = crumpled(rng)
    given = skins_of(surfaces)
    neighbours = refresh_contacts(None, surfaces, start, end, *given)
    for _ in range(3):
        moving = rng.random(start.shape[1]) < 0.1
        start = start + np.where(moving, rng.normal(size=start.shape) * 2e-3, 0.0)
        end = end + np.where(moving, rng.normal(size=start.shape) * 2e-3, 0.0)
        neighbours = refresh_contacts(neighbours, surfaces, start, end, *given)
        active = np.maximum(abs(start - neighbours.starts), abs(end - neighbours.ends)) > 0.0
        assert not active.any()
        every = find_contacts(surfaces, start, end, SKIN)
        touched = moving[every.particles].any(axis=0)
        own = moving[neighbours.contacts.particles].any(axis=0)
        assert touched.any()
        assert same(neighbours.contacts.chosen(own), every.chosen(touched))


def test_persistent_contacts_keep_their_paths() -> None:
    """A step moves the end of particles that contacts displace: they are searched anew then."""
    surfaces, start, end = crumpled(np.random.default_rng(0))
    given = skins_of(surfaces)
    known = refresh_contacts(None, surfaces, start, end, *given)
    first = known.contacts
    end[:, :20] += 0.01
    again = refresh_contacts(known, surfaces, start, end, *given)
    every = find_contacts(surfaces, start, end, SKIN)
    displaced, own = (each.particles.min(axis=0) < 20 for each in (every, again.contacts))
    assert same(again.contacts.chosen(own), every.chosen(displaced))
    assert not same(again.contacts, first)


def unconnected(surfaces: Surfaces, contacts: Contacts) -> Contacts:
    """The contacts of features that no edge joins.

    Connected triangles are left out where they are too flat to touch, which depends on their way.
    """
    count, by_vertex = len(surfaces.owners), contacts.weights[1] <= 0.0
    first = np.where(by_vertex, contacts.particles[0], contacts.particles[:2])
    second = np.where(by_vertex, contacts.particles[1:], contacts.particles[[2, 2, 3]])
    joined = np.concatenate([surfaces.edges, surfaces.edges[::-1]], axis=1)
    keys = first[:, None] * count + second
    return contacts.chosen(~np.isin(keys, joined[0] * count + joined[1]).any(axis=(0, 1)))


@pytest.mark.parametrize("seed", range(8))
def test_near_pairs_answer_as_a_search_of_all_pairs(seed: int) -> None:
    """However particles deviate: by nothing, within their limits, some beyond, and all beyond.

    Each has a skin of its own.
    """
    rng = np.random.default_rng(seed)
    surfaces, start, end = crumpled(rng)
    skins, bounds = skins_of(surfaces)
    skins *= np.random.default_rng(seed + 100).random(len(skins))
    known = refresh_contacts(None, surfaces, start, end, skins, bounds)
    limits = known.most
    assert len(known.near.clearances) < 0.5 * len(limits) ** 2
    towards = rng.normal(size=start.shape)
    towards *= limits / np.linalg.norm(towards, axis=0)
    some, rows = rng.random(start.shape[1]) < 0.05, 0
    for shares in (0.0, 0.999, np.where(some, 3.0, 0.9), 2.0):
        elsewhere = end + towards * shares
        for active in (None, some):
            every = find_pairs(surfaces, start, elsewhere, TUNNELLING, active)[0]
            found = known.find_tunnelling(surfaces, start, elsewhere, active)
            found, every = (unconnected(surfaces, each) for each in (found, every))
            assert same(found, every)
            rows += len(every.gaps)
    assert rows > 100


def test_near_pairs_of_particles_at_rest_are_kept() -> None:
    """Where some particles moved, near pairs of the others are those of the first search."""
    rng = np.random.default_rng(0)
    surfaces, start, end = crumpled(rng)
    both = skins_of(surfaces)
    known = refresh_contacts(None, surfaces, start, end, *both)
    before = listed(known)
    moving = rng.random(start.shape[1]) < 0.1
    start = start + np.where(moving, 0.003, 0.0)
    kept = listed(refresh_contacts(known, surfaces, start, end, *both))
    anew = listed(refresh_contacts(None, surfaces, start, end, *both))
    assert kept == anew != before


def test_skins_hold_as_far_as_particles_left_their_paths() -> None:
    """A step searches around each as far as it went astray in the last one, and else less."""
    surfaces, start, end = crumpled(np.random.default_rng(0))
    skins, limits = skins_of(surfaces)
    known = refresh_contacts(None, surfaces, start, end, skins, limits)
    first = surfaces.work.pair_tests
    astray = np.linspace(0.0, SKIN, len(skins)) * (np.arange(len(skins)) % 10 == 0)
    known.find_tunnelling(surfaces, start, end + np.array([[1.0], [0.0], [0.0]]) * astray, None)
    wanted = limits.by_motion(known.deviations)
    assert (wanted >= np.minimum(astray, limits.largest)).all()
    assert wanted.max() == limits.largest.max() > 5.0 * np.median(wanted) > 0.0
    surfaces.work.pair_tests = 0
    known = refresh_contacts(known, surfaces, start + 0.01, end + 0.01, wanted, limits)
    assert surfaces.work.pair_tests < 0.9 * first
    np.testing.assert_array_equal(known.skins, wanted)


def listed(known: PersistentContacts) -> set[tuple[int, ...]]:
    """Kinds and features of the near pairs."""
    return {*map(tuple, known.near.features.T.tolist())}


@pytest.fixture(scope="module")
def layers() -> list[Frame]:
    """A sheet that lies on another one, which lies on the ground."""
    meshes = [
        replace(moved(sheet(12), np.eye(3), (0.0, 0.0, height)), name=name)
        for height, name in ((0.006, "Lower"), (0.013, "Upper"))
    ]
    settings = [BodySettings(body_type="CLOTH", use_self_collision=True)] * 2
    ground = SceneSettings(use_ground=True)
    given = samples(meshes, frames(1.0, 24.0), ground=floor())
    return list(simulate(meshes, settings, ground, given, []))


def test_layers_at_rest_are_not_searched(layers: list[Frame]) -> None:
    """They are searched until they lie; a frame later there is no search at all."""
    assert layers[1].contact_searches["Lower", "Upper"].tests > 100
    assert layers[-1].contact_searches == {}
    assert layers[1].work.contact_searches > 0 < layers[1].work.pair_tests
    done = layers[-1].work
    assert done.contact_searches == done.leaf_tests == done.pair_tests == done.contact_rows == 0


def test_layers_at_rest_stay_apart(layers: list[Frame]) -> None:
    """By their thickness, to a tenth."""
    lower, upper = layers[-1].positions[:2]
    assert (upper[:, 2] - lower[:, 2]).min() > 0.9 * 0.005
