"""Hair on Curves objects is simulated as rods, and played by nodes and a mesh in plain Blender."""

from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest

from tests.blender.hair import LENGTH, hair, nodes, shown, strands
from tests.blender.scenes import file_content, select, verlet

LAST = 6
CLOSE = 1e-5
"""Distance up to which hair plays what was simulated [m]."""


@pytest.fixture(autouse=True)
def _saved(tmp_path: Path) -> None:
    """A saved file of a few frames, since bakes of hair are caches beside it."""
    bpy.context.scene.frame_end = LAST
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))


def bake(**options: Any) -> None:
    """Bakes all bodies, without their form."""
    assert verlet.bake(**options) == {"FINISHED"}


def cached(obj: Any) -> Any:
    """World points (frames, n, 3) of the point cache of hair, for an object that does not move."""
    carrier: Any = bpy.data.objects[f"{obj.name} Hair"]
    path = Path(bpy.path.abspath(carrier.modifiers["Verlet Cache"].filepath))
    count = len(obj.data.points)
    points = np.frombuffer(path.read_bytes()[32:], "<f4").reshape(-1, count, 3)
    matrix = np.array(obj.matrix_world)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def test_hair_plays_its_cache_at_frames_and_half_frames() -> None:
    """By Blender alone: nodes set each point to a vertex of a mesh with a Mesh Cache modifier."""
    obj = hair()
    bake()
    found = cached(obj)
    assert np.abs(found[-1] - found[0]).max() > 0.02  # it hangs down
    for frame in (1, 3, LAST):
        assert np.abs(shown(obj, frame) - found[frame - 1]).max() < CLOSE
    middle = (found[2] + found[3]) / 2.0
    assert np.abs(shown(obj, 3.5) - middle).max() < CLOSE


def test_strands_keep_their_length_and_their_roots_stay_in_the_skin() -> None:
    """The first two points of a strand are held, so that it keeps the direction of its root."""
    obj = hair()
    groom = shown(obj, 1).reshape(3, -1, 3)
    bake()
    hanging = shown(obj, LAST).reshape(3, -1, 3)
    assert np.abs(hanging[:, :2] - groom[:, :2]).max() < 1e-6
    lengths = np.linalg.norm(np.diff(hanging, axis=1), axis=2).sum(axis=1)
    assert lengths == pytest.approx(LENGTH, rel=1e-4)


def test_clear_bake_leaves_the_file_as_it_was() -> None:
    """The carrier, its nodes and the modifier go with the bake."""
    hair()
    before = file_content()
    bake()
    assert file_content() != before
    verlet.clear_bake()
    after = file_content()
    assert after == before


def test_a_release_leaves_no_trace_of_a_bake() -> None:
    """Release removes what plays the bake, too, if its user asks for it."""
    obj = hair()
    bake()
    verlet.clear_bake()
    verlet.release()
    assert not obj.verlet.enabled
    assert not len(obj.modifiers)
    assert len(bpy.data.objects) == 1


def test_hair_is_simulated_after_what_deforms_it_and_before_what_generates() -> None:
    """Modifiers that leave the points belong to the groom; others act on the result."""
    obj = hair()
    moved = nodes(obj, "Lift", "GeometryNodeSetPosition", Offset=(0.0, 0.0, 0.1))
    nodes(obj, "Children", "GeometryNodeResampleCurve", Count=5)
    before = [each.name for each in obj.modifiers]
    bake()
    assert [each.name for each in obj.modifiers] == [before[0], "Verlet Hair", before[1]]
    assert moved.show_viewport
    assert all(each.show_viewport for each in obj.modifiers)
    obj.modifiers["Children"].show_viewport = False
    assert np.abs(shown(obj, LAST) - cached(obj)[-1]).max() < CLOSE
    lifted = shown(obj, LAST)[0]
    obj.modifiers["Verlet Hair"].show_viewport = False
    assert np.abs(shown(obj, LAST)[0] - lifted).max() < 1e-6  # the root, as the groom has it
    obj.modifiers["Verlet Hair"].show_viewport = obj.modifiers["Children"].show_viewport = True
    assert len(shown(obj, LAST)) == 15  # children of what is simulated
    assert np.abs(shown(obj)[4] - cached(obj)[-1][8]).max() < 1e-4  # at the tip, too


