"""Names of edited frames of a cache, which are shape keys of bodies."""

import re
from collections.abc import Sequence

import bpy

from ...core.errors import MeshError
from ..scene.mesh_access import shape_keys_of

_NAME = re.compile(r"Edited (0|-?[1-9]\d*)$")
MADE_BASIS = "verlet_edited"
"""Custom property of shape keys whose Basis was made for an edited frame."""

EDIT = "an edited frame"
"""Words for it in errors."""


def key_name(frame: int) -> str:
    """Name of the shape key of an edited frame."""
    return f"Edited {frame}"


def is_edit(name: str) -> bool:
    """Whether a shape key is an edited frame."""
    return _NAME.match(name) is not None


def edited_frames(obj: bpy.types.Object) -> list[int]:
    """The edited frames of a body."""
    key = shape_keys_of(obj)
    found = map(_NAME.match, (block.name for block in key.key_blocks) if key is not None else ())
    return [int(match[1]) for match in found if match is not None]


def refuse_edits(objects: Sequence[bpy.types.Object]) -> None:
    """Raises MeshError for bodies with an edited frame, which shows at every frame."""
    for obj in objects:
        if frames := edited_frames(obj):
            raise MeshError(
                f"{obj.name} has an edited frame, {frames[0]}, which would act at all frames; "
                "press Simulate from Edited Frame, or Discard Edited Frame"
            )
