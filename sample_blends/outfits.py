"""People in several layers of clothes: one dances, one sits down and folds the arms."""

from collections.abc import Sequence
from math import pi
from typing import Any

import bpy
import numpy as np

from sample_blends.person import (
    ARM,
    NECK,
    TORSO,
    Limb,
    Quads,
    make_person,
    mirrored,
    onto,
    pose,
    surface,
    union,
)
from sample_blends.stage import (
    Pattern,
    Points,
    add_mesh,
    camera,
    empty_scene,
    grid,
    light_and_ground,
    plain,
)
from sample_blends.touching import attach, solid
from verlet_addon.blender.scene.colliders import make_collider
from verlet_addon.blender.settings.materials import give_material

HEM, WAIST = 0.93, 1.045
"""Heights of the lower end of the shirt and of the skirt's waist [m]."""
SLEEVE = 0.72
"""Share of the upper arm that a sleeve covers."""
SKIN = (0.50, 0.32, 0.22)


def dancer() -> None:
    """Arms rise, the person turns round and bends, in shirt, skirt and cape."""
    empty_scene(frame_end=108)
    person = make_person("Dancer", SKIN)
    rig = person.parent
    make_collider(person)
    rest: dict[str, tuple[float, float, float]] = {}
    up = {"Arm.L": (0.0, -45.0, 0.0), "ForeArm.L": (0.0, -30.0, 0.0), "Hand.L": (0.0, 10.0, 0.0)}
    step = {
        **up,
        "Thigh.L": (-35.0, 0.0, 0.0),
        "Shin.L": (10.0, 0.0, 0.0),
        "Thigh.R": (12.0, 0.0, 0.0),
        "Shin.R": (25.0, 0.0, 0.0),
        "Foot.R": (30.0, 0.0, 0.0),
    }
    bent = {
        "Arm.L": (-25.0, 15.0, 0.0),
        "ForeArm.L": (-25.0, 0.0, 0.0),
        "Spine": (14.0, 6.0, 0.0),
        "Chest": (10.0, 5.0, 0.0),
        "Arm.R": (10.0, 30.0, 0.0),
    }
    for frame, turns, at, turned in (
        (1, rest, (0.0, 0.0, 0.0), 0.0),
        (8, rest, (0.0, 0.0, 0.0), 0.0),
        (32, up, (0.0, 0.0, 0.0), -20.0),
        (50, up, (0.0, 0.0, 0.0), 110.0),
        (70, up, (0.0, 0.0, 0.0), 300.0),
        (84, step, (0.0, 0.0, -0.06), 345.0),
        (100, bent, (0.0, 0.0, 0.0), 360.0),
        (108, bent, (0.0, 0.0, 0.0), 360.0),
    ):
        pose(rig, frame, turns, at=at, turned=turned)
    clothe(person)
    light_and_ground()
    camera((1.1, -3.7, 1.5), (0.0, 0.0, 0.9), lens=38)


def sitter() -> None:
    """Somebody sits down on a block and folds the arms, in shirt, skirt and cape."""
    empty_scene(frame_end=84)
    person = make_person("Sitter", SKIN)
    rig = person.parent
    make_collider(person)
    wood = plain("Wood", (0.16, 0.075, 0.03))
    block = solid("cube", "Block", wood, (0.0, 0.36, 0.19), size=0.38)
    make_collider(block)
    rest: dict[str, tuple[float, float, float]] = {}
    low = {
        "Thigh.L": (-84.0, 0.0, 0.0),
        "Shin.L": (84.0, 0.0, 0.0),
        "Arm.L": (-20.0, 12.0, 0.0),
        "ForeArm.L": (-25.0, 0.0, 0.0),
        "Spine": (6.0, 0.0, 0.0),
    }
    folded = {
        **low,
        "Arm.L": (-22.0, 22.0, 0.0),
        "ForeArm.L": (-62.0, 0.0, -48.0),
    }
    for frame, turns, at in (
        (1, rest, (0.0, 0.0, 0.0)),
        (8, rest, (0.0, 0.0, 0.0)),
        (44, low, (0.0, 0.30, -0.42)),
        (66, folded, (0.0, 0.30, -0.42)),
        (84, folded, (0.0, 0.30, -0.42)),
    ):
        pose(rig, frame, turns, at=at)
    clothe(person)
    light_and_ground()
    camera((1.6, -3.6, 1.3), (0.0, 0.12, 0.85), lens=37)


