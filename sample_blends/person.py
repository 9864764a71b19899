"""A person of our own: a skinned surface of a body's proportions, as smooth unions of limbs."""

from collections.abc import Mapping, Sequence
from math import radians
from typing import Any, NamedTuple, cast

import bpy
import numpy as np
from mathutils import Euler
from numpy.typing import NDArray

from sample_blends.stage import Points, add_mesh, animate, link, plain

Vector = tuple[float, float, float]
Quads = NDArray[np.int64]


class Limb(NamedTuple):
    """A cone with round ends, wider than deep by a factor."""

    bone: str
    head: Vector
    tail: Vector
    radii: tuple[float, float]
    flat: float = 1.0


BONES: dict[str, tuple[str, Vector, Vector]] = {
    "Hips": ("", (0.0, 0.0, 0.95), (0.0, 0.0, 1.05)),
    "Spine": ("Hips", (0.0, 0.0, 1.05), (0.0, 0.0, 1.20)),
    "Chest": ("Spine", (0.0, 0.0, 1.20), (0.0, 0.01, 1.42)),
    "Head": ("Chest", (0.0, 0.01, 1.44), (0.0, -0.01, 1.66)),
    "Arm.L": ("Chest", (0.175, 0.0, 1.395), (0.365, 0.0, 1.205)),
    "ForeArm.L": ("Arm.L", (0.365, 0.0, 1.205), (0.535, -0.03, 1.035)),
    "Hand.L": ("ForeArm.L", (0.535, -0.03, 1.035), (0.645, -0.05, 0.925)),
    "Thigh.L": ("Hips", (0.098, 0.0, 0.91), (0.105, -0.005, 0.50)),
    "Shin.L": ("Thigh.L", (0.105, -0.005, 0.50), (0.11, 0.02, 0.09)),
    "Foot.L": ("Shin.L", (0.11, 0.02, 0.07), (0.115, -0.15, 0.03)),
}
"""Parent, head and tail of each bone [m], those of the right side left out; it looks towards −Y."""

TORSO = (
    Limb("Hips", (-0.065, 0.01, 0.94), (0.065, 0.01, 0.94), (0.105, 0.105), 1.1),
    Limb("Spine", (0.0, 0.0, 1.00), (0.0, 0.0, 1.16), (0.118, 0.122), 1.25),
    Limb("Chest", (0.0, 0.005, 1.16), (0.0, 0.01, 1.32), (0.125, 0.140), 1.3),
    Limb("Chest", (-0.07, -0.055, 1.27), (0.07, -0.055, 1.27), (0.068, 0.068)),
    Limb("Chest", (-0.13, 0.01, 1.385), (0.13, 0.01, 1.385), (0.056, 0.056)),
)
NECK = (
    Limb("Head", (0.0, 0.015, 1.42), (0.0, 0.0, 1.53), (0.056, 0.050)),
    Limb("Head", (0.0, -0.005, 1.59), (0.0, -0.01, 1.635), (0.088, 0.092), 0.85),
)
ARM = (
    Limb("Arm.L", (0.17, 0.0, 1.395), (0.365, 0.0, 1.205), (0.055, 0.041)),
    Limb("ForeArm.L", (0.365, 0.0, 1.205), (0.535, -0.03, 1.035), (0.041, 0.027)),
    Limb("Hand.L", (0.550, -0.033, 1.02), (0.640, -0.05, 0.93), (0.034, 0.020), 0.8),
)
LEG = (
    Limb("Thigh.L", (0.100, 0.0, 0.89), (0.105, -0.005, 0.50), (0.086, 0.055)),
    Limb("Shin.L", (0.105, -0.005, 0.50), (0.11, 0.02, 0.09), (0.054, 0.036)),
    Limb("Shin.L", (0.106, 0.025, 0.38), (0.108, 0.025, 0.34), (0.048, 0.046)),
    Limb("Foot.L", (0.11, 0.02, 0.05), (0.115, -0.15, 0.03), (0.042, 0.030)),
)

CELL = 0.018
"""Size of the body's faces [m]."""


