"""Which action plays a mesh's shape keys, on every animation system from Blender 4.2 on.

Up to 4.3 an action holds F-curves itself. From 4.4 on it holds them per slot, in a channelbag; the
old access is gone in 5.0, and before that it fails where an action has several slots.
"""

from typing import Any, cast

import bpy

_HAS_SLOTS = bpy.app.version >= (4, 4, 0)
_MARK = "verlet"
"""Custom property of actions that a bake put in place; it tells what was there before."""


def channels(key: bpy.types.Key) -> Any:
    """What holds the curves that play a key, with `fcurves` and `groups`; None if nothing does."""
    animation: Any = key.animation_data
    if animation is None or animation.action is None:
        return None
    return _channels(animation.action, animation.action_slot) if _HAS_SLOTS else animation.action


def own_channels(key: bpy.types.Key) -> Any:
    """What holds the curves of this key and of no other, made where it is missing.

    Where the user animates the key, that is the user's action, or a copy of it if other keys play
    it too or it is linked from another file. Else it is a new action. `give_back` undoes this.
    """
    present = channels(key)
    if present is None:
        _put(key, bpy.data.actions.new(f"{key.user.name}Verlet"))
    elif is_shared(key) or present.id_data.library is not None:
        _put(key, present.id_data.copy())
    return channels(key)


def take_copy(key: bpy.types.Key) -> None:
    """Lets a key play a copy of its action, for itself."""
    animation: Any = key.animation_data
    slot = animation.action_slot.identifier if _HAS_SLOTS else ""
    animation.action = animation.action.copy()
    if _HAS_SLOTS:
        animation.action_slot = animation.action.slots[slot]


def give_back(key: bpy.types.Key) -> None:
    """Puts back what a key played before `own_channels`, unless the user has changed it since."""
    animation: Any = key.animation_data
    action = animation.action if animation is not None else None
    if action is None or _MARK not in action:
        return
    mark = action[_MARK].to_dict()
    slot = animation.action_slot if _HAS_SLOTS else None
    former = mark.get("former")
    former_slot = former.slots.get(mark["slot"]) if former and _HAS_SLOTS else None
    if _content(channels(key)) != _content(_channels(former, former_slot)):
        del action[_MARK]
        return
    shared = is_shared(key)
    _play(animation, former, former_slot)
    if _HAS_SLOTS:
        animation.last_slot_identifier = mark["last_slot"]
    if not shared:
        _discard(action, slot)
    if mark["made_animation_data"] and not animation.drivers and not animation.nla_tracks:
        key.animation_data_clear()


def is_shared(key: bpy.types.Key) -> bool:
    """Whether another Key datablock plays the same curves."""
    return any(_plays(other) == _plays(key) for other in bpy.data.shape_keys if other != key)


def _put(key: bpy.types.Key, action: bpy.types.Action) -> None:
    """Lets a key play an action, which is marked with what it played before."""
    mark: dict[str, Any] = {"made_animation_data": key.animation_data is None}
    animation: Any = key.animation_data_create()
    if animation.action is not None:
        mark["former"] = animation.action
    slot = None
    if _HAS_SLOTS:
        mark["slot"] = animation.action_slot.identifier if animation.action_slot else ""
        mark["last_slot"] = animation.last_slot_identifier
        slot = cast(Any, action).slots.get(mark["slot"]) or _new_slot(action)
    cast(Any, action)[_MARK] = mark
    _play(animation, action, slot)


def _new_slot(action: Any) -> Any:
    """A slot for a Key in an action that is empty yet, with a channelbag to hold its curves."""
    slot = action.slots.new(id_type="KEY", name="Verlet")
    action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    return slot


def _play(animation: Any, action: bpy.types.Action | None, slot: Any) -> None:
    """Assigns an action and, where there are slots, its slot."""
    animation.action = action
    if _HAS_SLOTS and action is not None:
        animation.action_slot = slot


def _discard(action: Any, slot: Any) -> None:
    """Removes an action; where something else uses it by now, only the slot that was the key's."""
    if action.users == 0:
        bpy.data.actions.remove(action)
        return
    del action[_MARK]
    if slot is not None:
        action.slots.remove(slot)


def _channels(action: Any, slot: Any) -> Any:
    """What holds the curves of an action for one slot; None if nothing does."""
    if not _HAS_SLOTS:
        return action
    layers = action.layers if slot is not None else ()
    bags = (strip.channelbag(slot) for layer in layers for strip in layer.strips)
    return next((bag for bag in bags if bag is not None), None)


def _plays(key: bpy.types.Key) -> tuple[Any, int]:
    """The action of a key, and the slot of it."""
    animation: Any = key.animation_data
    if animation is None:
        return None, 0
    return animation.action, animation.action_slot_handle if _HAS_SLOTS else 0


def _content(held: Any) -> list[list[Any]]:
    """Every plain value of some curves, their points and modifiers, for comparison."""
    return [
        [_plain(item) for item in (curve, *curve.keyframe_points, *curve.modifiers)]
        for curve in (held.fcurves if held is not None else ())
    ]


def _plain(item: Any) -> list[Any]:
    """The values of one RNA struct, without those that lead to others."""
    names = [
        p.identifier for p in item.bl_rna.properties if p.type not in ("POINTER", "COLLECTION")
    ]
    values = [getattr(item, name) for name in names]
    return [tuple(value) if hasattr(value, "__len__") else value for value in values]
