"""Flesh in Blender: painted from bones, read as modelled, shown in the panel."""

from collections.abc import Callable
from math import pi
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.fleshy import limb, painted, places, rig
from tests.blender.scenes import body, select, sheet, verlet

Addon = Callable[[str], ModuleType]


def test_flesh_is_painted_by_the_distance_from_bone_to_skin() -> None:
    """A bone near one side of a limb: none there, all fat on the other side, even between."""
    obj = limb(0.1, bone=0.05)
    verlet.paint_flesh(near=0.06, far=0.14, ends=0.01)
    away = np.hypot(places(obj)[:, 0] - 0.05, places(obj)[:, 1])
    share = np.clip((away - 0.06) / 0.08, 0.0, 1.0)
    assert painted(obj) == pytest.approx(share**2 * (3.0 - 2.0 * share), abs=1e-5)
    assert obj.verlet.flesh_group == "Flesh"
    assert obj.vertex_groups.active.name == "Flesh", "the one that weight painting shows"


def test_distances_suit_the_body_of_any_size() -> None:
    """And so does the Depth, unless one is set."""
    for scale in (1.0, 30.0):
        obj = limb(0.1 * scale, 0.4 * scale, bone=0.05 * scale)
        verlet.paint_flesh(ends=0.01 * scale)
        weights = painted(obj)
        assert weights.max() == pytest.approx(1.0)
        assert 0.3 < (weights > 0.0).mean() < 0.8
        assert 0.05 * scale < obj.verlet.flesh_depth < 0.15 * scale
    obj.verlet.flesh_depth = 0.7
    verlet.paint_flesh()
    assert obj.verlet.flesh_depth == pytest.approx(0.7)


def test_hands_stay_bone_and_a_breast_does_not_count_as_one() -> None:
    """By where bones are, whatever they are called: the last one of a limb, and one beside it."""
    obj = limb(0.1, 1.0)
    old = obj.modifiers[0].object
    bones = {
        "a": ("", (0, 0, -0.5), (0, 0, 0.0)),
        "b": ("a", (0, 0, 0.0), (0, 0, 0.4)),
        "c": ("b", (0, 0, 0.4), (0, 0, 0.5)),
        "d": ("a", (0.0, 0.06, -0.25), (0.0, 0.1, -0.25)),
    }
    obj.modifiers[0].object = rig(bones)
    bpy.data.objects.remove(old)
    high = places(obj)[:, 2]
    for name, chosen in (("b", high < 0.41), ("c", high > 0.41), ("d", high < -2.0)):
        group = obj.vertex_groups.new(name=name)
        group.add(np.flatnonzero(chosen).tolist(), 1.0, "REPLACE")
    obj.vertex_groups["Bone"].name = "a"
    obj.vertex_groups["a"].remove(np.flatnonzero(high > 0.41).tolist())
    select(obj)
    verlet.paint_flesh(near=0.02, far=0.09)
    weights = painted(obj)
    rim = np.hypot(*places(obj)[:, :2].T) > 0.09
    assert not weights[high > 0.41].any()
    assert weights[rim & (high < 0.35)] == pytest.approx(1.0)


@pytest.mark.parametrize("scale", [1.0, -1.0])
def test_without_bones_half_the_thickness_counts(scale: float) -> None:
    """Of a mesh that a lattice or shape keys pose, mirrored or not."""
    obj = limb(0.1, 1.0)
    obj.modifiers.clear()
    obj.scale.x = scale
    bpy.context.view_layer.update()
    verlet.paint_flesh(near=0.02, far=0.08)
    sides = np.abs(places(obj)[:, 2]) < 0.4
    assert painted(obj)[sides] == pytest.approx(1.0)


def test_a_group_of_the_user_is_painted_and_a_locked_one_is_not() -> None:
    obj = limb(0.1, bone=0.05)
    obj.vertex_groups.new(name="Fat").lock_weight = True
    obj.verlet.flesh_group = "Fat"
    with pytest.raises(RuntimeError, match="Fat of Limb is locked; unlock it first"):
        verlet.paint_flesh()
    obj.vertex_groups["Fat"].lock_weight = False
    verlet.paint_flesh()
    assert painted(obj).any()
    assert len(obj.vertex_groups) == 2


def test_distances_that_leave_no_flesh_are_refused() -> None:
    obj = limb(0.1)
    for near, far in ((0.5, 1.0), (0.08, 0.05)):
        with pytest.raises(RuntimeError, match="Limb would have no flesh, which begins "):
            verlet.paint_flesh(near=near, far=far)
    assert not obj.verlet.flesh_group, "nothing is changed"


def test_other_bodies_have_none_to_be_painted() -> None:
    body(sheet())
    assert not verlet.paint_flesh.poll()


@pytest.fixture
def read(addon: Addon) -> Callable[[Any], Any]:
    """The mesh of a body as a bake reads it at the first frame."""

    def reading(obj: Any) -> Any:
        bpy.context.view_layer.update()
        depsgraph = bpy.context.evaluated_depsgraph_get()
        still = np.zeros((len(obj.data.vertices), 3))
        return addon("blender.scene.mesh_io").read_body(obj, depsgraph, velocities=still)

    return reading


