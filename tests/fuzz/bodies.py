"""Random bodies: a mesh somewhere in the scene, and what users do to it before they bake."""

from collections.abc import Callable
from typing import Any

import bpy
from mathutils import Vector

from tests.blender.scenes import mesh_object
from tests.fuzz.draw import Draw
from tests.fuzz.shapes import shape

MODIFIERS = (
    *("SUBSURF", "MIRROR", "SOLIDIFY", "ARRAY", "ARMATURE", "WELD", "TRIANGULATE", "CAST", "WAVE"),
    *("HOOK", "LATTICE", "DECIMATE", "NODES", "SIMPLE_DEFORM", "COLLISION", "CLOTH"),
)
DRIVERS = ("frame/10", "sin(frame)", "3+1/(frame-5)", "1+", "missing", "1/0", "self.value")
GROUPS = ("Pin", "Some", "Nowhere")
NAMED = ("group", "pin_group", "collisions")


def add_object(draw: Draw, name: str) -> tuple[Any, str]:
    """A mesh object of a random shape at a random place, and what to call its shape."""
    kind, parts = shape(draw)
    obj = mesh_object(name, *parts)
    obj.location = draw.vector(draw.one_of((0.0, 0.3, 1.0, 1.0, 1000.0)))
    obj.location.z += 1.0
    if draw.chance(0.5):
        obj.rotation_euler = draw.vector(1.0)
    if draw.chance(0.3):
        obj.scale = draw.vector(1.0)
    if draw.chance(0.15):
        obj.scale *= draw.one_of((1e-6, 1e-3, 0.01, 100.0, 1e5))
    if draw.chance(0.02):
        obj.scale[draw.whole(0, 2)] = 0.0
    return obj, kind


def groups(draw: Draw, obj: Any) -> str:
    """Vertex groups, painted in part or not at all."""
    count = len(obj.data.vertices)
    for name in GROUPS[:2]:
        group = obj.vertex_groups.new(name=name)
        share = draw.one_of((0.0, 0.1, 0.5, 0.9, 1.0))
        for vertex in range(count):
            if draw.chance(share):
                group.add([vertex], draw.one_of((1.0, 1.0, draw.between(0.0, 1.0))), "REPLACE")
    if draw.chance(0.7):
        obj.verlet.pin_group = "Pin"
    return "groups"


def settings(draw: Draw, obj: Any) -> str:
    """Values of any properties; of names, some that are there and some that are not."""
    for prop in obj.verlet.bl_rna.properties:
        if prop.is_readonly or prop.is_hidden or not draw.chance(0.15):
            continue
        if prop.type == "STRING":
            setattr(obj.verlet, prop.identifier, _name(draw, obj, prop.identifier))
        elif prop.type in ("BOOLEAN", "FLOAT", "INT"):
            setattr(obj.verlet, prop.identifier, draw.value(prop))
    obj.verlet.enabled = draw.chance(0.95)
    return "settings"


def _name(draw: Draw, obj: Any, prop: str) -> str:
    """What a property of an object may name: groups, keys, UV maps, or nothing."""
    if prop.endswith(NAMED):
        return draw.one_of(GROUPS[:2]) if obj.vertex_groups or draw.chance(0.05) else ""
    if prop == "rest_key" and obj.data.shape_keys is not None:
        return str(obj.data.shape_keys.key_blocks[-1].name)
    if prop == "thread_map" and obj.data.polygons:
        return _thread_map(draw, obj)
    return draw.one_of(("", "", "", "Nowhere"))


def _thread_map(draw: Draw, obj: Any) -> str:
    """A UV map from above, turned, or with all corners in one place."""
    layer = obj.data.uv_layers.new(name="Threads")
    size = draw.one_of((1.0, 1.0, 0.0))
    for loop in obj.data.loops:
        place = obj.data.vertices[loop.vertex_index].co
        layer.data[loop.index].uv = (size * place.x, size * (place.y + 0.2 * place.z))
    return "Threads"


def nonsense(draw: Draw, obj: Any) -> str:
    """A value that the soft range leaves out."""
    numbers = [p for p in obj.verlet.bl_rna.properties if p.type in ("FLOAT", "INT")]
    prop = draw.one_of([p for p in numbers if not p.is_hidden])
    value = draw.value(prop, nonsense=True)
    setattr(obj.verlet, prop.identifier, value)
    return f"{prop.identifier} {value:g}"


def modifiers(draw: Draw, obj: Any) -> str:
    """Some modifiers in any order."""
    kinds = [draw.one_of(MODIFIERS) for _ in range(draw.whole(1, 3))]
    for kind in kinds:
        modifier = obj.modifiers.new(kind.title(), kind)
        if hasattr(modifier, "object") and draw.chance(0.7):
            others = [other for other in bpy.data.objects if other != obj]
            fitting = [o for o in others if kind not in ("ARMATURE", "LATTICE") or o.type == kind]
            modifier.object = draw.one_of(fitting) if fitting else None
    return "+".join(kinds)


