"""What a mesh is taken apart into: areas, diagonals, bends and components."""

import numpy as np
import pytest

from tests.core.bodies import (
    built,
    disc,
    lengths,
    make_mesh,
    moved,
    rope,
    rotation,
    sheet,
    sphere,
    split,
    tube,
)
from verlet_addon.core.arrays import Floats
from verlet_addon.core.bending.mesh_stencils import (
    line_turns,
    lines_across_quads,
    lines_along_ropes,
)
from verlet_addon.core.geometry import ray_casting
from verlet_addon.core.geometry.faces import (
    edge_areas,
    face_diagonals,
    face_normals,
    read_corners,
    vertex_areas,
)
from verlet_addon.core.geometry.graph import edge_lengths, find_components
from verlet_addon.core.geometry.hinges import find_hinges
from verlet_addon.core.geometry.ray_casting import cast_rays, count_turns, find_winding_numbers
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings, BodyType

MESHES = {
    "quads": sheet(4, 3),
    "triangles": sheet(4, 3, triangles=True),
    "disc": disc(3),
    "tube": tube(7, 3),
    "sphere": sphere(8, 6),
}
every_mesh = pytest.mark.parametrize("mesh", MESHES.values(), ids=MESHES)


def areas(mesh: MeshData) -> Floats:
    """(f,) of the faces."""
    corners = read_corners(mesh)
    normals = face_normals(mesh.positions, corners, len(mesh.face_starts) - 1)
    return np.asarray(np.linalg.norm(normals, axis=1))


@every_mesh
def test_face_areas_do_not_depend_on_where_the_mesh_is(mesh: MeshData) -> None:
    """Newell's formula gives the same areas far off and turned."""
    turned = moved(mesh, rotation((1, 2, 3), 0.7), (30.0, -20.0, 10.0))
    np.testing.assert_allclose(areas(turned), areas(mesh), rtol=1e-9)


def test_known_areas() -> None:
    """A sheet's cells, a triangle and an L-shaped face have the areas of school."""
    np.testing.assert_allclose(areas(sheet(4)), 1 / 16)
    np.testing.assert_allclose(areas(sheet(4, triangles=True)), 1 / 32)
    ell = make_mesh(
        [(0, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0), (1, 2, 0), (0, 2, 0)],
        faces=[(0, 1, 2, 3, 4, 5)],
    )
    np.testing.assert_allclose(areas(ell), 3.0)


@every_mesh
def test_area_is_shared_out_completely(mesh: MeshData) -> None:
    """Vertices and faces have the same area in total."""
    corners = read_corners(mesh)
    shares = vertex_areas(corners, areas(mesh), len(mesh.positions))
    assert shares.sum() == pytest.approx(areas(mesh).sum())


def test_inner_edges_carry_a_cell_in_quads_and_triangles_alike() -> None:
    """An inner edge of a grid stands for one cell, a rim edge for half of one, cut up or not."""
    for triangles in (False, True):
        mesh = sheet(4, triangles=triangles)
        found = edge_areas(mesh.edges, read_corners(mesh), areas(mesh), len(mesh.positions))
        ends = mesh.positions[mesh.edges]
        straight = (ends[:, 0] == ends[:, 1]).sum(axis=1) == 2
        on_rim = ((ends[:, 0] == ends[:, 1]) & ((ends[:, 0] == 0) | (ends[:, 0] == 1)))[:, :2]
        rim = on_rim.any(axis=1)
        np.testing.assert_allclose(found[straight & ~rim], 1 / 16)
        np.testing.assert_allclose(found[rim], 1 / 32)


@every_mesh
def test_hinges_are_the_edges_between_two_faces(mesh: MeshData) -> None:
    """One hinge for each edge with two faces; what lies beyond is next to its ends."""
    hinges = find_hinges(read_corners(mesh), len(mesh.positions))
    faces = np.split(mesh.face_vertices, mesh.face_starts[1:-1])
    beside = [sum({a, b} <= set(face.tolist()) for face in faces) for a, b in mesh.edges]
    assert len(hinges.p) == sum(count == 2 for count in beside)
    edges = {tuple(sorted(pair)) for pair in mesh.edges.tolist()}
    for k, (p, q) in enumerate(zip(hinges.p.tolist(), hinges.q.tolist(), strict=True)):
        assert (min(p, q), max(p, q)) in edges
        for side in range(2):
            face = set(faces[hinges.faces[k, side]].tolist())
            after_p, after_q = int(hinges.beyond_p[k, side]), int(hinges.beyond_q[k, side])
            assert {p, q, after_p, after_q} <= face
            assert tuple(sorted((p, after_p))) in edges
            assert tuple(sorted((q, after_q))) in edges


def test_diagonals_of_faces() -> None:
    """A quad has two diagonals, a pentagon five, a triangle none."""
    mesh = make_mesh(
        np.eye(12, 3),
        faces=[(0, 1, 2, 3), (4, 5, 6, 7, 8), (9, 10, 11)],
    )
    pairs, face = face_diagonals(read_corners(mesh))
    assert np.bincount(face, minlength=3).tolist() == [2, 5, 0]
    found = {tuple(sorted(pair)) for pair in pairs.tolist()}
    assert found == {(0, 2), (1, 3), (4, 6), (5, 7), (6, 8), (4, 7), (5, 8)}


