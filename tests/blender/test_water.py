"""Water, as artists set it up."""

from typing import Any

import bpy
import numpy as np

from tests.blender.scenes import baked, blender, verlet


def dip(frames: dict[int, float]) -> Any:
    """A ball with Blender's Collision that goes up and down."""
    blender.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=8, radius=0.3)
    obj = bpy.context.object
    obj.modifiers.new("Collision", "COLLISION")
    for frame, height in frames.items():
        obj.location.z = height
        obj.keyframe_insert("location", frame=frame)
    return obj


def pond() -> Any:
    """Water as the Add menu makes it, on the ground."""
    verlet.add_water(size=2.0, resolution=24)
    return bpy.context.object


def test_an_added_pond_is_water_that_nothing_holds() -> None:
    obj = pond()
    assert (obj.verlet.body_type, obj.verlet.pin_group) == ("WATER", "")
    assert not obj.vertex_groups
    assert obj.location.z == 0.0
    assert obj.verlet.enabled


def test_a_collider_that_dips_in_makes_rings() -> None:
    dip({1: 1.0, 12: 0.0})
    obj = pond()
    verlet.bake(frame_start=1, frame_end=20)
    keys = list(baked(obj).values())
    far = np.linalg.norm(keys[0], axis=1)
    assert np.abs(keys[0][:, 2]).max() == 0.0
    assert np.abs(keys[-1][(far > 0.4) & (far < 0.7), 2]).max() > 5e-3
    assert np.abs(keys[-1][:, :2] - keys[0][:, :2]).max() < 1e-6


def test_what_lies_in_the_water_from_the_beginning_leaves_it_still() -> None:
    dip({1: 0.0})
    obj = pond()
    verlet.bake(frame_start=1, frame_end=10)
    assert max(np.abs(points[:, 2]).max() for points in baked(obj).values()) < 1e-6


def test_water_without_faces_is_told_so_in_the_panel(addon: Any) -> None:
    mesh = bpy.data.meshes.new("Line")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
    obj = bpy.data.objects.new("Line", mesh)
    assert addon("blender.scene.body_creation").type_hint(obj, "WATER") == "No faces for waves"
    assert addon("blender.scene.body_creation").type_hint(pond(), "WATER") == ""
