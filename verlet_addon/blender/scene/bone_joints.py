"""Joints of soft bones as vertices: their places in the pose, their edges, and their settings.

A bone has its joint at its tail. Where no bone before it is soft, there are three more, which
follow that bone or, without one, the object, and so tell how it turns: one beside, one behind, and
one at the bone's head. Behind a bone whose head is away from the tail of the one before, an edge
leads to it, which turns with that. Chains of a skirt have faces between them, and are cloth.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, compress, pairwise
from typing import Any, Literal

import bpy
import numpy as np

from ...core.arrays import Booleans, Floats, Integers
from ...core.build import GOAL_RATE
from ...core.errors import MeshError
from ...core.mesh import Joints, Paint
from ..settings.bone_properties import armature_of, bone_setting, soft_bones
from ..settings.properties import body_properties
from .mesh_access import mesh_of

APART = 1e-3
"""Distance of a bone's head from the tail before it from which on they are apart, over its length.
"""

Kind = Literal["BESIDE", "BEHIND", "HEAD", "LINK", "TAIL"]


@dataclass(frozen=True)
class Joint:
    """One vertex of a body of bones."""

    bone: str
    kind: Kind
    """Where it is: a LINK is at the head of a bone that is apart from the soft one before it."""


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The joints of the soft bones of an armature, and the edges between them."""

    armature: bpy.types.Object
    joints: list[Joint]
    edges: list[tuple[int, int]]
    """Edges along bones; those of faces are further ones."""
    faces: list[tuple[int, ...]] = field(default_factory=list)

    @cached_property
    def tails(self) -> dict[str, int]:
        """By the name of each bone, the number of the joint at its tail."""
        return {each.bone: n for n, each in enumerate(self.joints) if each.kind == "TAIL"}

    @cached_property
    def pins(self) -> Booleans:
        """(n,) bool, joints that follow the pose."""
        return np.array([each.kind not in ("LINK", "TAIL") for each in self.joints])

    @cached_property
    def every_edge(self) -> set[frozenset[int]]:
        """Edges along bones and of faces, each as its two joints."""
        around = (pairwise([*face, face[0]]) for face in self.faces)
        return set(map(frozenset, chain(self.edges, *around)))

    @cached_property
    def in_cloth(self) -> Booleans:
        """(n,) bool, joints of skirts that do not follow the pose."""
        found = np.zeros(len(self.joints), bool)
        found[[joint for face in self.faces for joint in face]] = True
        return found & ~self.pins

    def frames(self, depsgraph: bpy.types.Depsgraph) -> Floats:
        """(n, 3, 3) how the bones turn that chains stand on, as orthonormal frames in columns."""
        armature: Any = self.armature.evaluated_get(depsgraph)
        world = np.array(armature.matrix_world, np.float64)[:3, :3]
        first = [joint.kind == "BESIDE" for joint in self.joints]
        parents = [armature.pose.bones[each.bone].parent for each in compress(self.joints, first)]
        turns = [np.eye(3) if parent is None else _turn(parent) for parent in parents]
        frames = _orthonormal(np.einsum("xy,kyz->kxz", world, np.array(turns)))
        return np.asarray(frames[np.cumsum(first) - 1])

    def settings(self, name: str, pose: Any = None) -> Floats:
        """(n,) a setting of the bone of each joint, in a pose, or else in the armature's own."""
        own: Any = self.armature.pose if pose is None else pose
        return np.array([bone_setting(own.bones[each.bone], name) for each in self.joints])

    def rest_places(self) -> Floats:
        """(n, 3) joints at rest, in the space of the armature."""
        bones: Any = self.armature.data
        return np.array([_rest_place(bones.bones[each.bone], each.kind) for each in self.joints])

    def places(self, depsgraph: bpy.types.Depsgraph) -> Floats:
        """(n, 3) joints as the pose has them at the current frame, in world space [m]."""
        armature: Any = self.armature.evaluated_get(depsgraph)
        found = [_place(armature.pose.bones[each.bone], each.kind) for each in self.joints]
        matrix = np.array(armature.matrix_world, np.float64)
        return np.asarray(np.array(found, np.float64) @ matrix[:3, :3].T + matrix[:3, 3])


