"""Ropes that touch keep their lengths, and hang still."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.core.bodies import (
    HALF,
    Body,
    built_state,
    floor,
    frames,
    moved,
    pinned,
    results,
    rope,
    rotation,
    samples,
    sheet,
    simulated,
    split,
    strains,
    tube,
)
from tests.core.colliders import Moving, ball, collider, crossed, puck
from verlet_addon.core.arrays import Floats, dot, magnitudes
from verlet_addon.core.compiled import backend
from verlet_addon.core.contacts.manifold.contact_rows import ContactRows, sum_weighted
from verlet_addon.core.contacts.manifold.contacts import Contacts
from verlet_addon.core.contacts.manifold.row_setup import (
    PairProperties,
    PredictedMotion,
    make_rows,
)
from verlet_addon.core.ropes.rope_contacts import (
    CONTACT_TOLERANCE,
    RopeSlice,
    response_bounds,
    solve_impulses,
)
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.simulate import simulate
from verlet_addon.core.state import ready_batches

ROPE = BodySettings(body_type="ROPE", mass=0.1, damping=5.0, use_self_collision=True)


def bar(*, radius: float = 0.03, **settings: float) -> Moving:
    """A thick bar along y through the origin."""
    mesh = split(tube(12, 2, radius=radius, length=0.4))
    places = (mesh.positions - [0.0, 0.0, 0.2]) @ rotation((1, 0, 0), np.pi / 2).T
    return collider(mesh.face_vertices.reshape(-1, 3), **settings), places


def straight(segments: int, *, height: float) -> Body:
    """A metre of rope along x."""
    along = np.linspace(-0.5, 0.5, segments + 1)
    return rope(np.stack([along, 0 * along, 0 * along + height], axis=1)), ROPE


@pytest.mark.slow
@pytest.mark.parametrize("substeps", [3, 10])
def test_a_rope_hangs_over_a_bar(substeps: int) -> None:
    """It is never stretched by more than 0.5 %, passes through nothing, and comes to rest."""
    body, over = straight(60, height=0.05), bar(friction=1.0)
    settings = BodySettings(body_type="ROPE", mass=0.1, damping=8.0)
    scene = SceneSettings(substeps=substeps)
    (track,) = simulated([(body[0], settings)], frames(1.5, 24), scene, colliders=[over])
    assert np.abs(strains(body[0], track)).max() < 0.005
    assert crossed([body], [track], [over]) == 0
    assert track[-1, :, 2].max() > 0.02, "it should hang over the bar"
    assert np.abs(np.diff(track[-2:], axis=0)).max() * 24 < 0.02


BOTH = solve_impulses.reference, solve_impulses


def contacts_of_a_coil(seed: int) -> tuple[Floats, ContactRows, RopeSlice]:
    """A rope with a hundred random contacts between its edges; positions, rows, and its trees."""
    rng = np.random.default_rng(seed)
    mesh, count = rope(np.cumsum(rng.normal(size=(40, 3)), axis=0)), 100
    model, state = built_state((pinned(mesh, [0]), ROPE))
    first, second = rng.integers(0, 39, (2, count))
    second = np.where(np.abs(first - second) < 2, (first + 10) % 39, second)
    shares = rng.uniform(size=(2, count))
    normals = rng.normal(size=(3, count))
    contacts = Contacts(
        particles=np.stack([first, first + 1, second, second + 1]),
        weights=np.stack([shares[0], 1.0 - shares[0], -shares[1], shares[1] - 1.0]),
        normals=normals / np.linalg.norm(normals, axis=0),
        gaps=np.full(count, 0.01),
        owners=np.zeros((2, count), dtype=np.int64),
        keys=np.arange(count),
    )
    pairs = PairProperties(np.full((1, 1), 0.5), np.zeros((1, 1)), np.zeros((1, 1)))
    places, on_ropes = state.positions, np.ones(40, dtype=bool)
    motion = PredictedMotion(model.inverse_masses, places, places, 0.0 * places, on_ropes, 1 / 240)
    trees = ready_batches(model, state, "TCV", 1 / 240).ropes.trees
    return places, make_rows(contacts, pairs, motion), RopeSlice(slice(0, 40), trees)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("solve", BOTH)
def test_impulses_on_a_rope_hold_signorinis_and_coulombs_laws(solve: Any, seed: int) -> None:
    """A contact is closed or has no impulse; what slides is held by all friction, against its way.

    Lengths keep to first order.
    """
    places, rows, along = contacts_of_a_coil(seed)
    rng = np.random.default_rng(seed)
    violations = 1e-3 * rng.normal(size=rows.normals.shape)
    weight, impulses = 0.3 * rows.mobilities, np.zeros_like(violations)
    bounds = weight + response_bounds(rows, 40)
    moved, impulses = solve(
        places, rows, [along], CONTACT_TOLERANCE, violations, bounds, weight, impulses
    )
    apart = violations + sum_weighted(moved, rows.particles, rows.weights) + weight * impulses
    normal, gap = dot(rows.normals, impulses), dot(rows.normals, apart)
    assert normal.min() >= 0.0
    assert gap.min() > -1e-6
    assert (np.minimum(normal * rows.mobilities, gap) < 1e-6).all()
    assert 20 < (normal > 0.0).sum() < 80
    slide, held = apart - rows.normals * gap, impulses - rows.normals * normal
    limit = 0.5 * normal
    assert (magnitudes(held) < limit + 1e-9).all()
    slips = magnitudes(held) < 0.999 * limit
    assert (magnitudes(slide)[slips] < 2e-6).all()
    assert (dot(slide, held) < 1e-12).all()
    links = np.diff(places, axis=1)
    assert np.abs(dot(links, np.diff(moved, axis=1)) / magnitudes(links)).max() < 1e-10


@pytest.mark.skipif(backend().library is None, reason="NumPy's kernels serve here")
@pytest.mark.parametrize("seed", range(5))
def test_compiled_contacts_of_ropes_agree_with_the_reference(seed: int) -> None:
    """Impulses, displacements and tensions differ by no more than rounding."""
    results = []
    for solve in BOTH:
        places, rows, along = contacts_of_a_coil(seed)
        violations = 1e-3 * np.random.default_rng(seed).normal(size=rows.normals.shape)
        weight, impulses = 0.3 * rows.mobilities, np.zeros_like(violations)
        bounds = weight + response_bounds(rows, 40)
        given = places, rows, [along], CONTACT_TOLERANCE, violations, bounds, weight, impulses
        moved, impulses = solve(*given)
        results.append((moved, impulses, along.trees.generations[0].batch.multipliers))
    for theirs, ours in zip(*results, strict=True):
        assert np.abs(theirs).max() > 0.0
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-9 * np.abs(theirs).max())


@pytest.mark.slow
def test_a_rope_falls_onto_itself() -> None:
    """A rope let fall upright onto the ground coils there, and passes through nowhere."""
    turn = np.linspace(0.0, 4.0 * np.pi, 41)
    points = np.stack([0.08 * np.cos(turn), 0.08 * np.sin(turn), 0.05 + 0.02 * turn], axis=1)
    body = rope(points), ROPE
    (track,) = simulated([body], frames(1.0, 24), HALF, ground=floor())
    assert track[:, :, 2].min() > 0.5 * ROPE.thickness
    # What is held back from passing stretches it, for a moment.
    assert np.abs(strains(body[0], track)).max() < 0.05
    assert np.abs(strains(body[0], track[-1])).max() < 0.005
    apart = np.linalg.norm(track[-1][:, None] - track[-1], axis=-1)
    far = np.abs(np.subtract.outer(np.arange(41), np.arange(41))) > 2
    assert apart[far].min() > 0.5 * ROPE.thickness
    assert np.abs(np.diff(track[-2:], axis=0)).mean() * 24 < 0.01


@pytest.mark.parametrize(("outer", "substeps"), [(0.02, 4), (0.1, 10)])
def test_a_rope_that_pins_hold_too_near_to_a_ball_lies_still(outer: float, substeps: int) -> None:
    """It has no room there: its pins lie a centimetre over what it is to keep off farther."""
    hung = pinned(rope(np.linspace([-0.5, 0.0, 0.31], [0.5, 0.0, 0.31], 19)), [4, 5, 6, 7, 12])
    body = BodySettings(body_type="ROPE", thickness=0.001)
    (track,) = simulated(
        [(hung, body)],
        frames(1.0, 24),
        SceneSettings(substeps=substeps),
        colliders=[ball(outer=outer, friction=1.0)],
    )
    assert strains(hung, track).max() < 0.05
    assert np.abs(np.diff(track[-6:], axis=0)).max() * 24 < 0.3


def test_a_rope_much_thicker_than_its_edges_are_long_falls_calmly() -> None:
    """Where its lengths hold what touches fast, no push would do, and the largest fling it away."""
    mesh = rope(np.linspace([0.0, 0.0, 0.3], [0.3, 0.1, 1.2], 20))
    body = replace(ROPE, damping=0.0, thickness=0.2, friction=1.5)
    (track,) = simulated([(mesh, body)], frames(1.0, 24), SceneSettings(substeps=2), ground=floor())
    assert strains(mesh, track).max() < 0.1
    assert np.abs(np.diff(track, axis=0)).max() * 24 < 3.0


def test_a_rope_on_cloth_is_not_flung_about() -> None:
    """What gives way beneath it takes a part of each push; else it is thrown up, and stretched."""
    cloth = pinned(sheet(12), [0, 12, 156, 168])
    line = rope(np.linspace([0.2, 0.47, 0.05], [0.8, 0.47, 0.05], 25))
    bodies = [(cloth, BodySettings(mass=0.2)), (line, replace(ROPE, mass=0.05))]
    _, track = simulated(bodies, frames(0.6, 24))
    assert np.abs(strains(line, track)).max() < 1e-3
    assert np.abs(np.diff(track, axis=0)).max() * 24 < 1.5


def test_ropes_that_lie_in_one_another_are_told_once_and_stay_finite() -> None:
    """One sentence names them; they are pushed apart one by one, not solved as one system."""
    mesh, settings = straight(20, height=1.0)
    meshes = [replace(mesh, name=f"Rope {number}") for number in range(6)]
    results = list(simulate(meshes, [settings] * 6, HALF, samples(meshes, frames(4 / 24, 24))))
    assert all(np.isfinite(places).all() for places in results[-1].positions)
    (told,) = [remark for result in results for remark in result.remarks]
    assert told.startswith("Rope 0, Rope 1, Rope 2 and 3 more had no room at frame 2")
    assert "move them apart" in told


def test_faces_of_cloth_on_a_fine_collider_do_not_crowd_a_rope_beside_it() -> None:
    """Each of its few vertices is in many contacts, which are not the rope's: it has its room."""
    shape, places = ball(fine=48)
    cloth = pinned(moved(sheet(2), np.eye(3), (-0.5, -0.5, 0.32)), [0, 2, 6, 8])
    line = rope(np.linspace([-0.2, 0.9, 0.3], [0.2, 0.9, 0.3], 9))
    other, triangle = collider([[0, 1, 2]]), puck() + np.array([0.0, 0.9, 0.28])
    bodies = [(cloth, BodySettings(mass=0.2, thickness=0.02)), (line, ROPE)]
    colliders: list[Moving] = [
        (shape, lambda time: places + 2.0 * time * np.array([0, 0, 1])),
        (other, triangle),
    ]
    found = list(results(bodies, frames(2 / 24, 24), HALF, colliders=colliders))
    assert not [told for frame in found for told in frame.remarks if "had no room" in told]


def test_a_single_sided_collider_without_faces_is_no_hindrance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ropes and it have no triangle at all: nothing can lie behind one, on NumPy's kernels too."""
    monkeypatch.setattr(backend(), "library", None)
    empty = collider(np.empty((0, 3), dtype=np.int64), single_sided=True)
    bodies = [straight(4, height=0.0), straight(4, height=0.003)]
    tracks = simulated(bodies, frames(2 / 24, 24), HALF, colliders=[(empty, np.zeros((3, 3)))])
    assert all(np.isfinite(track).all() for track in tracks)
