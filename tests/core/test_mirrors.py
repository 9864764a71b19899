"""A mesh and its images in mirrors are one body."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.bodies import make_mesh, sheet
from verlet_addon.core.arrays import Floats
from verlet_addon.core.errors import MeshError
from verlet_addon.core.mesh import MeshData, Mirror, check_mesh
from verlet_addon.core.mirrors import complete, complete_positions
from verlet_addon.core.scene import Plane


def mirror(
    *normal: float,
    point: Floats | None = None,
    merge_distance: float = 1e-3,
    speed: Floats | None = None,
) -> Mirror:
    """A plane through the origin or another point."""
    still = np.zeros(3)
    return Mirror(
        plane=Plane(point=still if point is None else point, normal=np.array(normal)),
        point_velocity=still if speed is None else speed,
        normal_velocity=still,
        merge_distance=merge_distance,
    )


def face_normals(mesh: MeshData) -> Floats:
    """(f, 3) of quads, as long as the faces are large."""
    corners = mesh.positions[mesh.face_vertices.reshape(-1, 4)]
    first, second = corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]
    return np.asarray(np.cross(first, second) / 2)


def test_a_quarter_of_a_sheet_becomes_the_whole() -> None:
    """Every vertex, edge and face once, all faces on the same side, the quarter's own first."""
    quarter = sheet(3)
    mirrored = replace(quarter, mirrors=[mirror(1.0, 0.0, 0.0), mirror(0.0, 1.0, 0.0)])
    whole, reflections = complete(mirrored)
    check_mesh(whole)
    assert [len(part) for part in (whole.positions, whole.edges)] == [49, 84]
    assert len(np.unique(np.round(whole.positions, 9), axis=0)) == 49
    assert len(np.unique(np.sort(whole.edges, axis=1), axis=0)) == 84
    assert np.allclose(face_normals(whole), face_normals(quarter)[0])
    assert len(face_normals(whole)) == 36
    assert np.array_equal(whole.positions[:16], quarter.positions)
    planes = [item.plane for item in mirrored.mirrors]
    assert np.array_equal(
        complete_positions(quarter.positions, reflections, planes), whole.positions
    )


def test_a_seam_that_is_only_almost_on_the_plane_is_joined_there() -> None:
    half = sheet(2)
    half = replace(half, positions=half.positions + np.array([5e-4, 0.0, 0.0]))
    whole, _ = complete(replace(half, mirrors=[mirror(1.0, 0.0, 0.0)]))
    assert len(whole.positions) == 15
    assert whole.positions[[0, 3, 6], 0] == pytest.approx(0.0)


def test_a_mesh_that_does_not_touch_a_mirror_is_left_as_it_is() -> None:
    away = sheet(2)
    away = replace(away, mirrors=[mirror(1.0, 0.0, 0.0, point=np.array([-1.0, 0.0, 0.0]))])
    whole, reflections = complete(away)
    assert whole is away
    assert not reflections


def test_a_wall_within_the_plane_is_there_once() -> None:
    box = make_mesh(
        [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)],
        faces=[(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)],
    )
    whole, _ = complete(replace(box, mirrors=[mirror(1.0, 0.0, 0.0)]))
    check_mesh(whole)
    assert len(whole.face_starts) - 1 == 11


def test_the_image_goes_along_with_a_plane_that_moves() -> None:
    """What moves as the plane does, moves as one; what moves against it, does so on both sides."""
    speed = np.array([3.0, 2.0, 1.0])
    half = sheet(2)
    moving = replace(half, velocities=np.tile(speed, (9, 1)))
    whole, _ = complete(replace(moving, mirrors=[mirror(1.0, 0.0, 0.0, speed=speed)]))
    assert np.allclose(whole.velocities, speed)
    whole, _ = complete(replace(moving, mirrors=[mirror(1.0, 0.0, 0.0)]))
    assert np.allclose(whole.velocities[9:], [-3.0, 2.0, 1.0])


def test_images_turn_with_a_plane_that_turns() -> None:
    """A rigid turn of mesh and plane about the vertical is one of the whole."""
    half = sheet(2)
    spin = np.cross((0.0, 0.0, 2.0), half.positions)
    plane = replace(mirror(1.0, 0.0, 0.0), normal_velocity=np.array([0.0, 2.0, 0.0]))
    whole, _ = complete(replace(half, velocities=spin, mirrors=[plane]))
    assert np.allclose(whole.velocities, np.cross((0.0, 0.0, 2.0), whole.positions))


def test_a_mirror_that_flattens_edges_is_refused() -> None:
    """The second column of vertices would be taken onto the plane too."""
    half = replace(sheet(4), mirrors=[mirror(1.0, 0.0, 0.0, merge_distance=0.3)])
    with pytest.raises(MeshError, match=r"'Body' has edges shorter than .*; lower that distance"):
        complete(half)