def test_a_modifier_below_that_changes_the_points_is_refused() -> None:
    """Only where somebody moved it there: by itself the simulation comes before it."""
    obj = hair()
    bake()
    nodes(obj, "Children", "GeometryNodeResampleCurve", Count=5)
    obj.modifiers.move(1, 0)
    before = file_content()
    with pytest.raises(
        RuntimeError, match=r"Hair has 27 points .* makes 15 of them.*move it below"
    ):
        verlet.bake()
    assert file_content() == before


def test_surface_deformation_after_a_generating_modifier_is_refused() -> None:
    """It would move the hair with its skin once more."""
    obj = hair()
    nodes(obj, "Children", "GeometryNodeResampleCurve", Count=5)
    nodes(obj, "Skin", "GeometryNodeDeformCurvesOnSurface")
    with pytest.raises(RuntimeError, match=r"Skin of Hair, .* comes after Children; move Skin up"):
        verlet.bake()


def test_hair_has_no_shape_keys() -> None:
    """The form that hair has is the default for it, and others are refused."""
    hair()
    with pytest.raises(RuntimeError, match="Hair is hair, on which shape keys cannot be shown"):
        verlet.bake(mode="RELATIVE")
    bake()


def test_a_copy_plays_the_bake_when_that_of_its_source_is_gone() -> None:
    """Copies share the carrier; the last one takes it away."""
    obj = hair()
    bake()
    hanging = shown(obj, LAST)
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    assert np.abs(shown(copy, LAST) - hanging).max() < 1e-6
    select(obj)
    verlet.clear_bake(selected=True)
    assert np.abs(shown(copy, LAST) - hanging).max() < 1e-6
    assert np.abs(shown(obj, LAST) - hanging).max() > 0.02
    select(copy)
    verlet.clear_bake(selected=True)
    assert not bpy.data.node_groups
    assert len(bpy.data.objects) == 2


def test_meshes_are_no_hair_and_hair_is_nothing_else() -> None:
    """Each sentence names the object and what to do."""
    obj = strands()
    with pytest.raises(RuntimeError, match="can be hair alone; choose Automatic or Hair"):
        verlet.convert(body_type="ROPE")
    assert not obj.verlet.enabled
    obj.data.attributes.new("cyclic", "BOOLEAN", "CURVE").data[0].value = True
    with pytest.raises(RuntimeError, match="Hair has closed curves"):
        verlet.convert()


def test_two_heads_of_hair_are_baked_together() -> None:
    """Each has a carrier of its own."""
    first, second = hair("First"), hair("Second")
    second.location.x += 1.0
    bake()
    assert np.abs(shown(first, LAST) - cached(first)[-1]).max() < CLOSE
    assert np.abs(shown(second, LAST) - cached(second)[-1]).max() < CLOSE
    apart = shown(second)[8] - shown(first)[8]
    assert apart == pytest.approx([1.0, 0.0, 0.0], abs=1e-4)


def test_hair_that_follows_its_groom_hangs_less() -> None:
    """Wholly it shows the groom, and an attribute scales that for each point."""
    obj = hair()
    groom = shown(obj, 1)
    obj.verlet.follow_groom = 1.0
    bake()
    assert np.abs(shown(obj, LAST) - groom).max() < 1e-4
    tips = obj.data.attributes.new("held", "FLOAT", "CURVE")
    tips.data.foreach_set("value", [1.0, 0.0, 0.0])
    obj.verlet.follow_attribute = "held"
    bake()
    off = np.abs(shown(obj, LAST) - groom).reshape(3, -1).max(axis=1)
    assert off[0] < 1e-4
    assert off[1] > 0.02
    obj.verlet.follow_attribute = "gone"
    with pytest.raises(RuntimeError, match="Hair has no attribute gone"):
        verlet.bake()


