"""Loops: motions that repeat after a number of frames."""

from collections.abc import Sequence

import numpy as np

from .loop_seam import Guide, find_seam
from .mesh import MeshData
from .scene import Collider, Frame, Sample
from .settings import BodySettings, SceneSettings
from .simulate import advance_all, simulate
from .simulation import start_simulation


def simulate_loop(
    meshes: Sequence[MeshData],
    body_settings: Sequence[BodySettings],
    scene_settings: SceneSettings,
    samples: Sequence[Sample],
    length: int,
    colliders: Sequence[Collider] = (),
) -> list[Frame]:
    """The frames of a loop; after the last one comes the first again.

    Bodies are simulated twice. The second time springs draw them, over the last frames, to where
    they were a loop before. What moves in the samples should repeat after as many frames.

    Parameters
    ----------
    samples : the scene frame by frame, `length` and at least nine more.
    length : number of frames of the loop, eight or more.
    meshes, body_settings, scene_settings, colliders : as for `simulate`.

    Raises
    ------
    SettingsError
        If the loop is too short, or the samples too few.
    MeshError, DivergenceError, KernelError
        As for `simulate`.
    """
    given = meshes, body_settings, scene_settings
    track = [
        [places.astype(np.float32) for places in frame.positions]
        for frame in simulate(*given, samples, colliders)
    ]
    first = samples[0].frame
    seam = find_seam(track, first, length)
    guide = Guide(track, first, seam, lambda _, places: places.astype(np.float64))
    simulation = start_simulation(*given, samples[0], colliders)
    ahead = guide.lead(simulation, iter(samples[1 : seam.end - first + 1]))
    frames = list(advance_all(simulation, ahead))
    return frames[seam.start - first + 1 :]
