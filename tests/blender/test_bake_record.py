"""After a bake one can see what was baked, and whether it still holds."""

from collections.abc import Callable
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import bpy
import pytest

from tests.blender.scenes import (
    baked,
    blender,
    body,
    file_content,
    line,
    select,
    sheet,
    verlet,
)

Addon = Callable[[str], ModuleType]


@pytest.fixture
def scene() -> Any:
    """Four frames, from 3 to 6."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 3, 6
    return bpy.context.scene


@pytest.fixture
def record(addon: Addon) -> ModuleType:
    return addon("blender.bake.record")


def test_the_baked_range_is_known_until_the_bake_is_cleared(scene: Any, record: Any) -> None:
    body(sheet())
    before = file_content()
    assert record.baked_range(scene) is None
    verlet.bake()
    assert record.baked_range(scene) == (3, 6)
    verlet.bake(frame_start=1, frame_end=9, step=4)
    assert record.baked_range(scene) == (1, 9)
    verlet.clear_bake()
    assert record.baked_range(scene) is None
    assert file_content() == before


CHANGES: list[tuple[str, str, Any]] = [
    ("body", "mass", 0.6),
    ("body", "bend_compliance", 100.0),
    ("body", "gravity", 0.5),
    ("body", "pin_group", "Edge"),
    ("body", "body_type", "SOFT"),
    ("settings", "substeps", 11),
    ("settings", "settle_frames", 3),
    ("settings", "ground_height", 0.5),
    ("settings", "use_ground", False),
    ("scene", "gravity", (0.0, 0.0, -1.6)),
    ("scene", "use_gravity", False),
    ("render", "fps", 25),
    ("render", "frame_map_new", 200),
]


def test_a_setting_changed_since_the_bake_is_seen_until_it_is_set_back(
    scene: Any, record: Any
) -> None:
    obj, other = body(sheet("Flag")), body(line("Rope"))
    verlet.bake()
    assert record.changed_since_bake(scene, bpy.context.view_layer) == []
    owners = {"body": obj.verlet, "settings": scene.verlet, "scene": scene, "render": scene.render}
    for holder, name, value in CHANGES:
        owner = owners[holder]
        before = getattr(owner, name)
        before = tuple(before) if holder == "scene" and name == "gravity" else before
        setattr(owner, name, value)
        changed = ["Flag"] if holder == "body" else ["Flag", "Rope"]
        assert record.changed_since_bake(scene, bpy.context.view_layer) == changed, name
        setattr(owner, name, before)
        assert record.changed_since_bake(scene, bpy.context.view_layer) == [], name
    assert other.verlet.baked_settings


def test_the_panel_names_three_that_changed_and_counts_the_others(scene: Any, addon: Addon) -> None:
    """A name each of hundreds would fit no panel."""
    for name in "DBACE":
        body(line(name))
    verlet.bake()
    bpy.context.scene.verlet.substeps = 11
    column = Mock()
    addon("blender.ui.bake_panel").VERLET_PT_bake.fill_record(
        None, column, scene, scene.view_layers[0]
    )
    said = [call.kwargs["text"] for call in column.column.return_value.label.mock_calls]
    assert " ".join(said) == (
        "Baked frames 3 to 6 Changed since: A, B, C and 2 more settings changed"
    )


def test_what_changed_since_a_bake_is_named(scene: Any, record: Any) -> None:
    """As live simulation names why it starts again: a collider was an object among hundreds."""
    body(sheet("Flag"))
    table = sheet("Table", height=-1.0)
    verlet.make_collider()
    verlet.bake()

    def changes() -> Any:
        return record.changes_since_bake(scene, bpy.context.view_layer)

    assert changes() == {}
    table.location.x = 0.5
    assert changes() == {"Flag": ["Table changed"]}
    table.location.x = 0.0
    sheet("Chair", height=-2.0)
    verlet.make_collider()
    assert changes() == {"Flag": ["Chair acts now"]}
    bpy.data.objects["Chair"].modifiers.clear()
    table.modifiers.clear()
    assert changes() == {"Flag": ["Table acts no longer"]}


def test_bakes_of_older_versions_are_compared_by_their_settings(scene: Any, record: Any) -> None:
    """They have a single digest of all that they read, of another kind."""
    flag = body(sheet("Flag"))
    verlet.bake()
    flag.verlet.baked_inputs = "0123456789abcdef"
    assert record.changes_since_bake(scene, bpy.context.view_layer) == {}
    flag.verlet.mass = 2.0
    assert list(record.changes_since_bake(scene, bpy.context.view_layer)) == ["Flag"]


def test_the_panel_names_bodies_that_have_no_bake(scene: Any, addon: Addon) -> None:
    """Beside the check mark of others, one that was added later would seem to be baked."""
    body(line("Rope"))
    verlet.bake()
    body(sheet("Flag"))
    column = Mock()
    addon("blender.ui.bake_panel").VERLET_PT_bake.fill_record(
        None, column, scene, scene.view_layers[0]
    )
    said = [call.kwargs["text"] for call in column.column.return_value.label.mock_calls]
    assert said == ["Baked frames 3 to 6", "Not baked: Flag"]


def test_a_bake_whose_body_was_removed_is_compared_with_nothing(scene: Any, addon: Addon) -> None:
    """Its keys are left; that its settings were unchanged would say that they still count."""
    body(line("Rope"))
    verlet.bake()
    verlet.release()
    column = Mock()
    addon("blender.ui.bake_panel").VERLET_PT_bake.fill_record(
        None, column, scene, scene.view_layers[0]
    )
    said = [call.kwargs["text"] for call in column.column.return_value.label.mock_calls]
    assert said == ["Baked frames 3 to 6"]


def test_other_inputs_than_settings_are_seen_until_they_are_set_back(
    scene: Any, record: Any
) -> None:
    """A collider, a field, what moves them, and the mesh itself."""
    obj, away = body(sheet("Flag")), sheet("Table", height=-1.0)
    verlet.make_collider()
    blender.ops.object.effector_add(type="WIND")
    wind = bpy.context.object
    verlet.bake()

    def changed() -> list[str]:
        return list(record.changed_since_bake(scene, bpy.context.view_layer))

    assert changed() == []
    scene.frame_set(5)
    assert changed() == []
    for owner, name, value in (
        (away.modifiers[0], "show_viewport", False),
        (away.collision, "thickness_outer", 0.1),
        (away, "location", (0.0, 0.0, -0.5)),
        (wind.field, "strength", 7.0),
        (wind, "rotation_euler", (1.0, 0.0, 0.0)),
        (obj.data.shape_keys.key_blocks[0].points[3], "co", (0.0, 0.0, 0.7)),
    ):
        before = getattr(owner, name)
        before = tuple(before) if isinstance(value, tuple) else before
        setattr(owner, name, value)
        assert changed() == ["Flag"], name
        setattr(owner, name, before)
        assert changed() == [], name
    away.keyframe_insert("location", frame=3)
    assert changed() == ["Flag"]
    verlet.bake()
    scene.frame_set(4)
    assert changed() == []
    away.keyframe_insert("location", frame=6)
    assert changed() == ["Flag"]


def test_keys_of_the_users_are_inputs_and_those_of_a_bake_are_not(scene: Any, record: Any) -> None:
    obj = body(sheet("Flag"))
    obj.shape_key_add(name="Basis")
    own = obj.shape_key_add(name="Smile")
    own.keyframe_insert("value", frame=1)
    own.value = 0.5
    own.keyframe_insert("value", frame=6)
    verlet.bake()
    verlet.bake()
    assert record.changed_since_bake(scene, bpy.context.view_layer) == []
    own.value = 0.2
    own.keyframe_insert("value", frame=5)
    assert record.changed_since_bake(scene, bpy.context.view_layer) == ["Flag"]


def test_a_key_on_the_basis_of_a_bake_is_seen_until_the_next(scene: Any, record: Any) -> None:
    """The next bake leaves the Basis to that key, and is not said to have changed at once."""
    obj = body(sheet("Flag"))
    verlet.bake()
    obj.shape_key_add(name="Smile")
    assert record.changed_since_bake(scene, bpy.context.view_layer) == ["Flag"]
    verlet.bake()
    assert record.changed_since_bake(scene, bpy.context.view_layer) == []


def test_vertices_added_since_the_bake_are_seen(scene: Any, record: Any) -> None:
    """Blender gives them places in the baked keys, but nothing was simulated for them."""
    obj = body(sheet("Flag"))
    verlet.bake()
    select(obj)
    blender.ops.object.mode_set(mode="EDIT")
    blender.ops.mesh.subdivide()
    blender.ops.object.mode_set(mode="OBJECT")
    assert record.changed_since_bake(scene, bpy.context.view_layer) == ["Flag"]
    verlet.bake()
    assert record.changed_since_bake(scene, bpy.context.view_layer) == []


def test_what_was_said_of_a_bake_can_be_read_until_it_is_cleared(scene: Any, record: Any) -> None:
    """The status bar shows it for some seconds only, and of several sentences the last."""
    body(sheet())
    away = body(line("Rope"))
    away.location = (0.0, 0.0, 5.0)
    away.hide_set(True)
    verlet.bake()
    assert record.baked_remarks(scene) == ["Rope is hidden and left out; show it to bake it too"]
    away.hide_set(False)
    verlet.bake()
    assert record.baked_remarks(scene) == []
    away.hide_set(True)
    verlet.bake()
    away.hide_set(False)
    verlet.clear_bake()
    assert record.baked_remarks(scene) == []


def test_baking_again_takes_the_mark_away(scene: Any, record: Any) -> None:
    obj = body(sheet())
    verlet.bake()
    obj.verlet.damping = 2.0
    verlet.bake()
    assert record.changed_since_bake(scene, bpy.context.view_layer) == []


def test_what_is_animated_is_no_change_at_another_frame(scene: Any, record: Any) -> None:
    body(sheet())
    for frame, value in ((3, 0.0), (6, 1.0)):
        scene.verlet.ground_height = value
        scene.verlet.keyframe_insert("ground_height", frame=frame)
    scene.frame_set(3)
    verlet.bake()
    scene.frame_set(6)
    assert scene.verlet.ground_height == 1.0
    assert record.changed_since_bake(scene, bpy.context.view_layer) == []


def test_a_body_that_is_switched_off_is_left_alone(scene: Any, record: Any) -> None:
    """Its bake is kept on purpose, whatever changes around it."""
    obj = body(sheet())
    verlet.bake()
    obj.verlet.enabled = False
    scene.verlet.substeps = 11
    assert record.changed_since_bake(scene, bpy.context.view_layer) == []
    assert record.baked_range(scene) == (3, 6)


def test_keys_deleted_by_hand_are_no_bake(scene: Any, record: Any) -> None:
    obj = body(sheet())
    verlet.bake()
    obj.shape_key_clear()
    assert record.baked_range(scene) is None


def test_a_copy_and_a_bake_that_was_cancelled_keep_the_record(scene: Any, record: Any) -> None:
    obj = body(sheet("Flag"))
    verlet.bake()
    select(obj)
    bpy.ops.object.duplicate()
    assert len(baked(bpy.context.object)) == 4
    assert bpy.context.object.verlet.baked_end == 6
    bpy.context.object.verlet.mass = -1.0
    with pytest.raises(RuntimeError, match="mass"):
        verlet.bake(frame_end=9)
    assert record.baked_range(scene) == (3, 6)
    assert record.changed_since_bake(scene, bpy.context.view_layer) == ["Flag.001"]


def test_a_bake_reports_frames_seconds_and_stretch(
    scene: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    body(sheet())
    verlet.bake()
    assert scene.frame_end == 6
    told = capfd.readouterr()
    assert "Baked frames 3 to 6 in 0." in told.out + told.err
    assert "s; no edge stretched\n" in told.out + told.err


def test_a_bake_names_what_takes_most_tests_for_contacts(capfd: pytest.CaptureFixture[str]) -> None:
    """Where several things come near each other; the fine one of two balls that both touch."""
    for name, segments, x in (("Coarse", 8, -0.5), ("Fine", 48, 0.5)):
        bpy.ops.mesh.primitive_uv_sphere_add(
            segments=segments, ring_count=segments // 2, radius=0.4, location=(x, 0.0, -0.41)
        )
        bpy.context.object.name = name
        verlet.make_collider()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=12, y_subdivisions=12, size=2.0)
    bpy.context.object.name = "Sheet"
    verlet.convert(body_type="CLOTH", use_material=False)
    verlet.bake()
    told = capfd.readouterr()
    assert "; most tests for contacts: Sheet with Fine (" in told.out + told.err
