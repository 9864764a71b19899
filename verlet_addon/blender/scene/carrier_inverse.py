"""Inverse of the modifiers that deform each vertex by itself, which shape keys come before."""

from collections.abc import Callable

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError
from .curve_lines import points_of_key
from .mesh_access import mesh_of, read_key, write_key
from .modifiers import finish_hidden, read_evaluated, solo_key

_TRIALS = 12
"""Maximum of Newton iterations; affine carriers take two or three, nonlinear ones up to eight."""

_FINE, _COARSE = 1e-6, 1e-4
"""Tolerances of Newton's method, relative to the size of the mesh. The coarse one suffices once the
error no longer falls, where float32 allows no more, as with an armature far from the mesh."""


def undo_carriers(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, wanted: Floats) -> Floats:
    """Displacements (n, 3) before the carriers with which the mesh shows `wanted` (n, 3).

    Of a curve, displacements of its control points with which its lines show `wanted`. Errors as of
    `invert_carriers`.
    """
    with finish_hidden([obj]), solo_key(obj) as key:
        start = read_key(key)
        positions = invert_carriers(
            obj, depsgraph, wanted, start, lambda points: write_key(key, points)
        )
    depsgraph.update()
    return positions - start


def invert_carriers(
    obj: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    wanted: Floats,
    start: Floats,
    put: Callable[[Floats], None],
) -> Floats:
    """Positions (n, 3) before the carriers with which the mesh shows `wanted` (n, 3).

    By Newton's method on the evaluated mesh, per vertex: exact for affine carriers (Armature,
    Hook), to the precision of float32 for nonlinear ones (Lattice, Curve).

    Parameters
    ----------
    start : (n, 3) where to begin.
    put : gives the mesh positions (n, 3) before the carriers.

    Raises
    ------
    MeshError
        The carriers cannot be inverted: they flatten the mesh, or vertices depend on others.
    """

    def deform(positions: Floats) -> Floats:
        put(positions)
        mesh_of(obj).update_tag()
        depsgraph.update()
        return points_of_key(obj, read_evaluated(obj, depsgraph))

    positions = _invert(deform, start, points_of_key(obj, wanted))
    if positions is None:
        raise MeshError(
            f"The modifiers of {obj.name} flatten or project it, so that no shape of its mesh "
            "looks like the simulated one behind them; turn them off, apply them, or limit them to "
            "pinned vertices"
        )
    return positions


def _invert(deform: Callable[[Floats], Floats], start: Floats, wanted: Floats) -> Floats | None:
    """Positions (n, 3) that `deform` maps to `wanted`, by Newton's method; None if not found."""
    size = float(np.abs(wanted).max(initial=1e-9))
    positions, missing = start, wanted - deform(start)
    slopes, error_before = np.empty(0), np.inf
    for _ in range(_TRIALS):
        error = np.abs(missing).max() / size
        if error <= _FINE or error_before <= error <= _COARSE:
            return positions
        # Near convergence the former derivatives suffice, since the rest is rounding.
        if not slopes.size or error > _COARSE:
            slopes = _slopes(deform, positions, wanted - missing, step=1e-2 * size)
        positions = positions + np.linalg.solve(slopes, missing[..., None])[..., 0]
        missing = wanted - deform(positions)
        error_before = error
    return None


def _slopes(
    deform: Callable[[Floats], Floats], positions: Floats, shown: Floats, *, step: float
) -> Floats:
    """(n, 3, 3) derivative of each vertex after the carriers by its position before them."""
    moved = [deform(positions + step * axis) for axis in np.eye(3)]
    slopes = (np.stack(moved, axis=2) - shown[..., None]) / step
    # A vertex that its modifiers fix has a zero derivative; the identity leaves it as it is.
    slopes[np.abs(np.linalg.det(slopes)) < 1e-9] = np.eye(3)
    return slopes
