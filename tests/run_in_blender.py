"""Runs the suite inside Blender against the installed extension, never against the source.

Tests of Blender but those marked `slow` or `nightly`, and laws of `make quick`, which meet another
Python and NumPy here; `make test` has run the rest on the same code.

blender --background --factory-startup --python-exit-code 1 \
    --python tests/run_in_blender.py -- [pytest arguments]
"""

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import bpy
import pytest

EXTENSION = "bl_ext.user_default.verlet_soft_body"
SOURCE = Path(__file__).resolve().parents[1]
PACKAGE = SOURCE / "verlet_addon"


class InstalledPackage(MetaPathFinder, Loader):
    """Makes `verlet_addon.x` the very module that Blender has loaded as part of the extension."""

    def find_spec(self, name: str, _path: object, _target: object = None) -> ModuleSpec | None:
        """Answers for the package and everything in it."""
        return ModuleSpec(name, self) if name.partition(".")[0] == "verlet_addon" else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Takes the extension's module, and notes its spec, which the import replaces."""
        module = import_module(f"{EXTENSION}.{spec.name}")
        self.own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Gives the module its own spec back; its code has run already."""
        module.__spec__ = self.own_spec


def main(arguments: list[str]) -> int:
    """Enables the extension, runs pytest, and fails if any module came from the source folder."""
    bpy.ops.preferences.addon_enable(module=EXTENSION)
    sys.meta_path.insert(0, InstalledPackage())
    tests = SOURCE / "tests"
    laws = [str(SOURCE / law) for law in (tests / "laws.txt").read_text("utf-8").splitlines()]
    quick = [str(tests / "blender"), *laws, "-m", "not slow and not nightly"]
    options = [f"--rootdir={SOURCE}", f"--confcutdir={tests}", "-c", str(SOURCE / "pyproject.toml")]
    status = int(pytest.main([*options, *(arguments or quick)]))
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    strays = sorted(file for file in files if file and PACKAGE in Path(file).parents)
    if strays:
        print(f"Imported from the source instead of the extension: {', '.join(strays)}")
    return status or bool(strays)


sys.exit(main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []))
