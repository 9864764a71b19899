"""Effect of modifiers on a mesh's own vertices, and its inverse.

Blender applies shape keys before all modifiers. Carriers, which deform each vertex by itself
(Armature, Hook, Lattice, …), are part of the animated mesh, so baked keys contain their inverse.
The other modifiers (Subdivision, Mirror, Smooth, …) are applied to the simulated mesh and left out.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import cast

import bpy

from ...core.arrays import Floats
from ...core.errors import MeshError
from .cache_modifiers import (
    cache_modifiers_of,
    is_bake_modifier,
    is_drape_modifier,
    is_live_modifier,
)
from .curve_lines import plain_curves, read_line, refuse_curve
from .curve_points import is_curve
from .hair_curves import is_hair
from .hair_modifiers import check_hair_order, finishing, place_of_player, read_hair
from .hair_player import is_player, player_of
from .mesh_access import (
    found_again,
    mesh_of,
    read_key,
    read_vertices,
    shape_keys_of,
)

_CARRIERS = {
    *("ARMATURE", "CAST", "CURVE", "HOOK", "LAPLACIANDEFORM", "LATTICE"),
    *("MESH_DEFORM", "SIMPLE_DEFORM", "SURFACE_DEFORM", "WARP", "WAVE"),
}
"""Types of carriers: modifiers that deform each vertex by itself."""

_PASSIVE = {
    *("COLLISION", "DATA_TRANSFER", "DYNAMIC_PAINT", "FLUID", "NORMAL_EDIT"),
    *("PARTICLE_SYSTEM", "SURFACE", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT"),
    *("VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WEIGHTED_NORMAL"),
}
"""Types that move no vertex. Types in none of these sets are turned off while the mesh is read."""

_REPLACERS = {"CLOTH", "MESH_CACHE", "MESH_SEQUENCE_CACHE", "SOFT_BODY"}
"""Types that replace the positions that shape keys give by their own."""


def check_modifiers(obj: bpy.types.Object) -> None:
    """Raises MeshError for modifiers that would replace the positions of a bake."""
    for modifier in cache_modifiers_of(obj):
        if not modifier.show_viewport or is_live_modifier(modifier) or is_bake_modifier(modifier):
            continue
        if is_drape_modifier(modifier):
            raise MeshError(
                f"{obj.name} shows a drape, which would hide its motion; apply or discard the drape"
            )
        if modifier.type in _REPLACERS:
            raise MeshError(
                f"The modifier {modifier.name} of {obj.name} replaces the positions of its "
                "vertices, which would hide a bake; turn it off or remove it"
            )


def has_carriers(obj: bpy.types.Object) -> bool:
    """Whether an object has enabled carriers, or an armature or lattice as its parent.

    Hair counts as such: its modifiers may move each point in any way.
    """
    if is_hair(obj):
        return True
    if obj.parent is not None and obj.parent_type in ("ARMATURE", "LATTICE"):
        return True
    return any(item.show_viewport and is_carrier(item) for item in obj.modifiers)


def is_carrier(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier deforms each vertex by itself."""
    return modifier.type in _CARRIERS


