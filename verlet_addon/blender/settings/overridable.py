"""Properties that a library override may change."""

from inspect import get_annotations
from typing import Any, TypeVar

Group = TypeVar("Group")


def overridable(group: type[Group]) -> type[Group]:
    """A property group whose properties, also inherited ones, a library override may change.

    Without this, Blender shows them grey on an override, and discards the changes of scripts when
    the file is opened again. Collections take further items at their end.
    """
    for owner in group.__mro__:
        for declared in get_annotations(owner).values():
            _allow(declared)
    return group


def _allow(declared: Any) -> None:
    """Adds the options of overrides to the declaration of a property, as `bpy.props` returns it."""
    keywords = getattr(declared, "keywords", None)
    if keywords is not None:
        collection = declared.function.__name__ == "CollectionProperty"
        insertion = {"USE_INSERTION"} if collection else set()
        keywords["override"] = {"LIBRARY_OVERRIDABLE", *insertion}
