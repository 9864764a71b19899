"""Bones made soft, and released: the mesh of their joints, which is simulated as a rope."""

import json
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from ...core.errors import MeshError
from ..settings.bone_properties import (
    BONE_SETTINGS,
    armature_of,
    property_name,
    set_bone,
    soft_bones,
)
from ..settings.properties import body_properties
from .bone_joints import Skirt, skeleton, skirts_of, with_skirts
from .bone_tracks import set_tracks
from .cache_modifiers import shows_simulation

RADIUS_SHARE = 0.1
"""Radius of a new soft bone over its length."""
WIDEST_GAP = 2.1
"""Angle between neighbouring chains from which on a skirt is open there [rad]."""
DENSITY, AIR_DAMPING, FRICTION = 0.1, 0.5, 0.5
"""Mass per length [kg/m], damping of the air [1/s] and friction of new bodies of bones."""


def body_of_bones(armature: bpy.types.Object) -> bpy.types.Object | None:
    """The body of the soft bones of an armature; None without any."""
    return next((obj for obj in bpy.data.objects if armature_of(obj) == armature), None)


def make_soft_bones(
    scene: bpy.types.Scene, armature: bpy.types.Object, names: Iterable[str]
) -> bpy.types.Object:
    """Makes bones of an armature soft, and all that stand on them; returns their body.

    Bones that are soft already stay so.

    Parameters
    ----------
    scene : where the body is linked, unless the collection of the armature can hold it.
    names : of the bones.

    Raises
    ------
    MeshError
        No bones are given, or they cannot be simulated; nothing is changed then.
    """
    _check(armature)
    body = body_of_bones(armature)
    former = set() if body is None else {bone.name for bone in soft_bones(body)}
    chosen = _with_children(armature, names)
    if not chosen:
        raise MeshError(f"No bone of {armature.name} is selected; select bones in Pose Mode")
    _refuse_simulation(body)
    pose: Any = armature.pose
    for bone in (pose.bones[name] for name in sorted(chosen - former)):
        if not bone.is_property_set(property_name("radius")):
            set_bone(bone, radius=float(f"{RADIUS_SHARE * bone.bone.length:.2g}"))
    return _put(scene, armature, chosen | former, body)


def release_soft_bones(
    scene: bpy.types.Scene, armature: bpy.types.Object, names: Iterable[str]
) -> None:
    """Makes soft bones ordinary ones again, with all that stand on them; their settings go.

    Raises
    ------
    MeshError
        None of the bones is soft, or their body shows a simulation; nothing is changed then.
    """
    body = body_of_bones(armature)
    former = set() if body is None else {bone.name for bone in soft_bones(body)}
    released = former & _with_children(armature, names)
    if body is None or not released:
        raise MeshError(f"No soft bone of {armature.name} is selected; select some in Pose Mode")
    _refuse_simulation(body)
    pose: Any = armature.pose
    for name in released:
        for setting in map(property_name, BONE_SETTINGS):
            pose.bones[name].property_unset(setting)
    if former - released:
        _put(scene, armature, former - released, body)
        return
    remove_bone_colliders(body)
    _remove_with_mesh(body)


def remove_bone_colliders(body: bpy.types.Object) -> None:
    """Removes the colliders that were made with soft bones, and their collection.

    What a copy of the body has, too, stays, and so does what users have put into the collection.
    """
    settings = body_properties(body)
    collection, settings.bone_colliders = settings.bone_colliders, None
    others = (body_properties(obj).bone_colliders for obj in bpy.data.objects)
    if collection is None or collection in others:
        return
    for obj in list(collection.objects):
        if body_properties(obj).is_bone_collider:
            _remove_with_mesh(obj)
    if not collection.all_objects:
        bpy.data.collections.remove(collection)


def _remove_with_mesh(obj: bpy.types.Object) -> None:
    """Removes an object, and its mesh unless a linked duplicate has that too."""
    mesh: Any = obj.data
    bpy.data.objects.remove(obj)
    if mesh.users == 0:
        bpy.data.meshes.remove(mesh)


def _check(armature: bpy.types.Object) -> None:
    """Raises MeshError where bones of an armature cannot be made soft."""
    if armature.type != "ARMATURE":
        raise MeshError(f"{armature.name} is no armature; select bones in Pose Mode")
    if armature.library is not None:
        raise MeshError(
            f"{armature.name} is linked from another file; make it an override by Object ▸ "
            "Library Override ▸ Make"
        )
    if armature.mode == "EDIT":
        raise MeshError(f"{armature.name} is in Edit Mode; switch to Pose Mode")


def _refuse_simulation(body: bpy.types.Object | None) -> None:
    """Raises MeshError where a body of bones shows a simulation, whose vertices would change."""
    if body is not None and shows_simulation(body):
        raise MeshError(f"{body.name} shows a simulation; end Live and press Clear Bake first")


def _with_children(armature: bpy.types.Object, names: Iterable[str]) -> set[str]:
    """Names of the given bones and of all that stand on them."""
    given, found = set(names), set[str]()
    data: Any = armature.data
    for bone in data.bones:  # parents before children
        if bone.name in given or (bone.parent is not None and bone.parent.name in found):
            found.add(bone.name)
    return found


