"""F1 and Online Manual on our settings and operators lead to their places in the manual."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.test_docs import anchors

Addon = Callable[[str], ModuleType]
REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
ADDRESS = "https://verlet.example/manual/reference/"

pytestmark = pytest.mark.skipif(
    not REFERENCE.exists(), reason="the docs are not beside these tests"
)


@pytest.fixture
def manual(addon: Addon, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module with the places, in a release that has a website."""
    module = addon("blender.ui.manual")
    monkeypatch.setattr(module, "website", lambda: "https://verlet.example/")
    return module


def looked_up(name: str) -> str | None:
    """The address that Blender itself finds for one of its names."""
    viewer: Any = bpy.types.WM_OT_doc_view_manual
    found: str | None = viewer._lookup_rna_url(name, verbose=False)
    return found


def test_each_place_is_a_heading_of_the_reference(manual: ModuleType) -> None:
    address, places = manual.manual_map()
    assert address == ADDRESS
    for name, place in places:
        page, _, anchor = place.partition("#")
        assert anchor in anchors(REFERENCE / page.replace(".html", ".md")), name
    assert len(places) > 150


def test_every_operator_and_setting_has_a_place(manual: ModuleType) -> None:
    names = {name for name, _ in manual.manual_map()[1]}
    operators: Any = bpy.ops
    assert {f"bpy.ops.verlet.{name}" for name in dir(operators.verlet)} <= names
    for kind in manual.PAGES:
        for name in manual.properties_of(kind):
            assert f"bpy.types.{kind}.{name}".lower() in names
    assert {"bpy.types.verlet_pg_body.mass", "bpy.types.posebone.verlet_radius"} <= names


@pytest.mark.usefixtures("manual")
@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("bpy.types.VERLET_PG_body.mass", "settings.html#mass-mass"),
        ("bpy.types.VERLET_PG_scene.ground_height", "settings_of_scene.html#height-ground_height"),
        ("bpy.types.PoseBone.verlet_radius", "settings_of_bones.html#radius-verlet_radius"),
        ("bpy.types.Object.verlet_bend", "settings.html#bend-softness-verlet_bend"),
        ("bpy.ops.verlet.bake", "operators.html#bake-bake"),
        ("bpy.ops.verlet.bake_bones", "operators.html#bake-to-bones-bake_bones"),
    ],
)
def test_blender_finds_the_place(name: str, place: str) -> None:
    assert looked_up(name) == ADDRESS + place


@pytest.mark.usefixtures("manual")
def test_names_of_blender_lead_to_its_own_manual() -> None:
    for name in ("bpy.types.Object.location", "bpy.types.ClothSettings.quality"):
        assert (looked_up(name) or "").startswith("https://docs.blender.org/")


def test_without_a_website_no_page_is_named() -> None:
    assert looked_up("bpy.ops.verlet.bake") is None
