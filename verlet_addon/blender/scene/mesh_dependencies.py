"""Check for bodies, colliders and grounds that depend on the mesh of a simulated body."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError
from .attachments import acting_attachments, followed_places
from .bone_tracks import tracks_muted
from .cages import simulated_object
from .hair_curves import is_hair
from .mesh_access import mesh_of, read_key, read_shape, shape_keys_of, write_key, write_shape
from .mesh_io import read_positions
from .modifiers import caches_hidden, has_carriers, solo_key
from .surfaces import read_points

_SHIFT = np.array((0.3, 0.4, 0.5))
"""Direction in which meshes are shifted to find what follows them."""
Places = Callable[[bpy.types.Object, bpy.types.Depsgraph], Floats]
"""A function that reads (v, 3) world positions that move with an object [m]."""


def check_following(
    bodies: Sequence[bpy.types.Object],
    colliders: Sequence[bpy.types.Object],
    ground: bpy.types.Object | None,
    depsgraph: bpy.types.Depsgraph,
) -> None:
    """Raises MeshError if a body, a collider or the ground depends on another body's mesh.

    During a bake the scene shows the animated meshes, not the simulated ones, so a dependent object
    would stay behind. Dependencies are found by moving the vertices and re-evaluating the scene at
    this frame, since there are many kinds: parents, constraints, modifiers, drivers, and all of
    them through other objects. Depending on a body's object alone is fine: a bake does not move it.
    Soft bones show their pose meanwhile, as in a bake.
    """
    with tracks_muted(bodies) as muted:
        if muted:
            depsgraph.update()
        _check_following(bodies, colliders, ground, depsgraph)


def _check_following(
    bodies: Sequence[bpy.types.Object],
    colliders: Sequence[bpy.types.Object],
    ground: bpy.types.Object | None,
    depsgraph: bpy.types.Depsgraph,
) -> None:
    """Raises MeshError as `check_following` does, while soft bones show their pose."""
    followers = [obj for obj in bodies if _may_follow(obj)]
    for leaders in _halves(bodies) if followers else ():
        if found := _first_moved(leaders, followers, depsgraph, _places):
            leader, follower = found
            raise MeshError(
                f"{follower} follows the mesh of {leader}, which is simulated with it; "
                f"bake {leader} first without {follower}, then {follower} alone"
            )
    for obj in bodies:
        cage = simulated_object(obj)
        follows = cage != obj and _may_follow(cage)
        if follows and (found := _first_moved(bodies, [cage], depsgraph, read_positions)):
            raise MeshError(
                f"{cage.name}, as which {obj.name} is simulated, follows the mesh of {found[0]}, "
                "which is simulated now; choose another mesh for Simulate As, or turn off what "
                "makes it follow"
            )
    carried = [obj for obj in colliders if len(obj.modifiers) > 1 or _may_follow(obj)]
    if carried and (found := _first_moved(bodies, carried, depsgraph, read_points)):
        leader, collider = found
        raise MeshError(
            f"The collider {collider} follows the mesh of {leader}, which is simulated now; turn "
            f"off its Collision, or bake {leader} without it first and switch {leader} off"
        )

    lies = [ground] if ground is not None and _may_follow(ground) else []
    if lies and (found := _first_moved(bodies, lies, depsgraph, _corners)):
        leader, follower = found
        raise MeshError(
            f"The ground object {follower} follows the mesh of {leader}, which is simulated now; "
            "choose another ground object, or remove the parent, constraint or driver that makes "
            "it follow"
        )


def _first_moved(
    leaders: Sequence[bpy.types.Object],
    others: Sequence[bpy.types.Object],
    depsgraph: bpy.types.Depsgraph,
    places: Places,
) -> tuple[str, str] | None:
    """The names of a leader and of one object that depends on its mesh; None without any.

    Overrides of one linked object share its mesh, which is no dependence.
    """
    meshes = [obj.data for obj in leaders]
    others = [obj for obj in others if obj.data not in meshes]
    for follower in moved_by(leaders, others, depsgraph, places) if others else ():
        alone = (obj.name for obj in leaders if moved_by([obj], [follower], depsgraph, places))
        return next(alone, leaders[0].name), follower.name
    return None


def _halves(bodies: Sequence[bpy.types.Object]) -> Iterator[list[bpy.types.Object]]:
    """Groups such that each ordered pair of bodies is separated by one: O(log n) trials."""
    for digit in range((len(bodies) - 1).bit_length()):
        for side in (0, 1):
            yield [obj for number, obj in enumerate(bodies) if number >> digit & 1 == side]


def _may_follow(obj: bpy.types.Object) -> bool:
    """Whether an object's mesh could depend on another object."""
    animated = (obj, obj.data, shape_keys_of(obj))
    drivers = [item.animation_data.drivers for item in animated if item and item.animation_data]
    moved = obj.parent or len(obj.constraints) or has_carriers(obj) or acting_attachments(obj)
    return bool(moved or any(map(len, drivers)))


def _places(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(v, 3) vertices of a body and points of its attachments' targets [m]."""
    return np.concatenate([read_positions(obj, depsgraph), *followed_places(obj, depsgraph)])


def _corners(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(4, 3) axes and origin of an object's world matrix [m]."""
    matrix = np.array(obj.evaluated_get(depsgraph).matrix_world, dtype=np.float64)
    return np.asarray(matrix[:3].T)


def moved_by(
    leaders: Sequence[bpy.types.Object],
    others: Sequence[bpy.types.Object],
    depsgraph: bpy.types.Depsgraph,
    places: Places,
) -> list[bpy.types.Object]:
    """Lists the others whose positions change when the leaders' meshes are scaled and shifted.

    A leader may be among the others, to test whether it shows its own mesh.
    """
    with ExitStack() as passing:
        if passing.enter_context(caches_hidden(leaders)):
            depsgraph.update()
        before = [places(obj, depsgraph) for obj in others]
        for leader in leaders:
            passing.enter_context(_moved(leader))
            mesh_of(leader).update_tag()
        depsgraph.update()
        after = [places(obj, depsgraph) for obj in others]
    depsgraph.update()
    return [
        obj
        for obj, here, there in zip(others, before, after, strict=True)
        if here.shape != there.shape
        or (np.abs(there - here) > 1e-6 * np.abs(here).max(initial=0)).any()
    ]


@contextmanager
def _moved(leader: bpy.types.Object) -> Iterator[None]:
    """Scales and shifts the mesh of a leader, by a key, or the points of hair."""
    with ExitStack() as passing:
        if is_hair(leader):
            positions = read_shape(leader)
            passing.callback(write_shape, leader, positions)
            write_shape(leader, _elsewhere(positions))
        else:
            key = passing.enter_context(solo_key(leader))
            write_key(key, _elsewhere(read_key(key)))
        yield


def _elsewhere(positions: Floats) -> Floats:
    """(n, 3) positions, scaled and shifted."""
    return np.asarray(1.2 * positions + _SHIFT * np.abs(positions).max(initial=0))
