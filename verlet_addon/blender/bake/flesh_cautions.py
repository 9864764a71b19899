"""Warnings before a bake of flesh."""

from collections.abc import Iterator

import bpy

from ..settings.properties import body_properties


def flesh_cautions(obj: bpy.types.Object) -> Iterator[str]:
    """Warnings of flesh with attachments, and of muscles without fibres."""
    body = body_properties(obj)
    if body.body_type != "FLESH":
        return
    if body.attachments:
        yield (
            f"{obj.name} is of type Flesh, on which attachments have no effect; hold it by its "
            "bones, and remove the attachments"
        )
    if body.muscle_group and not body.muscle_map:
        yield (
            f"The muscles of {obj.name} do not contract without a Muscle Map, which shows their "
            "fibres; choose a UV map, or no Muscle Group"
        )
