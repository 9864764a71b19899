"""The menu of samples opens each file of the manual's pages as a new file without a name."""

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.blender.scenes import verlet

Addon = Callable[[str], ModuleType]
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMES = sorted(path.stem for path in ROOT.glob("sample_blends/*.blend"))


@pytest.fixture
def samples(addon: Addon) -> ModuleType:
    """The module with the menu."""
    return addon("blender.ui.samples")


def labels(samples: ModuleType) -> dict[str, str]:
    """What the menu calls each sample."""
    files = samples.SAMPLES.values()
    return {name: label for group in files for name, (label, _) in group.items()}


def test_the_menu_has_every_sample(samples: ModuleType) -> None:
    assert sorted(labels(samples)) == NAMES
    assert sorted(path.stem for path in samples.FOLDER.glob("*.blend")) == NAMES


@pytest.mark.skipif(not DOCS.exists(), reason="the docs are not beside these tests")
def test_the_page_of_samples_has_each_and_leads_to_its_page(samples: ModuleType) -> None:
    text = (DOCS / "start" / "samples.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \*\*(.+?)\*\* \|.*\((\S+?)\) \|$", text, re.M))
    assert set(rows) == set(labels(samples).values())
    for label, place in rows.items():
        page = (DOCS / "start" / place.partition("#")[0]).resolve()
        assert f"**{label}**" in page.read_text(encoding="utf-8"), page.name


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_opens_as_a_new_file_with_bodies(samples: ModuleType, name: str) -> None:
    """Saving asks for a name, so that nothing is written into the folder of the extension."""
    assert verlet.open_sample(name=name.upper()) == {"FINISHED"}
    assert bpy.data.filepath == ""
    scene: Any = bpy.context.scene
    assert [each.name for each in bpy.data.scenes] == [scene.name]
    assert samples.MARK not in scene
    assert bpy.context.object.select_get()
    assert any(obj.verlet.enabled for obj in scene.objects)
    assert verlet.bake.poll()


def test_a_sample_leaves_the_workspaces() -> None:
    before = {each.name for each in bpy.data.workspaces}
    assert len(before) > 1
    assert verlet.open_sample(name="FLAG") == {"FINISHED"}
    assert {each.name for each in bpy.data.workspaces} == before


def test_a_sample_is_seen_through_its_camera_and_no_other_file_is(tmp_path: Path) -> None:
    assert {each.view_perspective for each in views()} == {"PERSP"}
    verlet.open_sample(name="FLAG")
    assert {each.view_perspective for each in views()} == {"CAMERA"}
    for view in views():
        view.view_perspective = "PERSP"
    path = str(tmp_path / "mine.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert {each.view_perspective for each in views()} == {"PERSP"}


def views() -> list[Any]:
    """The 3D views of the window."""
    context: Any = bpy.context
    spaces = [area.spaces.active for area in context.window.screen.areas]
    return [each.region_3d for each in spaces if isinstance(each, bpy.types.SpaceView3D)]
