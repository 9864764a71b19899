"""Assignment of actions to shape keys, in the animation systems of all Blender versions since 4.2.

Up to 4.3 an action holds F-curves itself. From 4.4 on it holds them per slot, in a channelbag; the
old access is gone in 5.0, and before that it fails where an action has several slots.

Exporters write one clip per action. So from 4.4 on, the curves of baked keys are added to the
action that moves their object, or else to one action that all bodies share.
"""

from collections.abc import Iterator
from typing import Any, cast

import bpy

from ..scene.action_channels import HAS_SLOTS, active_channels, channels, channels_of
from ..scene.mesh_access import shape_keys_of
from ..settings.bone_properties import armature_of
from ..settings.properties import body_properties

_MARK = "verlet"
"""Custom property: on a Key whose action a bake assigned, the action, slot and animation data of
before; on an action that a bake made, its purpose."""
_SHARED, _COPY = "shared", "copy"


def own_channels(obj: bpy.types.Object) -> Any:
    """Container of the curves of this object's keys alone, created where it is missing.

    If the user animates the keys, it is in the user's action, or in a copy of that if other keys
    use it too or it is linked from another file. Otherwise it is in the action that moves the
    object or its parents, or else in the action that all bakes share. `give_back` undoes this.
    """
    key = cast(bpy.types.Key, shape_keys_of(obj))
    present = channels(key)
    if present is None:
        action = _moving_action(obj) or _shared_action(obj)
        _put(key, action, new_slot(action, obj.name, "KEY"))
    elif is_shared(key) or present.id_data.library is not None:
        animation: Any = key.animation_data
        action = _copy(present.id_data)
        _put(key, action, slot_named(action, animation.action_slot.identifier if HAS_SLOTS else ""))
    return channels(key)


def take_copy(key: bpy.types.Key) -> None:
    """Assigns to a key a copy of its action, which no other key uses."""
    animation: Any = key.animation_data
    slot = animation.action_slot.identifier if HAS_SLOTS else ""
    action = _copy(animation.action)
    play(animation, action, slot_named(action, slot))


def give_back(key: bpy.types.Key) -> None:
    """Restores a key's action from before `own_channels`, unless the user has changed it since."""
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
    if _content(channels(key)) == _content(channels_of(former, former_slot)):
        slot = animation.action_slot if HAS_SLOTS and not is_shared(key) else None
        play(animation, former, former_slot)
        if HAS_SLOTS:
            animation.last_slot_identifier = mark.get("last_slot", animation.last_slot_identifier)
        if slot is not None:
            action.slots.remove(slot)
        if mark["made_animation_data"] and not animation.drivers and not animation.nla_tracks:
            key.animation_data_clear()
    _leave(action)


def is_shared(key: bpy.types.Key) -> bool:
    """Whether another Key datablock uses the same action and slot."""
    animation: Any = key.animation_data
    if animation is None or animation.action is None:
        return False
    if HAS_SLOTS and animation.action_slot is not None:
        return len(animation.action_slot.users()) > 1
    played = _plays(key)
    return any(_plays(other) == played for other in bpy.data.shape_keys if other != key)


def _moving_action(obj: bpy.types.Object) -> bpy.types.Action | None:
    """The action of the first of `_movers` that has curves; None without slots, and for bones.

    Exporters write no meshes of joints, and the action of an armature is the animator's.
    """
    for mover in _movers(obj) if HAS_SLOTS and armature_of(obj) is None else ():
        animation: Any = mover.animation_data
        held = None if animation is None else active_channels(animation)
        if held is not None and held.fcurves and animation.action.is_editable:
            return cast(bpy.types.Action, animation.action)
    return None


