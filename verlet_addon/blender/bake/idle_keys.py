"""Warnings of keys and drivers on settings that a bake does not read at every frame."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from ...core.settings import LINES
from ..scene.action_channels import channels
from ..scene.colliders import all_met
from ..scene.curve_points import is_curve
from ..settings.attachment_properties import VERLET_PG_attachment
from ..settings.properties import VERLET_PG_body, body_properties, scene_properties
from ..settings.scene_properties_group import VERLET_PG_scene

_OF_GROUP = re.compile(r"verlet\.(?:attachments\[\d+\]\.)?(\w+)$")
_OF_COLLIDER = re.compile(r"collision\.(\w+)$")

SURFACES = ("CLOTH", *LINES)
MOVED = (*SURFACES, "SOFT", "FLESH")
TYPES = {
    "stiffness": ("SOFT", "FLESH"),
    "flesh_damping": ("FLESH",),
    "keep_volume": ("FLESH",),
    "muscle_length": ("FLESH",),
    "pin_weight": (*SURFACES, "SOFT", "WATER"),
    "pressure": ("CLOTH",),
    "inner_damping": (*SURFACES, "SOFT"),
    "weft_compliance": ("CLOTH",),
    "follow_groom": ("HAIR",),
    "shear_compliance": ("CLOTH",),
    "stretch_compliance": SURFACES,
    "bend_compliance": SURFACES,
    "sewing_force": ("CLOTH",),
    "sewing_weight": ("CLOTH",),
    "maximum_distance": MOVED,
    "inertia_share": MOVED,
    "tear_strength": ("CLOTH",),
    "shrinking": SURFACES,
    "use_tethers": SURFACES,
    "restitution": SURFACES,
    "friction": MOVED,
    "gravity": MOVED,
    "mass": MOVED,
    "use_density": MOVED,
    "density": MOVED,
}
"""The body types on which keyed settings act that do not act on all."""
NEEDED = {
    "weft_compliance": "thread_map",
    "sewing_force": "use_sewing",
    "sewing_weight": "use_sewing",
    "pin_weight": "pin_group",
    "muscle_length": "muscle_group",
    "maximum_distance": "use_maximum_distance",
    "tear_strength": "use_tearing",
}
"""Settings that have to be set for keyed ones to act."""


def idle_keys(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
) -> Iterator[str]:
    """Yields a warning for each keyed or driven setting whose changes a bake does not read.

    Parameters
    ----------
    objects : the bodies that are baked.
    """
    for obj in objects:
        for path, keyed in animated_paths(obj):
            if match := _OF_GROUP.match(path):
                group = VERLET_PG_attachment if "attachments[" in path else VERLET_PG_body
                yield from _idle(f"{keyed} of {obj.name}", group, match[1])
                if group is VERLET_PG_body:
                    yield from _without_use(obj, match[1], keyed)
    for path, keyed in animated_paths(scene):
        if match := _OF_GROUP.match(path):
            whose = f"{keyed} of the scene {scene.name}"
            yield from _idle(whose, VERLET_PG_scene, match[1])
            yield from _uncounted_steps(scene, match[1], whose)
    for obj in all_met(objects, view_layer)[0]:
        for path, keyed in animated_paths(obj):
            if match := _OF_COLLIDER.match(path):
                label = bpy.types.CollisionSettings.bl_rna.properties[match[1]].name
                yield _constant(f"{keyed} of the collider {obj.name}", label)


def _idle(whose: str, group: Any, name: str) -> Iterator[str]:
    """Warning of a property of a group that cannot be animated."""
    known = group.bl_rna.properties.get(name)
    if known is not None and not known.is_animatable:
        yield _constant(whose, known.name)


def _uncounted_steps(scene: bpy.types.Scene, name: str, whose: str) -> Iterator[str]:
    """Warning of keys on a number of steps that does not count: per second, or per frame."""
    by_second = scene_properties(scene).use_steps_per_second
    if name == ("substeps" if by_second else "steps_per_second"):
        shown = VERLET_PG_scene.bl_rna.properties
        yield (
            f"The {whose} on {shown[name].name} have no effect while "
            f"{shown['use_steps_per_second'].name} is {'on' if by_second else 'off'}; delete them"
        )


def _constant(whose: str, label: str) -> str:
    """The warning of a setting that is read once."""
    return (
        f"The {whose} on {label} have no effect, since a bake reads {label} at the first frame "
        "alone; delete them"
    )


def _without_use(obj: bpy.types.Object, name: str, keyed: str) -> Iterator[str]:
    """Warning of keys on a setting that does not act on a body as it is."""
    body, shown = body_properties(obj), VERLET_PG_body.bl_rna.properties
    reason, needed = "", NEEDED.get(name)
    if body.body_type not in TYPES.get(name, (body.body_type,)):
        reason = "on a body of this type"
    elif name in ("mass", "density") and not _is_animated(obj, "use_density"):
        by_size = shown["use_density"].name
        if body.use_density != (name == "density"):
            reason = f"while {by_size} is {'on' if body.use_density else 'off'}"
    elif needed is not None and not (getattr(body, needed) or _holds_itself(obj, name)):
        reason = f"without {shown[needed].name}"
    if reason:
        label = shown[name].name
        yield f"The {keyed} of {obj.name} on {label} have no effect {reason}; delete them"


def _holds_itself(obj: bpy.types.Object, name: str) -> bool:
    """Whether a setting is the weight of pins of a curve, which are points of its own."""
    return name == "pin_weight" and is_curve(obj)


def _is_animated(obj: bpy.types.Object, name: str) -> bool:
    """Whether a body has keys or drivers on a setting."""
    return any(path == f"verlet.{name}" for path, _ in animated_paths(obj))


def animated_paths(item: bpy.types.Object | bpy.types.Scene) -> Iterator[tuple[str, str]]:
    """Yields the paths of an item's curves and drivers, each once, and "keys" or "drivers"."""
    animation: Any = item.animation_data
    if animation is None:
        return
    held = channels(item)
    yield from dict.fromkeys((c.data_path, "keys") for c in (held.fcurves if held else ()))
    yield from dict.fromkeys((curve.data_path, "drivers") for curve in animation.drivers)