def test_it_rests_as_it_was_modelled_and_is_posed_where_it_is(read: Any) -> None:
    """At the first frame the limb is bent, and a key that is driven there swells it."""
    obj = limb()
    shown = obj.modifiers[0].object.pose.bones["Bone"]
    shown.rotation_mode = "XYZ"
    shown.rotation_euler.x = pi / 2
    obj.shape_key_add(name="Basis")
    for name in ("Always", "Swollen"):
        key = obj.shape_key_add(name=name, from_mix=False)
        for point in key.data:
            point.co.x *= 1.5
        key.value = 1.0 if name == "Swollen" else 0.5
    swollen = obj.data.shape_keys.key_blocks["Swollen"]
    swollen.keyframe_insert("value", frame=1)
    obj.location.y = 3.0
    mesh = read(obj)
    wanted = places(obj) * (1.25, 1.0, 1.0) + (0.0, 3.0, 0.0)
    assert mesh.rest_positions == pytest.approx(wanted, abs=1e-6)
    assert np.ptp(mesh.positions[:, 1]) > 0.35, "the limb lies along Y"
    obj.verlet.rest_key = "Swollen"
    wanted = places(obj) * (1.5, 1.0, 1.0) + (0.0, 3.0, 0.0)
    assert read(obj).rest_positions == pytest.approx(wanted, abs=1e-6)


def test_groups_and_fibres_are_read(read: Any) -> None:
    obj = limb()
    verlet.paint_flesh(near=0.02, far=0.2)
    obj.vertex_groups.new(name="Biceps").add([0, 1], 0.5, "REPLACE")
    obj.verlet.muscle_group = "Biceps"
    assert read(obj).fibres is None
    along = obj.data.uv_layers.new(name="Along").uv
    at = places(obj)[[loop.vertex_index for loop in obj.data.loops]]
    angle = np.arctan2(at[:, 1], at[:, 0])
    along.foreach_set("vector", np.stack((angle, at[:, 2]), axis=1).ravel())
    obj.verlet.muscle_map = "Along"
    mesh = read(obj)
    assert mesh.paint.flesh == pytest.approx(painted(obj))
    assert mesh.paint.muscle[:3] == pytest.approx([0.5, 0.5, 0.0])
    outer = np.hypot(*places(obj)[:, :2].T) > 0.09
    middle = outer & (np.abs(places(obj)[:, 2]) < 0.15) & (places(obj)[:, 0] > 0.0)
    assert np.abs(mesh.fibres[middle, 2]) == pytest.approx(1.0, abs=1e-4)


def cautions(addon: Addon, obj: Any) -> list[str]:
    """Warnings before a bake of one body."""
    context = bpy.context
    found: list[str] = addon("blender.bake.cautions").cautions(
        context.scene, context.view_layer, [obj]
    )
    return found


def test_attachments_and_muscles_without_fibres_are_told_of(addon: Addon) -> None:
    obj = limb(0.1, bone=0.05)
    obj.verlet.muscle_group = obj.vertex_groups.new(name="Biceps").name
    obj.vertex_groups["Biceps"].add([0], 1.0, "REPLACE")
    obj.verlet.attachments.add()
    attached, muscles = cautions(addon, obj)
    assert "attachments have no effect" in attached
    assert "muscles of Limb do not contract without a Muscle Map" in muscles
    obj.verlet.attachments.clear()
    obj.verlet.muscle_group = ""
    assert cautions(addon, obj) == []


def test_half_of_a_mirrored_body_and_edges_alone_are_refused(addon: Addon) -> None:
    half = body(sheet(), body_type="FLESH")
    half.modifiers.new("Mirror", "MIRROR")
    check = addon("blender.scene.mesh_io").check_body
    error = addon("core.errors").MeshError
    with pytest.raises(error, match="half of a body, which its modifier Mirror completes"):
        check(half, bpy.context.view_layer)
    half.modifiers.clear()
    half.data.clear_geometry()
    half.data.from_pydata([(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
    with pytest.raises(error, match="no faces to be the skin of flesh"):
        check(half, bpy.context.view_layer)


def test_the_type_brings_fat_and_hides_what_does_not_act(addon: Addon) -> None:
    """By the button and in the panel; pins and attachments are not shown."""
    obj = limb()
    obj.verlet.body_type = "CLOTH"
    obj.verlet_type = "FLESH"
    assert (obj.verlet.material, obj.verlet.density, obj.verlet.damping) == ("FAT", 950.0, 0.0)
    verlet.set_material(material="MUSCLE")
    assert obj.verlet.flesh_damping == pytest.approx(0.25)
    verlet.set_material(material="FAT")
    assert obj.verlet.flesh_damping == pytest.approx(0.12)
    shown = {
        name: getattr(addon(f"blender.ui.{module}"), name).poll(bpy.context)
        for module, name in (
            ("panels", "VERLET_PT_attachments"),
            ("flesh_panel", "VERLET_PT_muscles"),
            ("shape_panels", "VERLET_PT_shape"),
            ("direction_panel", "VERLET_PT_direction"),
            ("panels", "VERLET_PT_forces"),
        )
    }
    assert [name for name, is_shown in shown.items() if not is_shown] == [
        "VERLET_PT_attachments",
        "VERLET_PT_shape",
    ]
