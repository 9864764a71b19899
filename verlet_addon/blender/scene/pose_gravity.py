"""Gravity in the pose of soft bones and the groom of hair: they begin as they would hang.

Whoever draws a tail draws it with its weight. So gravity pulls only as far as what the tail stands
on has turned since the first frame, and what does not turn keeps its pose.
"""

from collections.abc import Sequence

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.settings import BodySettings
from ..settings.properties import body_properties
from .bone_joints import skeleton_of
from .hair_curves import is_hair
from .hair_roots import hair_root_frames


def root_frames(
    bodies: Sequence[bpy.types.Object], depsgraph: bpy.types.Depsgraph
) -> list[Floats | None]:
    """Per body, (n, 3, 3) how what its chains stand on turns, if gravity is in its pose."""
    return [
        _frames(obj, depsgraph) if body_properties(obj).use_pose_gravity else None for obj in bodies
    ]


def _frames(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats | None:
    """(n, 3, 3) how what bones or strands stand on turns; None for other bodies."""
    if is_hair(obj):
        return hair_root_frames(obj, depsgraph)
    skeleton = skeleton_of(obj)
    return None if skeleton is None else skeleton.frames(depsgraph)


def pose_pulls(
    first: Sequence[Floats | None],
    now: Sequence[Floats | None],
    settings: Sequence[BodySettings],
    gravity: Floats,
) -> Sequence[Floats | None]:
    """Per body, (n, 3) accelerations that hold its pose against gravity; empty without any [m/s²].

    Parameters
    ----------
    first, now : results of `root_frames` at the first frame and at the current one.
    settings, gravity : settings of each body, and (3,) the acceleration of the scene [m/s²].
    """
    if not any(each is not None for each in first):
        return ()
    return [
        None
        if before is None or after is None
        else -own.gravity * np.einsum("nij,nkj,k->ni", after, before, gravity)
        for before, after, own in zip(first, now, settings, strict=True)
    ]
