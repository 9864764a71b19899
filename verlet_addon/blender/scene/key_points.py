"""Conversion of world positions to shape keys, and to the points that Blender shows for these."""

from collections.abc import Callable
from typing import cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats, cofactors
from ...core.errors import MeshError
from .carrier_inverse import undo_carriers
from .curve_lines import fit_controls
from .curve_points import is_curve
from .mesh_access import read_key, read_shape, shape_keys_of
from .mesh_io import is_flat, world_matrix
from .modifiers import has_carriers, read_deformed

WayToKey = Callable[[Floats], NDArray[np.float32]]
"""Conversion of world positions (n, 3) to coordinates (n, 3) of a shape key that shows them."""


def way_to_key(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> WayToKey:
    """Conversion of world positions to a shape key that shows them at the current frame.

    That of a curve has its control points: exact for polylines, else the nearest by least squares.
    The key is relative to the Basis and has the value 1, beside the user's keys at their current
    values. The conversion inverts the object's matrix, the user's keys and the carriers. With
    carriers it is valid only until control returns to Blender.

    Raises
    ------
    MeshError
        The object's matrix or its modifiers cannot be undone.
    """
    inverse, offset = _inverse_matrix(obj, depsgraph)
    basis, carried = _basis(obj), has_carriers(obj)
    shown = basis if carried else read_deformed(obj, depsgraph)

    def way(positions: Floats) -> NDArray[np.float32]:
        wanted = _local(positions, inverse, offset)
        if carried:
            displacements = undo_carriers(obj, depsgraph, wanted)
        else:
            displacements = wanted - shown
            if is_curve(obj):
                displacements = fit_controls(obj, displacements)
        return _key_points(basis, displacements, wanted)

    return way


def shown_points(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, positions: Floats
) -> NDArray[np.float32]:
    """(n, 3) world positions [m] in the object's space, rounded as Blender shows a baked key.

    Blender subtracts (Basis − key) from the mix of the user's keys, all in float32. The result
    equals the displayed bake in all bits, unless carriers (Armature, Hook, …) round it once more.

    Raises
    ------
    MeshError
        The object's matrix cannot be inverted.
    """
    wanted = _local(positions, *_inverse_matrix(obj, depsgraph))
    if has_carriers(obj):
        return wanted.astype(np.float32)
    basis, shown = _basis(obj), read_deformed(obj, depsgraph)
    key = _key_points(basis, wanted - shown, wanted)
    return np.asarray(shown.astype(np.float32) - (basis.astype(np.float32) - key))


def local_positions(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, positions: Floats
) -> Floats:
    """(n, 3) in an object's space at the current frame, of world positions (n, 3) [m].

    Raises
    ------
    MeshError
        The object's matrix cannot be inverted.
    """
    return _local(positions, *_inverse_matrix(obj, depsgraph))


def _key_points(basis: Floats, displacements: Floats, wanted: Floats) -> NDArray[np.float32]:
    """(n, 3) points of a key that displaces the Basis (n, 3), for vertices at `wanted` (n, 3)."""
    # Vertices at rest differ by float64 rounding, which would enlarge sparse exports.
    displacements[np.abs(displacements) <= 1e-12 * np.abs(wanted).max(initial=0)] = 0
    return (basis + displacements).astype(np.float32)


def _local(positions: Floats, inverse: Floats, offset: Floats) -> Floats:
    """(n, 3) in an object's space, of world positions (n, 3)."""
    # By the inverse, since starting LAPACK's threads takes longer than these sums.
    return np.asarray(np.einsum("xy,ny->nx", inverse, positions - offset))


def _inverse_matrix(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[Floats, Floats]:
    """Inverse (3, 3) of an object's linear part, and its offset (3,), at the current frame."""
    linear, offset = world_matrix(obj, depsgraph)
    if is_flat(linear):
        raise MeshError(
            f"{obj.name} has scale 0 at frame {_frame(depsgraph)}; give it another scale there"
        )
    return _inverse(linear), offset


def _inverse(linear: Floats) -> Floats:
    """(3, 3) inverse by cofactors, since LAPACK starts its threads even for so small a matrix."""
    minors, size = cofactors(linear[None])
    return np.asarray(minors[0].T / size)


def _frame(depsgraph: bpy.types.Depsgraph) -> int:
    """The scene's current frame."""
    return cast(bpy.types.Scene, depsgraph.scene).frame_current


def _basis(obj: bpy.types.Object) -> Floats:
    """(n, 3) coordinates to which baked keys are relative."""
    key = shape_keys_of(obj)
    return read_key(key.reference_key) if key else read_shape(obj)
