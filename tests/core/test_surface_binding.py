"""Points that are bound to a surface follow it, with their offsets."""

import numpy as np
import pytest
from hypothesis import given, settings as profile, strategies as st

from tests.core.bodies import rotation, sheet
from verlet_addon.core.arrays import Floats, Integers
from verlet_addon.core.geometry.surface_binding import SurfaceBinding, bind_to_surface


def triangles_of(cells: int) -> Integers:
    """(t, 3) triangles of a sheet."""
    at = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    quads = np.stack([at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1]], axis=-1).reshape(-1, 4)
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def bound(points: Floats, surface: Floats, triangles: Integers) -> SurfaceBinding:
    """Points tied to the triangles above or below them."""
    cells = round(np.sqrt(len(triangles) / 2))
    place = np.clip(points[:, :2] * cells, 0.0, cells - 1e-9)
    column, row = place.astype(np.int64).T
    across, along = (place % 1.0).T
    chosen = np.where(across >= along, 0, cells * cells) + row * cells + column
    return bind_to_surface(points, surface, triangles, chosen, surface[triangles[chosen, 0]])


@given(st.integers(0, 2**32 - 1))
@profile(deadline=None, max_examples=50)
def test_as_the_surface_is_so_are_the_points_also_turned_and_moved(seed: int) -> None:
    """A rigid motion of a crumpled surface moves the points along, whatever their offsets."""
    rng = np.random.default_rng(seed)
    mesh, triangles = sheet(5), triangles_of(5)
    surface = mesh.positions + rng.normal(scale=0.02, size=mesh.positions.shape)
    points = rng.uniform(size=(40, 3)) * [1.0, 1.0, 0.3]
    tied = bound(points, surface, triangles)
    assert tied.carry(surface) == pytest.approx(points, abs=1e-12)
    turn, shift = rotation(rng.normal(size=3), rng.uniform(0.0, 3.0)), rng.normal(size=3)
    moved = tied.carry(surface @ turn.T + shift)
    assert moved == pytest.approx(points @ turn.T + shift, abs=1e-11)


def test_vertices_of_the_surface_are_where_it_has_them() -> None:
    """However it bends."""
    rng = np.random.default_rng(1)
    surface, triangles = sheet(5).positions, triangles_of(5)
    tied = bound(surface, surface, triangles)
    bent = surface + rng.normal(scale=0.05, size=surface.shape)
    assert tied.carry(bent) == pytest.approx(bent, abs=1e-12)


def test_a_fine_sheet_on_a_coarse_cylinder_is_nearly_round() -> None:
    """Its chords cut off h² / 8 R of a circle; the smooth surface leaves half of that."""
    radius, cells = 0.5, 8
    surface, triangles = sheet(cells).positions, triangles_of(cells)
    fine = sheet(64).positions
    angle = surface[:, 0] / radius
    bent = np.stack([radius * np.sin(angle), surface[:, 1], radius * np.cos(angle)], axis=1)
    found = bound(fine, surface, triangles).carry(bent)
    inside = (np.abs(fine[:, 0] - 0.5) < 0.3) & (np.abs(fine[:, 1] - 0.5) < 0.3)
    off = np.abs(np.hypot(found[:, 0], found[:, 2]) - radius)[inside].max()
    assert off < (1.0 / cells) ** 2 / (8.0 * radius) / 2.0


def test_offsets_keep_their_lengths_as_the_surface_stretches() -> None:
    surface, triangles = sheet(4).positions, triangles_of(4)
    points = np.array([[0.3, 0.4, 0.1], [0.7, 0.6, -0.05]])
    found = bound(points, surface, triangles).carry(surface * [3.0, 3.0, 1.0])
    assert found == pytest.approx(points * [3.0, 3.0, 1.0], abs=1e-12)
