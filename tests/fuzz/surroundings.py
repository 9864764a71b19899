"""Random scenes: time, gravity and ground, colliders and force fields around bodies."""

from typing import Any

import bpy

from tests.blender.scenes import blender
from tests.fuzz.bodies import add_body, add_object, motion
from tests.fuzz.draw import Draw

FIELDS = ("FORCE", "WIND", "VORTEX", "HARMONIC", "CHARGE", "TURBULENCE", "DRAG", "TEXTURE")
RANGES = ((1, 6), (1, 6), (1, 4), (0, 3), (-5, 0), (5, 5), (1, 1), (6, 2))
FRAME_RATES = ((24, 1.0), (24, 1.0), (30, 1.001), (12, 1.0), (120, 1.0), (1, 1.0), (25, 1e5))
GRAVITIES = ((0.0, 0.0, -9.81), (0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (0, 0, 1e3), (0, 0, -1e30))


def build(draw: Draw) -> str:
    """Fills an empty file; returns in one line what it holds."""
    colliders, bodies = draw.one_of((0, 0, 0, 1, 1, 2)), draw.one_of((1, 1, 1, 2, 2, 3, 4))
    said = [time(draw)]
    said += [add_collider(draw, number) for number in range(colliders)]
    said += [add_body(draw, number) for number in range(bodies)]
    said += [add_field(draw, number) for number in range(draw.one_of((0, 0, 0, 0, 1, 2)))]
    said.append(around(draw))
    return "; ".join(filter(None, said))


def time(draw: Draw) -> str:
    """Frames and their rate, where the scene stands, and what its Verlet settings are."""
    scene: Any = bpy.context.scene
    start, end = draw.one_of(RANGES)
    scene.use_preview_range = start < 0
    scene.frame_start, scene.frame_end = max(start, 0), max(end, 0)
    scene.frame_preview_start, scene.frame_preview_end = start, end
    if scene.use_preview_range or start > end:
        scene.frame_preview_end, scene.frame_preview_start = end, start
    scene.frame_current = draw.whole(-2, 8)
    scene.render.fps, scene.render.fps_base = rate = draw.one_of(FRAME_RATES)
    if rate[0] < 12.0 * rate[1]:
        scene.verlet.substeps = 10  # by the second, frames as long as these would take minutes
    for prop in scene.verlet.bl_rna.properties:
        # A live simulation adds and removes modifiers by itself.
        if prop.identifier == "use_live":
            continue
        if prop.type in ("BOOLEAN", "ENUM", "FLOAT", "INT") and draw.chance(0.2):
            setattr(scene.verlet, prop.identifier, draw.value(prop))
    return f"frames {start} to {end} at {rate[0]}/{rate[1]:g}"


def around(draw: Draw) -> str:
    """Gravity, ground, units, animated time, and what is shared, hidden or put away."""
    scene: Any = bpy.context.scene
    said = []
    if draw.chance(0.3):
        scene.gravity = draw.one_of(GRAVITIES)
        said.append(f"gravity {tuple(scene.gravity)}")
    if draw.chance(0.1):
        scene.verlet.ground_object = draw.one_of(bpy.data.objects[:])
        said.append(f"ground {scene.verlet.ground_object.name}")
    if draw.chance(0.1):
        for frame in (scene.frame_start - 1, scene.frame_start + 2, scene.frame_end):
            scene.verlet.time_scale = draw.one_of((0.0, 0.5, 1.0, 1.0, 3.0, -1.0))
            scene.verlet.keyframe_insert("time_scale", frame=frame)
        said.append("animated time")
    said.append(_odd_object(draw) if draw.chance(0.15) else "")
    return ", ".join(filter(None, said))


def _odd_object(draw: Draw) -> str:
    """Something that a single object of the scene is, and that few are."""
    obj: Any = draw.one_of([obj for obj in bpy.data.objects if obj.type == "MESH"])
    kind = draw.one_of(("hidden", "shared", "off", "instanced", "collections", "no physics"))
    if kind == "hidden":
        obj.hide_set(True)
    elif kind == "shared":
        bpy.context.scene.collection.objects.link(obj.copy())
    elif kind == "off":
        obj.hide_viewport = True
    else:
        away: Any = bpy.data.collections.new("Away")
        away.objects.link(obj)
        if kind == "instanced":
            instance = bpy.data.objects.new("Instance", None)
            instance.instance_type, instance.instance_collection = "COLLECTION", away
            bpy.context.scene.collection.objects.link(instance)
        elif kind == "collections":
            for each in blender.data.objects:
                each.verlet.collision_collection = each.verlet.effector_collection = away
        else:
            bpy.context.scene.use_gravity = False
    return f"{obj.name} {kind}"


def add_collider(draw: Draw, number: int) -> str:
    """Adds a collider, still or moving."""
    obj, kind = add_object(draw, f"Collider {number}")
    obj.location.z -= 1.0
    obj.modifiers.new("Collision", "COLLISION")
    collision = obj.collision
    collision.use_culling = draw.chance(0.3)
    for name in ("thickness_outer", "cloth_friction", "damping"):
        if draw.chance(0.3):
            setattr(collision, name, draw.value(collision.bl_rna.properties[name]))
    moved = motion(draw, obj) if draw.chance(0.3) else "still"
    return f"{obj.name}: {kind}, {moved}"


def add_field(draw: Draw, number: int) -> str:
    """Adds a force field."""
    obj: Any = bpy.data.objects.new(f"Field {number}", None)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = draw.vector(2.0)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.forcefield_toggle()
    kind: Any = draw.one_of(FIELDS)
    obj.field.type = kind
    for prop in obj.field.bl_rna.properties:
        if prop.type in ("BOOLEAN", "FLOAT", "INT") and not prop.is_readonly and draw.chance(0.15):
            setattr(obj.field, prop.identifier, draw.value(prop))
    obj.field.seed = 1
    obj.field.shape = draw.one_of(("POINT", "POINT", "PLANE"))
    return f"{obj.name}: {kind}"
