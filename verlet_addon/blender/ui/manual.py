"""Places in the manual of our settings and operators, which F1 and Online Manual open."""

import re
from collections.abc import Iterator
from typing import Any

import bpy

from ..settings.versions import website

PAGES = {
    "VERLET_PG_body": "settings",
    "VERLET_PG_attachment": "settings",
    "VERLET_PG_scene": "settings_of_scene",
    "VERLET_PG_overlay": "settings_of_scene",
    "VERLET_AP_preferences": "settings_of_scene",
    "Object": "settings",
    "PoseBone": "settings_of_bones",
}
"""The page of the reference on the settings of each class in Blender."""
ELSEWHERE = {"open_sample": "../start/samples.html#samples"}
"""Places of operators that another page than the reference tells about."""
PRIVATE = {"baked_keys", "fitted_keys"}
"""Collections that no one sets, of which Blender knows no HIDDEN."""

# The stubs lack these.
_blender: Any = bpy


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """The address of the reference, and the place of each name of Blender's in it.

    Without a website the manual has no address, and Blender says that it knows no page.
    """
    address = website()
    if not address:
        return "", ()
    return f"{address.rstrip('/')}/manual/reference/", (*_settings(), *_operators())


def anchor(label: str, name: str) -> str:
    """The anchor of a heading that has a label and, as code, the name in Python."""
    return re.sub(r"[^\w\- ]", "", f"{label} {name}".lower()).replace(" ", "-")


def _settings() -> Iterator[tuple[str, str]]:
    """Places of settings."""
    for kind, page in PAGES.items():
        for name, known in properties_of(kind).items():
            place = f"{page}.html#{anchor(known.name, name)}"
            yield f"bpy.types.{kind}.{name}".lower(), place


def properties_of(kind: str) -> dict[str, Any]:
    """The properties of ours that a class has, by name, without private ones."""
    for base in ("PropertyGroup", "AddonPreferences"):
        base_class = getattr(_blender.types, base)
        if group := base_class.bl_rna_get_subclass_py(kind):
            inherited = {*base_class.bl_rna.properties.keys(), *PRIVATE}
            found = group.bl_rna.properties.items()
            return {k: v for k, v in found if k not in inherited and not v.is_hidden}
    found = getattr(_blender.types, kind).bl_rna.properties.items()
    return {k: v for k, v in found if k.startswith("verlet_")}


def _operators() -> Iterator[tuple[str, str]]:
    """Places of operators, which are those of their options too."""
    for name in dir(_blender.ops.verlet):
        label = getattr(_blender.ops.verlet, name).get_rna_type().name
        place = ELSEWHERE.get(name, f"operators.html#{anchor(label, name)}")
        yield f"bpy.ops.verlet.{name}", place
