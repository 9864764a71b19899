"""Textures of motion: layout and exact bounds."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from verlet_addon.core.errors import SettingsError
from verlet_addon.core.vertex_animation import fitting_layout, range_of


@given(st.integers(1, 5000), st.integers(1, 300))
def test_each_vertex_and_frame_has_a_place_of_its_own(vertices: int, frames: int) -> None:
    """By the formulas of OpenVAT and the lookup of its shaders."""
    layout = fitting_layout(vertices, frames)
    assert layout.width.bit_count() == layout.height.bit_count() == 1
    colors = np.arange(vertices * frames, dtype=np.float64).reshape(frames, vertices, 1)
    texture = layout.texture(np.asarray(np.repeat(colors, 3, axis=2) + 1, np.float64))
    u, v = layout.uv().T
    for frame in (0, frames // 2, frames - 1):
        column = np.floor(u * layout.width).astype(int)
        row = np.floor((1 - v + frame / layout.height) * layout.height).astype(int)
        assert (texture[row, column, 0] == colors[frame, :, 0] + 1).all()
    assert np.count_nonzero(texture[..., 0]) == vertices * frames


def test_the_last_vertex_is_at_the_upper_left() -> None:
    layout = fitting_layout(2501, 144)
    assert (layout.width, layout.height) == (512, 1024)
    np.testing.assert_allclose(layout.uv()[2500], (0.5 / 512, 1 - 0.5 / 1024))
    np.testing.assert_allclose(layout.uv()[2500 - 512], (0.5 / 512, 1 - 144.5 / 1024))


def test_bounds_are_exact_and_flat_axes_too() -> None:
    offsets = np.random.default_rng(1).normal(size=(5, 7, 3))
    offsets[..., 2] = 0.25
    bounds = range_of(offsets)
    description = bounds.description(5)["os-remap"]
    assert description["Min"] == offsets.min(axis=(0, 1)).tolist()
    assert description["Max"] == offsets.max(axis=(0, 1)).tolist()
    assert description["Frames"] == 5
    colors = bounds.colors(offsets)
    low, high = np.array(description["Min"]), np.array(description["Max"])
    np.testing.assert_allclose(low + colors * (high - low), offsets, atol=1e-12)


def test_too_large_is_an_error() -> None:
    with pytest.raises(SettingsError, match="do not fit into a texture of 8192 by 8192; bake"):
        fitting_layout(500_000, 250)
