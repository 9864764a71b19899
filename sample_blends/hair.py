"""Hair of four kinds: long on a head that turns, curls that bounce, a ponytail, and fur."""

from collections.abc import Callable, Sequence
from math import pi, sin
from typing import Any, cast

import bpy
import numpy as np
from mathutils import Vector

from sample_blends.stage import (
    Points,
    animate,
    camera,
    empty_scene,
    light_and_ground,
    plain,
)
from verlet_addon.blender.scene.body_creation import make_bodies
from verlet_addon.blender.scene.hair_creation import new_hair
from verlet_addon.blender.settings.materials import give_material

HEAD, RADII = np.array((0.0, 0.0, 1.55)), np.array((0.078, 0.098, 0.115))
"""Middle and half axes of the head [m]."""
SHOULDERS = (np.array((0.0, 0.01, 1.24)), np.array((0.2, 0.09, 0.1)))
"""Middle and half axes of the shoulders [m]."""
SKIN = (0.55, 0.33, 0.24)
GAP = 0.008
"""Distance that grooms keep from the skin [m]."""
THICK = {"STRAIGHT": 0.0016, "CURLY": 0.0022, "PONYTAIL": 0.0022, "FUR": 0.0016}
"""Radii of locks at their roots [m]."""
Ways = Callable[[Points, float], Points]
"""Ways (k, 3) of the next segments, given normals of roots (k, 3) and the share of the length that
they begin at."""


def long_hair() -> None:
    """Long hair on a head that turns to one side, to the other, and back."""
    head = _bust(frame_end=96)
    turn = {1: 0.0, 12: 0.0, 26: 1.1, 40: 1.1, 56: -1.1, 66: -1.1, 80: 0.0}
    animate(head, "rotation_euler", {frame: (0.0, 0.0, angle) for frame, angle in turn.items()})
    strands = _grown(_scalp(220), length=0.36, points=25, ways=_hanging)
    _hair("Long Hair", strands, head, "STRAIGHT", (0.06, 0.02, 0.008))
    camera((0.75, -1.35, 1.62), (0.0, 0.0, 1.4), lens=60)


def curls() -> None:
    """Curls on a head that hops twice."""
    head = _bust(frame_end=96)
    rest = tuple(HEAD)
    hops: dict[int, Sequence[float]] = {1: rest, 10: rest}
    for start in (14, 30):
        hops |= {start: rest, start + 7: (*HEAD[:2], HEAD[2] + 0.05), start + 14: rest}
    animate(head, "location", hops)
    strands = _curled(_grown(_scalp(120), length=0.2, points=49, ways=_hanging, gap=0.019))
    _hair("Curls", strands, head, "CURLY", (0.16, 0.05, 0.015))
    camera((0.75, -1.35, 1.62), (0.0, 0.0, 1.45), lens=60)


def ponytail() -> None:
    """A ponytail, which a band holds, on a head that nods and turns."""
    head = _bust(frame_end=96)
    for frame in range(1, 74, 4):
        ease = min((frame - 1) / 12, (73 - frame) / 12, 1.0)
        angles = (0.22 * ease * sin(frame * pi / 10), 0.0, 0.5 * ease * sin(frame * pi / 20))
        animate(head, "rotation_euler", {frame: angles})
    band = HEAD + np.array((0.0, 0.125, 0.05))
    spread = np.random.default_rng(4).normal(size=(70, 3)) * np.array((0.006, 0.004, 0.006))
    way = np.array((0.0, 0.9, 0.35)) + 12.0 * spread
    strands = _grown((band + spread, way), length=0.32, points=25, ways=_falling)
    obj = _hair("Ponytail", strands, head, "PONYTAIL", (0.35, 0.16, 0.05))
    cap = _ellipsoid("Hair", RADII * np.array((1.04, 1.05, 1.03)), (0.35, 0.16, 0.05))
    cap.parent, cap.location = head, (0.0, 0.012, 0.012)
    ring = _ellipsoid("Band", np.array((0.018, 0.012, 0.018)), (0.5, 0.03, 0.04))
    ring.parent, ring.location = head, band - HEAD - np.array((0.0, 0.004, 0.0))
    obj.verlet.thickness = 0.004
    camera((1.25, 0.55, 1.6), (0.0, 0.1, 1.42), lens=60)


