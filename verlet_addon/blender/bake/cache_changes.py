"""Changes of a scene with which a bake cannot go on with a cache."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ...core.errors import MeshError, SettingsError
from ...core.geometry.graph import edge_lengths
from ...core.mesh import MeshData
from ...core.scene import Collider
from ...core.settings import BodySettings
from ...core.simulation import Simulation
from ..scene.file_warnings import some
from ..settings.core_settings import animatable
from ..settings.properties import VERLET_PG_body
from .cache_record import CacheRecord
from .record import BakeInputs

_ANIMATED = ("positions", "velocities", "mirrors", "rest_positions", "colliders")
"""Properties of a mesh that animation decides at the first frame, and its colliders."""
_ALIKE = 1e-5
"""Largest relative difference of a rest length that is rounding of an animated mesh."""

_FIXED = "which can only change at its first frame"
"""What to say of changes that a cache cannot take up in the middle."""


def check_goes_on(
    record: CacheRecord,
    simulation: Simulation,
    meshes: Sequence[MeshData],
    settings: Sequence[BodySettings],
    colliders: Sequence[Collider],
    inputs: Sequence[BakeInputs],
    *,
    again: bool,
) -> None:
    """Raises an error where a simulation cannot go on with the scene as it is now.

    Parameters
    ----------
    record, simulation
        The record of the cache, and the simulation at its last frame that is kept.
    meshes, settings, colliders, inputs
        Those that a bake would start with now.
    again
        Whether it is simulated again from a frame on, so that settings and animation may differ.

    Raises
    ------
    MeshError, SettingsError
        The message names the object, the change and the remedy.
    """
    changed = [
        body.name
        for body, now in zip(record.bodies, inputs, strict=True)
        if BakeInputs(body.settings, body.read) != now
    ]
    different = [
        now.name
        for before, now in zip(simulation.meshes, meshes, strict=True)
        if not is_equal(before, now, but=_ANIMATED if again else ())
        or (again and _is_reshaped(before, now))
    ]
    if not again and (changed or different):
        raise SettingsError(
            f"{some(changed or different)} changed since the cache was baked; undo that, bake "
            "again from the start, or, by From Frame, from a later frame on"
        )
    _check_colliders(simulation, meshes, colliders)
    if different:
        raise MeshError(
            f"The mesh or the weights of {some(different)} changed since the cache was baked, "
            f"{_FIXED}; undo that, or bake again from the start"
        )
    former = simulation.sample.settings or simulation.body_settings
    for mesh, before, now in zip(meshes, former, settings, strict=True):
        _check_settings(mesh.name, before, now)


def _check_colliders(
    simulation: Simulation, meshes: Sequence[MeshData], colliders: Sequence[Collider]
) -> None:
    """Raises MeshError for other colliders than those of a simulation."""
    met = [[*mesh.colliders] for mesh in simulation.meshes]
    if not is_equal(simulation.colliders, colliders) or met != [[*m.colliders] for m in meshes]:
        raise MeshError(
            f"Colliders were added, removed or changed since the cache was baked, {_FIXED}; undo "
            "that, or bake again from the start"
        )


def _check_settings(name: str, before: BodySettings, now: BodySettings) -> None:
    """Raises SettingsError for settings of a body that cannot change in a simulation."""
    fixed = {each.name for each in fields(now)} - set(animatable())
    changed = [each for each in fixed if getattr(before, each) != getattr(now, each)]
    if changed:
        labels = some(VERLET_PG_body.bl_rna.properties[each].name for each in changed)
        raise SettingsError(
            f"{labels} of {name} changed since the cache was baked, {_FIXED}; undo that, or bake "
            "again from the start"
        )


def _is_reshaped(before: MeshData, now: MeshData) -> bool:
    """Whether the rest lengths of a mesh with the same edges differ."""
    first, second = (edge_lengths(mesh.at_rest, mesh.edges) for mesh in (before, now))
    return not np.allclose(first, second, rtol=_ALIKE, atol=_ALIKE * first.max(initial=0.0))


def is_equal(first: Any, second: Any, *, but: Sequence[str] = ()) -> bool:
    """Whether two values, also nested ones with arrays, are equal, except for some fields."""
    if is_dataclass(first):
        names = [each.name for each in fields(first) if each.name not in but]
        return type(first) is type(second) and all(
            is_equal(getattr(first, name), getattr(second, name)) for name in names
        )
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return first is not None and second is not None and np.array_equal(first, second)
    if isinstance(first, Mapping):
        return first.keys() == second.keys() and all(is_equal(first[k], second[k]) for k in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(is_equal, first, second))
    return bool(first == second)
