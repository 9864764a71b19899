"""The bodies at the first frame, with the velocities of their animation there."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ...core.arrays import Floats
from ...core.mesh import MeshData, Mirror
from ...core.scene import Plane
from ..settings.properties import scene_properties
from ..settings.timing import seconds_per_frame
from .ground import time_scale
from .mesh_io import read_body
from .mirrors import read_merge_distances
from .sampling import Stage


def read_meshes(stage: Stage, start: int) -> list[MeshData]:
    """Reads the bodies at the first frame, with the velocities of their animation there.

    With settle frames before the first one, they start at rest.
    """
    settles = scene_properties(stage.scene).settle_frames > 0
    past = [
        (time_scale(depsgraph), stage.positions(depsgraph), stage.mirrors(depsgraph))
        for depsgraph in map(stage.at, (start,) * 3 if settles else (start - 2, start - 1, start))
    ]
    scales, positions, mirrors = zip(*past, strict=True)
    seconds = seconds_per_frame(stage.scene)
    durations = [seconds * (before + after) / 2 for before, after in pairwise(scales)]
    return [
        read_body(
            obj,
            stage.depsgraph,
            velocities=_velocity(places, durations),
            mirrors=_mirrors(
                planes, read_merge_distances(simulated, joints, planes[-1]), durations
            ),
            colliders=met,
        )
        for obj, simulated, joints, met, places, planes in zip(
            stage.bodies,
            stage.simulated,
            stage.joints,
            stage.met,
            zip(*positions, strict=True),
            zip(*mirrors, strict=True),
            strict=True,
        )
    ]


def _mirrors(
    past: Sequence[list[Plane]], distances: list[float], durations: list[float]
) -> list[Mirror]:
    """A body's mirror planes at the last of three frames, and their velocities there."""
    return [
        Mirror(
            plane=planes[-1],
            point_velocity=_velocity([plane.point for plane in planes], durations),
            normal_velocity=_velocity([plane.normal for plane in planes], durations),
            merge_distance=distance,
        )
        for planes, distance in zip(zip(*past, strict=True), distances, strict=True)
    ]


def _velocity(positions: Sequence[Floats], durations: list[float]) -> Floats:
    """Velocity at the last of three successive positions, to second order in the durations [m/s].

    Computed from differences, so that the velocity at rest is exactly zero.
    """
    (first, second, third), (earlier, later) = positions, durations
    if later == 0:
        return np.zeros_like(third)
    recent = (third - second) / later
    if earlier == 0:
        return recent
    return recent + (recent - (second - first) / earlier) * (later / (earlier + later))
