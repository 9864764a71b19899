"""A figure of rounded limbs that walks, as a cape needs somebody to wear it."""

from math import cos, pi, radians, sin
from typing import Any, cast

import bpy
import numpy as np
from numpy.typing import NDArray

from sample_blends.stage import Points, add_mesh, animate, link, plain

Vector = tuple[float, float, float]

BONES: dict[str, tuple[str, Vector, Vector, float]] = {
    "Hips": ("", (0.0, 0.0, 0.95), (0.0, 0.0, 1.15), 0.135),
    "Chest": ("Hips", (0.0, 0.0, 1.15), (0.0, 0.0, 1.42), 0.150),
    "Head": ("Chest", (0.0, 0.0, 1.58), (0.0, -0.02, 1.70), 0.105),
    "Arm.L": ("Chest", (0.22, 0.0, 1.42), (0.25, 0.0, 1.14), 0.055),
    "Arm.R": ("Chest", (-0.22, 0.0, 1.42), (-0.25, 0.0, 1.14), 0.055),
    "Hand.L": ("Arm.L", (0.25, 0.0, 1.14), (0.26, -0.03, 0.88), 0.045),
    "Hand.R": ("Arm.R", (-0.25, 0.0, 1.14), (-0.26, -0.03, 0.88), 0.045),
    "Thigh.L": ("Hips", (0.09, 0.0, 0.92), (0.09, -0.01, 0.50), 0.080),
    "Thigh.R": ("Hips", (-0.09, 0.0, 0.92), (-0.09, -0.01, 0.50), 0.080),
    "Shin.L": ("Thigh.L", (0.09, -0.01, 0.50), (0.09, 0.02, 0.09), 0.060),
    "Shin.R": ("Thigh.R", (-0.09, -0.01, 0.50), (-0.09, 0.02, 0.09), 0.060),
}
"""Parent, head, tail and radius of each bone [m]; the figure looks towards −Y."""

AROUND, ALONG = 16, 5
STEP = 12
"""Frames that a step takes."""
STRIDE = 0.62
"""Length of a step [m]."""


def walking_figure(*, frame_start: int, frame_end: int) -> Any:
    """Adds a figure that stands until a frame and then walks towards −Y; returns its mesh."""
    rig = _rig()
    parts = [
        capsule(np.array(head), np.array(tail), radius) for _, head, tail, radius in BONES.values()
    ]
    counts = np.cumsum([0, *(len(points) for points, _ in parts)])
    faces = np.concatenate(
        [sides + start for (_, sides), start in zip(parts, counts, strict=False)]
    )
    looks = plain("Figure", (0.20, 0.24, 0.32), roughness=0.5)
    points = np.concatenate([points for points, _ in parts])
    body = add_mesh("Figure", points, faces=faces, material=looks)
    for name, first, last in zip(BONES, counts, counts[1:], strict=False):
        group = body.vertex_groups.new(name=name)
        group.add(list(range(int(first), int(last))), 1.0, "REPLACE")
    body.parent = rig
    body.modifiers.new("Rig", "ARMATURE").object = rig
    _walk(rig, frame_start, frame_end)
    return body


def capsule(head: Points, tail: Points, radius: float) -> tuple[Points, NDArray[np.int64]]:
    """A capsule of triangles from head to tail."""
    axis = (tail - head) / np.linalg.norm(tail - head)
    across = np.cross(axis, (0.0, 1.0, 0.0))
    across /= np.linalg.norm(across)
    third = np.cross(axis, across)
    angles = np.linspace(0, pi / 2, ALONG + 1)[1:]
    rings = [(head - axis * radius * cos(a), radius * sin(a)) for a in angles]
    rings += [(tail + axis * radius * cos(a), radius * sin(a)) for a in angles[::-1]]
    turn = np.linspace(0, 2 * pi, AROUND, endpoint=False)[:, None]
    points = [
        center + size * (np.cos(turn) * across + np.sin(turn) * third) for center, size in rings
    ]
    points += [[head - axis * radius], [tail + axis * radius]]
    row, here = np.divmod(np.arange(AROUND * (len(rings) - 1)), AROUND)
    here, onward = row * AROUND + here, row * AROUND + (here + 1) % AROUND
    sides = [(here, onward, onward + AROUND), (here, onward + AROUND, here + AROUND)]
    first, last = here[:AROUND], here[-AROUND:] + AROUND
    end = np.full(AROUND, len(rings) * AROUND)
    caps = [(np.roll(first, -1), first, end), (last, np.roll(last, -1), end + 1)]
    triangles = [np.stack(corners, axis=1) for corners in (*sides, *caps)]
    return np.concatenate(points), np.concatenate(triangles)


def _rig() -> Any:
    """Adds the armature."""
    rig: Any = link(bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig")))
    cast(Any, bpy.context.view_layer).objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (parent, head, tail, _) in BONES.items():
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail, bone.roll = head, tail, 0.0
        if parent:
            bone.parent = rig.data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    return rig


def _walk(rig: Any, start: int, end: int) -> None:
    """Lets the limbs swing and the figure go, from a frame on."""
    pace = {start: (0.0, 0.0, 0.0), end: (0.0, -STRIDE * (end - start) / STEP, 0.0)}
    animate(rig, "location", pace)
    for bone in rig.pose.bones:
        animate(bone, "rotation_euler", {start - STEP // 2: (0.0, 0.0, 0.0)})
    for frame in range(start, end + STEP, STEP // 2):
        phase = pi * (frame - start) / STEP
        swing = sin(phase)
        for side, sign in (("L", 1.0), ("R", -1.0)):
            ahead = sign * swing
            bend = max(0.0, sign * cos(phase))
            turns = {
                f"Thigh.{side}": 26.0 * ahead,
                f"Shin.{side}": -34.0 * bend,
                f"Arm.{side}": -24.0 * ahead,
                f"Hand.{side}": 14.0,
            }
            for name, degrees in turns.items():
                animate(
                    rig.pose.bones[name], "rotation_euler", {frame: (radians(degrees), 0.0, 0.0)}
                )
