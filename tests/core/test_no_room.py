"""Bodies without room: the work of a step is bounded, all stays finite, and users are told."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import (
    IN_ONE_STEP,
    Body,
    block,
    built,
    floor,
    frames,
    moved,
    pinned,
    samples,
    sheet,
)
from tests.core.test_rigid import rigid
from verlet_addon.core.arrays import Floats
from verlet_addon.core.bodies.surface_bodies import CONTACT_ROUNDS
from verlet_addon.core.compiled import backend
from verlet_addon.core.contacts.broad_phase.surfaces import (
    MAX_TESTS_PER_PARTICLE,
    Surface,
    join_surfaces,
)
from verlet_addon.core.contacts.manifold.contacts import Contacts
from verlet_addon.core.contacts.manifold.persistent_contacts import find_contacts
from verlet_addon.core.contacts.manifold.row_setup import (
    PairProperties,
    PredictedMotion,
    make_rows,
)
from verlet_addon.core.scene import Frame
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate
from verlet_addon.core.solid.coupled_system import find_solid_contacts

KERNELS = ["compiled", "numpy"]
JELLY = BodySettings(body_type="SOFT")


def choose(kernels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets the kernels of a test."""
    if kernels == "numpy":
        monkeypatch.setattr(backend(), "library", None)
    elif backend().library is None:
        pytest.skip("no compiled kernels here")


def jellies(count: int) -> list[Body]:
    """Boxes of 30 cm, each above the one below."""
    box = block((0.3,) * 3, (3,) * 3)
    places = [(0.01 * k, 0.02 * (k % 3), 0.01 + 0.32 * k) for k in range(count)]
    return [(moved(box, np.eye(3), place), JELLY) for place in places]


def pressed(
    bodies: Sequence[Body], gravity: float, scene: SceneSettings, count: int = 2
) -> list[Frame]:
    """Frames of bodies on the ground under extreme gravity [m/s²]."""
    meshes = [replace(mesh, name=f"Body {k}") for k, (mesh, _) in enumerate(bodies)]
    pull = np.array([0.0, 0.0, -gravity])
    stage = samples(meshes, frames(count / 24, 24), gravity=pull, ground=floor())
    return list(simulate(meshes, [own for _, own in bodies], scene, stage))


def owner_pairs(contacts: Contacts) -> set[tuple[int, ...]]:
    """Owners of contacts, the lower number first."""
    return {tuple(pair) for pair in np.sort(contacts.owners, axis=0).T.tolist()}


@pytest.mark.parametrize("kernels", KERNELS)
def test_sheets_in_one_place_are_tested_up_to_a_limit(
    kernels: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two sheets that fly right across each other are given up; two others keep their contacts.

    A step later those two are still given up.
    """
    choose(kernels, monkeypatch)
    flat, none = sheet(56, triangles=True), np.empty((2, 0), np.int64)
    triangles = flat.face_vertices.reshape(-1, 3).T
    offsets = ([0.0, 0.0, 0.0], [0.0, 0.0, 0.01], [5.0, 0.0, 0.0], [5.0, 0.0, 0.01])
    places = [(flat.positions + offset).T for offset in offsets]
    surfaces = join_surfaces(
        [Surface(place, triangles, none) for place in places],
        ~np.eye(4, dtype=bool),
        np.full((4, 4), 0.02),
    )
    start = np.concatenate(places, axis=1)
    end = start.copy()
    assert owner_pairs(find_contacts(surfaces, start, end, 0.01)) == {(0, 1), (2, 3)}
    assert not surfaces.given_up
    calm = surfaces.tests[0, 1]
    surfaces.start_step()
    assert not surfaces.tests.any()
    end[:2, surfaces.owners == 0] += 1.0
    end[:2, surfaces.owners == 1] -= 1.0
    assert owner_pairs(find_contacts(surfaces, start, end, 0.01)) == {(2, 3)}
    assert surfaces.given_up == {(0, 1)}
    assert surfaces.tests[0, 1] > 5 * calm
    surfaces.start_step()
    before = surfaces.tests[0, 1]
    assert owner_pairs(find_contacts(surfaces, start, start, 0.01)) == {(2, 3)}
    assert surfaces.tests[0, 1] == before


def test_jelly_that_is_pressed_into_one_place_takes_bounded_work() -> None:
    """Of all pairs of leaves a fixed number for each particle is tested; one line says why."""
    results = pressed(jellies(3), 1e5, SceneSettings(substeps=4), count=1)
    assert all(np.isfinite(places).all() for result in results for places in result.positions)
    points = len(built(jellies(1)[0]).inverse_masses)
    most = max(search.tests for search in results[-1].contact_searches.values())
    assert 1.0 < most / (2 * points * MAX_TESTS_PER_PARTICLE) <= 2.0
    told = [remark for result in results for remark in result.remarks if "no room" in remark]
    assert told == [
        "Body 0, Body 1 and Body 2 had no room at frame 2, since parts of them penetrate each "
        "other; move them apart, or lower their Thickness"
    ]


def test_solids_are_solved_with_the_nearest_of_very_many_contacts() -> None:
    """Of five or more for each point two are left, and the nearest of each point are among them."""
    rng = np.random.default_rng(1)
    first, second = rng.permuted(np.tile(np.arange(4), (60, 1)), axis=1), rng.integers(4, 8, 60)
    contacts = Contacts(
        particles=np.concatenate([second[None], first[:, :3].T]),
        weights=np.array([[1.0], [-0.5], [-0.25], [-0.25]]).repeat(60, axis=1),
        normals=np.array([[0.0], [0.0], [1.0]]).repeat(60, axis=1),
        gaps=rng.uniform(0.01, 0.02, 60),
        owners=np.array([[1], [0]]).repeat(60, axis=1),
        keys=np.arange(60),
    )
    places, none = rng.normal(size=(3, 8)), np.zeros((2, 2))
    motion = PredictedMotion(np.ones(8), places, places, 0.0 * places, np.zeros(8, bool), 1 / 240)
    rows = make_rows(contacts, PairProperties(none, none, none), motion)
    own = [slice(0, 4), slice(4, 8)]
    assert find_solid_contacts(rows.chosen(np.arange(30)), own, 1 / 240).keys.tolist() == [
        *range(30)
    ]
    kept = find_solid_contacts(rows, own, 1 / 240).keys
    assert len(kept) <= 2 * 8
    distances = rows.heights(places) - rows.gaps
    for point in range(8):
        touching = np.flatnonzero((rows.particles == point).any(axis=0))
        assert set(touching[np.argsort(distances[touching])[:2]]) <= set(kept.tolist())


def test_joints_that_cannot_hold_take_bounded_work() -> None:
    """Rigid plates that pins draw apart: 64 linearizations a step, and one in each projection."""
    cloth = sheet(12, 4)
    plates = rigid(cloth, np.flatnonzero(np.abs(cloth.positions[:, 0] - 0.5) > 0.2))
    held = pinned(plates, np.flatnonzero(np.abs(cloth.positions[:, 0] - 0.5) > 0.45))

    def targets(time: float) -> list[Floats]:
        return [held.positions * np.array([1.0 + 20.0 * time, 1.0, 1.0])]

    stage = samples([held], frames(2 / 24, 24), targets=targets, ground=floor())
    projections = 1 + CONTACT_ROUNDS
    for result in simulate([held], [BodySettings()], IN_ONE_STEP, stage):
        assert np.isfinite(result.positions[0]).all()
        assert result.work.linearizations <= 64 + projections
    assert result.work.linearizations > 0