def skeleton(armature: bpy.types.Object, bones: Iterable[Any]) -> Skeleton:
    """The skeleton of soft bones, which are given parents before children."""
    joints: list[Joint] = []
    edges: list[tuple[int, int]] = []
    tails: dict[str, int] = {}

    def add(bone: str, kind: Kind, before: int | None) -> int:
        joints.append(Joint(bone, kind))
        if before is not None:
            edges.append((before, len(joints) - 1))
        return len(joints) - 1

    for bone in bones:
        last = tails.get(bone.parent.name) if bone.parent is not None else None
        if last is None:
            kinds: tuple[Kind, ...] = ("BESIDE", "BEHIND", "HEAD")
            for kind in kinds:
                last = add(bone.name, kind, last)
        elif (bone.head_local - bone.parent.tail_local).length > APART * bone.length:
            last = add(bone.name, "LINK", last)
        tails[bone.name] = add(bone.name, "TAIL", last)
    return Skeleton(armature, joints, edges)


Skirt = tuple[list[str], bool]
"""Names of the first bones of neighbouring chains, and whether the last is beside the first."""


def skirts_of(obj: bpy.types.Object) -> list[Skirt]:
    """The skirts of a body of bones."""
    return [tuple(each) for each in json.loads(body_properties(obj).skirts or "[]")]


def with_skirts(found: Skeleton, bones: Sequence[Any], skirts: Sequence[Skirt]) -> Skeleton:
    """The skeleton of some bones with faces between the neighbouring chains of skirts."""
    if not skirts:
        return found
    heads = {each.bone: n for n, each in enumerate(found.joints) if each.kind == "HEAD"}
    after: dict[str, str] = {}
    for bone in bones:
        if bone.parent is not None:
            after.setdefault(bone.parent.name, bone.name)
    faces: list[tuple[int, ...]] = []
    for roots, closed in skirts:
        columns = []
        for root in roots:
            column, name = [heads[root]], root
            while name in found.tails:
                column.append(found.tails[name])
                name = after.get(name, "")
            columns.append(column)
        for one, other in pairwise([*columns, *columns[: 1 if closed else 0]]):
            rows = pairwise(zip(one, other, strict=False))
            faces += [(a, c, d, b) for (a, b), (c, d) in rows]
    return replace(found, faces=faces)


def skeleton_of(obj: bpy.types.Object) -> Skeleton | None:
    """The skeleton of a body of bones; None for other bodies."""
    armature = armature_of(obj)
    if armature is None:
        return None
    data: Any = armature.data
    found = map(data.bones.get, [group.name for group in obj.vertex_groups])
    bones = [bone for bone in found if bone is not None]
    return with_skirts(skeleton(armature, bones), bones, skirts_of(obj))


