"""The add-on registered in Blender, and an empty file for every test."""

from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType

import bpy
import pytest


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
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


@pytest.fixture(scope="session")
def addon() -> Callable[[str], ModuleType]:
    """The add-on's modules by short name: `addon("blender.bake")`."""
    return lambda name: import_module(f"verlet_addon.{name}")
