"""Cloth with gas in it, as artists set it up."""

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import baked, blender, body, select, sheet, verlet


def beach_ball() -> Any:
    """A sphere half a metre wide that stands on the ground, as cloth."""
    blender.ops.mesh.primitive_uv_sphere_add(
        segments=16, ring_count=10, radius=0.5, location=(0, 0, 0.51)
    )
    return body(bpy.context.object, body_type="CLOTH")


def heights() -> list[float]:
    """How high a ball stands, frame by frame, once it is baked."""
    obj = bpy.context.object
    verlet.bake(frame_start=1, frame_end=40)
    return [float(np.ptp(points[:, 2])) for points in baked(obj).values()]


def test_pressure_can_be_keyed_to_leak() -> None:
    obj = beach_ball()
    obj.verlet.pressure = 300.0
    assert min(heights()) > 0.9
    obj.verlet.keyframe_insert("pressure", frame=5)
    obj.verlet.pressure = 0.0
    obj.verlet.keyframe_insert("pressure", frame=10)
    assert heights()[-1] < 0.85


def test_a_sheet_with_pressure_is_told_that_it_encloses_nothing() -> None:
    obj = body(sheet("Sail"), pressure=10.0)
    select(obj)
    with pytest.raises(RuntimeError, match="'Sail' has pressure, but a part of it encloses no"):
        verlet.bake()
