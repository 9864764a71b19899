"""Ropes and curves that are curved at rest, or animated, as an artist has them in a file."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import bpy
import numpy as np

from .scenes import body, line, pin, select, verlet

TURNS, RADIUS, HEIGHT = 5, 0.02, 0.1


def coiled(count: int = 60) -> Any:
    """(n, 3) places of a coiled cable that hangs from its first point."""
    angles = np.linspace(0.0, 2.0 * np.pi * TURNS, count)
    around = RADIUS * np.stack([np.cos(angles), np.sin(angles)])
    return np.stack([*around, np.linspace(0.5, 0.5 - HEIGHT, count)], axis=1)


def cable(places: Any, **settings: Any) -> Any:
    """A polyline curve through places, a rope that is pinned at its first three points."""
    data = bpy.data.curves.new("Cable", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(len(places) - 1)
    spline.points.foreach_set("co", np.insert(places, 3, 1.0, axis=1).ravel())
    obj = bpy.data.objects.new("Cable", data)
    bpy.context.scene.collection.objects.link(obj)
    select(obj)
    return body(obj, pinned_points="0 1 2", bend_compliance=settings.pop("bend", 2e3), **settings)


def shown(obj: Any, frame: int) -> Any:
    """(n, 3) points that the curve shows at a frame, as if its keys were."""
    bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    places = np.array([vertex.co for vertex in mesh.vertices])
    evaluated.to_mesh_clear()
    return places


def test_a_coiled_cable_keeps_its_coils() -> None:
    """It sags by a few turns' height, and its coils stay round: it had hung straight down."""
    obj = cable(coiled(), use_density=True, density=0.01)
    verlet.bake(frame_start=1, frame_end=30)
    end = shown(obj, 30)
    assert HEIGHT * 1.05 < end[0, 2] - end[-1, 2] < HEIGHT * 3.0
    distances = np.linalg.norm(end[:, :2] - end[:, :2].mean(axis=0), axis=1)
    assert np.abs(distances - RADIUS).max() < RADIUS / 2


def test_a_keyed_tail_follows_through_and_comes_to_its_pose() -> None:
    """With Dynamic Mesh its shape key bends it; without, it would become straight again."""
    straight = np.stack([np.linspace(0.0, 0.3, 16), np.zeros(16), np.full(16, 0.5)], axis=1)
    angles = np.linspace(0.0, 1.5, 16)
    bent = straight.copy()
    bent[:, 0], bent[:, 1] = 0.2 * np.sin(angles), 0.2 * (1.0 - np.cos(angles))
    obj = cable(straight, bend=20.0, use_dynamic_mesh=True, gravity=0.0)
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Bent")
    key.data.foreach_set("co", bent.ravel())
    for frame, value in ((1, 0.0), (8, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    verlet.bake(frame_start=1, frame_end=72)
    assert np.linalg.norm(shown(obj, 8) - bent, axis=1).max() > 0.02
    assert np.linalg.norm(shown(obj, 72) - bent, axis=1).max() < 5e-3


def test_live_shows_a_keyed_tail_as_a_bake_does(
    live: ModuleType, addon: Callable[[str], ModuleType]
) -> None:
    """To the bit, though both know no frame that is still to come."""
    tail, scene = line(segments=12, height=0.5), bpy.context.scene
    pin(tail, [0, 1, 2])
    body(tail, body_type="ROPE", use_dynamic_mesh=True, angle_limit=0.3, bend_compliance=2.0)
    tail.shape_key_add(name="Basis")
    key = tail.shape_key_add(name="Bent")
    for number, point in enumerate(key.data):
        point.co.y = 0.002 * number**2
    for frame, value in ((1, 0.0), (5, 1.0), (9, 0.2)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    scene.frame_set(1)
    scene.verlet.use_live = True
    for frame in range(1, 13):
        scene.frame_set(frame)
    frames = [frame.positions[0] for frame in live.session_of(scene).frames]
    verlet.reset()
    bake = addon("blender.bake.bake").bake
    baked = list(bake(scene, bpy.context.view_layer, [tail], frame_start=1, frame_end=12))
    assert len(frames) == 12
    for shown_live, progress in zip(frames, baked[-12:], strict=True):
        np.testing.assert_array_equal(shown_live, progress.positions[0])
