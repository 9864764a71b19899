"""Names of edited frames of a cache, which are shape keys of bodies."""

import re

_NAME = re.compile(r"Edited (-?\d+)$")
MADE_BASIS = "verlet_edited"
"""Custom property of shape keys whose Basis was made for an edited frame."""


def key_name(frame: int) -> str:
    """Name of the shape key of an edited frame."""
    return f"Edited {frame}"


def is_edit(name: str) -> bool:
    """Whether a shape key is an edited frame."""
    return match_edit(name) is not None


def match_edit(name: str) -> re.Match[str] | None:
    """The match of a shape key that is an edited frame, whose first group is the frame."""
    return _NAME.match(name)