def fur() -> None:
    """A furry animal that runs in place: its body stretches, and its fur follows."""
    empty_scene(frame_end=72)
    body = _ellipsoid("Body", np.array((0.16, 0.3, 0.15)), (0.3, 0.13, 0.05))
    body.location = (0.0, 0.0, 0.42)
    _run(body)
    _face(body)
    legs = plain("Dark Fur", (0.10, 0.03, 0.015), roughness=0.8)
    for x in (-0.09, 0.09):
        for y in (-0.2, 0.2):
            leg = _ellipsoid("Leg", np.array((0.035, 0.035, 0.17)), (0.10, 0.03, 0.015))
            leg.data.materials[0], leg.parent = legs, body
            leg.location = (x, y, -0.2)
            swing = 0.7 if y < 0 else -0.7
            for frame in range(1, 74, 6):
                angle = swing * (1.0 if frame % 12 == 1 else -1.0)
                animate(leg, "rotation_euler", {frame: (angle, 0.0, 0.0)})
    radii = np.array((0.16, 0.3, 0.15))
    normals = _sphere(1100)
    normals = normals[normals[:, 2] > -0.75]
    roots = np.array(body.location) + normals * radii
    outward = normals / radii
    outward /= np.linalg.norm(outward, axis=1)[:, None]
    strands = _grown((roots, outward + np.array((0.0, 0.9, -0.3))), 0.055, 7, None)
    obj = _hair("Fur", strands, body, "FUR", (0.45, 0.2, 0.07))
    obj.verlet.bend_compliance = 2e6
    light_and_ground()
    camera((1.5, -0.9, 0.95), (0.0, 0.0, 0.4), lens=55)


def _face(body: Any) -> None:
    """Adds a head with ears, and a tail."""
    red, dark = (0.3, 0.13, 0.05), (0.10, 0.03, 0.015)
    parts = (
        ("Head", (0.095, 0.11, 0.09), (0.0, -0.34, 0.12), red),
        ("Nose", (0.03, 0.07, 0.03), (0.0, -0.44, 0.1), dark),
        ("Ear", (0.03, 0.015, 0.06), (0.06, -0.31, 0.21), dark),
        ("Ear", (0.03, 0.015, 0.06), (-0.06, -0.31, 0.21), dark),
        ("Tail", (0.03, 0.16, 0.03), (0.0, 0.4, 0.06), red),
    )
    for name, radii, place, color in parts:
        part = _ellipsoid(name, np.array(radii), color)
        part.parent, part.location = body, place


def _run(body: Any) -> None:
    """Keys the gallop of a body, which also stretches by a shape key."""
    body.shape_key_add(name="Basis")
    long = body.shape_key_add(name="Stretched")
    for point in long.data:
        point.co *= Vector((0.92, 1.15, 0.94))
    for frame in range(1, 74, 6):
        high = frame % 12 == 7
        animate(body, "location", {frame: (0.0, 0.0, 0.47 if high else 0.40)})
        animate(body, "rotation_euler", {frame: (0.12 if high else -0.12, 0.0, 0.0)})
        long.value = 1.0 if high else 0.0
        long.keyframe_insert("value", frame=frame)


def _bust(*, frame_end: int) -> Any:
    """Shoulders and neck, which stand still, and a head; returns the head."""
    empty_scene(frame_end=frame_end)
    shoulders = _ellipsoid("Shoulders", SHOULDERS[1], (0.08, 0.1, 0.16))
    shoulders.location = SHOULDERS[0]
    neck = _ellipsoid("Neck", np.array((0.045, 0.048, 0.12)), SKIN)
    neck.location = (0.0, 0.005, 1.38)
    head = _ellipsoid("Head", RADII, SKIN)
    head.location = HEAD
    nose = _ellipsoid("Nose", np.array((0.012, 0.02, 0.02)), SKIN)
    nose.parent, nose.location = head, (0.0, -0.098, -0.015)
    for obj in (shoulders, neck, head):
        obj.modifiers.new("Collision", "COLLISION")
        obj.collision.thickness_outer = 0.002
    light_and_ground()
    return head


def _ellipsoid(name: str, radii: Points, color: tuple[float, float, float]) -> Any:
    """Adds an ellipsoid around its origin, with a UV map."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=20, radius=1.0)
    obj: Any = bpy.context.object
    obj.name = name
    for vertex in obj.data.vertices:
        vertex.co *= Vector(radii.tolist())
    bpy.ops.object.shade_smooth()
    obj.data.materials.append(plain(name, color, roughness=0.6))
    return obj


def _sphere(count: int) -> Points:
    """(count, 3) unit vectors, spread evenly."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle = np.arange(count) * pi * (3.0 - 5.0**0.5)
    flat = np.sqrt(1.0 - z**2)
    return np.stack((flat * np.cos(angle), flat * np.sin(angle), z), axis=1)


def _scalp(count: int) -> tuple[Points, Points]:
    """Some roots on the head, without its face, and their normals."""
    ways = _sphere(3 * count)
    ways = ways[ways[:, 2] > np.where(ways[:, 1] < 0.1, 0.45 - 0.55 * ways[:, 1], -0.35)]
    ways = ways[np.linspace(0, len(ways) - 1, min(count, len(ways))).astype(int)]
    normals = ways / RADII
    return HEAD + ways * RADII, normals / np.linalg.norm(normals, axis=1)[:, None]


