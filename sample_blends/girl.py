"""A girl whose ponytail and skirt are soft bones."""

from math import pi
from typing import Any, cast

import bpy
import numpy as np
from mathutils import Matrix, Vector as Place

from sample_blends.person import Turns, Vector, make_person, pose
from sample_blends.rigged import add_bones, chain, limb, skin, straight, weigh
from sample_blends.stage import (
    Points,
    add_mesh,
    camera,
    empty_scene,
    light_and_ground,
    plain,
)
from verlet_addon.blender.scene.colliders import make_collider
from verlet_addon.blender.scene.soft_bones import close_skirt, make_soft_bones
from verlet_addon.blender.settings.bone_materials import set_bone_material
from verlet_addon.blender.settings.bone_properties import set_bone, soft_bones

FRAMES = 96
CELL = 0.026
"""Size of her faces [m]."""
CHAINS, ROWS = 12, 5
"""Chains of the skirt, and bones of each."""
WAIST, HEM = (0.155, 0.125, 1.04), (0.33, 0.31, 0.56)
"""Half the width and depth of the skirt at its ends, and their heights [m]."""
KNOT, TUFT_WAY = np.array((0.0, 0.10, 1.70)), np.array((0.0, 0.01, -0.28))
"""Where the ponytail begins, and the way that it hangs down [m]."""
DISTANCE, HAIR_RADIUS = 0.012, 0.02
"""Distances of the bones of skirt and ponytail from the body [m]."""
SKIN, HAIR, SHIRT = (0.62, 0.40, 0.28), (0.16, 0.06, 0.02), (0.85, 0.82, 0.74)
SKIRT, SHOES, EYES = (0.60, 0.06, 0.10), (0.10, 0.05, 0.03), (0.02, 0.015, 0.015)

REST: Turns = {"Arm.L": (0.0, 6.0, 0.0), "ForeArm.L": (-12.0, 0.0, 0.0)}
CROUCH: Turns = {
    "Arm.L": (24.0, 4.0, 0.0),
    "Spine": (14.0, 0.0, 0.0),
    "Thigh.L": (-32.0, 0.0, 0.0),
    "Shin.L": (58.0, 0.0, 0.0),
    "Foot.L": (-26.0, 0.0, 0.0),
}
LEAP: Turns = {
    "Arm.L": (0.0, -40.0, 0.0),
    "Thigh.L": (-40.0, 0.0, 0.0),
    "Shin.L": (62.0, 0.0, 0.0),
    "Foot.L": (25.0, 0.0, 0.0),
    "Thigh.R": (12.0, 0.0, 0.0),
    "Shin.R": (20.0, 0.0, 0.0),
    "Foot.R": (30.0, 0.0, 0.0),
}
STEP: Turns = {
    "Arm.L": (22.0, 6.0, 0.0),
    "Arm.R": (-22.0, -6.0, 0.0),
    "Thigh.L": (-34.0, 0.0, 0.0),
    "Shin.L": (30.0, 0.0, 0.0),
    "Thigh.R": (18.0, 0.0, 0.0),
    "Shin.R": (14.0, 0.0, 0.0),
}


def girl() -> None:
    """A girl who leaps with a turn, and steps to and fro; her skirt and ponytail follow through."""
    empty_scene(frame_end=FRAMES)
    body = make_person("Girl", SKIN, cell=CELL)
    rig = body.parent
    rig.data.display_type = "STICK"
    _paint(body, plain("Shirt", SHIRT, roughness=0.8), 1.0, 1.43)
    _paint(body, plain("Shoes", SHOES), -1.0, 0.07)
    make_collider(body)
    body.collision.thickness_outer = 0.003
    hair = plain("Hair", HAIR)
    _face(rig, hair)
    _ponytail(rig, hair)
    _skirt(rig)
    _move(rig)
    _soften(rig)
    light_and_ground()
    camera((2.0, -3.6, 1.5), (0.0, 0.0, 0.98), lens=37)


def _paint(body: Any, looks: Any, low: float, high: float) -> None:
    """Gives the trunk's and legs' faces between two heights another material."""
    body.data.materials.append(looks)
    for face in body.data.polygons:
        if low < face.center.z < high and abs(face.center.x) < 0.27:
            face.material_index = len(body.data.materials) - 1


def _face(rig: Any, hair: Any) -> None:
    """Adds hair and eyes, which the head carries."""
    eyes = plain("Eyes", EYES, roughness=0.2)
    _ball(rig, "Hair", hair, (0.0, 0.022, 1.655), (0.101, 0.108, 0.101))
    for side, sign in (("L", 1.0), ("R", -1.0)):
        _ball(rig, f"Eye.{side}", eyes, (0.034 * sign, -0.106, 1.612), (0.011, 0.007, 0.015))


