"""Which action plays a mesh's shape keys, on every animation system from Blender 4.2 on.

Up to 4.3 an action holds F-curves itself. From 4.4 on it holds them per slot, in a channelbag; the
old access is gone in 5.0, and before that it fails where an action has several slots.

Exporters write a clip for each action. So from 4.4 on, baked keys play from the action that moves
their object, or else from one action that all bodies share.
"""

from collections.abc import Iterator
from typing import Any, cast

import bpy

from ..scene.mesh_access import shape_keys_of
from ..settings.properties import body_properties

_HAS_SLOTS = bpy.app.version >= (4, 4, 0)
_MARK = "verlet"
"""Custom property of a Key whose action a bake put in place: what was there before. And of the
actions that bakes made: what for."""
_SHARED, _COPY = "shared", "copy"


def channels(animated: bpy.types.Key | bpy.types.Object) -> Any:
    """What holds the curves that play it, with `fcurves` and `groups`; None if nothing does."""
    animation: Any = animated.animation_data
    return None if animation is None else _active_channels(animation)


def own_channels(obj: bpy.types.Object) -> Any:
    """What holds the curves of an object's keys and of no others, made where it is missing.

    Where the user animates the keys, that is the user's action, or a copy of it if other keys play
    it too or it is linked from another file. Else it is the action that moves the object or what
    it hangs on, or else the action that bakes share. `give_back` undoes this.
    """
    key = cast(bpy.types.Key, shape_keys_of(obj))
    present = channels(key)
    if present is None:
        action = _moving_action(obj) or _shared_action(obj)
        _put(key, action, _new_slot(action, obj.name))
    elif is_shared(key) or present.id_data.library is not None:
        animation: Any = key.animation_data
        action = _copy(present.id_data)
        _put(key, action, _slot(action, animation.action_slot.identifier if _HAS_SLOTS else ""))
    return channels(key)


def take_copy(key: bpy.types.Key) -> None:
    """Lets a key play a copy of its action, for itself."""
    animation: Any = key.animation_data
    slot = animation.action_slot.identifier if _HAS_SLOTS else ""
    action = _copy(animation.action)
    _play(animation, action, _slot(action, slot))


def give_back(key: bpy.types.Key) -> None:
    """Puts back what a key played before `own_channels`, unless the user has changed it since."""
    holder: Any = key
    if _MARK not in holder:
        return
    mark = holder[_MARK].to_dict()
    del holder[_MARK]
    animation: Any = key.animation_data
    if animation is None or not _is_given(animation, mark):
        return
    action = animation.action
    former = mark.get("former")
    former_slot = _former_slot(former, mark)
    if _content(channels(key)) == _content(_channels(former, former_slot)):
        slot = animation.action_slot if _HAS_SLOTS and not is_shared(key) else None
        _play(animation, former, former_slot)
        if _HAS_SLOTS:
            animation.last_slot_identifier = mark.get("last_slot", animation.last_slot_identifier)
        if slot is not None:
            action.slots.remove(slot)
        if mark["made_animation_data"] and not animation.drivers and not animation.nla_tracks:
            key.animation_data_clear()
    _leave(action)


def is_shared(key: bpy.types.Key) -> bool:
    """Whether another Key datablock plays the same curves."""
    played = _plays(key)
    return any(_plays(other) == played for other in bpy.data.shape_keys if other != key)


def _moving_action(obj: bpy.types.Object) -> bpy.types.Action | None:
    """The action that moves an object or, nearest first, what it hangs on; None before slots."""
    for mover in _movers(obj) if _HAS_SLOTS else ():
        animation: Any = mover.animation_data
        held = None if animation is None else _active_channels(animation)
        if held is not None and held.fcurves and animation.action.is_editable:
            return cast(bpy.types.Action, animation.action)
    return None


