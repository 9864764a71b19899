"""Persistent contacts and clearances: searches only where something moved, and nothing missed."""

from dataclasses import fields, replace

import numpy as np
import pytest

from tests.core.bodies import floor, frames, moved, samples, sheet
from tests.core.test_detection import crumpled
from verlet_addon.core.contact.tunnelling_guard import (
    build_clearances,
    find_endangered,
    find_tunnelling,
)
from verlet_addon.core.detection.contacts import Contacts, find_contacts, refresh_contacts
from verlet_addon.core.scene import Frame
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate

SKIN = 0.02


def same(first: Contacts, second: Contacts) -> bool:
    """Whether two searches found the same contacts, to the last bit."""
    pairs = [(getattr(first, each.name), getattr(second, each.name)) for each in fields(Contacts)]
    return all(np.array_equal(*pair) for pair in pairs)


@pytest.mark.parametrize("seed", range(4))
def test_persistent_contacts_equal_a_search_of_all_pairs(seed: int) -> None:
    """Where some particles moved by more than the tolerance, and all others stayed."""
    rng = np.random.default_rng(seed)
    surfaces, start, end = crumpled(rng)
    skins = np.full(surfaces.gaps.shape, SKIN)
    tolerances = np.full(start.shape[1], 1e-4)
    neighbours = refresh_contacts(None, surfaces, start, end, skins, tolerances)
    for _ in range(3):
        moving = rng.random(start.shape[1]) < 0.1
        start = start + np.where(moving, rng.normal(size=start.shape) * 2e-3, 0.0)
        end = end + np.where(moving, rng.normal(size=start.shape) * 2e-3, 0.0)
        neighbours = refresh_contacts(neighbours, surfaces, start, end, skins, tolerances)
        active = np.maximum(abs(start - neighbours.starts), abs(end - neighbours.ends)) > 0.0
        assert not active.any()
        every = find_contacts(surfaces, start, end, skins)
        touched = moving[every.particles].any(axis=0)
        own = moving[neighbours.contacts.particles].any(axis=0)
        assert touched.any()
        assert same(neighbours.contacts.chosen(own), every.chosen(touched))


def test_persistent_contacts_keep_their_paths() -> None:
    """A step moves the end of particles that contacts displace: they are searched anew then."""
    surfaces, start, end = crumpled(np.random.default_rng(0))
    skins = np.full(surfaces.gaps.shape, SKIN)
    tolerances = np.full(start.shape[1], 1e-4)
    first = refresh_contacts(None, surfaces, start, end, skins, tolerances)
    end[:, :20] += 0.01
    again = refresh_contacts(first, surfaces, start, end, skins, tolerances)
    every = find_contacts(surfaces, start, end, skins)
    displaced, own = (each.particles.min(axis=0) < 20 for each in (every, again.contacts))
    assert same(again.contacts.chosen(own), every.chosen(displaced))
    assert not same(again.contacts, first.contacts)


@pytest.mark.parametrize("seed", range(6))
def test_within_their_clearances_particles_pass_through_nothing(seed: int) -> None:
    """However they move: the guard would find no pair of theirs."""
    rng = np.random.default_rng(seed)
    surfaces, start, _ = crumpled(rng)
    skins = np.full(surfaces.gaps.shape, SKIN)
    clearances = build_clearances(surfaces, np.full(start.shape[1], SKIN))
    assert not find_endangered(clearances, surfaces, skins, start, start).all()
    free = np.ones(start.shape[1])
    for share in (0.5, 0.999):
        towards = rng.normal(size=start.shape)
        towards /= np.linalg.norm(towards, axis=0)
        end = start + towards * np.maximum(clearances.distances, 0.0) * share
        found = find_tunnelling(surfaces, start, end, free, None)
        known = clearances.distances[found.particles] >= 0.0
        assert not known.all(axis=0).any()
        assert clearances.exceeded(start + towards * (clearances.distances + 1e-6)).all()


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
