"""Properties that other add-ons have stored in a file, whether these are installed or not."""

from typing import Any

import bpy


def addon_property(holder: Any, name: str) -> Any:
    """A property of a datablock or bone that an add-on has registered; None if it is not stored.

    From Blender 5.0 on these are apart from the custom properties that users see, where add-ons
    have put them too. Values that an add-on leaves at their defaults are not stored.

    Returns
    -------
    Any
        Groups as dicts, collections of groups as lists of dicts, arrays as lists, enumerators by
        their numbers; numbers, texts and datablocks as they are.
    """
    read = getattr(holder, "bl_system_properties_get", None)
    for stored in (None if read is None else read(), holder):
        if stored is not None and name in stored:
            return _plain(stored[name])
    return None


def _plain(value: Any) -> Any:
    """A stored value with groups as dicts and arrays as lists."""
    if isinstance(value, bpy.types.ID):
        return value
    if hasattr(value, "keys"):
        return {key: _plain(value[key]) for key in value}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.to_list() if hasattr(value, "to_list") else value