def mirrored(limbs: Sequence[Limb]) -> list[Limb]:
    """Limbs of the right side, from those of the left."""
    return [
        limb._replace(
            bone=limb.bone.replace(".L", ".R"),
            head=(-limb.head[0], *limb.head[1:]),
            tail=(-limb.tail[0], *limb.tail[1:]),
        )
        for limb in limbs
    ]


def distance(points: Points, limb: Limb) -> Points:
    """(n,) distances of points (n, 3) from a limb, negative inside [m]."""
    scale = np.array((1.0, limb.flat, 1.0))
    head, tail = np.array(limb.head) * scale, np.array(limb.tail) * scale
    axis = tail - head
    offset = points * scale - head
    share = np.clip(offset @ axis / (axis @ axis), 0.0, 1.0)
    radius = limb.radii[0] + share * (limb.radii[1] - limb.radii[0])
    away: Points = np.linalg.norm(offset - share[:, None] * axis, axis=1)
    return np.asarray((away - radius) / max(1.0, limb.flat))


def union(points: Points, limbs: Sequence[Limb], *, blend: float) -> Points:
    """(n,) distances from limbs that flow into each other within a distance `blend` [m]."""
    each = np.stack([distance(points, limb) for limb in limbs])
    low = each.min(axis=0)
    return np.asarray(low - blend * np.log(np.exp(-(each - low) / blend).sum(axis=0)))


class Build(NamedTuple):
    """Limbs on top of those of a slender person: of the trunk, and of the left leg."""

    trunk: Sequence[Limb] = ()
    leg: Sequence[Limb] = ()


SLENDER = Build()


def body_distance(points: Points, build: Build = SLENDER) -> Points:
    """(n,) distances from the person's skin, negative inside [m]."""
    trunk = union(points, [*TORSO, *NECK, *ARM, *mirrored(ARM), *build.trunk], blend=0.016)
    leg = [*LEG, *build.leg]
    legs = [union(points, side, blend=0.012) for side in (leg, mirrored(leg))]
    both = np.minimum(*legs)
    low = np.minimum(trunk, both)
    away = np.stack((trunk, both)) - low
    return np.asarray(low - 0.014 * np.log(np.exp(-away / 0.014).sum(axis=0)))


def surface(field: Any, low: Vector, high: Vector, cell: float) -> tuple[Points, Quads]:
    """Vertices and quads where a field is 0, by surface nets, evened out along the surface.

    Source: S. F. F. Gibson, Constrained Elastic Surface Nets, 1998.
    """
    axes = [np.arange(a, b + cell, cell) for a, b in zip(low, high, strict=True)]
    shape = tuple(map(len, axes))
    lattice = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    inside = (field(lattice) < 0.0).reshape(shape)
    cells: dict[tuple[int, ...], int] = {}
    quads = []
    for axis in range(3):
        behind = [slice(None)] * 3
        ahead = [slice(None)] * 3
        behind[axis], ahead[axis] = slice(None, -1), slice(1, None)
        first, second = inside[tuple(behind)], inside[tuple(ahead)]
        one, other = (axis + 1) % 3, (axis + 2) % 3
        for place in np.argwhere(first != second):
            around = []
            for u, v in ((-1, -1), (0, -1), (0, 0), (-1, 0)):
                corner = place.copy()
                corner[one] += u
                corner[other] += v
                around.append(cells.setdefault(tuple(corner.tolist()), len(cells)))
            quads.append(around if first[tuple(place)] else around[::-1])
    points = (np.array(list(cells)) + 0.5) * cell + np.array(low)
    faces = np.array(quads)
    return even_out(field, points, faces, rounds=12), faces


def even_out(field: Any, points: Points, faces: Quads, *, rounds: int) -> Points:
    """Points moved to the middle of their neighbours, and back to where a field is 0."""
    sides = np.concatenate([faces[:, [k, (k + 1) % 4]] for k in range(4)])
    sides = np.unique(np.sort(sides, axis=1), axis=0)
    counts = np.bincount(sides.ravel(), minlength=len(points))
    for _ in range(rounds):
        sums = np.zeros_like(points)
        np.add.at(sums, sides[:, 0], points[sides[:, 1]])
        np.add.at(sums, sides[:, 1], points[sides[:, 0]])
        points = 0.4 * points + 0.6 * sums / counts[:, None]
        for _ in range(2):
            points = onto(field, points)
    return points


