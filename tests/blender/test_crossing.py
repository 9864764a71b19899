"""Cloths that start through each other are told, for which side is right nobody knows."""

from collections.abc import Callable
from typing import Any

import bpy
import pytest

from tests.blender.scenes import body, line, sheet, verlet


def remarks(upright: Any) -> str:
    """What is said of a bake of a sheet that lies and another object that stands at its middle."""
    body(sheet("Lying"))
    upright.rotation_euler = (1.5, 0.0, 0.0)
    bpy.context.scene.verlet.use_ground = False
    bpy.context.view_layer.update()
    verlet.bake(frame_start=1, frame_end=2)
    return str(bpy.context.scene.verlet.baked_remarks)


def through_its_middle() -> Any:
    obj = body(sheet("Upright"))
    obj.location = (0.1, 0.45, -0.5)
    return obj


def exempt() -> Any:
    obj = through_its_middle()
    obj.vertex_groups.new(name="All").add(range(25), 1.0, "REPLACE")
    obj.verlet.vertex_group_object_collisions = "All"
    return obj


def above() -> Any:
    obj = through_its_middle()
    obj.location.z = 0.02
    return obj


def standing_on_it() -> Any:
    obj = through_its_middle()
    obj.location.z = 0.0
    return obj


def rope() -> Any:
    obj = body(line("Upright"))
    obj.location = (-0.5, 0.45, 0.0)
    return obj


def test_two_cloths_that_pass_through_each_other_are_named() -> None:
    assert "Upright and Lying pass through each other" in remarks(through_its_middle())


@pytest.mark.parametrize("make", [above, standing_on_it, exempt, rope])
def test_what_does_not_pass_through_or_is_meant_to_is_not(make: Callable[[], Any]) -> None:
    """It stands above it, or just touches it, or is exempt, or is a rope."""
    assert "pass through" not in remarks(make())
