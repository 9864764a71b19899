"""The first thing anyone does: a shape at the origin, half in the ground, made soft and baked."""

import bpy
import numpy as np
import pytest

from tests.blender.scenes import baked, body, verlet

BOTTOM = 0.005
"""What a body keeps from the ground [m]."""


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["cube", "uv_sphere", "ico_sphere", "cylinder", "cone"])
def test_shape_at_the_origin_comes_to_rest_on_the_ground(shape: str) -> None:
    """Two metres high and half in the ground, it ends on it, never higher than it stands there."""
    getattr(bpy.ops.mesh, f"primitive_{shape}_add")()
    obj = body(bpy.context.object)
    assert obj.verlet.body_type == "SOFT"
    bpy.context.scene.frame_end = 40
    verlet.bake()
    heights = np.array([points[:, 2] for points in baked(obj).values()])
    np.testing.assert_allclose(heights[0], [v.co.z for v in obj.data.vertices], atol=1e-6)
    assert heights.max() < 2.02
    # Half a second is twelve frames; float32 rounds the keys.
    assert heights[13:].min() > BOTTOM - 1e-6
    assert heights[-1].min() < BOTTOM + 1e-4
    assert heights[-1].max() > 1.8, "it should not have been squashed"
