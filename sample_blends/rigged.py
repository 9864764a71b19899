"""Armatures with chains of bones, and the limbs that they move."""

from collections.abc import Sequence
from math import pi
from typing import Any, cast

import bpy
import numpy as np

from sample_blends.stage import Points, add_mesh

AROUND = 16
"""Vertices around a limb."""

Bone = tuple[str, str, Points, Points]
"""Name, parent, head and tail."""


def chain(name: str, parent: str, places: Points) -> list[Bone]:
    """Bones one after the other, through some places (n, 3)."""
    names = [f"{name}.{number}" for number in range(len(places) - 1)]
    return list(zip(names, [parent, *names[:-1]], places[:-1], places[1:], strict=True))


def straight(start: Points, way: Points, count: int) -> Points:
    """Places (count + 1, 3) along a way, evenly."""
    return np.asarray(start + np.outer(np.arange(count + 1) / count, way))


def add_bones(rig: Any, bones: Sequence[Bone]) -> None:
    """Adds bones to an armature; those that begin where their parent ends are connected."""
    cast(Any, bpy.context.view_layer).objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in bones:
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head.tolist(), tail.tolist()
        if parent:
            bone.parent = rig.data.edit_bones[parent]
            bone.use_connect = (bone.head - bone.parent.tail).length < 1e-6
    bpy.ops.object.mode_set(mode="OBJECT")


def limb(
    rig: Any, name: str, places: Points, radii: Points, bones: Sequence[Any], looks: Any
) -> Any:
    """Adds a round limb through places (n, 3) of these radii (n,), which the nearest bones move."""
    along = np.pad(np.gradient(places, axis=0), ((1, 1), (0, 0)), mode="edge")
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    places, radii = (
        np.pad(places, ((1, 1), (0, 0)), mode="edge"),
        np.pad(radii, 1, constant_values=1e-3),
    )
    out = np.cross(along, (1.0, 0.0, 0.0))
    angles = np.linspace(0.0, 2.0 * pi, AROUND, endpoint=False)[:, None]
    ring = np.cos(angles) * np.cross(out, along)[:, None]
    ring = ring + np.sin(angles) * (out / np.linalg.norm(out, axis=1, keepdims=True))[:, None]
    points = (places[:, None] + radii[:, None, None] * ring).reshape(-1, 3)
    first = np.arange((len(radii) - 1) * AROUND).reshape(-1, AROUND)
    following = np.roll(first, -1, axis=1)
    faces = np.stack([first, following, following + AROUND, first + AROUND], axis=2).reshape(-1, 4)
    obj = add_mesh(name, points, faces=faces, material=looks)
    weigh(obj, {bone.name: row for bone, row in zip(bones, _nearest(points, bones), strict=True)})
    skin(obj, rig)
    smooth = obj.modifiers.new("Subdivision", "SUBSURF")
    smooth.levels, smooth.render_levels = 1, 2
    return obj


def _nearest(points: Points, bones: Sequence[Any]) -> Points:
    """(b, n) weights of the two bones nearest to each point (n, 3)."""
    away = []
    for bone in bones:
        head, way = np.array(bone.head_local), np.array(bone.tail_local - bone.head_local)
        share = np.clip((points - head) @ way / (way @ way), 0.0, 1.0)
        away.append(np.linalg.norm(points - head - share[:, None] * way, axis=1))
    pulls = 1.0 / (np.array(away) + 1e-3) ** 4
    pulls[np.argsort(np.argsort(-pulls, axis=0), axis=0) > 1] = 0.0
    return np.asarray(pulls / pulls.sum(axis=0))


def weigh(obj: Any, weights: dict[str, Points]) -> None:
    """Gives vertices their weights (n,) for bones, by name; below a hundredth they have none."""
    for name, row in weights.items():
        group = obj.vertex_groups.new(name=name)
        for vertex in np.flatnonzero(row > 0.01).tolist():
            group.add([vertex], float(row[vertex]), "REPLACE")


def skin(obj: Any, rig: Any) -> None:
    """Has an armature move an object by its vertex groups."""
    obj.parent = rig
    obj.modifiers.new("Rig", "ARMATURE").object = rig