def _movers(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """The object, its armatures, attachment targets and parents, and theirs, breadth first."""
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
    """The action that all bakes share, made where it is missing; without slots, one per object."""
    for action in bpy.data.actions if HAS_SLOTS else ():
        if cast(Any, action).get(_MARK) == _SHARED and action.is_editable:
            return action
    action = bpy.data.actions.new("Verlet" if HAS_SLOTS else f"{obj.name} Verlet")
    cast(Any, action)[_MARK] = _SHARED
    return action


def _copy(action: bpy.types.Action) -> bpy.types.Action:
    """A copy of an action, marked as made by a bake."""
    copy = action.copy()
    cast(Any, copy)[_MARK] = _COPY
    return copy


def _put(key: bpy.types.Key, action: bpy.types.Action, slot: Any) -> None:
    """Assigns an action to a key, and stores the former one in the key's mark."""
    mark: dict[str, Any] = {"made_animation_data": key.animation_data is None}
    animation: Any = key.animation_data_create()
    if animation.action is not None:
        mark["former"] = animation.action
    if HAS_SLOTS:
        mark["slot"] = animation.action_slot.identifier if animation.action_slot else ""
        mark["last_slot"] = animation.last_slot_identifier
        mark["given"] = slot.identifier
    cast(Any, key)[_MARK] = mark
    play(animation, action, slot)


def _is_given(animation: Any, mark: dict[str, Any]) -> bool:
    """Whether an animation still uses the action and slot that `_put` assigned, or a copy of them.

    Marks of Blender versions without slots name no slot; there any marked action counts.
    """
    if HAS_SLOTS and "given" in mark:
        return (
            animation.action_slot is not None and mark["given"] == animation.action_slot.identifier
        )
    return animation.action is not None and _MARK in animation.action


def _leave(action: Any) -> None:
    """Removes an action that a bake made if it is unused; unmarks it if only the user uses it."""
    if _MARK not in action:
        return
    if action.users == 0:
        bpy.data.actions.remove(action)
    elif not any(
        _MARK in cast(Any, key) and _plays(key)[0] == action for key in bpy.data.shape_keys
    ):
        del action[_MARK]


def slot_named(action: Any, identifier: str) -> Any:
    """The slot of an action with this identifier; None if it is missing."""
    return action.slots.get(identifier) if action is not None and HAS_SLOTS else None


def _former_slot(action: Any, mark: dict[str, Any]) -> Any:
    """The slot that a key used before; in actions of older versions, the one that Blender made."""
    if action is None or not HAS_SLOTS or "slot" in mark:
        return slot_named(action, mark.get("slot", ""))
    return next((slot for slot in action.slots if slot.target_id_type == "KEY"), None)


def new_slot(action: Any, name: str, kind: str) -> Any:
    """A new slot for a type of datablock, with a channelbag for curves; None without slots."""
    if not HAS_SLOTS:
        return None
    slot = action.slots.new(id_type=kind, name=name)
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    strip.channelbag(slot, ensure=True)
    return slot


def play(animation: Any, action: bpy.types.Action | None, slot: Any) -> None:
    """Assigns an action and, where there are slots, its slot."""
    animation.action = action
    if HAS_SLOTS and action is not None:
        animation.action_slot = slot


def _plays(key: bpy.types.Key) -> tuple[Any, int]:
    """Action and slot handle of a key."""
    animation: Any = key.animation_data
    if animation is None:
        return None, 0
    return animation.action, animation.action_slot_handle if HAS_SLOTS else 0


def _content(held: Any) -> list[list[Any]]:
    """All plain values of curves, their keyframe points and modifiers, for comparison."""
    return [
        [_plain(item) for item in (curve, *curve.keyframe_points, *curve.modifiers)]
        for curve in (held.fcurves if held is not None else ())
    ]


def _plain(item: Any) -> list[Any]:
    """The values of one RNA struct, without pointers and collections."""
    names = [
        p.identifier for p in item.bl_rna.properties if p.type not in ("POINTER", "COLLECTION")
    ]
    values = [getattr(item, name) for name in names]
    return [tuple(value) if hasattr(value, "__len__") else value for value in values]
