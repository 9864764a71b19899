"""Fibres of muscles run as their map says, wherever and however it lies."""

from math import cos, pi, sin

import numpy as np
import pytest

from tests.core.bodies import sheet
from verlet_addon.core.geometry.texture_directions import directions


@pytest.mark.parametrize("triangles", [False, True])
@pytest.mark.parametrize("turn", [0.0, 0.6, 2.5])
@pytest.mark.parametrize("mirrored", [1.0, -1.0])
def test_fibres_run_upwards_in_the_map(triangles: bool, turn: float, mirrored: float) -> None:
    """Also in a map that is smaller along one axis, or turned over."""
    mesh = sheet(4, triangles=triangles)
    flat = mesh.positions[mesh.face_vertices, :2]
    u = cos(turn) * flat[:, 0] + sin(turn) * flat[:, 1]
    v = -sin(turn) * flat[:, 0] + cos(turn) * flat[:, 1]
    places = np.stack((0.3 * mirrored * u, v), axis=1)
    found = directions(mesh.positions, mesh.face_starts, mesh.face_vertices, places)
    assert found == pytest.approx(np.tile((-sin(turn), cos(turn), 0.0), (len(found), 1)))


def test_fibres_follow_a_curved_surface() -> None:
    """Around a tube, each lies in its surface."""
    mesh = sheet(24)
    angles, height = 2.0 * pi * mesh.positions[:, 0], mesh.positions[:, 1]
    tube = np.stack((np.cos(angles), np.sin(angles), height), axis=1)
    places = mesh.positions[mesh.face_vertices][:, [1, 0]]
    found = directions(tube, mesh.face_starts, mesh.face_vertices, places)
    around = np.stack((-np.sin(angles), np.cos(angles), 0.0 * angles), axis=1)
    inner = np.abs(mesh.positions[:, 0] - mesh.positions[:, 0].mean()) < 0.45
    assert (np.sum(found * around, axis=1)[inner] > 0.999).all()


def test_there_are_none_where_the_map_has_no_area() -> None:
    mesh = sheet(2)
    places = np.zeros((len(mesh.face_vertices), 2))
    assert not directions(mesh.positions, mesh.face_starts, mesh.face_vertices, places).any()
