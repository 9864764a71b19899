"""Fit of bones to the motion that a bake shows, and where they can stand beside it."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import cast

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import SettingsError
from ...core.skinning.decomposition import (
    Skinning,
    SkinningProgress,
    decompose,
    decompose_within,
)
from ..scene.hair_curves import refuse_hair
from ..scene.mesh_io import world_matrix
from ..settings.properties import body_properties
from .motion import bakes_shown, check_shown, frames_of, in_axes, read_axes, read_motion

_GAP = 0.1
"""Free space between objects and the bones beside them, as a share of their largest dimension."""


@dataclass(frozen=True)
class BoneFit:
    """Bones and weights that play the bake of an object."""

    obj: bpy.types.Object
    frames: range
    axes: Floats
    """(4, 4) location and rotation of the object at the first frame [m]."""
    bounds: Floats
    """(f, 2, 3) lowest and highest coordinates of the object in the world at each frame [m]."""
    repeats: bool
    """Whether the motion is a loop, and ends where it began."""
    skinning: Skinning
    """In these axes."""

    def bounds_at(self, frame: int) -> Floats:
        """(2, 3) bounds at a frame; before and after the bake those of its ends [m]."""
        return np.asarray(self.bounds[np.clip(frame - self.frames[0], 0, len(self.bounds) - 1)])


def fit_bones(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    *,
    count: int,
    tolerance: float = 0.0,
) -> Generator[SkinningProgress, None, BoneFit]:
    """Fits bones to the bake of an object, and returns them; the file stays as it is.

    A loop repeats, unless the object itself moves from its start to its end.

    Parameters
    ----------
    count : number of bones, at most.
    tolerance : rms error [m] that the fewest bones are to reach; 0 takes all of them.

    Raises
    ------
    SettingsError
        The number of bones is below 1, or the tolerance below 0.
    MeshError, FileError
        The object has no bake, or does not show it.
    """
    if count < 1:
        raise SettingsError(f"{obj.name} needs 1 bone or more, not {count}; set another number")
    if tolerance < 0:
        raise SettingsError(f"{obj.name} has a tolerance of {tolerance:g} m; set it to 0 or more")
    refuse_hair(obj, "bones", "write it by Alembic or USD")
    check_shown(obj, view_layer)
    frames = frames_of([obj], scene)
    axes, shown = _read_start(scene, view_layer, obj, frames[0])
    places: list[Floats] = []
    for points in read_motion(scene, view_layer, obj, frames, world=True):
        yield SkinningProgress(len(places) / len(frames), f"reading frame {frames[len(places)]}")
        places.append(points)
    motion = np.stack(places)
    bounds = np.stack([motion.min(axis=1), motion.max(axis=1)], axis=1)
    bounds += shown - bounds[0]  # what modifiers add, as at the first frame
    repeats = _repeats(scene, view_layer, obj, frames)
    if tolerance > 0:
        skinning = yield from decompose_within(in_axes(motion, axes), tolerance, count)
    else:
        skinning = yield from decompose(in_axes(motion, axes), count)
    return BoneFit(obj, frames, axes, bounds, repeats, skinning)


def offset_beside(fits: Sequence[BoneFit]) -> Floats:
    """(3,) offset with which copies of objects are beside all of them at every frame [m].

    It is along X or Y of the world, along which the objects are wider together.
    """
    ends = [end for fit in fits for end in (fit.frames[0], fit.frames[-1])]
    sizes = np.zeros(3)
    for frame in range(min(ends), max(ends) + 1):
        lows, highs = np.array([fit.bounds_at(frame) for fit in fits]).swapaxes(0, 1)
        sizes = np.maximum(sizes, highs.max(axis=0) - lows.min(axis=0))
    axis = int(sizes[:2].argmax())
    return np.asarray(np.eye(3)[axis] * (sizes[axis] + _GAP * sizes.max()))


def _read_start(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, obj: bpy.types.Object, frame: int
) -> tuple[Floats, Floats]:
    """Axes (4, 4) of an object at a frame, and bounds (2, 3) of all that it shows there [m]."""
    with bakes_shown(scene, [obj], finish=True):
        scene.frame_set(frame)
        depsgraph = cast(bpy.types.Depsgraph, view_layer.depsgraph)
        linear, offset = world_matrix(obj, depsgraph)
        corners = np.array([each[:] for each in obj.evaluated_get(depsgraph).bound_box])
        corners = corners @ linear.T + offset
        return read_axes(obj, depsgraph), np.stack([corners.min(axis=0), corners.max(axis=0)])


def _repeats(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, obj: bpy.types.Object, frames: range
) -> bool:
    """Whether a bake is a loop, and the object itself at its end where it is at its start."""
    if not body_properties(obj).baked_loop:
        return False
    places = []
    with bakes_shown(scene, [obj], finish=False):
        for frame in (frames[0], frames[-1] + 1):
            scene.frame_set(frame)
            depsgraph = cast(bpy.types.Depsgraph, view_layer.depsgraph)
            places.append(np.array(obj.evaluated_get(depsgraph).matrix_world))
    return bool(np.allclose(places[0], places[1], rtol=0.0, atol=1e-5))
