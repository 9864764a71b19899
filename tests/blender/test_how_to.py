"""What pages of docs/how_to promise comes about by their steps, in small."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import baked, select, sheet, shown, verlet

Addon = Callable[[str], ModuleType]


def make(obj: Any, material: str = "") -> Any:
    """Make Soft Body, and a material."""
    select(obj)
    assert verlet.convert() == {"FINISHED"}
    if material:
        verlet.set_material(material=material)
    return obj


def pin_selected(obj: Any, vertices: list[int]) -> None:
    """Selects vertices in Edit Mode and presses Pin Selected."""
    select(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for vertex in vertices:
        obj.data.vertices[vertex].select = True
    bpy.ops.object.mode_set(mode="EDIT")
    assert verlet.pin_selected() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")


def bake(frames: int) -> None:
    """Sets the last frame and bakes."""
    bpy.context.scene.frame_end = frames
    assert verlet.bake() == {"FINISHED"}


def longest(obj: Any, frame: int) -> float:
    """The longest edge of an object at a frame [m]."""
    ends = np.array([edge.vertices[:] for edge in obj.data.edges])
    places = shown(obj, frame)
    return float(np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1).max())


def test_a_flag_blows_the_way_of_the_arrow() -> None:
    flag = make(sheet("Flag", resolution=10, height=3.0), "SILK")
    pin_selected(flag, list(range(0, 121, 11)))
    bpy.ops.object.effector_add(type="WIND", rotation=(0.0, np.pi / 2, 0.0))
    bpy.context.object.field.strength = 5.0
    bake(30)
    free = shown(flag, 30)[10::11]
    assert free[:, 0].min() > 0.4  # it would hang at 0 without the wind


def test_a_curtain_gathers_and_keeps_its_lengths() -> None:
    curtain = make(sheet("Curtain", resolution=12), "COTTON")
    curtain.data.vertices.foreach_get("co", places := np.zeros(3 * 169, np.float32))
    places = places.reshape(-1, 3)[:, [0, 2, 1]]
    places[:, 1] = 0.03 * np.sin(np.pi * np.round(12 * places[:, 0]) / 2)
    curtain.data.vertices.foreach_set("co", places.ravel())
    curtain.location.z = 1.0
    pin_selected(curtain, list(range(156, 169, 3)))
    for frame, scale in ((4, 1.0), (24, 0.4)):
        curtain.scale.x = scale
        curtain.keyframe_insert("scale", frame=frame)
    before = longest(curtain, 1)
    bake(30)
    top = shown(curtain, 30)[156:169:3]
    assert np.ptp(top[:, 0]) == pytest.approx(0.4, abs=0.01)
    assert longest(curtain, 30) < 1.02 * before


def test_a_banner_tears_where_it_was_split() -> None:
    banner = make(sheet("Banner", resolution=8, height=3.0))
    pin_selected(banner, list(range(0, 81, 9)))
    middle = {(i, i + 9) for i in range(4, 76, 9)}
    select(banner)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for edge in banner.data.edges:
        edge.select = tuple(sorted(edge.vertices)) in middle
    bpy.ops.object.mode_set(mode="EDIT")
    assert verlet.split_for_tearing() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    banner.verlet.use_tearing, banner.verlet.tear_strength = True, 0.01
    banner.verlet.mass = 1.0
    bake(30)
    assert shown(banner, 30)[:, 2].min() < 0.1  # the free half lies on the ground


def test_a_ball_loses_its_air() -> None:
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=24, radius=0.4, location=(0, 0, 1))
    ball = bpy.context.object
    make(ball)
    ball.verlet_type = "CLOTH"
    for frame, pressure in ((1, 300.0), (15, 300.0), (25, 0.0)):
        ball.verlet.pressure = pressure
        ball.verlet.keyframe_insert("pressure", frame=frame)
    bake(60)
    assert np.ptp(shown(ball, 14)[:, 2]) > 0.6
    assert np.ptp(shown(ball, 60)[:, 2]) < 0.35


def test_a_pond_ripples_where_a_stone_falls_in() -> None:
    assert verlet.add_water() == {"FINISHED"}
    pond = bpy.context.object
    level = shown(pond, 1)[:, 2].mean()
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.15)
    stone = bpy.context.object
    select(stone)
    assert verlet.make_collider() == {"FINISHED"}
    for frame, height in ((1, 0.6), (10, 0.0), (24, -0.4)):
        stone.location.z = level + height
        stone.keyframe_insert("location", frame=frame)
    bake(20)
    assert np.ptp(shown(pond, 5)[:, 2]) < 1e-4
    assert np.ptp(shown(pond, 16)[:, 2]) > 0.01


def test_a_loop_has_no_seam_and_the_scene_its_range() -> None:
    assert verlet.add_cloth() == {"FINISHED"}
    cloth = bpy.context.object
    scene: Any = bpy.context.scene
    scene.frame_end = 40
    verlet.bake(loop=12)
    assert verlet.scene_range_to_loop() == {"FINISHED"}
    start, end = scene.frame_start, scene.frame_end
    assert end - start == 12
    assert np.allclose(shown(cloth, start), shown(cloth, end), atol=1e-5)
    assert len(baked(cloth)) >= 12