def _hanging(normals: Points, share: float) -> Points:
    """Away from a parting, along the head, and down."""
    side = np.stack((np.sign(normals[:, 0]), 0.35 + 0 * normals[:, 0], -1.2 + 0 * normals[:, 0]))
    along = side.T * np.array((1.0, 1.0, 1.0))
    flat = along - normals * np.einsum("kx,kx->k", along, normals)[:, None]
    down = np.array((0.0, 0.0, -1.0))
    lift = 0.5 * np.exp(-share / 0.03)
    return np.asarray(flat * np.exp(-share / 0.2) + lift * normals + down * share / 0.2)


def _falling(normals: Points, share: float) -> Points:
    """As from a band: along the normals at first, and down in a bow."""
    down = np.array((0.0, 0.0, -1.0))
    return np.asarray(normals * np.exp(-share / 0.15) + down * min(share / 0.3, 1.0))


def _grown(
    roots: tuple[Points, Points],
    length: float,
    points: int,
    ways: Ways | None,
    *,
    gap: float = GAP,
) -> Points:
    """(k, points, 3) strands from roots with their normals, outside of head and shoulders.

    Without ways, straight along their normals.
    """
    places, normals = roots[0], roots[1] / np.linalg.norm(roots[1], axis=1)[:, None]
    strands, step = [places], length / (points - 1)
    for number in range(points - 1):
        way = normals if ways is None else ways(normals, number / (points - 1))
        ahead = strands[-1] + step * way / np.linalg.norm(way, axis=1)[:, None]
        for _ in range(0 if ways is None else 4):
            for middle, radii in ((HEAD, RADII), SHOULDERS):
                ahead = _outside(ahead, middle, radii + gap * min(number, 1))
            span = ahead - strands[-1]
            ahead = strands[-1] + step * span / np.linalg.norm(span, axis=1)[:, None]
        strands.append(ahead)
    return np.stack(strands, axis=1)


def _outside(places: Points, middle: Points, radii: Points) -> Points:
    """Places (k, 3), those within an ellipsoid at its surface."""
    within = (places - middle) / radii
    size = np.linalg.norm(within, axis=1)[:, None]
    return np.asarray(middle + within * radii * np.maximum(1.0, 1.0 / np.maximum(size, 1e-9)))


def _curled(strands: Points) -> Points:
    """Strands (k, n, 3) wound around themselves, more from root to tip."""
    count = strands.shape[1]
    share = np.linspace(0.0, 1.0, count)
    along = np.gradient(strands, axis=1)
    along /= np.linalg.norm(along, axis=2)[:, :, None]
    side = np.cross(along, np.array((0.3, 1.0, 0.1)))
    side /= np.linalg.norm(side, axis=2)[:, :, None]
    other = np.cross(along, side)
    phase = np.arange(len(strands))[:, None] * 2.4 + 2.0 * pi * 5.0 * share
    radius = 0.011 * np.minimum(share / 0.25, 1.0)
    wound = np.cos(phase)[:, :, None] * side + np.sin(phase)[:, :, None] * other
    curled = np.asarray(strands + radius[:, None] * (wound - wound[:, :1]))
    for middle, radii in ((HEAD, RADII), SHOULDERS):
        free = _outside(curled[:, 2:].reshape(-1, 3), middle, radii + GAP)
        curled[:, 2:] = free.reshape(len(curled), -1, 3)
    return curled


def _hair(name: str, strands: Points, surface: Any, material: str, color: Any) -> Any:
    """Adds hair of locks that become thinner towards their tips."""
    radii = THICK[material] * np.linspace(1.0, 0.4, strands.shape[1])
    obj = add_hair(name, strands, surface, material=material, color=color, radii=radii)
    obj.verlet.strand_friction = 10.0
    return obj


def add_hair(
    name: str, strands: Points, surface: Any, *, material: str, color: Any, radii: Points
) -> Any:
    """Adds hair that grows on a surface, and makes it a body.

    It grows through places (k, n, 3) and is as thick as radii (n,) say.
    """
    cast(Any, bpy.context.view_layer).update()
    scene = cast(Any, bpy.context.scene)
    obj: Any = new_hair(name, list(strands), surface, scene)
    for other in scene.objects:
        other.select_set(other == obj)
    cast(Any, bpy.context.view_layer).objects.active = obj
    cast(Any, bpy.context.view_layer).update()
    bpy.ops.curves.snap_curves_to_surface(attach_mode="NEAREST")
    make_bodies([obj], cast(Any, bpy.context.view_layer), body_type="HAIR", use_material=True)
    give_material(obj.verlet, material)
    looks: Any = bpy.data.materials.new(name)
    looks.use_nodes = True
    nodes, links = looks.node_tree.nodes, looks.node_tree.links
    nodes.clear()
    shader = nodes.new("ShaderNodeBsdfHairPrincipled")
    shader.inputs["Color"].default_value = (*color, 1.0)
    links.new(shader.outputs[0], nodes.new("ShaderNodeOutputMaterial").inputs[0])
    obj.data.materials.append(looks)
    radius = obj.data.attributes.new("radius", "FLOAT", "POINT")
    radius.data.foreach_set("value", np.tile(radii, len(strands)).astype(np.float32))
    return obj
