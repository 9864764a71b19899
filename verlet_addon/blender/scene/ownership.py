"""Objects and meshes that this file may change: its own, and library overrides as far as they go.

A library override may get modifiers, but no shape keys: Blender discards what is added to a linked
or overridden mesh when the file is opened again.
"""

import bpy

from ...core.errors import MeshError
from ..settings.properties import body_properties
from .cache_modifiers import bake_modifier
from .mesh_access import mesh_of


def is_own(obj: bpy.types.Object) -> bool:
    """Whether an object is this file's own, or an override without a bake of its library."""
    return obj.library is None and not _is_baked_in_library(obj)


def has_own_data(obj: bpy.types.Object) -> bool:
    """Whether an object and its mesh or curve belong to this file, so that keys can be added."""
    return is_own(obj) and not _is_foreign(obj.data)


def why_foreign(obj: bpy.types.Object) -> str:
    """Sentence that says why no simulation can be shown on an object; empty where one can."""
    if obj.library is not None:
        # Objects of linked collections stay linked unless all is made local.
        held = all(collection.library for collection in obj.users_collection)
        menu = "All" if held else "Selected Objects and Data"
        return (
            f"{obj.name} is linked from another file; make it an override by Object ▸ Library "
            f"Override ▸ Make, or local by Object ▸ Relations ▸ Make Local ▸ {menu}"
        )
    if _is_baked_in_library(obj):
        return f"{obj.name} plays a bake of its library; clear that bake in the library first"
    return ""


def check_object(obj: bpy.types.Object) -> None:
    """Raises MeshError unless the object belongs to this file and no other of it has its mesh."""
    if reason := why_foreign(obj):
        raise MeshError(reason)
    name, mesh, kind = obj.name, mesh_of(obj), obj.type.lower()
    users = () if _is_foreign(mesh) or mesh.users == 1 else bpy.data.objects
    others = [item.name for item in users if item.data == mesh and item != obj]
    if others:
        raise MeshError(
            f"{name} shares its {kind} {mesh.name} with {others[0]}; make the {kind} "
            "single-user by Object ▸ Relations ▸ Make Single User ▸ Object & Data"
        )


def check_data(obj: bpy.types.Object) -> None:
    """Raises MeshError unless object and mesh belong to this file and the mesh to it alone."""
    check_object(obj)
    if not _is_foreign(data := mesh_of(obj)):
        return
    kind = obj.type.lower()
    remedies = [] if obj.type == "CURVE" else ["bake it to a Cache"]
    if data.library is not None:  # Blender makes no single users of overrides
        remedies += [
            f"make the {kind} single-user by Object ▸ Relations ▸ Make Single User ▸ Object & Data"
        ]
    raise MeshError(
        f"The {kind} of {obj.name} belongs to another file, so that no shape keys can be added; "
        + ", or ".join(remedies or ["make the object local"])
    )


def _is_foreign(data: bpy.types.ID | None) -> bool:
    """Whether a datablock is linked from another file or overrides one that is."""
    return data is not None and bool(data.library or data.override_library)


def _is_baked_in_library(obj: bpy.types.Object) -> bool:
    """Whether an object shows a bake that was made in the file from which it is linked."""
    if _is_foreign(obj.data) and body_properties(obj).baked_keys:
        return True
    override = obj.override_library
    source = override.reference if override is not None else None
    if not isinstance(source, bpy.types.Object):
        return False
    return bool(body_properties(source).baked_keys) or bake_modifier(source) is not None
