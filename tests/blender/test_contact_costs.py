"""A bake that is slow says which pairs of objects its time goes to, and what to do."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.blender.scenes import verlet
from verlet_addon.core.scene import ContactSearch

Costs = Callable[[dict[tuple[str, str], int]], list[str]]


@pytest.fixture
def costs(addon: Callable[[str], ModuleType]) -> Costs:
    """What is told of ten frames of a shirt, a skirt and colliders, by tests of pairs."""
    module = addon("blender.bake.contact_costs")

    def told(tests: dict[tuple[str, str], int]) -> list[str]:
        searches = {pair: ContactSearch(10, count) for pair, count in tests.items()}
        return list(module.costly_pairs(searches, ["Shirt", "Skirt"], 10))

    return told


def test_the_two_costliest_pairs_are_named_with_what_to_do(costs: Costs) -> None:
    (sentence,) = costs(
        {
            ("Shirt", "Shirt"): 600_000,
            ("Shirt", "Skirt"): 100_000,
            ("Shirt", "Body"): 300_000,
        }
    )
    assert sentence == (
        "Most tests for contacts: Shirt with itself (60%), then Shirt with Body (30%); for a "
        "faster bake, lower the Thickness of Shirt, and give Body fewer faces, or a simpler "
        "collider in its place"
    )


def test_two_bodies_are_both_to_be_thinner(costs: Costs) -> None:
    (sentence,) = costs({("Shirt", "Skirt"): 900_000, ("Shirt", "Body"): 50_000})
    assert sentence == (
        "Most tests for contacts: Shirt with Skirt (95%); for a faster bake, lower the Thickness "
        "of Shirt and Skirt"
    )


def test_a_bake_with_few_tests_says_nothing(costs: Costs) -> None:
    assert costs({("Shirt", "Shirt"): 10_000}) == []
    assert costs({}) == []


def test_it_stays_in_the_remarks_of_the_bake(addon: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As information, which the panel lists after the bake; by the names that users gave."""
    monkeypatch.setattr(addon("blender.bake.contact_costs"), "FEW_TESTS", 0)
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.4, location=(0.0, 0.0, -0.41))
    bpy.context.object.name = "Ball"
    verlet.make_collider()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=12, y_subdivisions=12, size=2.0)
    bpy.context.object.name = "Sheet"
    verlet.convert(body_type="CLOTH", use_material=False)
    bpy.context.scene.frame_end = 6
    verlet.bake()
    (remark,) = addon("blender.bake.record").baked_remarks(bpy.context.scene)
    assert remark.grade == "INFO"
    assert remark.startswith("Most tests for contacts: Sheet with Ball (100%); for a faster bake")
