"""The interface shows the core's settings, with the core's defaults, in an artist's words."""

from collections.abc import Callable
from dataclasses import asdict, fields
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.blender.scenes import body, sheet

Addon = Callable[[str], ModuleType]

GROUPS = [("VERLET_PG_body", "BodySettings"), ("VERLET_PG_scene", "SceneSettings")]
OURS = {
    "VERLET_PG_body": {
        "enabled",
        "pin_group",
        "pin_weight",
        "follow_groom",
        "follow_attribute",
        "is_hair_carrier",
        "simulate_as",
        "armature",
        "use_pose_gravity",
        "bones_to",
        *("muted_constraints", "bone_colliders", "is_bone_collider"),
        "skirts",
        "keyed_bones",
        "keyed_action",
        "former_action",
        "maximum_distance_group",
        "hold_start",
        "hold_end",
        "pinned_points",
        "handle_types",
        "fitted_keys",
        "attachments",
        "attachment_index",
        "collision_collection",
        "effector_collection",
        "material",
        "stretch_group",
        "shear_group",
        "bend_group",
        "shrinking_group",
        "thickness_group",
        "pressure_group",
        "stiffness_group",
        "rigid_group",
        "vertex_group_object_collisions",
        "vertex_group_self_collisions",
        "rest_key",
        "thread_map",
        *("flesh_group", "muscle_group", "muscle_map"),
        "baked_keys",
        "baked_start",
        "baked_end",
        "baked_settings",
        "baked_inputs",
        "baked_kernels",
        *("baked_form", "baked_step", "baked_loop", "baked_worst", "baked_rms", "own_eval_time"),
        "made_basis",
    },
    "VERLET_PG_scene": {
        *("ground_object", "settle_frames", "bake_mode", "key_step", "baked_remarks", "use_live"),
        *("component_tolerance", "loop_length"),
        *("use_steps_per_second", "steps_per_second", "settings_version"),
    },
}


def properties_of(addon: Addon, group: str) -> dict[str, Any]:
    """The RNA properties that a group declares itself."""
    declared = getattr(addon("blender.settings.properties"), group)
    inherited = set(bpy.types.PropertyGroup.bl_rna.properties.keys())
    return {k: v for k, v in declared.bl_rna.properties.items() if k not in inherited}


@pytest.mark.parametrize(("group", "settings"), GROUPS)
def test_every_setting_of_the_core_is_shown_under_its_name(
    addon: Addon, group: str, settings: str
) -> None:
    core = {field.name for field in fields(getattr(addon("core.settings"), settings))}
    assert set(properties_of(addon, group)) == core | OURS[group]


@pytest.mark.parametrize(("group", "settings"), GROUPS)
def test_defaults_are_those_of_the_core(addon: Addon, group: str, settings: str) -> None:
    """To float32, in which Blender keeps numbers."""
    shown = properties_of(addon, group)
    for name, value in asdict(getattr(addon("core.settings"), settings)()).items():
        wanted = pytest.approx(value, rel=1e-7) if isinstance(value, float) else value
        assert shown[name].default == wanted, name


@pytest.mark.parametrize("group", OURS)
def test_defaults_lie_well_within_what_sliders_reach(addon: Addon, group: str) -> None:
    """At an end of its range a slider shows nothing of what is possible."""
    for name, shown in properties_of(addon, group).items():
        # Factors have all of their range, 0 … 1, on the slider, and angle limits all of theirs.
        if shown.type in ("FLOAT", "INT") and shown.subtype not in ("FACTOR", "ANGLE"):
            assert shown.soft_min <= shown.default < shown.soft_max, name


@pytest.mark.parametrize(("group", "settings"), GROUPS)
def test_choices_are_those_of_the_core(addon: Addon, group: str, settings: str) -> None:
    core = getattr(addon("core.settings"), settings)
    for name, shown in properties_of(addon, group).items():
        if name in OURS[group]:
            continue
        for item in shown.enum_items if shown.type == "ENUM" else ():
            assert core(**{name: item.identifier})


@pytest.mark.parametrize("group", OURS)
def test_tooltips_are_there_and_end_as_blender_wants_them(addon: Addon, group: str) -> None:
    """Blender adds the full stop; names of code have no place in a tooltip."""
    for name, shown in properties_of(addon, group).items():
        assert shown.description, name
        assert not shown.description.endswith("."), name
        assert "_" not in shown.name + shown.description, name


def test_what_a_script_sets_reaches_the_core(addon: Addon) -> None:
    obj = body(sheet(), mass=2.0, damping=0.25, body_type="SOFT", use_tethers=False)
    settings = addon("blender.settings.core_settings").body_settings(obj)
    assert (settings.mass, settings.damping) == (2.0, 0.25)
    assert (settings.body_type, settings.use_tethers) == ("SOFT", False)
    scene: Any = bpy.context.scene
    scene.verlet.substeps, scene.verlet.integrator = 7, "VERLET"
    settings = addon("blender.settings.core_settings").scene_settings(scene)
    assert (settings.substeps, settings.integrator) == (7, "VERLET")


@pytest.mark.parametrize(
    ("exponent", "compliance"),
    [(5.0, 1e5), (4.0, 1e4), (2.0, 100.0), (1.0, 10.0), (0.5, 5.0), (0.0, 0.0), (7.0, 1e7)],
)
def test_the_panel_shows_bend_as_a_power_of_ten(exponent: float, compliance: float) -> None:
    """One step of its arrows is a factor; 0 is rigid; to float32, in which Blender keeps it."""
    obj = body(sheet())
    obj.verlet_bend = exponent
    assert obj.verlet.bend_compliance == pytest.approx(compliance, rel=1e-6)
    obj.verlet.bend_compliance = compliance
    assert obj.verlet_bend == pytest.approx(exponent, rel=1e-6)


def test_bend_of_the_panel_begins_at_the_default_and_steps_by_a_quarter() -> None:
    obj = body(sheet())
    assert obj.verlet_bend == pytest.approx(5.0)
    shown = obj.bl_rna.properties["verlet_bend"]
    assert 10 ** (shown.step / 100) == pytest.approx(1.26, abs=0.01)
    assert not shown.is_animatable
    assert shown.soft_min == 0.0


def test_a_value_out_of_range_is_said_with_the_object_s_name(addon: Addon) -> None:
    obj = body(sheet("Flag"), mass=-1.0)
    with pytest.raises(addon("core.errors").SettingsError, match=r"Flag.*mass.*-1"):
        addon("blender.settings.core_settings").body_settings(obj)


def test_only_what_a_bake_reads_at_every_frame_can_be_animated(addon: Addon) -> None:
    """A curve on anything else would be ignored in silence."""
    animatable = {
        name
        for group, _ in GROUPS
        for name, shown in properties_of(addon, group).items()
        if shown.is_animatable and shown.type not in ("POINTER", "COLLECTION")
    }
    read = addon("blender.settings.core_settings")
    assert animatable == {
        *read.animatable(),
        *read.animatable_of_scene(),
        "pin_weight",
        "follow_groom",
    }
