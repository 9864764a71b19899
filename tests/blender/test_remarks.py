"""What a bake has to say is graded, and the worst is open in the panel; it names what holds."""

from collections.abc import Callable
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import bpy
import pytest

from tests.blender.scenes import body, file_content, line, pin, select, sheet, verlet
from verlet_addon.core.remark import Remark

Addon = Callable[[str], ModuleType]


@pytest.fixture
def record(addon: Addon) -> ModuleType:
    bpy.context.scene.frame_end = 6
    return addon("blender.bake.record")


def attached(obj: Any, vertex: int, to: str, *, moves: float = 0.0) -> Any:
    """An empty that a vertex of a body is attached to, which moves away by the last frame."""
    target = bpy.data.objects.new(to, None)
    bpy.context.scene.collection.objects.link(target)
    for frame, x in ((1, 0.0), (6, moves)):
        target.location.x = x
        target.keyframe_insert("location", frame=frame)
    obj.vertex_groups.new(name=to).add([vertex], 1.0, "REPLACE")
    item = obj.verlet.attachments.add()
    item.target, item.vertex_group = target, to
    return target


def drawn(addon: Addon) -> list[tuple[str, bool]]:
    """The lines that the panel shows of the last bake's remarks, and whether each is red."""
    column = MagicMock()
    lines: list[tuple[str, bool]] = []
    inner = column.box.return_value.column.return_value.column.return_value
    inner.label.side_effect = lambda text, **_: lines.append((text, inner.alert))
    addon("blender.ui.remarks").draw_remarks(column, bpy.context.scene)
    return lines


def test_what_holds_a_body_apart_is_named_and_selected_by_a_button(
    record: Any, addon: Addon
) -> None:
    """By the objects that it is attached to, in red, without numbers of vertices."""
    cape = body(sheet("Cape"))
    attached(cape, 0, "Left")
    attached(cape, 1, "Right", moves=0.5)
    verlet.bake()
    worst, *_ = record.baked_remarks(bpy.context.scene)
    assert worst.startswith("Cape is attached to Left and Right at vertices that move apart: at fr")
    assert worst.endswith("; attach only one end of each edge")
    assert (worst.grade, worst.vertices) == ("SERIOUS", (0, 1))
    lines = drawn(addon)
    assert " ".join(text for text, _ in lines) == worst
    assert all(red for _, red in lines)
    assert verlet.select_remark(number=0) == {"FINISHED"}
    assert bpy.context.mode == "EDIT_MESH"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [vertex.index for vertex in cape.data.vertices if vertex.select] == [0, 1]


def test_what_is_attached_and_pinned_is_told_as_that(record: Any) -> None:
    cape = body(sheet("Cape"))
    pin(cape, [0])
    attached(cape, 1, "Hand", moves=0.5)
    verlet.bake()
    worst, *_ = record.baked_remarks(bpy.context.scene)
    assert worst.startswith("Cape is attached to Hand and pinned at vertices that move apart")


def test_cloth_that_is_torn_along_is_serious_and_rubber_is_not(record: Any) -> None:
    """Beside a green tick, half of an edge more was told in a line that was gone in seconds."""
    for compliance, serious in ((0.0, True), (0.01, False)):
        cloth = body(sheet(f"Cloth{compliance}"), stretch_compliance=compliance)
        # Both ends of a side, so that no edge is held by two pins.
        pin(cloth, [0, 4])
        attached(cloth, 2, f"Hand{compliance}", moves=3.0)
        bpy.context.scene.verlet.iterations = 1
        verlet.bake()
        remarks = record.baked_remarks(bpy.context.scene)
        told = [each for each in remarks if each.startswith(f"{cloth.name} is stretched by")]
        assert [each.grade for each in told] == ["SERIOUS"] * serious
        assert all(each.vertices for each in told)
        bpy.data.objects.remove(cloth)


def test_remarks_are_sorted_by_grade_and_kept_in_the_file(record: Any) -> None:
    scene = bpy.context.scene
    body(sheet())
    verlet.bake()
    note, trouble = Remark("A note", grade="INFO"), Remark("Trouble", grade="SERIOUS", body="X")
    record.remember_remarks(scene, [note, "A warning", trouble, "A warning"])
    kept = record.baked_remarks(scene)
    assert kept == ["Trouble", "A warning", "A note"]
    assert [each.grade for each in kept] == ["SERIOUS", "WARNING", "INFO"]
    assert kept[0].body == "X"


def test_remarks_of_older_versions_are_warnings(record: Any) -> None:
    """They were kept as plain lines."""
    body(sheet())
    verlet.bake()
    bpy.context.scene.verlet.baked_remarks = "First\nSecond"
    assert [(each, each.grade) for each in record.baked_remarks(bpy.context.scene)] == [
        ("First", "WARNING"),
        ("Second", "WARNING"),
    ]


def test_a_note_alone_stays_behind_its_button(record: Any, addon: Addon) -> None:
    body(sheet())
    verlet.bake()
    record.remember_remarks(bpy.context.scene, [Remark("A note", grade="INFO")])
    assert drawn(addon) == []


def test_what_a_button_would_select_may_be_gone(record: Any) -> None:
    """A sentence tells it, and nothing changes."""
    cloth = body(sheet())
    verlet.bake()
    remark = Remark("Trouble", grade="SERIOUS", body=cloth.name, vertices=[0])
    record.remember_remarks(bpy.context.scene, [remark])
    cloth.name = "Other"
    select(cloth)
    before = file_content()
    with pytest.raises(RuntimeError, match=r"There is no mesh object .* any longer; bake again"):
        verlet.select_remark(number=0)
    assert file_content() == before


@pytest.mark.usefixtures("record")
def test_what_the_status_bar_cuts_can_be_read_in_the_panel(addon: Addon) -> None:
    """In full, and the newest first; it was cut at the window's width, and gone in seconds."""
    rope = body(line("A rope with a name as long as an artist may give, who has hundreds of them"))
    pin(rope, [0])
    verlet.bake()
    verlet.drape(seconds=0.1)
    panel, lines = MagicMock(), list[str]()
    column = panel.layout.column.return_value.column.return_value
    column.label.side_effect = lambda text, **_: lines.append(text)
    addon("blender.ui.messages").VERLET_PT_messages.draw(panel, bpy.context)
    told = " ".join(lines)
    assert told.startswith("Not at rest at the limit of 0.1 s")
    assert "Baked frames 1 to 6 in " in told
    assert f"{rope.name} still moves at" in told
    assert all(len(each) <= 80 for each in lines)
