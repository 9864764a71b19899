"""The ground plane of a scene, and its time scale, at the current frame."""

from typing import cast

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError, SettingsError
from ...core.scene import Plane
from ..settings.properties import scene_properties


def evaluated_scene(depsgraph: bpy.types.Depsgraph) -> bpy.types.Scene:
    """The evaluated scene, with its animated values at the current frame."""
    return cast(bpy.types.Scene, depsgraph.scene_eval)


def read_ground(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Plane | None:
    """The ground plane at the current frame; None without ground."""
    properties = scene_properties(evaluated_scene(depsgraph))
    if not properties.use_ground:
        return None
    point, normal = np.zeros(3), np.array((0.0, 0.0, 1.0))
    if (plane := scene_properties(scene).ground_object) is not None:
        matrix = np.array(plane.evaluated_get(depsgraph).matrix_world, dtype=np.float64)
        point, normal = matrix[:3, 3], _plane_normal(matrix[:3, :3], plane.name)
    return Plane(point=point + properties.ground_height * normal, normal=normal)


def _plane_normal(axes: Floats, name: str) -> Floats:
    """(3,) unit normal of the local XY plane, upwards; along local Z if the plane is vertical."""
    normal = np.cross(axes[:, 0], axes[:, 1])
    length = float(np.linalg.norm(normal))
    if length == 0:
        raise MeshError(f"The ground object {name} has a scale of zero; give it another scale")
    side = normal[2] if abs(normal[2]) > 1e-6 * length else normal @ axes[:, 2]
    outward: Floats = normal * (np.copysign(1.0, side) / length)
    return outward


def time_scale(depsgraph: bpy.types.Depsgraph) -> float:
    """The animated time scale at the current frame."""
    scene = evaluated_scene(depsgraph)
    found = float(scene_properties(scene).time_scale)
    if found < 0:
        raise SettingsError(
            f"{scene.name}: the time scale is {found:g} at frame {scene.frame_current}; "
            "set it to 0 or more"
        )
    return found
