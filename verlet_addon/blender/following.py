"""Bodies whose animated mesh follows the mesh of another body, which is about to move."""

from collections.abc import Sequence

import bpy
import numpy as np

from ..core.errors import MeshError
from ..core.mesh import Floats
from .mesh_access import mesh_of, read_coordinates, shape_keys_of, write_coordinates
from .mesh_io import read_positions
from .modifiers import has_carriers, solo_key


def check_following(bodies: Sequence[bpy.types.Object], depsgraph: bpy.types.Depsgraph) -> None:
    """Raises MeshError if at this frame moving the vertices of one body moves another body.

    During a bake the scene shows the meshes as they are animated, not yet as they are simulated.
    Blender itself is asked, by trying, for there are many ways to follow: parents, constraints,
    modifiers, drivers, and all of them through other objects. To follow a body's object alone is
    fine: a bake does not move it.
    """
    followers = [obj for obj in bodies if _may_follow(obj)]
    for leader in bodies if followers else ():
        others = [obj for obj in followers if obj != leader]
        before = [read_positions(obj, depsgraph) for obj in others]
        after = _with_another_mesh(leader, others, depsgraph)
        for obj, here, there in zip(others, before, after, strict=True):
            if (np.abs(there - here) > 1e-6 * np.abs(here).max(initial=0)).any():
                raise MeshError(
                    f"{obj.name} follows the mesh of {leader.name}, which is simulated with it; "
                    f"bake {leader.name} first without {obj.name}, then {obj.name} alone"
                )


def _may_follow(obj: bpy.types.Object) -> bool:
    """Whether anything outside could move an object's mesh."""
    animated = (obj, obj.data, shape_keys_of(obj))
    drivers = [item.animation_data.drivers for item in animated if item and item.animation_data]
    return bool(obj.parent or len(obj.constraints) or has_carriers(obj) or any(map(len, drivers)))


def _with_another_mesh(
    leader: bpy.types.Object, others: Sequence[bpy.types.Object], depsgraph: bpy.types.Depsgraph
) -> list[Floats]:
    """World positions of the other bodies while this one's mesh is swollen and shifted."""
    with solo_key(leader) as key:
        positions = read_coordinates(key.points)
        shift = np.array((0.3, 0.4, 0.5)) * np.abs(positions).max(initial=0)
        write_coordinates(key.points, 1.2 * positions + shift)
        mesh_of(leader).update_tag()
        depsgraph.update()
        moved = [read_positions(obj, depsgraph) for obj in others]
    depsgraph.update()
    return moved
