"""The add-on registered in Blender, and an empty file for every test."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import bpy
import pytest


@pytest.fixture(scope="session", autouse=True)
def _registered() -> None:
    """Registers the source's add-on where Blender has not enabled the installed extension."""
    if not hasattr(bpy.types.Scene, "verlet"):
        import_module("verlet_addon").register()


@pytest.fixture(autouse=True)
def _empty_file(_registered: None) -> None:
    """Starts every test in a new file without objects; add-ons and preferences stay."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


@pytest.fixture(scope="session")
def addon() -> Callable[[str], ModuleType]:
    """The add-on's modules by short name: `addon("blender.bake")`."""
    return lambda name: import_module(f"verlet_addon.{name}")