def is_finishing(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier changes the simulated mesh, as Subdivision does."""
    return modifier.type not in _CARRIERS | _PASSIVE


def place_after_carriers(obj: bpy.types.Object) -> int:
    """Number at which a modifier is to be among those of a body, to follow its last carrier.

    It also follows the modifier of a bake to a cache, which would hide it. That of hair comes
    before the first that changes its curves.
    """
    if is_hair(obj):
        return place_of_player(obj)
    before = [
        n for n, each in enumerate(obj.modifiers) if is_carrier(each) or is_bake_modifier(each)
    ]
    return before[-1] + 1 if before else 0


def check_order(obj: bpy.types.Object, shown: str, instead: str) -> None:
    """Raises MeshError for curves, and where a carrier follows a modifier that finishes the mesh.

    A bake precedes both; a point cache can only follow the carrier, where the mesh may have other
    vertices.

    Parameters
    ----------
    shown, instead : names of the cache that cannot be shown, and of the bake to make in its place.
    """
    refuse_curve(obj, shown, instead)
    if is_hair(obj):
        check_hair_order(obj)
        return
    there = [item for item in obj.modifiers if item.show_viewport]
    carriers = [number for number, item in enumerate(there) if is_carrier(item)]
    before = there[: carriers[-1]] if carriers else []
    if finishing := [item.name for item in before if is_finishing(item) and not _is_ours(item)]:
        carrier = there[carriers[-1]].name
        raise MeshError(
            f"{finishing[0]} comes before {carrier} among the modifiers of {obj.name}, so that "
            f"{shown} cannot be shown; move {carrier} up, or {instead}"
        )


@contextmanager
def finish_hidden(objects: Iterable[bpy.types.Object]) -> Iterator[bool]:
    """Turns off all modifiers but carriers and passive ones; yields whether there were any.

    Curves are drawn as lines within it, which counts too.

    `read_deformed` does so itself; around a loop over frames, this context saves their evaluation.
    Within the context the file may be undone or redone, and objects renamed.
    """
    chosen = list(objects)
    every = [each for obj in chosen for each in _finishing(obj)]
    with _hidden(every) as hidden, plain_curves(chosen) as changed:
        yield hidden or changed


@contextmanager
def live_hidden(objects: Iterable[bpy.types.Object]) -> Iterator[bool]:
    """Turns off the modifiers that show live simulations; yields whether there were any."""
    with _hidden(_playing(objects, is_live_modifier)) as hidden:
        yield hidden


@contextmanager
def bakes_hidden(objects: Iterable[bpy.types.Object]) -> Iterator[bool]:
    """Turns off the modifiers that play bakes to caches; yields whether there were any."""
    with _hidden(_playing(objects, is_bake_modifier)) as hidden:
        yield hidden


@contextmanager
def caches_hidden(objects: Iterable[bpy.types.Object]) -> Iterator[bool]:
    """Turns off all modifiers that play point caches of the add-on; yields whether any were on."""
    with _hidden(_playing(objects, _is_ours)) as hidden:
        yield hidden


@contextmanager
def bakes_alone(objects: Iterable[bpy.types.Object], *, finish: bool) -> Iterator[None]:
    """Turns off what hides bakes, and without `finish` also all that finishes the mesh."""

    def of(obj: bpy.types.Object) -> Iterator[bpy.types.Modifier]:
        """The modifiers of an object to be turned off."""
        yield from (each for each in cache_modifiers_of(obj) if _is_ours(each))
        yield from () if finish else _finishing(obj)

    every = [each for obj in objects for each in of(obj)]
    with _hidden([each for each in every if not (is_bake_modifier(each) or is_player(each))]):
        yield


@contextmanager
def alone(obj: bpy.types.Object, *, carriers: bool) -> Iterator[None]:
    """Turns off all modifiers of an object but those that show its simulation, and carriers."""

    def others(modifier: bpy.types.Modifier) -> bool:
        return not (_is_ours(modifier) or (carriers and is_carrier(modifier)))

    every = _finishing(obj) if is_hair(obj) else filter(others, obj.modifiers)
    with _hidden([each for each in every if not is_player(each)]):
        yield


def _is_ours(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier shows a live simulation, a drape or a bake."""
    return any(kind(modifier) for kind in (is_live_modifier, is_drape_modifier, is_bake_modifier))


def _finishing(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers of an object that finish what is simulated; of hair, its player too."""
    return finishing(obj) if is_hair(obj) else list(filter(is_finishing, obj.modifiers))


def _playing(
    objects: Iterable[bpy.types.Object], chosen: Callable[[bpy.types.Modifier], bool]
) -> list[bpy.types.Modifier]:
    """The chosen modifiers that play point caches on objects.

    Hair shows its groom where none is left on, so its player is among them then.
    """
    found = []
    for obj in objects:
        playing = cache_modifiers_of(obj)
        its = list(filter(chosen, playing))
        left = [each for each in playing if each.show_viewport and each not in its]
        if its and not left and (player := player_of(obj)) is not None:
            its.append(player)
        found += its
    return found


@contextmanager
def _hidden(modifiers: Iterable[bpy.types.Modifier]) -> Iterator[bool]:
    """Turns off those of some modifiers that are on; yields whether there were any."""
    hidden = [
        (cast(bpy.types.ID, each.id_data).session_uid, each.name)
        for each in modifiers
        if each.show_viewport
    ]
    _show(hidden, False)
    try:
        yield bool(hidden)
    finally:
        _show(hidden, True)


def read_deformed(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(n, 3) positions of the mesh's own vertices in the object's space, after the carriers."""
    with finish_hidden([obj]) as hidden:
        if hidden:
            depsgraph.update()
        positions = read_evaluated(obj, depsgraph)
    if hidden:
        depsgraph.update()
    return positions


def read_shown(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, *, carriers: bool = True
) -> Floats:
    """(n, 3) positions of the mesh's own vertices in the object's space, with its simulation.

    Parameters
    ----------
    carriers : whether they are included.
    """
    with alone(obj, carriers=carriers):
        depsgraph.update()
        positions = read_evaluated(obj, depsgraph)
    depsgraph.update()
    return positions


def read_mix(obj: bpy.types.Object) -> Floats:
    """(n, 3) mix of an object's shape keys at their current values; its mesh without any."""
    with solo_key(obj) as key:
        return read_key(key)


@contextmanager
def solo_key(obj: bpy.types.Object) -> Iterator[bpy.types.ShapeKey]:
    """Adds a temporary shape key with the mix of the object's own keys, and shows it alone."""
    active, solo = obj.active_shape_key_index, obj.show_only_shape_key
    passing = [] if shape_keys_of(obj) else [obj.shape_key_add(name="Basis", from_mix=False)]
    passing.append(obj.shape_key_add(name="Verlet", from_mix=True))
    obj.active_shape_key_index = len(cast(bpy.types.Key, shape_keys_of(obj)).key_blocks) - 1
    obj.show_only_shape_key = True
    try:
        yield passing[-1]
    finally:
        for key in reversed(passing):
            obj.shape_key_remove(key)
        obj.active_shape_key_index, obj.show_only_shape_key = active, solo


def _show(modifiers: Iterable[tuple[int, str]], show: bool) -> None:
    """Turns existing modifiers on or off, given as `session_uid` of the object and name."""
    for uid, name in modifiers:
        obj = found_again(uid)
        if obj is not None and name in obj.modifiers:
            obj.modifiers[name].show_viewport = show


def read_evaluated(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(n, 3) positions of the evaluated mesh, or of a curve's lines, in the object's space."""
    if is_curve(obj):
        return read_line(obj, depsgraph)
    if is_hair(obj):
        return read_hair(obj, depsgraph)
    mesh = mesh_of(obj.evaluated_get(depsgraph))
    count, own = len(mesh.vertices), len(mesh_of(obj).vertices)
    if count != own:
        raise MeshError(
            f"{obj.name} has {own} vertices but a modifier makes {count} of them; turn it off"
        )
    return read_vertices(mesh)
