"""Property group on scenes; as for bodies, ranges are soft and the core checks the hard ones."""

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...core.settings import SceneSettings
from .overridable import overridable

_SCENE = SceneSettings()

BAKE_MODES = (
    ("RELATIVE", "Shape Keys", "One shape key per frame; plays and exports everywhere"),
    (
        "CACHE",
        "Cache",
        "Files beside the .blend file, for long bakes; can be resumed",
    ),
    (
        "ABSOLUTE",
        "Absolute Keys",
        "One shape key per frame and a single curve; a thousand keys play fast",
    ),
    (
        "COMPACT",
        "Components",
        "A few shape keys that are mixed, within a tolerance; small files for jelly and ropes",
    ),
)
"""Forms in which a bake keeps the motion."""


STEPS_PER_SECOND = 240
"""Default number of steps in a second: 10 a frame at 24 frames a second."""


def _use_substeps(group: Any, _context: Any) -> None:
    """Has a number of steps a frame count as soon as it is set."""
    group.use_steps_per_second = False


def _use_steps_per_second(group: Any, _context: Any) -> None:
    """Has a number of steps a second count as soon as it is set."""
    group.use_steps_per_second = True


@overridable
class VERLET_PG_scene(bpy.types.PropertyGroup):
    """Verlet settings of one scene."""

    settle_frames: IntProperty(
        name="Settle",
        description="Frames simulated before the first one, with all animation stopped, in which "
        "bodies come to rest; they get no shape keys",
        default=0,
        min=0,
        soft_max=100,
        options=set(),
    )
    bake_mode: EnumProperty(
        name="Bake To",
        description="Form in which the buttons of the panel keep the motion",
        items=BAKE_MODES,
        default="RELATIVE",
        options=set(),
    )
    key_step: IntProperty(
        name="Step",
        description="Frames from one shape key to the next; fewer keys make smaller files, and "
        "vertices move in straight lines between them",
        default=1,
        min=1,
        soft_max=10,
        options=set(),
    )
    component_tolerance: FloatProperty(
        name="Tolerance",
        description="How far any vertex may be from the simulation at any frame",
        default=0.001,
        min=1e-6,
        soft_max=0.1,
        precision=4,
        step=0.1,
        subtype="DISTANCE",
        options=set(),
    )
    loop_length: IntProperty(
        name="Loop",
        description="Number of frames after which a bake repeats, so that it plays without end; "
        "0 bakes the range as it is",
        default=0,
        min=0,
        soft_max=500,
        options=set(),
    )
    use_live: BoolProperty(
        name="Live",
        description="Frames are simulated as the timeline comes to them, and shown without a bake; "
        "off in every file that is opened",
        default=False,
        options=set(),
    )
    baked_remarks: StringProperty(
        name="Remarks",
        description="Warnings of the last bake",
        options={"HIDDEN"},
    )
    settings_version: IntProperty(
        name="Settings Version",
        description="Version of the add-on's settings with which the file was saved",
        options={"HIDDEN"},
    )
    use_steps_per_second: BoolProperty(
        name="By Second",
        description="Make as many steps in a second at every frame rate, so that the motion is the "
        "same; switched off, as many in a frame",
        default=True,
        options=set(),
    )
    iterations: IntProperty(
        name="Iterations",
        description="Iterations per step; more substeps help more than more iterations",
        default=_SCENE.iterations,
        soft_min=1,
        soft_max=100,
        options={"ANIMATABLE"},
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="End the iterations of a step once no edge is stretched by more than this "
        "share; 0 = always all iterations",
        default=_SCENE.tolerance,
        soft_min=0.0,
        soft_max=0.1,
        precision=4,
        step=0.1,
        options={"ANIMATABLE"},
    )
    integrator: EnumProperty(
        name="Method",
        description="Time integration of motion from one step to the next",
        items=(
            ("TCV_EXACT", "Exact", "Exact free fall at any frame rate, also while time is scaled"),
            ("TCV", "Time-Corrected", "Time-corrected Verlet as it was first published"),
            ("VERLET", "Plain", "Verlet without time correction, for comparison"),
        ),
        default=_SCENE.integrator,
        options=set(),
    )
    time_scale: FloatProperty(
        name="Time Scale",
        description="Speed of time: below 1 is slow motion, 0 stops it; can be animated",
        default=_SCENE.time_scale,
        soft_min=0.0,
        soft_max=2.0,
        step=10,
        options={"ANIMATABLE"},
    )
    use_ground: BoolProperty(
        name="Ground",
        description="Bodies rest on a ground plane",
        default=_SCENE.use_ground,
    )
    ground_height: FloatProperty(
        name="Height",
        description="Height of the ground plane, or its distance from the ground object",
        default=_SCENE.ground_height,
        step=10,
        subtype="DISTANCE",
    )
    ground_object: PointerProperty(
        name="Object",
        description="Object whose local XY plane is the ground, to tilt or animate it",
        type=bpy.types.Object,
    )
    ground_friction: FloatProperty(
        name="Friction",
        description="Coefficient of friction, 0 slides freely; the lower of both surfaces counts",
        default=_SCENE.ground_friction,
        soft_min=0.0,
        soft_max=2.0,
        step=10,
        options={"ANIMATABLE"},
    )
    ground_restitution: FloatProperty(
        name="Bounciness",
        description="Share of the speed that is kept in a bounce; the higher of both surfaces "
        "counts",
        default=_SCENE.ground_restitution,
        soft_min=0.0,
        soft_max=1.0,
        step=10,
        options={"ANIMATABLE"},
    )


# The stubs say that the functions of bpy.props return nothing.
_properties: Any = bpy.props

STEP_COUNTS: dict[str, Any] = {
    "steps_per_second": _properties.IntProperty(
        name="Substeps per Second",
        description="Steps per second, rounded up to whole steps per frame; more follow fast "
        "motion more closely and take longer",
        default=STEPS_PER_SECOND,
        min=1,
        max=100_000,
        soft_min=24,
        soft_max=2400,
        update=_use_steps_per_second,
        options={"ANIMATABLE"},
        override={"LIBRARY_OVERRIDABLE"},
    ),
    "substeps": _properties.IntProperty(
        name="Substeps",
        description="Steps per frame, while By Second is off; more follow fast motion more closely "
        "and take longer",
        default=_SCENE.substeps,
        soft_min=1,
        soft_max=100,
        update=_use_substeps,
        options={"ANIMATABLE"},
        override={"LIBRARY_OVERRIDABLE"},
    ),
}
"""Properties of VERLET_PG_scene that are added after its registration, and removed before its end:
Blender 4.2 as a Python module crashes at its end if an annotation has had a callback."""