def test_lines_and_hinges_share_out_the_bending_once() -> None:
    """In a flat grid of quads every bend is a straight line of three; on a tube those along it."""
    for mesh, straight in ((sheet(4), 2 * 5 * 3), (tube(8, 3), 8 * 2)):
        corners = read_corners(mesh)
        hinges = find_hinges(corners, len(mesh.positions))
        lines, _ = lines_across_quads(hinges, areas(mesh), mesh.positions)
        assert len(lines.vertices) == straight
        np.testing.assert_allclose(line_turns(mesh.positions, lines.vertices), 0, atol=1e-9)


def test_rope_bends_at_every_inner_vertex() -> None:
    """A rope bends once at each vertex between two edges; where ropes cross, along each of them."""
    line = rope([(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)])
    assert lines_along_ropes(line.positions, line.edges).vertices[:, 1].tolist() == [1, 2]
    points = np.array([(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)], dtype=float)
    cross = np.array([(0, k) for k in range(1, 5)])
    bends = lines_along_ropes(points, cross).vertices
    assert sorted(sorted(bend) for bend in bends[:, [0, 2]].tolist()) == [[1, 2], [3, 4]]


def test_components() -> None:
    """Labels are equal within what hangs together, and count from 0."""
    edges = np.array([(5, 4), (4, 3), (0, 1)])
    labels = find_components(7, edges)
    assert labels.tolist() == [0, 0, 1, 2, 2, 2, 3]


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(
    ("mesh", "body_type"),
    [(sheet(4), "CLOTH"), (disc(3), "CLOTH"), (sphere(8, 6), "SOFT"), (rope(np.eye(3)), "ROPE")],
)
def test_masses_add_up(mesh: MeshData, body_type: BodyType, scale: float) -> None:
    """The vertices weigh together what the body weighs, whatever its size."""
    body = BodySettings(body_type=body_type, mass=3.0)
    model = built((moved(mesh, scale * np.eye(3)), body))
    assert (1.0 / model.inverse_masses[: model.vertex_count]).sum() == pytest.approx(3.0)
    assert (model.inverse_masses > 0.0).all()


def test_mass_follows_area_and_length() -> None:
    """A vertex inside a grid weighs four times a corner's, one inside a rope twice an end's."""
    masses = 1.0 / built((sheet(4), BodySettings())).inverse_masses
    assert masses[12] == pytest.approx(4 * masses[0])
    line = rope([(0, 0, 0), (1, 0, 0), (2, 0, 0)])
    masses = 1.0 / built((line, BodySettings(body_type="ROPE"))).inverse_masses
    assert masses[1] == pytest.approx(2 * masses[0])


@every_mesh
def test_bends_do_not_pull_at_rest(mesh: MeshData) -> None:
    """At rest every bend has exactly its rest size, and its weights cancel out."""
    every = built((mesh, BodySettings())).bends
    for bends in (*every.straight, every.hinges):
        sizes = np.linalg.norm(
            np.einsum("mk,mkx->mx", bends.coefficients, mesh.positions[bends.members]), axis=1
        )
        np.testing.assert_allclose(sizes, np.abs(bends.rests), atol=1e-3)
        scale = np.abs(bends.coefficients).max(initial=1.0)
        np.testing.assert_allclose(bends.coefficients.sum(axis=1), 0.0, atol=1e-12 * scale)


def test_edges_keep_their_lengths_in_the_builders() -> None:
    """Rest lengths are the distances of the mesh."""
    mesh = disc(3)
    np.testing.assert_allclose(
        edge_lengths(mesh.positions, mesh.edges), lengths(mesh.positions, mesh.edges)
    )


def test_rays_meet_no_triangles_without_area() -> None:
    """Where they do by rounding, what starts inside of a collider finds a way out that is none."""
    random, way = np.random.default_rng(0), np.ones(3) / np.sqrt(3.0)
    collapsed = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]).T
    for _ in range(300):
        point = random.uniform(-0.1, 0.1, (3, 1)).round(2)
        corners = point + way[:, None] * random.uniform(0.1, 0.3, 4).round(2)
        assert not len(cast_rays(point, corners, collapsed, way).points)


@pytest.mark.parametrize("count", [1, 400])
def test_winding_numbers_are_the_same_in_both_bodies(count: int) -> None:
    """Points in two balls that overlap have the number 2; all have 0 where a corner is lost."""
    ball = split(sphere(32, 24, radius=1.0))
    triangles, corners = ball.face_vertices.reshape(-1, 3).T, ball.positions.T
    centres = np.array([(0.0, 0.0, 0.0), (0.3, 0.0, 0.1)])
    twice = np.concatenate([corners, corners + centres[1][:, None]], axis=1)
    both = np.concatenate([triangles, triangles + corners.shape[1]], axis=1)
    points = np.random.default_rng(1).uniform(-1.2, 1.2, (3, count))
    away = np.linalg.norm(points[None] - centres[:, :, None], axis=1)
    sure = (np.abs(away - 1.0) > 0.1).all(axis=0)
    found = find_winding_numbers(points, twice, both)
    np.testing.assert_array_equal(found[sure], (away < 1.0).sum(axis=0)[sure])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray_casting, "count_turns", count_turns.reference)
        np.testing.assert_array_equal(find_winding_numbers(points, twice, both), found)
        twice[0, 3] = np.nan
        assert not find_winding_numbers(points, twice, both).any()
    assert not find_winding_numbers(points, twice, both).any()
