"""Pin Selected and Unpin in Edit Mode change the pin group of bodies, and nothing else."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import bmesh
import bpy
import pytest

from tests.blender.scenes import blender, body, file_content, pin, select, sheet, verlet


def edit(*objects: Any, vertices: Sequence[int] = ()) -> None:
    """Goes to Edit Mode with these vertices of each object selected."""
    select(*objects)
    bpy.ops.object.mode_set(mode="EDIT")
    for obj in objects:
        edited = bmesh.from_edit_mesh(obj.data)
        for part in (edited.verts, edited.edges, edited.faces):
            for item in part:
                item.select_set(False)
        for vertex in edited.verts:
            vertex.select_set(vertex.index in vertices)
        edited.select_flush_mode()
        bmesh.update_edit_mesh(obj.data)


@pytest.fixture(autouse=True)
def _object_mode() -> Iterator[None]:
    """Leaves Edit Mode after each test."""
    yield
    if bpy.context.mode == "EDIT_MESH":
        bpy.ops.object.mode_set(mode="OBJECT")


def run(operator: str) -> set[str]:
    """Runs an operator of ours as a click does: what it did can be undone."""
    return set(getattr(verlet, operator)("EXEC_DEFAULT", True))


def weights(obj: Any, group: str = "Pin") -> dict[int, float]:
    """Weights of the vertices in a group, read in Object Mode."""
    mode = obj.mode
    bpy.ops.object.mode_set(mode="OBJECT")
    index = obj.vertex_groups[group].index
    found = {
        vertex.index: member.weight
        for vertex in obj.data.vertices
        for member in vertex.groups
        if member.group == index
    }
    bpy.ops.object.mode_set(mode=mode)
    return found


def test_pin_selected_makes_the_pin_group_of_a_body_without_one() -> None:
    cloth = body(sheet())
    edit(cloth, vertices=(0, 1, 2))
    assert run("pin_selected") == {"FINISHED"}
    assert cloth.verlet.pin_group == "Pin"
    assert weights(cloth) == {0: 1.0, 1: 1.0, 2: 1.0}


def test_pins_are_added_to_the_chosen_group_and_removed_from_it() -> None:
    """Weights of other vertices and of other groups stay, and a group that was deleted returns."""
    cloth = body(sheet())
    cloth.vertex_groups.new(name="Other").add([0, 1], 0.25, "REPLACE")
    cloth.vertex_groups.new(name="Hold").add([5], 0.5, "REPLACE")
    cloth.verlet.pin_group = "Hold"
    edit(cloth, vertices=(0, 1, 5))
    run("pin_selected")
    assert weights(cloth, "Hold") == {0: 1.0, 1: 1.0, 5: 1.0}
    bpy.ops.object.mode_set(mode="OBJECT")
    edit(cloth, vertices=(1, 5, 8))
    assert run("unpin_selected") == {"FINISHED"}
    assert weights(cloth, "Hold") == {0: 1.0}
    assert weights(cloth, "Other") == {0: 0.25, 1: 0.25}
    cloth.vertex_groups.remove(cloth.vertex_groups["Hold"])
    run("pin_selected")
    assert weights(cloth, "Hold") == {1: 1.0, 5: 1.0, 8: 1.0}


def test_a_group_named_pin_that_is_not_chosen_is_left_alone() -> None:
    """What it holds was not selected, so another group is made."""
    cloth = body(sheet())
    cloth.vertex_groups.new(name="Pin").add([7], 1.0, "REPLACE")
    edit(cloth, vertices=(0,))
    run("pin_selected")
    assert weights(cloth) == {7: 1.0}
    assert weights(cloth, cloth.verlet.pin_group) == {0: 1.0}


def test_all_bodies_in_edit_mode_are_pinned_where_they_are_selected() -> None:
    """An object without selected vertices is left alone, body or not."""
    first, second, table = body(sheet("First")), body(sheet("Second")), sheet("Table")
    edit(table)
    bpy.ops.object.mode_set(mode="OBJECT")
    edit(first, second, vertices=(3,))
    bpy.ops.object.mode_set(mode="OBJECT")
    select(first, second, table)
    bpy.ops.object.mode_set(mode="EDIT")
    assert len(bpy.context.objects_in_mode) == 3
    assert run("pin_selected") == {"FINISHED"}
    assert weights(first) == weights(second) == {3: 1.0}
    assert not table.vertex_groups


def test_faces_pin_their_corners() -> None:
    cloth = body(sheet())
    edit(cloth)
    edited = bmesh.from_edit_mesh(cloth.data)
    edited.faces.ensure_lookup_table()
    edited.faces[0].select_set(True)
    edited.select_flush_mode()
    bmesh.update_edit_mesh(cloth.data)
    run("pin_selected")
    assert sorted(weights(cloth)) == [0, 1, 5, 6]


def refused(operator: str, sentence: str) -> None:
    """Runs an operator that has to refuse with this sentence and to change nothing."""
    bpy.ops.object.mode_set(mode="OBJECT")
    before = file_content()
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match=sentence):
        run(operator)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert file_content() == before
    bpy.ops.object.mode_set(mode="EDIT")


@pytest.mark.parametrize("operator", ["pin_selected", "unpin_selected"])
def test_what_cannot_be_pinned_is_told_in_a_sentence(operator: str) -> None:
    edit(sheet("Table"), vertices=(0,))
    refused(operator, "Table is no soft body; switch to Object Mode and press Make Soft Body first")
    bpy.ops.object.mode_set(mode="OBJECT")
    cloth = body(sheet("Cloth"))
    edit(cloth)
    refused(operator, "No vertex is selected; select those to pin or unpin")
    bpy.ops.object.mode_set(mode="OBJECT")
    pin(cloth, [0])
    cloth.vertex_groups["Pin"].lock_weight = True
    edit(cloth, vertices=(0, 1))
    refused(operator, "The vertex group Pin of Cloth is locked; unlock it first")
    bpy.ops.object.mode_set(mode="OBJECT")
    cloth.vertex_groups["Pin"].lock_weight = False
    other = bpy.data.objects.new("Twin", cloth.data)
    bpy.context.scene.collection.objects.link(other)
    edit(cloth, vertices=(0, 1))
    refused(operator, "Cloth shares its mesh Cloth with Twin; make the mesh single-user")


def test_unpin_says_where_nothing_is_pinned() -> None:
    cloth = body(sheet())
    edit(cloth, vertices=(0,))
    refused("unpin_selected", "None of the selected vertices is pinned; select some that are")
    bpy.ops.object.mode_set(mode="OBJECT")
    pin(cloth, [4])
    edit(cloth, vertices=(0,))
    refused("unpin_selected", "None of the selected vertices is pinned; select some that are")


def test_if_one_of_several_objects_cannot_be_pinned_none_is() -> None:
    cloth, table = body(sheet("Cloth")), sheet("Table")
    edit(cloth, table, vertices=(0,))
    refused("pin_selected", "Table is no soft body")
    assert not cloth.vertex_groups


def test_linked_bodies_and_overrides_are_left_alone(
    addon: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    """Blender has no Edit Mode for them; the check does not rely on that."""
    body(sheet("Cloth"))
    path = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with blender.data.libraries.load(str(path), link=True) as (_, chosen):
        chosen.objects = ["Cloth"]
    check, error = addon("blender.scene.pins").check_pins, addon("core.errors").MeshError
    for obj in (chosen.objects[0], chosen.objects[0].override_create()):
        with pytest.raises(error, match=r"Cloth .*(another file|override)"):
            check(obj)


def test_they_are_for_edit_mode() -> None:
    body(sheet())
    assert not verlet.pin_selected.poll()
    assert not verlet.unpin_selected.poll()


def test_undo_and_redo_restore_weights_and_the_pin_group() -> None:
    """Undo in Edit Mode restores no properties of objects; the pin group is restored all the same.

    Else it would name a vertex group that is gone, and a bake would refuse.
    """
    cloth = body(sheet())
    name = cloth.name
    bpy.ops.ed.undo_push(message="Make Soft Body")
    edit(cloth, vertices=(0, 1))
    bpy.ops.ed.undo_push(message="Select")
    run("pin_selected")
    for _ in range(2):
        bpy.ops.ed.undo()
        cloth = bpy.data.objects[name]
        # Blender 4.2 leaves the vertex group, empty.
        assert cloth.verlet.pin_group == ("Pin" if cloth.vertex_groups else "")
        bpy.ops.ed.redo()
        cloth = bpy.data.objects[name]
        assert weights(cloth) == {0: 1.0, 1: 1.0}
        assert cloth.verlet.pin_group == "Pin"
    run("unpin_selected")
    bpy.ops.ed.undo()
    assert weights(bpy.data.objects[name]) == {0: 1.0, 1: 1.0}
    bpy.ops.object.mode_set(mode="OBJECT")
