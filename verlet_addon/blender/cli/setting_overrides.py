"""Settings given on the command line by `--set`, which replace the file's."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import bpy

from ...core.errors import SettingsError
from ...core.materials import FITTING, MATERIALS
from ..settings.materials import give_material
from ..settings.properties import (
    BODY_TYPES,
    VERLET_PG_body,
    body_properties,
    is_body,
    scene_properties,
)
from ..settings.scene_properties_group import VERLET_PG_scene
from .console import suggestion
from .name_patterns import matches

_SWITCH = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}


def override(
    scene: bpy.types.Scene, assignments: Sequence[str], chosen: Sequence[str] | None = None
) -> None:
    """Sets settings of a scene and its bodies.

    Parameters
    ----------
    scene
        The scene.
    assignments
        Texts `SETTING=VALUE` for the scene or for all chosen bodies, or `BODY.SETTING=VALUE`; names
        as in Python. BODY may be a pattern.
    chosen
        Names of the bodies, or patterns; None for all enabled ones.

    Raises
    ------
    SettingsError
        The body or setting does not exist, the value is invalid or a material of another type, or
        the setting is animated.
    """
    set_values = [
        (assignment, *values)
        for assignment in assignments
        for values in _set(scene, assignment, chosen)
    ]
    # Re-evaluating the scene lets curves and drivers overwrite the values.
    for _, owner, _, _ in set_values:
        owner.id_data.update_tag()
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    for assignment, owner, name, value in set_values:
        if getattr(owner, name) != value:
            raise SettingsError(
                f"--set {assignment} has no effect, since the setting is animated; remove its "
                "keyframes or its driver"
            )


def check(assignment: str) -> None:
    """Checks an assignment as far as it can be without a file; errors as of `override`."""
    body, name, text = _parts(assignment)
    group = VERLET_PG_body if body or _is_of_bodies(name) else VERLET_PG_scene
    _read(assignment, group, body, name, text)


def _set(
    scene: bpy.types.Scene, assignment: str, chosen: Sequence[str] | None
) -> Iterator[tuple[Any, str, object]]:
    """Applies one assignment; yields each property's owner, its name and new value."""
    body, name, text = _parts(assignment)
    for owner in _owners(scene, body, name, chosen):
        value = _read(assignment, owner, body, name, text)
        if name == "material" and value in MATERIALS:
            _check_type(owner, value, assignment)
            give_material(owner, value)
        else:
            setattr(owner, name, value)
        yield owner, name, getattr(owner, name)


def _parts(assignment: str) -> tuple[str, str, str]:
    """Body, setting and value of an assignment; the body is empty where none is named."""
    place, equals, text = assignment.partition("=")
    body, _, name = place.rpartition(".")
    if not equals or not name:
        raise SettingsError(f"--set {assignment} has to be SETTING=VALUE or BODY.SETTING=VALUE")
    return body, name, text


def _read(assignment: str, owner: Any, body: str, name: str, text: str) -> Any:
    """The value of an assignment to settings of an object or a class."""
    known = owner.bl_rna.properties.get(name)
    if known is None or not _is_plain(known):
        where = body or "the scene (for those of a body, BODY.SETTING)"
        meant = [owner] if body else [owner, VERLET_PG_body]
        raise SettingsError(
            f"--set {assignment} names no setting of {where} that is a number, a switch or a name; "
            "the manual lists them under Settings"
            + suggestion(name, (each for group in meant for each in _plain_names(group)))
        )
    try:
        return _value(known, text)
    except (KeyError, ValueError) as error:
        raise SettingsError(f"--set {assignment} is invalid; give {_kind(known)}") from error


def _check_type(body: VERLET_PG_body, material: str, assignment: str) -> None:
    """Raises SettingsError for a material of another type, which would make the body one."""
    own, other = body.body_type, MATERIALS[material].settings.body_type
    if own == other:
        return
    name, labels = (
        cast(bpy.types.Object, body.id_data).name,
        {item[0]: item[1] for item in BODY_TYPES},
    )
    remedies = [f"give it a material of {labels[own]}"] if own in FITTING else []
    if "HAIR" not in (own, other):
        make = f"--set {name}.body_type={labels[other].lower()}"
        remedies.append(f"make it {labels[other]} first, by {make}")
    raise SettingsError(
        f"--set {assignment} does not suit {name}, which is {labels[own]}; "
        + (", or ".join(remedies) or "name the bodies that it suits, by BODY.material")
    )


def _owners(
    scene: bpy.types.Scene, body: str, name: str, chosen: Sequence[str] | None
) -> list[Any]:
    """The settings of the scene or of bodies that an assignment concerns."""
    if body:
        return _bodies_named(scene, body)
    if not _is_of_bodies(name):
        return [scene_properties(scene)]
    return [
        body_properties(obj)
        for obj in scene.objects
        if body_properties(obj).enabled
        and (chosen is None or any(matches(obj.name, each) for each in chosen))
    ]


def _is_of_bodies(name: str) -> bool:
    """Whether bodies have a setting of this name, and the scene has none."""
    return name in _plain_names(VERLET_PG_body) and name not in VERLET_PG_scene.bl_rna.properties


def _plain_names(owner: Any) -> list[str]:
    """Names of the settings of an object or a class that can be set from text."""
    return [each.identifier for each in owner.bl_rna.properties if _is_plain(each)]


def _is_plain(known: Any) -> bool:
    """Whether a property can be set from text."""
    return not known.is_hidden and known.type not in ("POINTER", "COLLECTION")


def _bodies_named(scene: bpy.types.Scene, name: str) -> list[Any]:
    """The settings of the body of this name, or of all that match it, enabled or not."""
    obj = scene.objects.get(name)
    if obj is not None and is_body(obj):
        return [body_properties(obj)]
    found = [each for each in scene.objects if is_body(each) and matches(each.name, name)]
    if not found:
        raise SettingsError(
            f"--set: the scene {scene.name} has no soft body {name}"
            + suggestion(name, (each.name for each in scene.objects if is_body(each)))
        )
    return [body_properties(each) for each in found]


def _value(known: Any, text: str) -> Any:
    """Converts text to a value of a property's type; raises KeyError or ValueError."""
    match known.type:
        case "BOOLEAN":
            return _SWITCH[text.lower()]
        case "INT" | "FLOAT":
            value = int(text) if known.type == "INT" else float(text)
            if not known.hard_min <= value <= known.hard_max:
                raise ValueError
            return value
        case "ENUM":
            # Both the names that the interface shows and the identifiers of scripts are valid.
            names = {item.name.lower(): item.identifier for item in known.enum_items}
            names |= {each.lower(): each for each in _choices(known)}
            return names[text.lower()]
    return text


def _kind(known: Any) -> str:
    """Text on the valid values of a property, which completes "is invalid; give …"."""
    if known.type == "ENUM":
        return f"one of {', '.join(map(_spelled, known.enum_items))}"
    if known.type == "BOOLEAN":
        return "on or off"
    if known.type == "INT":
        return f"a whole number from {known.hard_min} to {known.hard_max}"
    return "a number"


def _spelled(item: Any) -> str:
    """The identifier of an enum item, with its name where that differs."""
    alike = item.name.upper().replace(" ", "_") == item.identifier
    return item.identifier if alike else f"{item.identifier} ({item.name})"


def _choices(known: Any) -> list[str]:
    """The identifiers of an enum property."""
    return [item.identifier for item in known.enum_items]
