"""Short bakes of what tests build, and the hashes of their frames; the core's entries alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np

from tests.core.bodies import GRAVITY, Body, floor, samples
from tests.core.colliders import Moving
from verlet_addon.core.arrays import Floats
from verlet_addon.core.field import Field
from verlet_addon.core.scene import Collider, Plane, Sample
from verlet_addon.core.settings import SceneSettings
from verlet_addon.core.simulate import simulate

SHORT = 12
"""Digits of a hash that are kept; 48 bits."""
FRAME = 1 / 24
"""[s]"""


@dataclass(frozen=True, eq=False)
class Scene:
    """The arguments of one bake."""

    bodies: Sequence[Body]
    settings: SceneSettings
    samples: Sequence[Sample]
    colliders: Sequence[Collider]


Scenes = Mapping[str, Callable[[], Scene]]
"""Builders by name; a scene is built in the process that bakes it."""


def scene(
    *bodies: Body,
    count: int = 4,
    substeps: int = 3,
    settings: SceneSettings | None = None,
    durations: Sequence[float] | None = None,
    gravity: Floats = GRAVITY,
    ground: Plane | Callable[[float], Plane] | None = None,
    targets: Callable[[float], list[Floats]] | None = None,
    fields: Sequence[Field] | Callable[[float], Sequence[Field]] = (),
    colliders: Sequence[Moving] = (),
    changes: Callable[[int], Mapping[str, Any]] | None = None,
) -> Scene:
    """So many frames of bodies that meet all colliders.

    `changes` gives further attributes of each sample by its number.
    """
    everyone = range(len(colliders))
    met = [(replace(mesh, colliders=everyone), own) for mesh, own in bodies]

    def places(time: float) -> list[Floats]:
        return [place(time) if callable(place) else place for _, place in colliders]

    stage = samples(
        [mesh for mesh, _ in met],
        durations or [FRAME] * count,
        gravity=gravity,
        ground=ground,
        targets=targets,
        fields=fields,
        colliders=places,
    )
    if changes is not None:
        stage = [replace(sample, **changes(number)) for number, sample in enumerate(stage)]
    return Scene(
        met,
        settings or SceneSettings(substeps=substeps),
        stage,
        [collider for collider, _ in colliders],
    )


def on_floor(*bodies: Body, **more: Any) -> Scene:
    """A scene with level ground through the origin."""
    return scene(*bodies, ground=floor(), **more)


def bake(given: Scene) -> Iterator[str]:
    """Yields the hash of every frame."""
    meshes, settings = zip(*given.bodies, strict=True)
    for frame in simulate(meshes, settings, given.settings, given.samples, given.colliders):
        yield hashed([*frame.positions, np.array(frame.deepest)])


def hashed(arrays: Sequence[Any]) -> str:
    """Returns the hash of the bytes of arrays."""
    found = sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:SHORT]
