"""A ragdoll, whose limbs are boxes joined by strips of cloth, on a staircase."""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import bpy
import numpy as np

from sample_blends.stage import (
    Points,
    camera,
    empty_scene,
    light_and_ground,
    link,
    make_body,
    plain,
)

Place = tuple[float, float, float]

TORSO, HEAD, ARM, FOREARM, THIGH, SHIN = (
    (0.17, 0.09, 0.27),
    (0.09, 0.09, 0.11),
    (0.14, 0.045, 0.045),
    (0.13, 0.04, 0.04),
    (0.06, 0.06, 0.20),
    (0.05, 0.05, 0.20),
)
"""Half the sizes of limbs [m]."""
JOINT = 0.03
"""Length of the strips between limbs [m]."""
SIDES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
"""Faces of a box whose corners are numbered by x, y and z."""


@dataclass
class Figure:
    """A mesh, and which of its vertices are rigid."""

    vertices: list[Place] = field(default_factory=list)
    faces: list[tuple[int, ...]] = field(default_factory=list)
    rigid: list[int] = field(default_factory=list)

    def box(self, centre: Place, half: Place) -> list[int]:
        """Adds a limb, and returns its corners."""
        corners = list(range(len(self.vertices), len(self.vertices) + 8))
        for signs in product((-1, 1), repeat=3):
            x, y, z = (c + s * h for c, s, h in zip(centre, signs, half, strict=True))
            self.vertices.append((x, y, z))
        self.faces += [tuple(corners[k] for k in side) for side in SIDES]
        self.rigid += corners
        return corners

    def strip(self, first: tuple[int, int], second: tuple[int, int]) -> None:
        """Joins two corners to two others by a strip with two vertices of its own."""
        start = len(self.vertices)
        for a, b in zip(first, second, strict=True):
            x, y, z = (np.array(self.vertices[a]) + np.array(self.vertices[b])) / 2
            self.vertices.append((float(x), float(y), float(z)))
        self.faces += [(*first, start + 1, start), (start, start + 1, second[1], second[0])]


def ragdoll() -> None:
    """A wooden figure of rigid limbs that tumbles down a staircase."""
    empty_scene(frame_end=84)
    vertices, faces, stiff = figure()
    obj = _add_angular(
        "Ragdoll", vertices, faces, plain("Beech", (0.62, 0.36, 0.16), roughness=0.4)
    )
    obj.rotation_euler = (0.25, 0.0, 0.12)
    obj.location = (0.0, -0.08, 2.52)
    damping = {"damping": 0.3, "inner_damping": 0.09}
    make_body(obj, "CLOTH", pinned=np.zeros(0, int), mass=20.0, bend_compliance=1.0, **damping)
    obj.vertex_groups.new(name="Limbs").add(stiff, 1.0, "REPLACE")
    obj.verlet.rigid_group, obj.verlet.thickness = "Limbs", 0.01
    obj.verlet.friction = 0.6
    stairs = _add_angular("Stairs", *staircase(8), plain("Stone", (0.30, 0.33, 0.36)))
    stairs.modifiers.new("Collision", "COLLISION")
    light_and_ground()
    camera((5.6, -5.7, 2.7), (0.0, -1.6, 1.28), lens=36)


def _add_angular(name: str, vertices: Points, faces: list[tuple[int, ...]], material: Any) -> Any:
    """Adds a mesh of flat faces with any number of corners."""
    mesh: Any = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices.tolist(), [], faces)
    mesh.materials.append(material)
    return link(bpy.data.objects.new(name, mesh))


def figure() -> tuple[Points, list[tuple[int, ...]], list[int]]:
    """Vertices, faces and rigid vertices of a ragdoll that stands with its arms stretched out."""
    doll = Figure()
    torso = doll.box((0.0, 0.0, 0.0), TORSO)
    head = doll.box((0.0, 0.0, TORSO[2] + JOINT + HEAD[2]), HEAD)
    doll.strip((torso[1], torso[5]), (head[0], head[4]))
    doll.strip((torso[3], torso[7]), (head[2], head[6]))
    for side in (-1, 1):
        _add_arm(doll, torso, side)
        _add_leg(doll, torso, side)
    return np.array(doll.vertices), doll.faces, doll.rigid


def _add_arm(doll: Figure, torso: list[int], side: int) -> None:
    """An arm along x: its shoulder and its elbow are hinged at their upper edges."""
    inner, outer = (0, 4) if side > 0 else (4, 0)
    height = TORSO[2] - ARM[2]
    shoulder = TORSO[0] + JOINT + ARM[0]
    arm = doll.box((side * shoulder, 0.0, height), ARM)
    doll.strip((torso[outer + 1], torso[outer + 3]), (arm[inner + 1], arm[inner + 3]))
    elbow = shoulder + ARM[0] + JOINT + FOREARM[0]
    forearm = doll.box((side * elbow, 0.0, height), FOREARM)
    doll.strip((arm[outer + 1], arm[outer + 3]), (forearm[inner + 1], forearm[inner + 3]))


def _add_leg(doll: Figure, torso: list[int], side: int) -> None:
    """A leg downwards: its hip is hinged at the front, its knee at the front too."""
    across = 0.10 * side
    hip = -TORSO[2] - JOINT - THIGH[2]
    thigh = doll.box((across, -TORSO[1] + THIGH[1], hip), THIGH)
    corner = 4 if side > 0 else 0
    start = len(doll.vertices)
    for x in (across - THIGH[0], across + THIGH[0]):
        doll.vertices.append((x, -TORSO[1], -TORSO[2]))
    doll.rigid += [start, start + 1]
    ends = (start, start + 1) if side > 0 else (start + 1, start)
    doll.faces.append((torso[corner], *ends))
    doll.strip((start, start + 1), (thigh[1], thigh[5]))
    knee = hip - THIGH[2] - JOINT - SHIN[2]
    shin = doll.box((across, -TORSO[1] + SHIN[1], knee), SHIN)
    doll.strip((thigh[0], thigh[4]), (shin[1], shin[5]))


def staircase(steps: int) -> tuple[Points, list[tuple[int, ...]]]:
    """Vertices and faces of stairs that go down towards −Y from a landing at y = 0."""
    rise, tread, landing, half = 0.17, 0.28, 0.9, 0.9
    outline = [(landing, 0.0)]
    for step in range(steps):
        height = rise * (steps - step)
        outline += [
            (landing if step == 0 else -tread * (step - 1), height),
            (-tread * step, height),
        ]
    outline.append((-tread * (steps - 1), 0.0))
    count = len(outline)
    vertices = np.array([(x, y, z) for x in (-half, half) for y, z in outline])
    onward = [(k + 1) % count for k in range(count)]
    sides = [(k, onward[k], onward[k] + count, k + count) for k in range(count)]
    return vertices, [*sides, tuple(range(count))[::-1], tuple(range(count, 2 * count))]
