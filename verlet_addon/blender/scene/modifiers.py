"""What a mesh's modifiers do to its own vertices, and the way back through them.

Shape keys come before all modifiers. So those that carry vertices from place to place (Armature,
Hook, Lattice, …) belong to the animated mesh and have to be undone in a baked key, while the others
(Subdivision, Mirror, Smooth, …) give the simulated mesh its finish and are left out.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import cast

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError
from .mesh_access import (
    found_again,
    mesh_of,
    read_coordinates,
    read_vertices,
    shape_keys_of,
    write_coordinates,
)

_CARRIERS = {
    *("ARMATURE", "CAST", "CURVE", "HOOK", "LAPLACIANDEFORM", "LATTICE"),
    *("MESH_DEFORM", "SIMPLE_DEFORM", "SURFACE_DEFORM", "WARP", "WAVE"),
}
"""Carry each vertex along, by itself: read, and undone in baked keys."""

_PASSIVE = {
    *("COLLISION", "DATA_TRANSFER", "DYNAMIC_PAINT", "FLUID", "NORMAL_EDIT"),
    *("PARTICLE_SYSTEM", "SURFACE", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT"),
    *("VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WEIGHTED_NORMAL"),
}
"""Move no vertex; whatever is in none of these sets finishes the mesh."""

_REPLACERS = {"CLOTH", "MESH_CACHE", "MESH_SEQUENCE_CACHE", "SOFT_BODY"}
"""Put positions of their own in the place of those that a shape key gives."""

LIVE_MODIFIER = "Verlet Live"
"""Name of the Mesh Cache modifier by which a live simulation is shown."""

_TRIALS = 12
"""Trials of the way back; affine carriers take two or three, bent ones up to eight."""

_FINE, _COARSE = 1e-6, 1e-4
"""Errors per size of the mesh: at the first the way back is found; below the second it is too,
where float32 does not give more, as with an armature far from the mesh."""


def check_modifiers(obj: bpy.types.Object) -> None:
    """Raises MeshError for modifiers that would put something else in the place of a bake."""
    for modifier in obj.modifiers:
        if is_live_modifier(modifier):
            continue
        if modifier.show_viewport and modifier.type in _REPLACERS:
            raise MeshError(
                f"The modifier {modifier.name} of {obj.name} moves the vertices itself; "
                "turn it off or remove it"
            )


def has_carriers(obj: bpy.types.Object) -> bool:
    """Whether modifiers, or an armature or lattice as parent, carry the vertices along."""
    if obj.parent is not None and obj.parent_type in ("ARMATURE", "LATTICE"):
        return True
    return any(item.show_viewport and is_carrier(item) for item in obj.modifiers)


def is_carrier(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier carries vertices along."""
    return modifier.type in _CARRIERS


def is_live_modifier(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier shows a live simulation, and is not the user's."""
    return modifier.type == "MESH_CACHE" and modifier.name.split(".")[0] == LIVE_MODIFIER


@contextmanager
def finish_hidden(objects: Iterable[bpy.types.Object]) -> Iterator[bool]:
    """Turns off modifiers that only finish the simulated mesh; yields whether there were any.

    Reading does so by itself, but around a loop over frames this spares their evaluation.
    Within, the file may be undone or redone, and objects renamed.
    """
    hidden = [
        (obj.session_uid, modifier.name)
        for obj in objects
        for modifier in obj.modifiers
        if modifier.show_viewport and modifier.type not in _CARRIERS | _PASSIVE
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
        positions = _evaluated(obj, depsgraph)
    if hidden:
        depsgraph.update()
    return positions


def undo_carriers(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, wanted: Floats) -> Floats:
    """Displacements (n, 3) before the carriers after which the mesh shows `wanted`.

    Newton's method on the evaluated mesh, each vertex for itself: exact where a vertex moves by
    an affine map (Armature, Hook), to float32 where that map bends (Lattice, Curve).

    Raises
    ------
    MeshError
        The carriers cannot be undone: they flatten the mesh or let vertices depend on others.
    """
    with finish_hidden([obj]), solo_key(obj) as key:
        start = read_coordinates(key.points)

        def deform(positions: Floats) -> Floats:
            write_coordinates(key.points, positions)
            mesh_of(obj).update_tag()
            depsgraph.update()
            return _evaluated(obj, depsgraph)

        positions = _invert(deform, start, wanted)
    depsgraph.update()
    if positions is None:
        raise MeshError(
            f"The modifiers of {obj.name} cannot be undone; "
            "turn off or apply those that flatten or project it, or limit them to pinned vertices"
        )
    return positions - start


def _invert(deform: Callable[[Floats], Floats], start: Floats, wanted: Floats) -> Floats | None:
    """Positions that `deform` takes to `wanted`; None where none are found."""
    size = float(np.abs(wanted).max(initial=1e-9))
    positions, missing = start, wanted - deform(start)
    slopes, error_before = np.empty(0), np.inf
    for _ in range(_TRIALS):
        error = np.abs(missing).max() / size
        if error <= _FINE or error_before <= error <= _COARSE:
            return positions
        # Near the end the former slopes serve as well: what is left is rounding.
        if not slopes.size or error > _COARSE:
            slopes = _slopes(deform, positions, wanted - missing, step=1e-2 * size)
        positions = positions + np.linalg.solve(slopes, missing[..., None])[..., 0]
        missing = wanted - deform(positions)
        error_before = error
    return None


def _slopes(
    deform: Callable[[Floats], Floats], positions: Floats, shown: Floats, *, step: float
) -> Floats:
    """(n, 3, 3) derivatives of each vertex after the carriers by itself before them."""
    moved = [deform(positions + step * axis) for axis in np.eye(3)]
    slopes = (np.stack(moved, axis=2) - shown[..., None]) / step
    # A vertex that its modifiers hold in place has no way back, and needs none where it is right.
    slopes[np.abs(np.linalg.det(slopes)) < 1e-9] = np.eye(3)
    return slopes


@contextmanager
def solo_key(obj: bpy.types.Object) -> Iterator[bpy.types.ShapeKey]:
    """A passing shape key, shown alone, that holds the mix of the object's own keys."""
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
    """Turns pairs of an object's `session_uid` and a modifier's name on or off, if still there."""
    for uid, name in modifiers:
        obj = found_again(uid)
        if obj is not None and name in obj.modifiers:
            obj.modifiers[name].show_viewport = show


def _evaluated(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(n, 3) positions of the evaluated mesh in the object's space."""
    mesh = mesh_of(obj.evaluated_get(depsgraph))
    count, own = len(mesh.vertices), len(mesh_of(obj).vertices)
    if count != own:
        raise MeshError(
            f"{obj.name} has {own} vertices but a modifier makes {count} of them; turn it off"
        )
    return read_vertices(mesh)
