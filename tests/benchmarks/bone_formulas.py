"""A tail of eight bones at several frame rates, by the formulas of other programs and by ours.

Prints the table of docs/how_to/bones.md: how far joints are from those at 60 fps. Each takes
one step a frame, as its program does, from the poses of that frame, and has its program's defaults:

- VRM: VRMC_springBone-1.0 of github.com/vrm-c/vrm-specification, stiffness 1 and drag 0.5.
- Wiggle 2: github.com/shteeve3d/blender-wiggle-2, stiffness 400, damping 1, two iterations.
- Jiggle Physics: github.com/naelstrof/blender-jiggle-physics, elasticity 0.6, friction 0.1.
- Rigid bodies and springs of Blender, as mmd_tools makes them of MMD's; ten substeps a frame.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import pi
from typing import Any, cast

import bpy
import numpy as np

import verlet_addon
from tests.blender.rigs import LENGTH, fox, poses, select, swing, tips
from verlet_addon.core.arrays import Floats

BONES, SECONDS, BASE = 8, 2.0, 12
"""Frame rates are multiples of BASE, at whose frames joints are compared."""
RATES = (12, 24, 120, 240)
REFERENCE = 60
MASS, FREQUENCY = 1.0, 2.0
"""Of a rigid bone [kg], and of a single one on its spring [Hz]."""

Step = Callable[[Floats, Floats, Floats, float], Floats]
"""New joints (n, 3) by those of this frame and the frame before it, the pose, and its time [s]."""


def turned(way: Floats, from_: Floats, to: Floats) -> Floats:
    """A direction (3,), turned by the least rotation from one unit vector to another."""
    axis, cosine = np.cross(from_, to), from_ @ to
    once = np.cross(axis, way)
    return np.asarray(way + once + np.cross(axis, once) / max(1.0 + cosine, 1e-9))


class Turns:
    """Rotations of simulated bones from their pose, each the least one beyond that before it."""

    def __init__(self) -> None:
        self.turn = np.eye(3)

    def target(self, way: Floats) -> Floats:
        """The direction of the next bone, if it were not bent."""
        return self.turn @ way

    def go_on(self, way: Floats, to: Floats) -> None:
        """Takes the direction that it has."""
        rest = self.turn @ way
        self.turn = np.stack([turned(column, rest, to) for column in self.turn.T], axis=1)


def unit(vector: Floats) -> Floats:
    """A vector of length 1."""
    return np.asarray(vector / np.linalg.norm(vector))


def vrm(now: Floats, before: Floats, pose: Floats, dt: float) -> Floats:
    """One step of VRM's spring bones."""
    stiffness, drag = 1.0, 0.5
    turns, found = Turns(), [pose[0]]
    for bone in range(BONES):
        rest, length = pose[bone + 1] - pose[bone], LENGTH / BONES
        inert = now[bone + 1] + (now[bone + 1] - before[bone + 1]) * (1.0 - drag)
        moved = inert + turns.target(unit(rest)) * stiffness * dt
        way = unit(moved - found[-1])
        turns.go_on(unit(rest), way)
        found.append(found[-1] + way * length)
    return np.array(found)


def jiggle(now: Floats, before: Floats, pose: Floats, _dt: float) -> Floats:
    """One step of Jiggle Physics, whose pull is a share a frame."""
    elasticity, friction = 0.6, 0.1
    turns, found = Turns(), [pose[0]]
    for bone in range(BONES):
        rest, length = unit(pose[bone + 1] - pose[bone]), LENGTH / BONES
        moved = now[bone + 1] + (now[bone + 1] - before[bone + 1]) * (1.0 - friction)
        target = found[-1] + turns.target(rest) * length
        moved = moved + (target - moved) * elasticity**2
        way = unit(moved - found[-1])
        turns.go_on(rest, way)
        found.append(found[-1] + way * length)
    return np.array(found)


def wiggle_2(now: Floats, before: Floats, pose: Floats, dt: float) -> Floats:
    """One step of Wiggle 2: half of what a bone is drawn draws the bone before it, at first."""
    stiffness, damping, iterations = 400.0, 1.0, 2
    places = now + (now - before) * max(1.0 - damping * dt, 0.0)
    places[0] = pose[0]
    for share in (0.5, 0.0):
        turns = Turns()
        for bone in range(BONES):
            rest, length = unit(pose[bone + 1] - pose[bone]), LENGTH / BONES
            own = share if bone else 0.0
            drawn = places[bone] + turns.target(rest) * length - places[bone + 1]
            drawn *= stiffness * dt**2 / iterations
            places[bone] -= drawn * own
            places[bone + 1] += drawn * (1.0 - own)
            way = unit(places[bone + 1] - places[bone])
            short = places[bone] + way * length - places[bone + 1]
            places[bone] -= short * own
            places[bone + 1] += short * (1.0 - own)
            turns.go_on(rest, unit(places[bone + 1] - places[bone]))
    return places