def check_bones(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> None:
    """Raises MeshError where the bones of a body are not those that it was made of."""
    armature: Any = armature_of(obj)
    if armature is None:
        return
    if view_layer.objects.get(armature.name) != armature:
        raise MeshError(
            f"{armature.name}, whose bones {obj.name} moves, is not in the view layer "
            f"{view_layer.name}; include its collection, or delete {obj.name}"
        )
    again = "press Make Soft Bones again"
    gone = [group.name for group in obj.vertex_groups if group.name not in armature.pose.bones]
    if gone:
        raise MeshError(f"{armature.name} has no bone {gone[0]} any more; {again}")
    if armature.mode == "EDIT":
        raise MeshError(f"{armature.name} is in Edit Mode; switch to Pose Mode")
    found, mesh = skeleton_of(obj), mesh_of(obj)
    edges = {frozenset(edge.vertices) for edge in mesh.edges}
    if found is None or edges != found.every_edge or len(mesh.vertices) != len(found.joints):
        raise MeshError(f"The bones of {armature.name} are connected otherwise now; {again}")


def read_joints(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats | None:
    """(n, 3) world places of the joints of a body of bones [m]; None for other bodies."""
    found = skeleton_of(obj)
    return None if found is None else found.places(depsgraph)


def joint_settings(obj: bpy.types.Object) -> Joints | None:
    """Frequencies, damping ratios and angle limits at each vertex; None for other bodies."""
    if (found := skeleton_of(obj)) is None:
        return None
    free = np.array([each.kind == "TAIL" for each in found.joints])
    return Joints(
        frequencies=np.where(free, found.settings("frequency"), np.inf),
        damping_ratios=found.settings("damping_ratio"),
        angle_limits=np.where(free, found.settings("angle_limit"), np.pi),
        bones=np.array(found.edges),
    )


def joint_paint(obj: bpy.types.Object) -> Paint | None:
    """Radii of bones as shares of the largest, and pins without contact; None for other bodies."""
    if (found := skeleton_of(obj)) is None:
        return None
    radii = found.settings("radius")
    return Paint(
        thickness=radii / max(radii.max(initial=0.0), 1e-9),
        object_collisions=found.pins.astype(np.float64),
        self_collisions=found.pins.astype(np.float64),
    )


def pose_weights(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats | None:
    """(n,) how far each joint is held to the pose at the current frame; None for other bodies."""
    if (found := skeleton_of(obj)) is None:
        return None
    evaluated = found.armature.evaluated_get(depsgraph)
    follow = found.settings("follow_pose", evaluated.pose)
    if found.faces:
        # Cloth has no joints: a spring of the same frequency draws it to the pose.
        squares = (2.0 * np.pi * found.settings("frequency")) ** 2
        drawn = np.maximum(follow, squares / (squares + GOAL_RATE**2))
        follow = np.where(found.in_cloth, drawn, follow)
    return np.where(found.pins, 1.0, follow)


def bone_at_vertices(obj: bpy.types.Object) -> Integers:
    """(b,) number of the vertex at the tail of each of `soft_bones`."""
    found = skeleton_of(obj)
    return np.array([] if found is None else [found.tails[b.name] for b in soft_bones(obj)], int)


def _turn(bone: Any) -> Floats:
    """(3, 3) map of directions from a bone at rest to the pose, in the space of the armature."""
    return np.array(bone.matrix.to_3x3() @ bone.bone.matrix_local.to_3x3().inverted(), np.float64)


def _orthonormal(linear: Floats) -> Floats:
    """(k, 3, 3) right-handed frames of the first columns of maps, which may shear and mirror."""
    first, second = linear[..., 0], linear[..., 1]
    first = first / np.linalg.norm(first, axis=1)[:, None]
    second = second - first * np.einsum("kx,kx->k", first, second)[:, None]
    second = second / np.linalg.norm(second, axis=1)[:, None]
    return np.stack([first, second, np.cross(first, second)], axis=2)


def _rest_place(bone: Any, kind: Kind) -> Any:
    """Place of a joint at rest, in the space of the armature."""
    match kind:
        case "TAIL":
            return bone.tail_local
        case "BEHIND":
            return bone.head_local - bone.matrix_local.col[1].xyz * bone.length
        case "BESIDE":
            return _rest_place(bone, "BEHIND") + bone.matrix_local.col[0].xyz * bone.length
        case _:
            return bone.head_local


def _place(bone: Any, kind: Kind) -> Any:
    """Place of a joint in the pose, in the space of the armature."""
    if kind == "TAIL":
        return bone.tail
    if kind in ("LINK", "HEAD"):
        return bone.head
    place = _rest_place(bone.bone, kind)
    if (parent := bone.parent) is None:
        return place
    return parent.matrix @ (parent.bone.matrix_local.inverted() @ place)
