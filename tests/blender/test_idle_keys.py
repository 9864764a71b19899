"""Keys and drivers that would do nothing are named before a bake, in one line each."""

from collections.abc import Callable
from typing import Any

import bpy
import pytest

from tests.blender.scenes import body, pin, sheet

Said = Callable[[], list[str]]


def key(item: Any, path: str) -> None:
    """Adds a curve to an item's own action, also where Blender offers no key."""
    action: Any = bpy.data.actions.new("Keys")
    animation = item.animation_data_create()
    animation.action = action
    if hasattr(action, "fcurve_ensure_for_datablock"):
        curve = action.fcurve_ensure_for_datablock(item, path)
    else:
        curve = action.fcurves.new(path)
    curve.keyframe_points.insert(1, 0.0)
    curve.keyframe_points.insert(9, 1.0)


@pytest.mark.parametrize("path", ["verlet.thickness", "verlet.yield_strain", "verlet.resolution"])
def test_keys_on_what_is_read_once_are_named(said: Said, path: str) -> None:
    obj = body(sheet("Flag"))
    pin(obj, [0])
    assert not said()
    key(obj, path)
    (sentence,) = said()
    assert sentence.startswith("The keys of Flag on ")
    assert "at the first frame alone" in sentence


def test_drivers_on_what_is_read_once_are_named(said: Said) -> None:
    obj = body(sheet("Flag"))
    driven = sheet("Driven").driver_add("location", 0)
    obj.animation_data_create().drivers.from_existing(src_driver=driven)
    obj.animation_data.drivers[0].data_path = "verlet.hardening"
    obj.animation_data.drivers[0].driver.type = "SUM"
    assert ["The drivers of Flag on Hardening" in sentence for sentence in said()] == [True]


def test_keys_of_the_scene_and_of_colliders_are_named(said: Said) -> None:
    body(sheet("Flag", height=1.0))
    table = sheet("Table", size=3.0)
    table.modifiers.new("Collision", "COLLISION")
    key(table, "collision.thickness_outer")
    key(bpy.context.scene, "verlet.key_step")
    sentences = said()
    assert any("keys of the collider Table on" in sentence for sentence in sentences)
    assert any("keys of the scene Scene on Step" in sentence for sentence in sentences)


@pytest.mark.parametrize(
    ("body_type", "name"),
    [("CLOTH", "stiffness"), ("ROPE", "pressure"), ("CLOTH", "sewing_force"), ("CLOTH", "density")],
)
def test_keys_on_what_does_not_act_on_that_body_are_named(
    said: Said, body_type: str, name: str
) -> None:
    obj = body(sheet("Flag"), body_type=body_type)
    obj.keyframe_insert(f"verlet.{name}", frame=1)
    assert ["have no effect" in sentence for sentence in said()] == [True]


def test_keys_that_act_are_not_named(said: Said) -> None:
    obj = body(sheet("Flag"))
    for name in ("mass", "damping", "gravity", "bend_compliance", "use_tethers"):
        obj.keyframe_insert(f"verlet.{name}", frame=1)
    scene: Any = bpy.context.scene
    for name in ("steps_per_second", "ground_friction", "time_scale"):
        scene.keyframe_insert(f"verlet.{name}", frame=1)
    obj.keyframe_insert("location", frame=1)
    assert not said()
