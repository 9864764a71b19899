"""Bakes as PC2 and MDD point caches for other programs, and point caches played by an object."""

from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import FileError, MeshError
from ..scene.cache_modifiers import add_cache_modifier, relative_path
from ..scene.file_errors import errors_named
from ..scene.mdd import append_mdd, create_mdd, read_extent
from ..scene.mesh_access import mesh_of, point_count
from ..scene.modifiers import check_order, place_after_carriers
from ..scene.ownership import why_foreign
from ..scene.pc2 import append_sample, create_pc2, read_size, read_start
from ..settings.timing import animation_frame
from .motion import check_shown, frames_of, read_motion
from .written_files import written_whole

UPWARDS = {"Z": ("POS_Y", "POS_Z"), "Y": ("POS_Z", "NEG_Y")}
"""Forward and up axes of the Mesh Cache modifier, by the axis that points up in the cache."""


def write_points(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    path: Path,
    *,
    world: bool,
    up: str,
) -> range:
    """Writes what the bake of an object shows as a point cache, PC2 or MDD as its suffix says.

    Parameters
    ----------
    world : whether positions are in world space; else in the object's, which its animation moves.
    up : axis that points up in the file, Z or Y.

    Returns
    -------
    range
        The frames.

    Raises
    ------
    MeshError, FileError, DiskFullError
        The object has no bake or does not show it, or the file cannot be written; a former file
        stays then.
    """
    check_shown(obj, view_layer)
    frames, count = frames_of([obj], scene), point_count(obj)
    with written_whole(path) as partial:
        if path.suffix.lower() == ".mdd":
            # By Time Stretching, the time in seconds is not that of the animation.
            times = np.array(frames) * (scene.render.fps_base / scene.render.fps)
            create_mdd(partial, vertex_count=count, times=times)
        else:
            create_pc2(partial, vertex_count=count, frame_start=frames[0])
        motion = read_motion(scene, view_layer, obj, frames, world=world)
        for number, points in enumerate(motion):
            turned = y_upwards(points) if up == "Y" else points
            if path.suffix.lower() == ".mdd":
                append_mdd(partial, turned)
            else:
                append_sample(partial, turned, number)
    return frames


def y_upwards(points: Floats) -> Floats:
    """(n, 3) x, z and −y of points (n, 3): the same with Y upwards."""
    return np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1)


class Played(NamedTuple):
    """Content of a point cache."""

    vertices: int
    samples: int
    start: int
    """Frame of the first sample."""


def play_points(obj: bpy.types.Object, path: Path, scene: bpy.types.Scene, *, up: str) -> range:
    """Has an object play a point cache, PC2 or MDD, by Blender's Mesh Cache modifier.

    The modifier has the name of the file; one of that name is set up anew.

    Parameters
    ----------
    up : axis that points up in the file, Z or Y.

    Returns
    -------
    range
        The frames that it plays.

    Raises
    ------
    MeshError, FileError
        The object cannot play it, or the file cannot be read or has other vertices; nothing is
        changed then.
    """
    if obj.type != "MESH":
        raise MeshError(
            f"{obj.name} is not a mesh; make the mesh that is to move the active object"
        )
    if reason := why_foreign(obj):
        raise MeshError(reason)
    played = _read(path, scene)
    if played.vertices != (count := len(mesh_of(obj).vertices)):
        raise MeshError(
            f"{obj.name} has {count} vertices but {path} has {played.vertices}; "
            "make the mesh that it was written from the active object"
        )
    check_order(obj, "a cache", "apply it")
    former = obj.modifiers.get(path.stem)
    if former is not None and former.type == "MESH_CACHE":
        obj.modifiers.remove(former)
    shown = relative_path(path) if bpy.data.is_saved else str(path)
    place, stretch = place_after_carriers(obj), animation_frame(scene, 1)
    modifier: Any = add_cache_modifier(obj, path.stem, shown, played.start, place, stretch=stretch)
    modifier.cache_format = path.suffix[1:].upper()
    modifier.forward_axis, modifier.up_axis = UPWARDS[up]
    return range(played.start, played.start + played.samples)


def _read(path: Path, scene: bpy.types.Scene) -> Played:
    """Vertices and frames of a point cache."""
    suffix = path.suffix.lower()
    if suffix not in (".pc2", ".mdd"):
        raise FileError(f"Cannot read {path}: choose a file that ends in .pc2 or .mdd", path)
    if not path.is_file():
        raise FileError(f"Cannot read {path}: there is no such file; choose another", path)
    try:
        with errors_named("read", path):
            if suffix == ".pc2":
                played = Played(*read_size(path), round(read_start(path)))
            else:
                played = _read_mdd(path, scene)
    except ValueError as error:
        raise FileError(f"Cannot read {path}: {error}; write it again", path) from error
    if played.samples < 1:
        raise FileError(f"Cannot read {path}: it has no frames; write it again", path)
    return played


def _read_mdd(path: Path, scene: bpy.types.Scene) -> Played:
    """Vertices and frames of an MDD cache.

    Many programs count its times from the first sample: those begin with the scene.
    """
    vertices, times = read_extent(path)
    start = round(float(times[0]) * scene.render.fps / scene.render.fps_base)
    return Played(vertices, len(times), start if start else scene.frame_start)