def armature(draw: Draw, obj: Any) -> str:
    """Carried by an animated armature of one bone."""
    data: Any = bpy.data.armatures.new("Rig")
    rig: Any = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    data.edit_bones.new("Bone").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.vertex_groups.new(name="Bone").add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    obj.parent, obj.parent_type = rig, draw.one_of(("OBJECT", "ARMATURE"))
    _animate(draw, rig, "location")
    return "armature"


def keys(draw: Draw, obj: Any) -> str:
    """Shape keys of the user's, some animated or driven."""
    said = ["keys"]
    obj.shape_key_add(name="Basis", from_mix=False)
    for number in range(draw.whole(0, 2)):
        block = obj.shape_key_add(name=f"Key {number}", from_mix=False)
        for point in block.data if draw.chance(0.8) else ():
            point.co += Vector(draw.vector(0.05))
        block.value = draw.one_of((0.0, 1.0, draw.between(0.0, 1.0)))
        block.mute = draw.chance(0.1)
        if draw.chance(0.3):
            block.driver_add("value").driver.expression = expression = draw.one_of(DRIVERS)
            said.append(expression)
        elif draw.chance(0.3):
            _animate(draw, block, "value")
    if draw.chance(0.05):
        obj.data.shape_keys.use_relative = False
    obj.active_shape_key_index = 0
    obj.show_only_shape_key = draw.chance(0.1)
    return " ".join(said)


def _animate(draw: Draw, owner: Any, path: str) -> None:
    """Two or three keys on the curves of a property, close by the frames that are baked."""
    start = bpy.context.scene.frame_start
    for _ in range(draw.whole(2, 3)):
        value = getattr(owner, path)
        changed = value * draw.between(0.0, 2.0) if isinstance(value, float) else draw.vector(1.0)
        setattr(owner, path, changed)
        owner.keyframe_insert(path, frame=start + draw.whole(-3, 6))


def motion(draw: Draw, obj: Any) -> str:
    """An animated object."""
    path = draw.one_of(("location", "location", "rotation_euler", "scale"))
    _animate(draw, obj, path)
    return f"animated {path}"


def animated_settings(draw: Draw, obj: Any) -> str:
    """Settings with curves or drivers."""
    animatable = [
        p.identifier
        for p in obj.verlet.bl_rna.properties
        if p.is_animatable and p.type == "FLOAT" and not p.is_hidden
    ]
    path = draw.one_of(animatable)
    if draw.chance(0.7):
        _animate(draw, obj.verlet, path)
        return f"animated {path}"
    expression = draw.one_of(DRIVERS[:-1])
    obj.driver_add(f"verlet.{path}").driver.expression = expression
    return f"{path} = {expression}"


def parent(draw: Draw, obj: Any) -> str:
    """Moved by another object, which may be a body, or held to it by a constraint."""
    others = [other for other in bpy.data.objects if other != obj]
    if not others:
        return ""
    other: Any = draw.one_of(others)
    if draw.chance(0.3):
        obj.constraints.new("COPY_LOCATION").target = other
        return f"copies {other.name}"
    if obj in (other.parent, *other.children_recursive):
        return ""
    obj.parent = other
    if other.type == "MESH" and len(other.data.vertices) and draw.chance(0.4):
        obj.parent_type = "VERTEX"
    return f"child of {other.name}"


def attachments(draw: Draw, obj: Any) -> str:
    """Groups that are held to other objects, or to nothing yet."""
    for _ in range(draw.whole(1, 2)):
        item = obj.verlet.attachments.add()
        item.target = draw.one_of([*bpy.data.objects, None])
        item.vertex_group = draw.one_of(("Pin", "Some", "", "Nowhere"))
        item.bone = draw.one_of(("", "", "Bone", "Nowhere"))
        item.weight = draw.one_of((1.0, draw.between(0.0, 1.0)))
        if draw.chance(0.2):
            _animate(draw, item, "weight")
    return "attachments"


FEATURES: tuple[tuple[float, Callable[[Draw, Any], str]], ...] = (
    (0.6, groups),
    (0.35, keys),
    (0.8, settings),
    (0.1, nonsense),
    (0.25, modifiers),
    (0.05, armature),
    (0.2, motion),
    (0.15, animated_settings),
    (0.15, parent),
    (0.15, attachments),
)
"""What is done to a body, in this order, and in what share of cases."""


def add_body(draw: Draw, number: int) -> str:
    """Adds a body; returns what it is."""
    obj, kind = add_object(draw, f"Body {number}")
    obj.verlet.enabled = True
    types: Any = [item.identifier for item in obj.verlet.bl_rna.properties["body_type"].enum_items]
    fitting = "ROPE" if not obj.data.polygons else draw.one_of(("CLOTH", "CLOTH", "SOFT"))
    obj.verlet.body_type = fitting if draw.chance(0.8) else draw.one_of(types)
    said = [f"{obj.verlet.body_type} {kind}"]
    said += [feature(draw, obj) for share, feature in FEATURES if draw.chance(share)]
    return f"{obj.name}: {', '.join(filter(None, said))}"
