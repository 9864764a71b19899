"""Cloths that start through each other are told, for which side is right nobody knows.

So are those that end through themselves, as Self Collision would have kept them from.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import body, line, sheet, verlet
from tests.work import growth
from verlet_addon.blender.bake.self_crossing import crossing
from verlet_addon.core.inputs import sheet as sheet_of
from verlet_addon.core.settings import BodySettings


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


def standing_on_edge() -> Any:
    """A narrow sheet of cloth that stands upright on the ground, and comes down in folds."""
    obj = body(sheet("Tower", resolution=12), bend_stiffness=0.0)
    obj.scale = (0.3, 1.0, 1.0)
    obj.location = (0.0, 0.0, 0.01)
    obj.rotation_euler = (1.55, 0.0, 0.0)
    return obj


@pytest.mark.slow
@pytest.mark.parametrize("self_collision", [False, True])
def test_cloth_that_ends_through_itself_is_told_so_without_self_collision(
    self_collision: bool,
) -> None:
    standing_on_edge().verlet.use_self_collision = self_collision
    verlet.bake(frame_start=1, frame_end=48)
    told = "Tower passes through itself" in str(bpy.context.scene.verlet.baked_remarks)
    assert told is not self_collision


def test_cloths_far_apart_are_not_compared_pair_by_pair() -> None:
    """Two thousand of them would be two million pairs."""

    def work(count: int) -> Callable[[], list[str]]:
        flat = sheet_of(1, 1, width=0.5)
        places = [flat.positions + np.array([k, 0.0, 0.0]) for k in range(count)]
        meshes = [replace(flat, positions=each) for each in places]
        return lambda: list(crossing(meshes, [BodySettings()] * count))

    assert growth(work, 50) < 5.0