def _ball(rig: Any, name: str, looks: Any, place: Vector, radii: Vector) -> None:
    """Adds an ellipsoid to the head."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=16)
    bpy.ops.object.shade_smooth()
    obj: Any = bpy.context.object
    obj.name = obj.data.name = name
    obj.data.transform(Matrix.LocRotScale(Place(place), None, Place(radii)))
    obj.data.materials.append(looks)
    weigh(obj, {"Head": np.ones(len(obj.data.vertices))})
    skin(obj, rig)


def _ponytail(rig: Any, hair: Any) -> None:
    """Adds a ponytail and its bones, which hang from the back of the head."""
    bow = np.array([(0.0, 0.0, 0.0), (0.0, 0.06, 0.025), (0.0, 0.10, -0.01), (0.0, 0.115, -0.06)])
    places = np.concatenate([KNOT + bow, straight(KNOT + bow[-1], TUFT_WAY, 6)[1:]])
    add_bones(rig, chain("Ponytail", "Head", places))
    bones = [bone for bone in rig.data.bones if bone.name.startswith("Ponytail")]
    share = np.linspace(0.0, 1.0, len(places))
    limb(rig, "Ponytail", places, 0.018 + 0.030 * np.sin(pi * share**0.7), bones, hair)


def _skirt(rig: Any) -> None:
    """Adds a skirt, and chains of bones down it."""
    for number in range(CHAINS):
        ends = _around(np.array([number / CHAINS]))
        places = straight(ends[0, 0], ends[1, 0] - ends[0, 0], ROWS)
        add_bones(rig, chain(f"Skirt{number}", "Hips", places))
    columns, rows = 4 * CHAINS, 4 * ROWS
    across, down = np.arange(columns) / columns, np.arange(rows + 1)[:, None, None] / rows
    waist, hem = _around(across)
    points = (waist + down * (hem - waist)).reshape(-1, 3)
    first = np.arange(rows * columns).reshape(rows, columns)
    following = np.roll(first, -1, axis=1)
    faces = np.stack([first, following, following + columns, first + columns], axis=2)
    looks = plain("Skirt", SKIRT, roughness=0.85)
    obj = add_mesh("Skirt", points, faces=faces.reshape(-1, 4), material=looks)
    weigh(obj, _shares(np.tile(across, rows + 1), np.repeat(down.ravel(), columns)))
    skin(obj, rig)
    thick = obj.modifiers.new("Solidify", "SOLIDIFY")
    thick.thickness, thick.offset = 0.004, 1.0


def _around(turns: Points) -> Points:
    """(2, n, 3) places at the waist and the hem of the skirt, by shares of a turn (n,)."""
    angles = 2.0 * pi * turns
    ring = np.stack([np.cos(angles), np.sin(angles), np.ones_like(angles)], axis=1)
    return np.stack([ring * WAIST, ring * HEM])


def _shares(across: Points, down: Points) -> dict[str, Points]:
    """Weights of the skirt's bones at shares of a turn and of its length, both (n,)."""
    found = {}
    for number in range(CHAINS):
        away = np.abs((across * CHAINS - number + CHAINS / 2) % CHAINS - CHAINS / 2)
        for row in range(ROWS):
            middle = np.clip(down * ROWS, 0.5, ROWS - 0.5) - 0.5
            near = np.clip(1.0 - away, 0.0, 1.0) * np.clip(1.0 - np.abs(middle - row), 0.0, 1.0)
            found[f"Skirt{number}.{row}"] = near
    return found


def _move(rig: Any) -> None:
    """Keys a leap with a turn, and steps on the spot."""
    for frame, turns, height, turned in (
        (1, REST, 0.0, 0.0),
        (8, REST, 0.0, 0.0),
        (16, CROUCH, -0.085, -30.0),
        (25, LEAP, 0.24, 30.0),
        (33, CROUCH, -0.085, 60.0),
        (42, REST, 0.0, 20.0),
    ):
        pose(rig, frame, turns, at=(0.0, 0.0, height), turned=turned)
    for frame, turns in ((50, STEP), (58, _mirrored(STEP)), (66, STEP), (74, REST)):
        pose(rig, frame, turns, at=(0.0, 0.0, 0.0 if turns is REST else -0.04))


def _mirrored(turns: Turns) -> Turns:
    """Turns of the other side."""
    other = str.maketrans("LR", "RL")
    return {
        f"{name[:-1]}{name[-1].translate(other)}": (x, -y, -z) for name, (x, y, z) in turns.items()
    }


def _soften(rig: Any) -> None:
    """Makes bones of ponytail and skirt soft, and joins those of the skirt as cloth."""
    scene = cast(Any, bpy.context.scene)
    roots = [f"Skirt{number}.0" for number in range(CHAINS)]
    body = make_soft_bones(scene, rig, ["Ponytail.0", *roots])
    for material in ("PONYTAIL", "SKIRT"):
        kind = material.title()
        set_bone_material([b for b in soft_bones(body) if b.name.startswith(kind)], material)
    for bone in soft_bones(body):
        set_bone(bone, radius=DISTANCE if bone.name.startswith("Skirt") else HAIR_RADIUS)
    close_skirt(scene, rig, roots)
    scene.frame_set(1)  # as playing it would leave the bones
