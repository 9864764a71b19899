"""The Mesh Cache modifiers that play point caches of the add-on: what a simulation adds to bodies.

There are three kinds, each with its own name: of live simulations, of drapes, and of bakes.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import bpy

from ..settings.properties import body_properties
from .bone_tracks import set_tracks
from .hair_curves import is_hair
from .hair_player import carrier_of, is_shared, made_carrier, remove_player

LIVE_MODIFIER = "Verlet Live"
"""Name of the Mesh Cache modifier that shows a live simulation."""
DRAPE_MODIFIER = "Verlet Drape"
"""Name of the Mesh Cache modifier that shows a drape."""
BAKE_MODIFIER = "Verlet Cache"
"""Name of the Mesh Cache modifier that plays a bake to a cache."""

_EARLY = 5e-5
"""Frames by which samples come early where frames are stretched. Within 1e-4 frames after a sample
Blender shows it unmixed, but stretched frames are rounded to either side."""


def is_live_modifier(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier is the one that shows a live simulation."""
    return _is_cache(modifier, LIVE_MODIFIER)


def is_drape_modifier(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier is the one that shows a drape."""
    return _is_cache(modifier, DRAPE_MODIFIER)


def is_bake_modifier(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier is the one that plays a bake to a cache."""
    return _is_cache(modifier, BAKE_MODIFIER)


def _is_cache(modifier: bpy.types.Modifier, name: str) -> bool:
    """Whether a modifier plays a point cache of the add-on, under this name or a numbered one."""
    return modifier.type == "MESH_CACHE" and modifier.name.split(".")[0] == name


def live_modifier(obj: bpy.types.Object) -> bpy.types.MeshCacheModifier | None:
    """The modifier of an object that shows a live simulation; None without one."""
    return _first(obj, is_live_modifier)


def drape_modifier(obj: bpy.types.Object) -> bpy.types.MeshCacheModifier | None:
    """The modifier of an object that shows a drape; None without one."""
    return _first(obj, is_drape_modifier)


def bake_modifier(obj: bpy.types.Object) -> bpy.types.MeshCacheModifier | None:
    """The modifier of an object that plays a bake to a cache; None without one."""
    return _first(obj, is_bake_modifier)


def _first(
    obj: bpy.types.Object, chosen: Callable[[bpy.types.Modifier], bool]
) -> bpy.types.MeshCacheModifier | None:
    """The first of the chosen modifiers of an object; None without any."""
    found = next(filter(chosen, cache_modifiers_of(obj)), None)
    return cast(bpy.types.MeshCacheModifier | None, found)


def _holder(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The object whose modifiers play point caches on a body: itself, or the carrier of hair.

    None for hair without one, and for carriers, which are no bodies.
    """
    if body_properties(obj).is_hair_carrier:
        return None
    return carrier_of(obj) if is_hair(obj) else obj


def can_play(obj: bpy.types.Object) -> bool:
    """Whether an object can play a point cache: a mesh by itself, hair by its carrier."""
    return obj.type == "MESH" or is_hair(obj)


def cache_modifiers_of(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers among which are those that play point caches on a body."""
    holder = _holder(obj)
    return [] if holder is None else list(holder.modifiers)


def shows_simulation(obj: bpy.types.Object) -> bool:
    """Whether an object shows a simulation: live, as a drape, or by a bake."""
    kinds = (is_live_modifier, is_drape_modifier, is_bake_modifier)
    baked = len(body_properties(obj).baked_keys) > 0
    return baked or any(kind(each) for each in cache_modifiers_of(obj) for kind in kinds)


def update_tracks(obj: bpy.types.Object) -> None:
    """Has the bones of a body of bones follow it while it shows a simulation, unless keys do."""
    keyed = bool(body_properties(obj).keyed_bones) and live_modifier(obj) is None
    set_tracks(obj, shows_simulation(obj) and not keyed)


def cache_path(obj: bpy.types.Object, modifier: bpy.types.MeshCacheModifier) -> Path:
    """Absolute path of the file that a modifier of an object, which may be linked, plays."""
    holder = _holder(obj)
    library = holder.library if holder is not None else None
    path = bpy.path.abspath(modifier.filepath, library=library)
    return Path(os.path.normpath(path))


def relative_path(path: Path) -> str:
    """A path relative to the open .blend file, or as it is where Blender cannot lead there."""
    # Such as from one drive to another.
    with suppress(ValueError):
        return bpy.path.relpath(str(path))
    return str(path)


def remove_live_modifiers(objects: Iterable[bpy.types.Object]) -> None:
    """Removes the modifiers that show live simulations; the active modifier stays active."""
    _remove_all(objects, is_live_modifier)


def remove_drape_modifiers(objects: Iterable[bpy.types.Object]) -> None:
    """Removes the modifiers that show drapes; the active modifier stays active."""
    _remove_all(objects, is_drape_modifier)


def remove_bake_modifiers(objects: Iterable[bpy.types.Object]) -> None:
    """Removes the modifiers that play bakes to caches; the active modifier stays active."""
    _remove_all(objects, is_bake_modifier)


def tag_player(obj: bpy.types.Object) -> None:
    """Has Blender evaluate anew what plays point caches on a body, whose file has changed."""
    holder = _holder(obj)
    if holder is not None:
        cast(bpy.types.ID, holder.data).update_tag()


def _remove_all(
    objects: Iterable[bpy.types.Object], chosen: Callable[[bpy.types.Modifier], bool]
) -> None:
    """Removes the chosen modifiers of objects, and the carriers of hair that play nothing then."""
    for obj in [each for each in objects if _holder(each) is not None]:
        _remove(obj, chosen)


def _remove(obj: bpy.types.Object, chosen: Callable[[bpy.types.Modifier], bool]) -> None:
    """Removes the chosen modifiers of an object; the active modifier stays active."""
    holder = _holder(obj)
    if holder is None:
        return
    if is_hair(obj) and is_shared(obj):
        if _first(obj, chosen) is not None:
            remove_player(obj)
        return
    active: Any = holder.modifiers.active
    name = active.name if active is not None else ""
    while (modifier := _first(obj, chosen)) is not None:
        _stop_loop(holder, modifier)
        holder.modifiers.remove(modifier)
    if name in holder.modifiers:
        holder.modifiers.active = holder.modifiers[name]
    if is_hair(obj) and not holder.modifiers:
        remove_player(obj)
    update_tracks(obj)


def add_cache_modifier(
    obj: bpy.types.Object,
    name: str,
    path: str,
    frame_start: int,
    place: int,
    *,
    stretch: float = 1.0,
) -> bpy.types.MeshCacheModifier:
    """Plays a PC2 point cache on a body, hair by its carrier; the active modifier stays active.

    Parameters
    ----------
    name : `LIVE_MODIFIER`, `BAKE_MODIFIER`, or the name of a cache of another program.
    path : the file, absolute or relative to the .blend file.
    frame_start : frame of the scene that shows the first sample.
    place : number of the modifier among those of the body.
    stretch : frames on F-curves per frame of the scene.
    """
    holder = obj
    if is_hair(obj):
        holder = made_carrier(obj, place)
        place = len(holder.modifiers)
    active: Any = holder.modifiers.active
    modifier: Any = holder.modifiers.new(name, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = path
    modifier.frame_start = frame_start if stretch == 1.0 else frame_start - _EARLY
    modifier.frame_scale = 1.0 / stretch
    modifier.show_in_editmode = False
    modifier.show_expanded = False
    # Blender keeps modifiers with Pin to Last behind it.
    holder.modifiers.move(holder.modifiers.find(modifier.name), place)
    if active is not None:
        holder.modifiers.active = active
    update_tracks(obj)
    return cast(bpy.types.MeshCacheModifier, modifier)


def play_as_loop(
    modifier: bpy.types.MeshCacheModifier,
    frame_start: float,
    length: int,
    *,
    stretch: float,
) -> None:
    """Has a point cache repeat, whose last sample, number `length`, equals its first.

    Mesh Cache modifiers do not repeat by themselves, so a driver gives the sample to show. Its
    expression is one that Blender evaluates without Python, also in files that are not trusted.

    Parameters
    ----------
    frame_start : frame of the animation that shows the first sample.
    stretch : frames on F-curves per frame of the scene.
    """
    modifier.play_mode, modifier.time_mode = "CUSTOM", "FRAME"
    curve: Any = cast(bpy.types.Object, modifier.id_data).driver_add(_eval_path(modifier))
    since = f"(frame - {frame_start:g}) / {stretch:g}"
    curve.driver.expression = f"{since} - {length} * floor({since} / {length})"


def drivers_of(obj: bpy.types.Object) -> list[Any]:
    """Drivers of an object, but for that of a bake to a cache that repeats."""
    animation: Any = obj.animation_data
    drivers = animation.drivers if animation is not None else ()
    ours = {_eval_path(modifier) for modifier in filter(is_bake_modifier, obj.modifiers)}
    return [driver for driver in drivers if driver.data_path not in ours]


def is_animated(obj: bpy.types.Object) -> bool:
    """Whether an object has animation data, but for a cache that repeats alone."""
    animation: Any = obj.animation_data
    if animation is None:
        return False
    drivers = drivers_of(obj)
    empty = animation.action is None and not drivers and not animation.nla_tracks
    return not (empty and len(animation.drivers))


def _stop_loop(obj: bpy.types.Object, modifier: bpy.types.Modifier) -> None:
    """Removes the driver of a point cache that repeats, and animation data that are empty then."""
    animation: Any = obj.animation_data
    if animation is None or animation.drivers.find(_eval_path(modifier)) is None:
        return
    obj.driver_remove(_eval_path(modifier))
    if animation.action is None and not animation.drivers and not animation.nla_tracks:
        obj.animation_data_clear()


def _eval_path(modifier: bpy.types.Modifier) -> str:
    """RNA path of the sample that a Mesh Cache modifier shows, from its object."""
    return f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"].eval_frame'
