"""Edges far shorter than those around them keep their lengths."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.core.bodies import (
    flat_sheet,
    frames,
    lengths,
    make_mesh,
    moved,
    pinned,
    rotation,
    scanned,
    sheet,
    simulated,
    slow,
    sphere,
    strains,
    tube,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings, SceneSettings
from verlet_addon.core.stretch.rigid_clusters import Clusters, build_clusters, project_clusters


def clusters_of(mesh: MeshData) -> Clusters:
    """The clusters of a mesh whose pinned particles have no inverse mass, and others 1."""
    return build_clusters(mesh.positions, mesh.edges, 1.0 * (mesh.pin_weights == 0.0))


FINE = pytest.param(1e-4, 48, "corners", marks=pytest.mark.slow)
SHORT = [pytest.param(tiny, 24, "corners", marks=pytest.mark.slow) for tiny in (0.1, 1e-2)]


@pytest.mark.parametrize(
    ("tiny", "cells", "held"), [(1e-4, 24, "edge"), (1e-4, 24, "corners"), FINE, *SHORT]
)
def test_tiny_edges_keep_their_length(tiny: float, cells: int, held: str) -> None:
    """Edges 10,000 times shorter than those beside them stretch no more, and keep half at least."""
    pins = range(cells + 1) if held == "edge" else [0, cells]
    mesh = pinned(scanned(cells, tiny=tiny), pins)
    (track,) = simulated([(mesh, BodySettings())], frames(1.0, 24), SceneSettings())
    assert lengths(mesh.positions, mesh.edges).min() < 2.0 * tiny / cells
    found = strains(mesh, track)
    assert found.max() < 0.02
    # That is what edges of triangles promise; sweeps leave a little over.
    assert found.min() > -0.51
    assert track[-1, :, 2].min() < -0.5, "it should have swung down"


@pytest.mark.parametrize("shrunk", [1e-2, 1e-3])
@pytest.mark.parametrize("reach", [0.06, *slow(0.12)])
def test_clumps_of_tiny_triangles_keep_their_lengths(shrunk: float, reach: float) -> None:
    """Where a scan has a whole clump of triangles that are much too small, none of them is torn."""
    mesh = flat_sheet("strewn triangles", 20)
    points = mesh.positions.copy()
    near = np.linalg.norm(points - points[210], axis=1) < reach
    points[near] = points[210] + (points[near] - points[210]) * shrunk
    mesh = pinned(replace(mesh, positions=points), [0, 20])
    (track,) = simulated([(mesh, BodySettings())], frames(20 / 24, 24))
    found = strains(mesh, track)
    assert found.max() < 0.02
    assert found.min() > -0.51


def test_sphere_keeps_its_lengths() -> None:
    """The rings round the poles do not give way where a sphere hangs from one of them."""
    mesh = sphere(48, 24)
    mesh = pinned(mesh, [int(mesh.positions[:, 2].argmax())])
    (track,) = simulated([(mesh, BodySettings())], frames(0.8, 24), SceneSettings())
    found = strains(mesh, track)
    assert np.percentile(found, 99, axis=1).max() < 0.01
    # Where it lands in folds single edges stretch more for a frame, by 2.5 % as seen so far.
    assert found.max() < 0.05


@pytest.mark.parametrize("stretched", [1.0, 4.0])
def test_even_meshes_have_no_clusters(stretched: float) -> None:
    """Cells may be four times as long as wide."""
    mesh = sheet(6, triangles=True)
    mesh = replace(mesh, positions=mesh.positions * [stretched, 1.0, 1.0])
    assert not len(clusters_of(mesh).particles)


def test_graded_meshes_have_no_clusters() -> None:
    """A mesh may become finer and finer, ring within ring, by a third from each to the next."""
    mesh = tube(12, 10, radius=1.0, length=10.0)
    mesh = replace(mesh, positions=mesh.positions * [1.0, 1.0, 0.0] * 1.5 ** -mesh.positions[:, 2:])
    assert not len(clusters_of(mesh).particles)


def test_clusters_are_small() -> None:
    """Where many vertices crowd, as at the poles of a sphere, they are not all lumped together."""
    mesh = sphere(200, 24)
    found = clusters_of(mesh)
    assert len(found.particles)
    extents = np.abs(np.diff(found.arms[:, np.argsort(found.labels, kind="stable")]))
    assert extents.max() < 0.3 * lengths(mesh.positions, mesh.edges).max()


def test_pinned_particles_stay_where_they_are() -> None:
    """The rest of their cluster comes to them."""
    mesh = pinned(scanned(6, tiny=1e-3), range(49))
    assert not len(clusters_of(mesh).particles), "nothing could move"
    first = int(clusters_of(scanned(6, tiny=1e-3)).particles[0])
    mesh = pinned(scanned(6, tiny=1e-3), [first])
    found = clusters_of(mesh)
    positions = mesh.positions.T + np.random.default_rng(1).normal(0.0, 1e-3, (3, 49))
    before = positions.copy()
    project_clusters(positions, found)
    np.testing.assert_array_equal(positions[:, first], before[:, first])
    other = found.particles[(found.labels == found.labels[0]) & (found.particles != first)][0]
    rest = np.linalg.norm(mesh.positions[other] - mesh.positions[first])
    # It counts a million times as heavy, not infinitely.
    assert np.linalg.norm(positions[:, other] - before[:, first]) == pytest.approx(rest, abs=1e-8)


points = st.lists(st.tuples(*[st.floats(-1.0, 1.0)] * 3), min_size=2, max_size=6, unique=True)


@given(points=points, noise=st.integers(0, 1000), angle=st.floats(-3.0, 3.0))
def test_keeps_momentum_and_shape(points: list[Floats], noise: int, angle: float) -> None:
    """What moves a cluster moves it as a rigid piece; nothing does if it is one already."""
    random = np.random.default_rng(noise)
    rest = np.array(points).T
    shares = random.uniform(0.1, 1.0, rest.shape[1])
    shares /= shares.sum()
    count = rest.shape[1]
    arms = rest - (rest @ shares)[:, None]
    members = np.arange(count)
    cluster = Clusters(members, 0 * members, members >= 0, shares, arms)
    turned = rotation((1.0, 2.0, -0.5), angle) @ arms + random.normal(0.0, 1.0, (3, 1))
    still = turned.copy()
    project_clusters(still, cluster)
    np.testing.assert_allclose(still, turned, atol=1e-9)
    before = turned + random.normal(0.0, 0.3, turned.shape)
    after = before.copy()
    project_clusters(after, cluster)
    np.testing.assert_allclose(after @ shares, before @ shares, atol=1e-9)
    spin = np.cross(before - (before @ shares)[:, None], (after - before) * shares, axis=0)
    np.testing.assert_allclose(spin.sum(axis=1), 0.0, atol=1e-9)
    apart = [np.linalg.norm(x[:, :, None] - x[:, None], axis=0) for x in (after, arms)]
    np.testing.assert_allclose(apart[0], apart[1], atol=1e-9)


def test_turned_scan_bakes_the_turned_result() -> None:
    """Which particles make a cluster does not depend on where the mesh is."""
    mesh = sphere(24, 12)
    turn = rotation((1.0, 0.3, -0.2), 1.0)
    plain, other = clusters_of(mesh), clusters_of(moved(mesh, turn, np.array([1.0, -2.0, 0.5])))
    np.testing.assert_array_equal(plain.particles, other.particles)
    np.testing.assert_array_equal(plain.labels, other.labels)


def test_face_folded_flat_onto_the_next_stays() -> None:
    """A hem, pressed flat, is not flung open."""
    mesh = make_mesh(
        [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0), (0.2, 0.0, 0), (0.2, 1.0, 0)],
        faces=[(0, 1, 3, 2), (2, 3, 5, 4)],
    )
    body = BodySettings(bend_compliance=0.01)
    (track,) = simulated([(mesh, body)], frames(0.5, 24), SceneSettings())
    fallen = track - track[:, :1] - (mesh.positions - mesh.positions[0])
    np.testing.assert_allclose(fallen, 0.0, atol=1e-9)
