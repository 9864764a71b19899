"""Hair on Curves objects for tests."""

from typing import Any

import bpy
import numpy as np

from tests.blender.scenes import blender, select, verlet
from verlet_addon.core.arrays import Floats

LENGTH = 0.2
"""Length of a strand [m]."""


def strands(name: str = "Hair", *, count: int = 3, points: int = 9, moved: bool = True) -> Any:
    """A Curves object of straight strands along X, moved, turned and scaled, selected alone."""
    curves: Any = bpy.data.hair_curves.new(name)
    curves.add_curves([points] * count)
    places = np.zeros((count, points, 3), np.float32)
    places[:, :, 0] = np.linspace(0.0, LENGTH, points)
    places[:, :, 1] = 0.02 * np.arange(count)[:, None]
    curves.attributes["position"].data.foreach_set("vector", places.ravel())
    obj: Any = bpy.data.objects.new(name, curves)
    bpy.context.scene.collection.objects.link(obj)
    if moved:
        obj.location, obj.rotation_euler, obj.scale = (0.2, 0.1, 1.5), (0.1, 0.0, 0.4), (1, 1, 1)
    select(obj)
    bpy.context.view_layer.update()
    return obj


def hair(name: str = "Hair", **options: Any) -> Any:
    """Strands made hair, light and soft enough to swing."""
    obj = strands(name, **options)
    assert verlet.convert() == {"FINISHED"}
    body = obj.verlet
    body.bend_compliance, body.use_pose_gravity = 1e6, False
    return obj


def shown(obj: Any, frame: float | None = None) -> Floats:
    """World points (n, 3) that hair shows, at a frame or half frame."""
    if frame is not None:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.empty(3 * len(evaluated.data.points), np.float32)
    evaluated.data.attributes["position"].data.foreach_get("vector", points)
    matrix = np.array(evaluated.matrix_world)
    return np.asarray(points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])


def nodes(obj: Any, name: str, kind: str, **inputs: Any) -> Any:
    """A Geometry Nodes modifier of one node that takes and gives curves."""
    group = blender.data.node_groups.new(name, "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    entry, leave = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    node = group.nodes.new(kind)
    for key, value in inputs.items():
        node.inputs[key].default_value = value
    group.links.new(entry.outputs[0], node.inputs[0])
    group.links.new(node.outputs[0], leave.inputs[0])
    modifier = obj.modifiers.new(name, "NODES")
    modifier.node_group = group
    return modifier


def write_points(obj: Any, points: Floats) -> None:
    """Gives hair other points (n, 3) in its own space."""
    places = np.ascontiguousarray(points, np.float32).ravel()
    obj.data.attributes["position"].data.foreach_set("vector", places)


def points_of(obj: Any) -> Floats:
    """Points (n, 3) of hair in its own space, without its modifiers."""
    points = np.empty(3 * len(obj.data.points), np.float32)
    obj.data.attributes["position"].data.foreach_get("vector", points)
    return np.asarray(points.reshape(-1, 3).astype(np.float64))
