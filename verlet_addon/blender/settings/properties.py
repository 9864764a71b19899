"""Property groups on objects; the defaults are those of `core.settings`."""

from typing import Any, cast

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    StringProperty,
)

from ...core.materials import MATERIALS
from ...core.settings import BodySettings
from .attachment_properties import VERLET_PG_attachment
from .bone_properties import BoneBodyProperties
from .collision_force_properties import InfluenceProperties
from .curve_properties import CurveProperties
from .direction_properties import DirectionProperties
from .hair_properties import HairProperties
from .overridable import overridable
from .rest_shape_properties import ShapeProperties
from .scene_properties_group import VERLET_PG_scene
from .solid_properties import SolidProperties

_BODY = BodySettings()

BODY_TYPES = (
    ("CLOTH", "Cloth", "A thin sheet: flags, curtains, garments", "MOD_CLOTH", 0),
    ("ROPE", "Rope", "Edges without faces: ropes, chains, hair", "CURVE_PATH", 1),
    ("SOFT", "Jelly", "A closed surface that is filled: balls, cushions", "MOD_SOFT", 2),
    ("WATER", "Water", "A surface that ripples where colliders or pins dip in", "MOD_OCEAN", 3),
    ("HAIR", "Hair", "The curves of a Curves object: hair, fur, feathers", "CURVES_DATA", 4),
    (
        "FLESH",
        "Flesh",
        "Fat and skin of a posed mesh, which wobble over bones",
        "MOD_SMOOTH",
        5,
    ),
)
HAIR_TYPES = tuple(item for item in BODY_TYPES if item[0] == "HAIR")
MESH_TYPES = tuple(item for item in BODY_TYPES if item[0] != "HAIR")
"""The type of Curves objects, and those that meshes can have."""

NO_MATERIAL = "NONE"
MATERIAL_ITEMS = (
    (NO_MATERIAL, "None", "Settings of your own", 0),
    *(
        (name, material.label, material.example, number)
        for number, (name, material) in enumerate(MATERIALS.items(), start=1)
    ),
)

# Ranges here are soft: `core.settings` checks the valid range, with an error message.
# `options=set()` makes a property not animatable: a bake reads it once, at the first frame, and
# docs/reference/animation.md says why.
# The groups have no methods: with one, Blender 4.2 as a Python module crashes at exit.


@overridable
class VERLET_PG_baked_key(bpy.types.PropertyGroup):
    """One shape key that a bake made; its `name` is the key's name."""