def clothe(person: Any) -> None:
    """Adds shirt, skirt and cape, each held by a bone where it is buttoned.

    The skin would stretch them where it does so itself.
    """
    rig = person.parent
    person.collision.thickness_outer = 0.003
    scene: Any = bpy.context.scene
    scene.verlet.substeps = 20  # with 10 the shirt crosses itself as it settles
    make_shirt(person, TORSO)
    columns, rows = 96, 34
    points, faces, _ = grid(columns, rows, _skirt)
    skirt = _garment("Skirt", *_closed(points, faces, columns), (0.12, 0.26, 0.42), "COTTON")
    attach(skirt, rig, "Waist", list(range(2 * columns)), bone="Hips")
    columns, rows = 44, 40
    points, faces, _ = grid(columns, rows, _cape)
    cape = _garment("Cape", points, faces, (0.50, 0.06, 0.07), "WOOL")
    attach(cape, rig, "Neck", list(range(columns + 1)), bone="Chest")


def make_shirt(person: Any, torso: Sequence[Limb]) -> Any:
    """Adds a shirt over a torso of these limbs, held by its collar."""
    shirt = _garment("Shirt", *_shirt(torso), (0.78, 0.75, 0.68), "COTTON")
    places = np.array([vertex.co for vertex in shirt.data.vertices])
    collar = np.hypot(places[:, 0], places[:, 1]) < 0.115
    held = np.flatnonzero(collar & (places[:, 2] > 1.36)).tolist()
    attach(shirt, person.parent, "Collar", held, bone="Chest")
    return shirt


def _garment(
    name: str, points: Points, faces: Quads, color: tuple[float, float, float], material: str
) -> Any:
    """Adds cloth that keeps off its own folds."""
    design = Pattern(name, translucency=0.1)
    darker = (0.8 * color[0], 0.8 * color[1], 0.8 * color[2])
    looks = design.color(design.v, {0.0: color, 1.0: darker})
    obj = add_mesh(name, points, faces=faces, material=looks)
    body = obj.verlet
    body.enabled, body.body_type = True, "CLOTH"
    give_material(body, material)
    body.thickness, body.use_self_collision = 0.004, True
    return obj


def _closed(points: Points, faces: Quads, columns: int) -> tuple[Points, Quads]:
    """A grid whose last column is its first one."""
    row, column = np.divmod(np.arange(len(points)), columns + 1)
    new = row * columns + column % columns
    return points[column < columns], new[faces]


def _loose(points: Points, torso: Sequence[Limb]) -> Points:
    """(n,) distances from the shirt, which is wider above the waist than where it is tucked in."""
    arm = [ARM[0]._replace(radii=(0.060, 0.058))]
    limbs = [*torso, *arm, *mirrored(arm), NECK[0]]
    height = points[:, 2]
    wide = np.clip((height - 1.06) / 0.10, 0.0, 1.0) * np.clip((1.34 - height) / 0.06, 0.0, 1.0)
    room = 0.016 + 0.014 * wide
    return union(points, limbs, blend=0.030) - room


