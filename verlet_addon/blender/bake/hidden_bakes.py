"""Warnings of modifiers and settings that would hide a bake, one sentence each."""

from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from ..scene.hair_curves import is_hair
from ..scene.mesh_dependencies import moved_by
from ..scene.surfaces import read_points
from ..scene.visibility import instancers

_MAKERS = {"FLUID", "NODES", "OCEAN", "VOLUME_TO_MESH"}
"""Types of modifiers that may replace the mesh by another one."""


def hidden_bakes(
    objects: Sequence[bpy.types.Object], depsgraph: bpy.types.Depsgraph
) -> Iterator[str]:
    """Yields, for each body whose bake would be invisible, the reason and the remedy."""
    yield from _showing_one_key(objects)
    yield from _showing_other_meshes(objects, depsgraph)
    yield from _simulated_by_nodes(objects)


def _showing_one_key(objects: Sequence[bpy.types.Object]) -> Iterator[str]:
    """Warnings of bodies that show their active shape key alone."""
    for obj in objects:
        if obj.show_only_shape_key and (key := obj.active_shape_key) is not None:
            label = obj.bl_rna.properties["show_only_shape_key"].name
            yield (
                f"{obj.name} shows its shape key {key.name} alone, so its bake will not be seen; "
                f"turn off {label} under its list of shape keys"
            )


def _showing_other_meshes(
    objects: Sequence[bpy.types.Object], depsgraph: bpy.types.Depsgraph
) -> Iterator[str]:
    """Warnings of bodies whose modifiers replace the mesh, tested by moving its vertices."""
    makers = {
        obj: [item.name for item in obj.modifiers if item.type in _MAKERS and item.show_viewport]
        for obj in objects
    }
    asked = [obj for obj in objects if makers[obj] and not is_hair(obj)]
    moved = moved_by(asked, asked, depsgraph, read_points) if asked else []
    still = [obj for obj in asked if obj not in moved]
    # Instances on its vertices follow a bake, though the mesh itself is not shown.
    showing = set(instancers(depsgraph)) if still else set()
    for obj in still:
        if obj.name not in showing:
            yield (
                f"The modifiers of {obj.name} ({', '.join(makers[obj])}) show something else than "
                "its mesh, so its bake will not be seen; turn them off, or let geometry nodes make "
                "their output from their input"
            )


def _simulated_by_nodes(objects: Sequence[bpy.types.Object]) -> Iterator[str]:
    """Warnings of bodies with geometry nodes that simulate, such as Blender's Cloth Dynamics."""
    for obj in objects:
        names = [item.name for item in _shown_nodes(obj) if _simulates(item.node_group)]
        if names:
            yield (
                f"The geometry nodes of {obj.name} ({', '.join(names)}) simulate too, which may "
                "hide its bake; turn them off unless they only add to it"
            )


def _shown_nodes(obj: bpy.types.Object) -> list[Any]:
    """An object's enabled Geometry Nodes modifiers."""
    return [item for item in obj.modifiers if item.type == "NODES" and item.show_viewport]


def _simulates(tree: Any) -> bool:
    """Whether a node tree, or a group within it, has a simulation zone."""
    return tree is not None and any(
        node.bl_idname == "GeometryNodeSimulationOutput"
        or (node.type == "GROUP" and _simulates(node.node_tree))
        for node in tree.nodes
    )
