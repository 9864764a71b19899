"""The add-on registered in Blender, and an empty file for every test."""

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.blender.scenes import body, line, pin, sheet


@pytest.fixture(scope="session", autouse=True)
def _registered() -> Iterator[None]:
    """Registers the source's add-on where Blender has not enabled the installed extension.

    Blender as a Python module crashes at the end of the process if classes are left registered.
    """
    if hasattr(bpy.types.Scene, "verlet"):
        yield
        return
    package = import_module("verlet_addon")
    package.register()
    yield
    package.unregister()


@pytest.fixture(autouse=True)
def _empty_file(_registered: None) -> None:
    """Starts every test in a new file without objects; add-ons and preferences stay."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=True)


@pytest.fixture(scope="session")
def addon() -> Callable[[str], ModuleType]:
    """The add-on's modules by short name: `addon("blender.bake")`."""
    return lambda name: import_module(f"verlet_addon.{name}")


@pytest.fixture
def live(addon: Callable[[str], ModuleType]) -> Iterator[ModuleType]:
    """The control of live simulations, which all end with the test."""
    control = addon("blender.live.control")
    yield control
    for scene in bpy.data.scenes:
        control.end_live(scene)


@pytest.fixture
def cli(addon: Callable[[str], ModuleType]) -> ModuleType:
    """The command line."""
    return addon("blender.cli.command")


@pytest.fixture
def blend(tmp_path: Path) -> Path:
    """A file with a pinned cloth, a rope, and a square that is no body."""
    cloth = body(sheet("Cloth", height=3.0))
    pin(cloth, [0, 1, 2, 3, 4])
    pin(body(line("Rope", height=3.0)), [0])
    sheet("Table")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 6
    path = tmp_path / "in.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    return path


@pytest.fixture
def printed(
    addon: Callable[[str], ModuleType], capfd: pytest.CaptureFixture[str]
) -> Callable[[], Any]:
    """Gives what has been printed since the last call, or the start, as `out` and `err`."""

    def read() -> Any:
        # Blender's own output may still wait in a buffer.
        with addon("blender.cli.output_capture").quiet():
            pass
        return capfd.readouterr()

    read()
    return read


@pytest.fixture
def said(addon: Callable[[str], ModuleType]) -> Callable[[], list[str]]:
    """What is said before a bake of all bodies of the scene."""

    def warnings() -> list[str]:
        scene, view_layer = bpy.context.scene, bpy.context.view_layer
        view_layer.update()
        found = addon("blender.bake.bake").bodies(scene)
        sentences: list[str] = addon("blender.bake.cautions").cautions(scene, view_layer, found)
        for sentence in sentences:
            assert re.search(r"[;,] ", sentence)
            assert not re.search(r"\n|\. [A-Z]", sentence)
        return sentences

    return warnings
