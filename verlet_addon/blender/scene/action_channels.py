"""F-curves of datablocks, in the animation systems of all Blender versions since 4.2.

Up to 4.3 an action holds F-curves itself. From 4.4 on it holds them per slot, in a channelbag; the
old access is gone in 5.0, and before that it fails where an action has several slots.
"""

from collections.abc import Iterator
from typing import Any

import bpy

HAS_SLOTS = bpy.app.version >= (4, 4, 0)
"""Whether actions hold F-curves per slot."""


def channels(animated: bpy.types.Key | bpy.types.Object | bpy.types.Scene) -> Any:
    """Container of a datablock's active curves, with `fcurves` and `groups`; None without one."""
    animation: Any = animated.animation_data
    return None if animation is None else active_channels(animation)


def active_channels(animation: Any) -> Any:
    """Container of the curves that an animation plays; None without one."""
    if animation.action is None:
        return None
    return channels_of(animation.action, animation.action_slot if HAS_SLOTS else None)


def channels_of(action: Any, slot: Any) -> Any:
    """Container of an action's curves for one slot; None without one."""
    if not HAS_SLOTS:
        return action
    layers = action.layers if slot is not None else ()
    bags = (strip.channelbag(slot) for layer in layers for strip in layer.strips)
    return next((bag for bag in bags if bag is not None), None)


def all_channels(animated: bpy.types.Object | bpy.types.Key) -> Iterator[Any]:
    """Containers of a datablock's F-curves: of its action, and of each strip in the NLA."""
    animation: Any = animated.animation_data
    if animation is None:
        return
    strips = [strip for track in animation.nla_tracks for strip in track.strips]
    for holder in (animation, *strips):
        if (held := active_channels(holder)) is not None:
            yield held
