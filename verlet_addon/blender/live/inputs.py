"""Inputs of a live simulation whose changes Blender reports to no handler, or without a name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from ..bake.bake import bodies, frame_range, taking_part
from ..bake.record import bake_settings
from ..scene.colliders import all_met
from ..scene.file_warnings import some
from ..scene.force_fields import enabled_fields
from ..settings.properties import VERLET_PG_body
from ..settings.scene_properties_group import VERLET_PG_scene

_LABELS = {
    "start": "Start Frame",
    "vertices": "Vertices",
    "bones": "Bones",
    "attachments": "Attachments",
    "scene_gravity": "Gravity",
    "frame_rate": "Frame Rate",
    "stretched": "Time Stretching",
}
"""Names, in the interface, of inputs that are no properties of the add-on."""
_OWN = {"vertices", "bones", "attachments"}
"""Names of the inputs of a body; all other inputs belong to the scene."""


@dataclass(frozen=True)
class Surroundings:
    """Colliders and force fields of a scene, by name."""

    colliders: dict[str, tuple[bool, ...]]
    """Per collider, for each body, whether it collides with it."""
    fields: frozenset[str]


@dataclass(frozen=True)
class Inputs:
    """Bodies, settings, colliders and force fields of a live simulation."""

    settings: dict[str, dict[str, Any]]
    """Per body, by name, the settings that `bake_settings` lists."""
    surroundings: Surroundings


def acting_bodies(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> Sequence[bpy.types.Object]:
    """Lists the bodies that a bake of the whole scene simulates."""
    return taking_part(bodies(scene), view_layer)


def read_inputs(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
) -> Inputs:
    """The current inputs of a simulation of some bodies."""
    return Inputs(_read_settings(scene, objects), _read_surroundings(view_layer, objects))


def changed_settings(
    inputs: Inputs, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> str:
    """Names of bodies and settings that have changed; empty if none have.

    Blender calls no handler for these changes, so inputs are compared at every frame change:
    0.1 ms a body.
    """
    before = inputs.settings
    now = _read_settings(scene, acting_bodies(scene, view_layer))
    return _joined(_changes_of_settings(before, now)) if now != before else ""


def changed_inputs(inputs: Inputs, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> str:
    """Names of bodies, settings, colliders and fields that have changed; empty if none have.

    As colliders and fields are added or removed, Blender reports the whole scene, so they are
    compared after its updates.
    """
    if changes := changed_settings(inputs, scene, view_layer):
        return changes
    now = _read_surroundings(view_layer, acting_bodies(scene, view_layer))
    before = inputs.surroundings
    return _joined(_changes_of_surroundings(before, now)) if now != before else ""


def _read_settings(
    scene: bpy.types.Scene, objects: Sequence[bpy.types.Object]
) -> dict[str, dict[str, Any]]:
    """Per body, by name, its settings and the scene's settings."""
    start, _ = frame_range(scene)
    return {obj.name: {"start": start, **bake_settings(obj, scene)} for obj in objects}


def _read_surroundings(
    view_layer: bpy.types.ViewLayer, objects: Sequence[bpy.types.Object]
) -> Surroundings:
    """Colliders and force fields that act now."""
    colliders, met = all_met(objects, view_layer)
    return Surroundings(
        {obj.name_full: tuple(n in its for its in met) for n, obj in enumerate(colliders)},
        frozenset(obj.name_full for obj in enabled_fields(view_layer)),
    )


def _changes_of_settings(
    before: dict[str, dict[str, Any]], now: dict[str, dict[str, Any]]
) -> Iterator[str]:
    """Bodies that were added or removed, and the settings of each body, or of all, that changed."""
    yield from (f"{name} was removed" for name in before.keys() - now.keys())
    yield from (f"{name} was added" for name in now.keys() - before.keys())
    for name in before.keys() & now.keys():
        first, second = before[name], now[name]
        names = {n for n in first.keys() | second.keys() if first.get(n) != second.get(n)}
        own = {each for each in names if each in _OWN or each in VERLET_PG_body.bl_rna.properties}
        if own:
            yield f"{some(map(_label, own))} of {name} changed"
        if shared := names - own:
            yield f"{some(map(_label, shared))} changed"


def _changes_of_surroundings(before: Surroundings, now: Surroundings) -> Iterator[str]:
    """Colliders and force fields that act no longer, or only now, or on other bodies."""
    colliders = before.colliders.keys() ^ now.colliders.keys()
    for name in colliders:
        yield f"{name} {'collides now' if name in now.colliders else 'no longer collides'}"
    for name in before.colliders.keys() & now.colliders.keys():
        if before.colliders[name] != now.colliders[name]:
            yield f"{name} collides with other bodies"
    for name in before.fields ^ now.fields:
        yield f"{name} {'acts now' if name in now.fields else 'no longer acts'}"


def _label(setting: str) -> str:
    """Name of a setting in the interface."""
    for group in (VERLET_PG_body, VERLET_PG_scene):
        if setting in group.bl_rna.properties:
            return str(group.bl_rna.properties[setting].name)
    return _LABELS.get(setting, setting)


def _joined(changes: Iterator[str]) -> str:
    """Changes in one line, each once, in the order of the alphabet."""
    return ", ".join(sorted(set(changes)))
