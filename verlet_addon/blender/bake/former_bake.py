"""Hiding of an earlier bake while the animated mesh is read for the next one."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import bpy

from ..scene.bone_tracks import read_alike, tracks_muted
from ..scene.mesh_access import found_again, keys_muted, shape_keys_of, write_key
from ..scene.modifiers import bakes_hidden
from ..settings.properties import body_properties
from . import curves
from .bone_keys import bone_keys_hidden
from .shape_keys import baked_names
from .unbaked_shape import has_lost_basis, show_rest


@contextmanager
def former_bakes_hidden(objects: Sequence[bpy.types.Object]) -> Iterator[None]:
    """Mutes the earlier bakes of objects within the context, so that the animated meshes show."""
    with ExitStack() as stack:
        stack.enter_context(bakes_hidden(objects))
        stack.enter_context(tracks_muted(objects))
        stack.enter_context(read_alike(objects))
        stack.enter_context(bone_keys_hidden(objects))
        for obj in objects:
            stack.enter_context(_former_bake_hidden(obj))
        yield


@contextmanager
def _former_bake_hidden(obj: bpy.types.Object) -> Iterator[None]:
    """Mutes an object's baked keys and their curves, and restores the mesh's own rest shape.

    Curves are muted because Blender also evaluates those of muted keys. `show_only_shape_key` is
    turned off, because a bake is invisible while it is on. Within the context the file may be
    undone or redone, and the object renamed.
    """
    uid, names, solo = obj.session_uid, baked_names(obj), obj.show_only_shape_key
    stilled = curves.mute_curves(obj, names, True)
    replaced = show_rest(obj) if has_lost_basis(obj, names) else None
    obj.show_only_shape_key = False
    absolute = _set_absolute(obj, False)
    try:
        with keys_muted(obj, names):
            yield
    finally:
        if (found := found_again(uid)) is not None:
            if absolute:
                _set_absolute(found, True)
            found.show_only_shape_key = solo
            if replaced is not None and (key := shape_keys_of(found)) is not None:
                write_key(key.reference_key, replaced)
            curves.mute_curves(found, stilled, False)


@contextmanager
def all_keys_shown(objects: Sequence[bpy.types.Object]) -> Iterator[None]:
    """Shows the mix of all shape keys of objects, since a single one shown alone hides a bake."""
    single = [obj.session_uid for obj in objects if obj.show_only_shape_key]
    _show_single(single, False)
    try:
        yield
    finally:
        _show_single(single, True)


def _show_single(uids: Sequence[int], shown: bool) -> None:
    """Shows the active shape key of objects alone, or the mix of all."""
    for obj in filter(None, map(found_again, uids)):
        obj.show_only_shape_key = shown


@contextmanager
def relative_keys(obj: bpy.types.Object) -> Iterator[None]:
    """Shows baked absolute keys as relative ones within the context.

    Blender would sort keys that are added meanwhile among absolute ones, by their time.
    """
    absolute = _set_absolute(obj, False)
    try:
        yield
    finally:
        if absolute:
            _set_absolute(obj, True)


def _set_absolute(obj: bpy.types.Object, absolute: bool) -> bool:
    """Shows baked absolute keys as such, or as relative ones without a value.

    Returns whether the object has such keys, and shows them otherwise now.
    """
    key = shape_keys_of(obj)
    if key is None or body_properties(obj).baked_form != "ABSOLUTE":
        return False
    changed = key.use_relative == absolute
    key.use_relative = not absolute
    return changed