def _shirt(torso: Sequence[Limb]) -> tuple[Points, Quads]:
    """A shirt with short sleeves: a surface around torso and arms, cut open at its ends."""

    def loose(places: Points) -> Points:
        return _loose(places, torso)

    deep = 0.30 + max(0.0, max(-limb.head[1] for limb in torso) - 0.055)
    points, faces = surface(loose, (-0.55, -deep, 0.70), (0.55, deep, 1.62), 0.0185)
    head, tail = np.array(ARM[0].head), np.array(ARM[0].tail)
    way = (tail - head) / np.linalg.norm(tail - head)
    end = head + SLEEVE * (tail - head)
    waist = [abs(limb.head[0]) + limb.radii[0] for limb in torso if limb.bone == "Spine"]
    aside = max(0.2, max(waist) + 0.045)

    def beyond(places: Points) -> Points:
        """(n,) how far places are beyond the hem, the collar or the sleeves [m]."""
        folded = np.stack((np.abs(places[:, 0]), places[:, 1], places[:, 2]), axis=1)
        sleeve = np.minimum((folded - end) @ way, folded[:, 0] - aside)
        high = np.maximum(0.0, places[:, 2] - 1.44)
        neck = 0.092 + high - np.linalg.norm(places - (0.0, -0.008, 1.44), axis=1)
        return np.asarray(np.max((HEM - places[:, 2], neck, sleeve), axis=0))

    kept = beyond(points[faces].mean(axis=1)) < 0.0
    used, faces = np.unique(faces[kept], return_inverse=True)
    points, faces = points[used], faces.reshape(-1, 4)
    edge = _edge(faces)
    for _ in range(6):
        points[edge] = onto(loose, onto(beyond, points[edge]))
    return points, faces


def _edge(faces: Quads) -> Quads:
    """Vertices at the edges of a surface."""
    sides = np.sort(np.concatenate([faces[:, [k, (k + 1) % 4]] for k in range(4)]), axis=1)
    each, count = np.unique(sides, axis=0, return_counts=True)
    return np.asarray(np.unique(each[count == 1]))


def _reach(angle: Points, height: Points, out: float) -> Points:
    """(n,) how far from the axis the torso's skin is at heights, that way round, and more [m]."""
    low, high = np.zeros_like(angle), np.full_like(angle, 0.5)
    for _ in range(30):
        middle = (low + high) / 2
        places = np.stack((middle * np.sin(angle), middle * np.cos(angle), height), axis=1)
        within = union(places, TORSO, blend=0.02) < out
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return low


def _skirt(u: Points, v: Points) -> tuple[Points, Points, Points]:
    """A skirt from the waist to the knees, in folds that open downwards."""
    angle = 2 * pi * u
    height = WAIST - 0.52 * v
    room = 0.032 + 0.03 * np.clip(v / 0.25, 0.0, 1.0)
    waist = _reach(angle, np.full_like(u, WAIST), 0.034)
    hips = np.maximum(waist, _reach(angle, np.maximum(height, 0.90), 0.0) + room)
    wide = hips + 0.20 * np.clip(v - 0.2, 0.0, None) * (1.0 + 0.22 * np.cos(9 * angle))
    reach = np.where(v < 0.02, waist, wide)
    return reach * np.sin(angle), reach * np.cos(angle), height


def _cape(u: Points, v: Points) -> tuple[Points, Points, Points]:
    """A cape over the back, from the neck over the shoulders down to the knees."""
    angle = (u - 0.5) * 2.5
    shoulder = 0.20
    over = np.clip(v / shoulder, 0.0, 1.0)
    down = np.clip((v - shoulder) / (1.0 - shoulder), 0.0, 1.0)
    outer = _reach(angle, np.full_like(u, 1.36), 0.065)
    outer = np.maximum(outer, _reach(angle, np.full_like(u, 1.30), 0.065))
    reach = 0.095 + over * (outer - 0.095) + 0.16 * down
    fall = 0.80 * down + 0.03 * np.sin(0.5 * pi * np.minimum(1, 5 * down))
    height = 1.475 - 0.055 * over**2 - fall
    places = np.stack((reach * np.sin(angle), reach * np.cos(angle), height), axis=1)
    clear = onto(lambda p: union(p, [*TORSO, NECK[0]], blend=0.02), places, 0.05)
    near = union(places, [*TORSO, NECK[0]], blend=0.02) < 0.05
    places = np.where(near[:, None], clear, places)
    return places[:, 0], places[:, 1] + 0.01, places[:, 2]
