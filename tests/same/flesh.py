"""Flesh over a pose: a limb that bends, and a hemisphere that is shoved."""

from dataclasses import replace

import numpy as np

from tests.core.fleshy import bent, hemisphere, limb
from tests.same.bakes import Scene, Scenes, scene
from verlet_addon.core.settings import BodySettings

FAT = BodySettings(
    body_type="FLESH",
    stiffness=5e3,
    use_density=True,
    density=950.0,
    flesh_depth=0.04,
    flesh_resolution=2,
)


def shoved() -> Scene:
    """A hemisphere on a board that moves to and fro, modelled without gravity."""
    mesh = hemisphere(rings=6, segments=12)
    settings = replace(FAT, flesh_depth=0.1, keep_volume=0.0, loaded_shape=False)
    return scene(
        (mesh, settings),
        targets=lambda time: [mesh.positions + np.array([0.03 * np.sin(20 * time), 0.0, 0.0])],
    )


def flexed() -> Scene:
    """A limb that bends while its muscle shortens."""
    mesh = limb(rings=13, segments=10)
    fibres = np.tile([1.0, 0.0, 0.0], (len(mesh.positions), 1))
    muscle = replace(mesh.paint, muscle=np.ones(len(fibres)))
    return scene(
        (replace(mesh, fibres=fibres, paint=muscle), replace(FAT, muscle_length=0.8)),
        targets=lambda time: [bent(mesh.positions, 200 * time)],
    )


SCENES: Scenes = {"shoved": shoved, "flexed": flexed}