def rig(rate: int) -> Any:
    """The tail in an empty scene of this frame rate."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene: Any = bpy.context.scene
    scene.render.fps = rate
    obj = fox(BONES)
    swing(obj, SECONDS)
    return obj


def keyed_joints(obj: Any) -> Floats:
    """(frames, n, 3) joints of the keyed tail, the root first."""
    matrices = poses(obj)
    return np.concatenate([matrices[:, 1:2, :3, 3], tips(obj, matrices)[:, 1:]], axis=1)


def by_formula(step: Step) -> Callable[[int], Floats]:
    """Joints by a formula at a frame rate."""

    def play(rate: int) -> Floats:
        keyed = keyed_joints(rig(rate))
        found = [keyed[0], keyed[0]]
        for pose in keyed[1:]:
            found.append(step(found[-1], found[-2], pose, 1.0 / rate))
        return np.array(found[1:])

    return play


def ours(rate: int) -> Floats:
    """Joints of soft bones with their default settings."""
    obj = rig(rate)
    select(obj, "tail.0")
    verlet = cast(Any, bpy.ops).verlet
    verlet.make_soft_bones()
    verlet.bake(mode="ABSOLUTE")
    return keyed_joints(obj)


def mmd(rate: int) -> Floats:
    """Joints of rigid bodies along the tail that springs of FREQUENCY join."""
    obj, scene = rig(rate), cast(Any, bpy.context.scene)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.rigidbody.world_add()
    cache, scene.use_gravity = scene.rigidbody_world.point_cache, False
    cache.frame_start, cache.frame_end = scene.frame_start, scene.frame_end
    bodies = [_rigid_bone(number) for number in range(-1, BONES)]
    _carry(bodies[0], obj)
    for number, pair in enumerate(pairwise(bodies)):
        _join(number, *pair)
    found = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        worlds = np.array([each.evaluated_get(depsgraph).matrix_world for each in bodies[1:]])
        middles, ways = worlds[:, :3, 3], worlds[:, :3, 1]
        halves = ways / np.linalg.norm(ways, axis=1, keepdims=True) * LENGTH / BONES / 2
        found.append([middles[0] + halves[0], *(middles - halves)])
    return np.array(found)


def _rigid_bone(number: int) -> Any:
    """A box along a bone; the bone before the first is the hips'."""
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    body: Any = bpy.context.object
    body.scale = 0.01, LENGTH / BONES, 0.01
    body.location = 0.0, -LENGTH / BONES * (number + 0.5), 1.0
    bpy.ops.rigidbody.object_add()
    own = body.rigid_body
    own.mass, own.linear_damping, own.angular_damping = MASS, 0.5, 0.5
    own.use_margin, own.collision_margin = True, 0.0
    own.collision_collections = [place == number + 1 for place in range(20)]  # none has two
    return body


def _carry(body: Any, obj: Any) -> None:
    """Has the hips carry a rigid body."""
    world = body.matrix_world.copy()
    body.rigid_body.kinematic = True
    body.parent, body.parent_type, body.parent_bone = obj, "BONE", "hips"
    cast(Any, bpy.context.view_layer).update()
    body.matrix_world = world


def _join(number: int, first: Any, second: Any) -> None:
    """A joint at the head of a bone, with springs."""
    joint: Any = bpy.data.objects.new("Joint", None)
    cast(Any, bpy.context.scene).collection.objects.link(joint)
    joint.location = 0.0, -LENGTH / BONES * number, 1.0
    cast(Any, bpy.context.view_layer).objects.active = joint
    bpy.ops.rigidbody.constraint_add(type="GENERIC_SPRING")
    own = joint.rigid_body_constraint
    own.object1, own.object2 = first, second
    inertia = MASS * (LENGTH / BONES) ** 2 / 3.0
    for axis in "xyz":
        values = {
            f"use_limit_lin_{axis}": True,
            f"limit_lin_{axis}_lower": 0.0,
            f"limit_lin_{axis}_upper": 0.0,
            f"use_spring_ang_{axis}": True,
            f"spring_stiffness_ang_{axis}": inertia * (2.0 * pi * FREQUENCY) ** 2,
        }
        for name, value in values.items():
            setattr(own, name, value)


def distances(play: Callable[[int], Floats]) -> list[tuple[float, float]]:
    """Largest and rms distances of joints from those at REFERENCE, over the tail's length."""
    reference = play(REFERENCE)[:: REFERENCE // BASE]
    away = [
        np.linalg.norm(play(rate)[:: rate // BASE] - reference, axis=2) / LENGTH for rate in RATES
    ]
    return [(float(each.max()), float(np.sqrt((each**2).mean()))) for each in away]


def main() -> None:
    """Prints the table."""
    verlet_addon.register()
    ways: Sequence[tuple[str, Callable[[int], Floats]]] = [
        ("soft bones", ours),
        ("VRM spring bones", by_formula(vrm)),
        ("Wiggle 2", by_formula(wiggle_2)),
        ("Jiggle Physics", by_formula(jiggle)),
        ("rigid bodies with springs, as of MMD", mmd),
    ]
    print("| | " + " | ".join(f"{rate} fps" for rate in RATES) + " |")
    for name, play in ways:
        cells = [f"{100 * most:.3g} / {100 * rms:.2g} %" for most, rms in distances(play)]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    verlet_addon.unregister()


if __name__ == "__main__":
    main()
