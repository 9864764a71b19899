"""Rigid parts, as artists paint them."""

import numpy as np
import pytest

from tests.blender.scenes import baked, body, pin, sheet, verlet


def test_a_painted_patch_of_a_curtain_stays_flat() -> None:
    obj = body(sheet(resolution=10, height=2.0), bend_compliance=1e5)
    pin(obj, [0, 10])
    patch = [row * 11 + column for row in range(4, 8) for column in range(4, 8)]
    obj.vertex_groups.new(name="Plate").add(patch, 1.0, "REPLACE")
    obj.verlet.rigid_group = "Plate"
    verlet.bake(frame_start=1, frame_end=12)
    first, *_, last = (points[patch] for points in baked(obj).values())
    spans = [np.linalg.norm(points[:, None] - points, axis=2) for points in (first, last)]
    np.testing.assert_allclose(spans[1], spans[0], atol=1e-6)
    assert np.abs(last - first).max() > 0.05


def test_a_rigid_group_that_is_gone_is_told() -> None:
    obj = body(sheet("Coat"), rigid_group="Buttons")
    with pytest.raises(RuntimeError, match="no vertex group Buttons; choose another rigid"):
        verlet.bake()
    assert not baked(obj)