def onto(field: Any, points: Points, level: float = 0.0) -> Points:
    """Points moved along a field's gradient to where it has a value."""
    step = 1e-4
    value = field(points)
    slopes = [(field(points + step * axis) - value) / step for axis in np.eye(3)]
    slope = np.stack(slopes, axis=1)
    size = np.maximum((slope**2).sum(axis=1), 0.25)
    return np.asarray(points - ((value - level) / size)[:, None] * slope)


def make_person(name: str, color: Vector, *, cell: float = CELL, build: Build = SLENDER) -> Any:
    """Adds the skinned body, which a rig moves; returns its mesh, a child of the rig.

    Its faces have the size `cell` [m].
    """

    def skin(points: Points) -> Points:
        return body_distance(points, build)

    deep = 0.24 if build == SLENDER else 0.24 + 9 * CELL
    points, faces = surface(skin, (-0.72, -deep, -0.03), (0.72, deep, 1.78), cell)
    looks = plain(name, color, roughness=0.55)
    body = add_mesh(name, points, faces=faces, material=looks)
    rig = _rig()
    limbs = [*TORSO, *NECK, *ARM, *mirrored(ARM), *LEG, *mirrored(LEG)]
    limbs += [*build.trunk, *build.leg, *mirrored(build.leg)]
    away = np.stack([distance(points, limb) for limb in limbs])
    names = sorted({limb.bone for limb in limbs})
    nearest = np.stack([away[[limb.bone == bone for limb in limbs]].min(axis=0) for bone in names])
    weights = np.exp(-(nearest - nearest.min(axis=0)) / 0.03)
    weights[weights < 0.05] = 0.0
    weights /= weights.sum(axis=0)
    for bone, row in zip(names, weights, strict=True):
        group = body.vertex_groups.new(name=bone)
        for vertex in np.flatnonzero(row).tolist():
            group.add([vertex], float(row[vertex]), "REPLACE")
    body.parent = rig
    body.modifiers.new("Rig", "ARMATURE").object = rig
    return body


def _rig() -> Any:
    """Adds the armature."""
    rig: Any = link(bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig")))
    cast(Any, bpy.context.view_layer).objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (parent, head, tail) in BONES.items():
        for side in ("L", "R") if name.endswith(".L") else ("",):
            sign = -1.0 if side == "R" else 1.0
            bone = rig.data.edit_bones.new(_sided(name, side))
            bone.head = (sign * head[0], *head[1:])
            bone.tail = (sign * tail[0], *tail[1:])
            if parent:
                bone.parent = rig.data.edit_bones[_sided(parent, side)]
            bone.align_roll((0.0, -1.0, 0.0))
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return rig


def _sided(name: str, side: str) -> str:
    """The name of a bone of this side."""
    return name.replace(".L", f".{side}") if side else name


Turns = Mapping[str, Vector]
"""Turns of bones about the world's X, Y and Z from where it was modelled [°]."""


def pose(
    rig: Any, frame: int, turns: Turns, *, at: Vector = (0.0, 0.0, 0.0), turned: float = 0.0
) -> None:
    """Keys of all bones at a frame; those of the left side are mirrored where the right has none.

    Parameters
    ----------
    at : where the hips go from where they were modelled [m].
    turned : of the whole person [°].
    """
    for bone in rig.pose.bones:
        left = bone.name.replace(".R", ".L")
        x, y, z = turns.get(bone.name, (0.0, 0.0, 0.0))
        if bone.name.endswith(".R") and bone.name not in turns and left in turns:
            x, y, z = turns[left]
            y, z = -y, -z
        world = Euler((radians(x), radians(y), radians(z))).to_quaternion()
        rest = bone.bone.matrix_local.to_quaternion()
        turn = rest.inverted() @ world @ rest
        if bone.rotation_quaternion.dot(turn) < 0.0:
            turn.negate()
        animate(bone, "rotation_quaternion", {frame: turn})
    hips = rig.pose.bones["Hips"]
    place = np.array(at)
    rest = np.array(hips.bone.matrix_local.to_3x3())
    animate(hips, "location", {frame: (rest.T @ place).tolist()})
    animate(rig, "rotation_euler", {frame: (0.0, 0.0, radians(turned))})