@overridable
class VERLET_PG_body(
    ShapeProperties,
    CurveProperties,
    DirectionProperties,
    HairProperties,
    BoneBodyProperties,
    InfluenceProperties,
    SolidProperties,
    bpy.types.PropertyGroup,
):
    """Verlet settings of one object."""

    enabled: BoolProperty(
        name="Verlet Body",
        description=(
            "Bake and Clear Bake include this object; "
            "switched off, it keeps its settings and its bake"
        ),
        options=set(),
    )
    body_type: EnumProperty(
        name="Type",
        description="Type of body: cloth, rope, jelly, water or flesh, and of Curves objects hair",
        items=BODY_TYPES,
        default=_BODY.body_type,
        options=set(),
    )
    mass: FloatProperty(
        name="Mass",
        description="Weight of the whole object",
        default=_BODY.mass,
        soft_min=0.001,
        soft_max=100.0,
        step=10,
        precision=3,
        unit="MASS",
        options={"ANIMATABLE"},
    )
    use_density: BoolProperty(
        name="By Size",
        description="Set a density in place of a mass, so that larger meshes weigh more",
        default=_BODY.use_density,
        options={"ANIMATABLE"},
    )
    density: FloatProperty(
        name="Density",
        description="Kilograms per square metre of cloth, metre of rope, cubic metre of the others",
        default=_BODY.density,
        soft_min=0.001,
        soft_max=2000.0,
        step=1,
        precision=3,
        options={"ANIMATABLE"},
    )
    material: EnumProperty(
        name="Material",
        description="The last material that was set for the object",
        items=MATERIAL_ITEMS,
        default=NO_MATERIAL,
        options=set(),
    )
    pin_group: StringProperty(
        name="Pin Group",
        description=(
            "Vertex group that holds the object: weight 1 follows the animated mesh exactly, "
            "0 is free, between is drawn towards it"
        ),
        options=set(),
    )
    attachments: CollectionProperty(
        name="Attachments",
        description="Vertex groups that are held to other objects",
        type=VERLET_PG_attachment,
    )
    attachment_index: IntProperty(
        name="Attachment",
        description="The attachment that the panel shows",
        options={"HIDDEN"},
    )
    stretch_compliance: FloatProperty(
        name="Stretch Softness",
        description="How far edges give when pulled, in metres per newton; of ropes, the share per "
        "newton. 0 does not stretch at all",
        default=_BODY.stretch_compliance,
        soft_min=0.0,
        soft_max=1.0,
        step=0.1,
        precision=5,
        options={"ANIMATABLE"},
    )
    shear_compliance: FloatProperty(
        name="Shear Softness",
        description="How easily faces skew, in metres per newton; 0 keeps their corners square",
        default=_BODY.shear_compliance,
        soft_min=0.0,
        soft_max=1.0,
        step=0.1,
        precision=5,
        options={"ANIMATABLE"},
    )
    bend_compliance: FloatProperty(
        name="Bend Softness",
        description="How easily it folds, in 1/(N m), of ropes in 1/(N m²); 0 keeps its shape, "
        "more is limper",
        default=_BODY.bend_compliance,
        soft_min=0.0,
        soft_max=1e6,
        step=100,
        precision=3,
        options={"ANIMATABLE"},
    )
    pressure: FloatProperty(
        name="Pressure",
        description="Pressure of the gas inside over the outside, at rest, in pascal; 0 is no gas. "
        "Holes are closed by flat lids; a value that is keyed to 0 lets the gas escape",
        default=_BODY.pressure,
        soft_min=0.0,
        soft_max=10_000.0,
        step=1000,
        precision=1,
        options={"ANIMATABLE"},
    )
    wave_speed: FloatProperty(
        name="Wave Speed",
        description="How fast ripples run on water, whatever its mesh",
        default=_BODY.wave_speed,
        soft_min=0.0,
        soft_max=10.0,
        step=10,
        unit="VELOCITY",
        options=set(),
    )
    damping: FloatProperty(
        name="Damping",
        description="Rate at which air slows it down, per second; 0 is none",
        default=_BODY.damping,
        soft_min=0.0,
        soft_max=10.0,
        step=10,
        options={"ANIMATABLE"},
    )
    angle_limit: FloatProperty(
        name="Angle Limit",
        description="How far each edge of a rope may turn away from its shape, relative to the "
        "edge before; 180° is no limit",
        default=_BODY.angle_limit,
        min=0.0,
        max=_BODY.angle_limit,
        subtype="ANGLE",
        options=set(),
    )
    twist_ratio: FloatProperty(
        name="Twist",
        description="Stiffness of a rope against twisting over that against bending: 0.77 of a "
        "round wire, less of yarns and chains, whose coils hang lower",
        default=_BODY.twist_ratio,
        min=1e-3,
        soft_max=1.0,
        step=1,
        options=set(),
    )
    inner_damping: FloatProperty(
        name="Inner Damping",
        description="Loss factor of the material, by which its vibrations die down: at 0.03 jelly "
        "swings some five times after it has landed, at 1 hardly once. Cloth and coiled ropes "
        "spring back like a ruler at 0.01, and sluggishly at 1",
        default=_BODY.inner_damping,
        soft_min=0.0,
        soft_max=1.0,
        step=1,
        precision=3,
        options={"ANIMATABLE"},
    )
    use_tethers: BoolProperty(
        name="Keep Pin Distance",
        description="Never let any part hang further from the pins than the material is long",
        default=_BODY.use_tethers,
        options={"ANIMATABLE"},
    )
    baked_keys: CollectionProperty(
        name="Baked Keys",
        description="Shape keys that the last bake made",
        type=VERLET_PG_baked_key,
        options={"HIDDEN"},
    )
    baked_start: IntProperty(
        name="Baked Start",
        description="First frame of the last bake",
        options={"HIDDEN"},
    )
    baked_end: IntProperty(
        name="Baked End",
        description="Last frame of the last bake",
        options={"HIDDEN"},
    )
    baked_settings: StringProperty(
        name="Baked Settings",
        description="Hash of the settings of the last bake",
        options={"HIDDEN"},
    )
    baked_inputs: StringProperty(
        name="Baked Inputs",
        description="Hash of the meshes, animation, colliders and force fields of the last bake",
        options={"HIDDEN"},
    )
    baked_kernels: StringProperty(
        name="Baked Kernels",
        description="Kernels of the last bake: NumPy or compiled",
        options={"HIDDEN"},
    )
    fitted_keys: CollectionProperty(
        name="Fitted Keys",
        description="Shape keys that a fit to the morphs of a body made",
        type=VERLET_PG_baked_key,
        options={"HIDDEN"},
    )
    baked_form: StringProperty(
        name="Baked Form",
        description="Form of the baked shape keys: ABSOLUTE or COMPACT; else a key per frame",
        options={"HIDDEN"},
    )
    baked_step: IntProperty(
        name="Baked Step",
        description="Frames from one baked shape key to the next",
        default=1,
        options={"HIDDEN"},
    )
    baked_loop: IntProperty(
        name="Baked Loop",
        description="Number of frames after which the bake repeats; 0 if it does not",
        options={"HIDDEN"},
    )
    baked_worst: FloatProperty(
        name="Baked Worst",
        description="Largest distance of a vertex from the simulation, where the form is not exact",
        options={"HIDDEN"},
    )
    baked_rms: FloatProperty(
        name="Baked RMS",
        description="Root mean square of these distances over vertices, frames and half frames",
        options={"HIDDEN"},
    )
    own_eval_time: FloatProperty(
        name="Own Evaluation Time",
        description="Evaluation time of the shape keys before they became absolute",
        options={"HIDDEN"},
    )
    made_basis: BoolProperty(
        name="Made Basis",
        description="The bake also made the Basis key",
        options={"HIDDEN"},
    )


def body_properties(obj: bpy.types.Object) -> VERLET_PG_body:
    """The Verlet settings of an object."""
    holder: Any = obj
    return cast(VERLET_PG_body, holder.verlet)


def is_body(obj: bpy.types.Object) -> bool:
    """Whether an object is a body, enabled or not: `convert` sets the type of every body."""
    body = body_properties(obj)
    return body.enabled or body.is_property_set("body_type")


def scene_properties(scene: bpy.types.Scene) -> VERLET_PG_scene:
    """The Verlet settings of a scene."""
    holder: Any = scene
    return cast(VERLET_PG_scene, holder.verlet)