def test_a_groom_was_made_under_gravity_and_stays_as_it_is() -> None:
    """Gravity in Pose: what still hair shows is how it hangs."""
    obj = hair()
    obj.verlet.use_pose_gravity = True
    groom = shown(obj, 1)
    bake()
    assert np.abs(shown(obj, LAST) - groom).max() < 1e-5


def test_a_groom_on_a_head_that_turns_over_hangs_as_its_weight_asks() -> None:
    """Gravity then acts twice: as it does, and as the groom no longer needs to hold against it."""
    obj = hair(moved=False)
    obj.verlet.use_pose_gravity = True
    obj.keyframe_insert("rotation_euler", frame=1)
    obj.rotation_euler.x = np.pi
    obj.keyframe_insert("rotation_euler", frame=2)
    bpy.context.scene.frame_end = 40
    bpy.context.scene.verlet.use_ground = False
    bake()
    turned = shown(obj, 40).reshape(3, -1, 3)
    assert (turned[:, -1, 2] < -0.05).all()


def test_bending_is_shown_as_the_droop_of_a_strand(addon: Any) -> None:
    """A strand of 20 cm that is held level droops as far as the panel says."""
    obj = hair(count=1, points=33, moved=False)
    obj.verlet_strand_mass = 0.2
    assert obj.verlet.density == pytest.approx(2e-4)
    obj.verlet_droop = 0.1
    obj.verlet.damping, obj.verlet.inner_damping = 8.0, 0.3
    bpy.context.scene.frame_end = 60
    bpy.context.scene.verlet.use_ground = False
    bake()
    assert obj.verlet_droop == pytest.approx(0.1, abs=1e-4)
    droop = addon("core.rods.droop")
    free = 31 / 32  # the skin holds the first segment
    hanging = LENGTH * free * droop.droop_of(free**3 * droop.load_of(0.5))
    assert -shown(obj, 60)[-1, 2] == pytest.approx(hanging, abs=5e-4)


def test_the_panels_of_hair_show_what_acts_on_it(addon: Any) -> None:
    """Bending as droop, mass by length; nothing with vertex groups, and no shear."""
    obj, column = hair(), MagicMock()
    panels, direction = addon("blender.ui.panels"), addon("blender.ui.direction_panel")
    for panel in (
        panels.VERLET_PT_material,
        panels.VERLET_PT_forces,
        direction.VERLET_PT_direction,
    ):
        panel.fill_for(panel, column, obj.verlet)
    panels.VERLET_PT_body.fill_body(panels.VERLET_PT_body, column, obj, obj.verlet)
    calls = column.prop.mock_calls + column.column().prop.mock_calls
    names = {call.args[1] for call in calls}
    assert {
        "verlet_droop",
        "verlet_strand_mass",
        "twist_ratio",
        "follow_groom",
        "inertia_share",
    } <= names
    assert {"use_pose_gravity", "damping", "inner_damping"} <= names
    assert not names & {
        "shear_compliance",
        "stretch_compliance",
        "mass",
        "pin_weight",
        "verlet_type",
    }
    column.column().prop_search.assert_any_call(
        obj.verlet, "follow_attribute", obj.data, "attributes", text="Attribute"
    )


def test_the_size_of_a_cache_is_told_before_a_bake(addon: Any) -> None:
    """And is that of its file, but for the header."""
    obj, column = hair(points=33), MagicMock()
    bpy.context.scene.frame_end = 24
    panel = addon("blender.ui.bake_panel").VERLET_PT_bake
    panel.fill_memory(panel, column, bpy.context.scene)
    words = addon("blender.bake.memory").size_in_words
    said = [call.kwargs["text"] for call in column.column.return_value.label.mock_calls]
    assert " ".join(said) == f"Takes about {words(12 * 99 * 24)} on the disk"
    bake()
    carrier: Any = bpy.data.objects[f"{obj.name} Hair"]
    path = Path(bpy.path.abspath(carrier.modifiers["Verlet Cache"].filepath))
    assert path.stat().st_size == 32 + 12 * 99 * 24