def _movers(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """The object and, nearest first, the armatures that deform it, what holds it, its parents."""
    waiting, seen = [obj], set()
    while waiting:
        mover = waiting.pop(0)
        if mover.name_full in seen:
            continue
        seen.add(mover.name_full)
        yield mover
        armatures = [m for m in mover.modifiers if m.type == "ARMATURE"]
        holders = [getattr(item, "object", None) for item in armatures]
        holders += [item.target for item in body_properties(mover).attachments]
        waiting += [holder for holder in (*holders, mover.parent) if holder is not None]


def _shared_action(obj: bpy.types.Object) -> bpy.types.Action:
    """The action that bakes share, made where it is missing; before slots, one for each object."""
    for action in bpy.data.actions if _HAS_SLOTS else ():
        if cast(Any, action).get(_MARK) == _SHARED and action.is_editable:
            return action
    action = bpy.data.actions.new("Verlet" if _HAS_SLOTS else f"{obj.name} Verlet")
    cast(Any, action)[_MARK] = _SHARED
    return action


def _copy(action: bpy.types.Action) -> bpy.types.Action:
    """A copy of an action, marked as the work of a bake."""
    copy = action.copy()
    cast(Any, copy)[_MARK] = _COPY
    return copy


def _put(key: bpy.types.Key, action: bpy.types.Action, slot: Any) -> None:
    """Lets a key play an action, and notes what it played before."""
    mark: dict[str, Any] = {"made_animation_data": key.animation_data is None}
    animation: Any = key.animation_data_create()
    if animation.action is not None:
        mark["former"] = animation.action
    if _HAS_SLOTS:
        mark["slot"] = animation.action_slot.identifier if animation.action_slot else ""
        mark["last_slot"] = animation.last_slot_identifier
        mark["given"] = slot.identifier
    cast(Any, key)[_MARK] = mark
    _play(animation, action, slot)


def _is_given(animation: Any, mark: dict[str, Any]) -> bool:
    """Whether an animation still plays what `_put` gave it, or a copy of it.

    A mark from before slots does not name one.
    """
    if _HAS_SLOTS and "given" in mark:
        return (
            animation.action_slot is not None and mark["given"] == animation.action_slot.identifier
        )
    return animation.action is not None and _MARK in animation.action


def _leave(action: Any) -> None:
    """Removes an action that a bake made once nothing uses it; else the user's if no bake does."""
    if _MARK not in action:
        return
    if action.users == 0:
        bpy.data.actions.remove(action)
    elif not any(
        _MARK in cast(Any, key) and _plays(key)[0] == action for key in bpy.data.shape_keys
    ):
        del action[_MARK]


def _slot(action: Any, identifier: str) -> Any:
    """The slot of an action with an identifier; None if there is none."""
    return action.slots.get(identifier) if action is not None and _HAS_SLOTS else None


def _former_slot(action: Any, mark: dict[str, Any]) -> Any:
    """The slot that a key played; in an action from before slots, the one that Blender made."""
    if action is None or not _HAS_SLOTS or "slot" in mark:
        return _slot(action, mark.get("slot", ""))
    return next((slot for slot in action.slots if slot.target_id_type == "KEY"), None)


def _new_slot(action: Any, name: str) -> Any:
    """A new slot for a Key in an action, ready to hold curves; None before there were slots."""
    if not _HAS_SLOTS:
        return None
    slot = action.slots.new(id_type="KEY", name=name)
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    strip.channelbag(slot, ensure=True)
    return slot


def _play(animation: Any, action: bpy.types.Action | None, slot: Any) -> None:
    """Assigns an action and, where there are slots, its slot."""
    animation.action = action
    if _HAS_SLOTS and action is not None:
        animation.action_slot = slot


def _active_channels(animation: Any) -> Any:
    """What holds the curves that an animation plays; None if nothing does."""
    if animation.action is None:
        return None
    return _channels(animation.action, animation.action_slot if _HAS_SLOTS else None)


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