def _put(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    names: set[str],
    body: bpy.types.Object | None,
) -> bpy.types.Object:
    """Makes the body of the bones with these names, or gives a former one their joints."""
    if body is None:
        body = _new_body(scene, armature)
    data: Any = armature.data
    bones = [bone for bone in data.bones if bone.name in names]
    skirts = [([root for root in roots if root in names], ring) for roots, ring in skirts_of(body)]
    _set_skirts(body, [each for each in skirts if len(each[0]) > 1])
    found = with_skirts(skeleton(armature, bones), bones, skirts_of(body))
    mesh: Any = body.data
    mesh.clear_geometry()
    mesh.from_pydata(found.rest_places().tolist(), found.edges, found.faces)
    mesh.update(calc_edges=True)
    body.vertex_groups.clear()
    for name, vertex in found.tails.items():
        body.vertex_groups.new(name=name).add([vertex], 1.0, "REPLACE")
    set_tracks(body, False)  # of a copy of a rig, which still points at the joints of the other
    return body


def close_skirt(
    scene: bpy.types.Scene, armature: bpy.types.Object, names: Iterable[str]
) -> list[str]:
    """Joins neighbouring chains of soft bones as cloth; returns the first bones, in their order.

    The chains are those that the named bones belong to, ordered around their middle. They become a
    ring unless a third of it is empty.

    Raises
    ------
    MeshError
        Fewer than two chains are meant, or their body shows a simulation.
    """
    body = body_of_bones(armature)
    roots = _roots(body, names)
    if body is None or len(roots) < 2:
        raise MeshError(
            f"A skirt of {armature.name} needs two chains of soft bones or more; select a bone of "
            "each"
        )
    _refuse_simulation(body)
    ordered, ring = _around(armature, roots)
    others = [each for each in skirts_of(body) if not set(each[0]) & set(roots)]
    _set_skirts(body, [*others, (ordered, ring)])
    _put(scene, armature, {bone.name for bone in soft_bones(body)}, body)
    return ordered


def open_skirt(scene: bpy.types.Scene, armature: bpy.types.Object, names: Iterable[str]) -> None:
    """Has the chains of the skirts that the named bones belong to swing by themselves again."""
    body = body_of_bones(armature)
    roots = set(_roots(body, names))
    if body is None or not any(roots & set(each[0]) for each in skirts_of(body)):
        raise MeshError(f"No skirt of {armature.name} is selected; select a bone of one")
    _refuse_simulation(body)
    _set_skirts(body, [each for each in skirts_of(body) if not roots & set(each[0])])
    _put(scene, armature, {bone.name for bone in soft_bones(body)}, body)


def _set_skirts(body: bpy.types.Object, skirts: list[Skirt]) -> None:
    """Stores the skirts of a body, which is cloth if there are any."""
    settings = body_properties(body)
    settings.skirts = json.dumps(skirts) if skirts else ""
    settings.body_type = "CLOTH" if skirts else "ROPE"


def _roots(body: bpy.types.Object | None, names: Iterable[str]) -> list[str]:
    """The first bones of the chains of a body that the named bones belong to."""
    soft = [] if body is None else soft_bones(body)
    found: dict[str, None] = {}
    for bone in soft:
        if bone.name in set(names):
            above = [each for each in (bone, *bone.parent_recursive) if each in soft]
            found[above[-1].name] = None
    return list(found)


def _around(armature: bpy.types.Object, roots: list[str]) -> tuple[list[str], bool]:
    """First bones in their order around their middle, and whether they surround it."""
    data: Any = armature.data
    heads = np.array([data.bones[name].head_local for name in roots], np.float64)
    arms = heads - heads.mean(axis=0)
    _, _, axes = np.linalg.svd(arms)
    angles = np.arctan2(arms @ axes[1], arms @ axes[0])
    order = np.argsort(angles)
    gaps = np.diff(angles[order], append=angles[order[0]] + 2.0 * np.pi)
    widest = int(np.argmax(gaps))
    ordered = [roots[number] for number in np.roll(order, -widest - 1)]
    return ordered, len(roots) > 2 and bool(gaps[widest] < WIDEST_GAP)


def _new_body(scene: bpy.types.Scene, armature: bpy.types.Object) -> bpy.types.Object:
    """A body without vertices, which goes with an armature and is in no render."""
    name = f"{armature.name} Bones"
    body = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    _collection(scene, armature).objects.link(body)
    body.parent = armature
    body.hide_render = body.hide_select = True
    body.display_type = "WIRE"
    settings = body_properties(body)
    settings.armature, settings.enabled, settings.body_type = armature, True, "ROPE"
    settings.use_dynamic_mesh = settings.use_density = True
    settings.density, settings.damping, settings.friction = DENSITY, AIR_DAMPING, FRICTION
    return body


def _collection(scene: bpy.types.Scene, armature: bpy.types.Object) -> bpy.types.Collection:
    """The first collection of an armature that belongs to this file, or that of the scene."""
    own = (
        each for each in armature.users_collection if not (each.library or each.override_library)
    )
    return next(own, scene.collection)
