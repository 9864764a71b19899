"""The extension arrives and leaves like a good guest."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import bpy
import pytest

INSTALL_BAKE_AND_UNINSTALL = """
import sys
import bpy

bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
bpy.ops.extensions.package_install_files(
    filepath=sys.argv[-1], repo="user_default", enable_on_install=True
)
assert "bl_ext.user_default.verlet_soft_body" in bpy.context.preferences.addons
bpy.ops.verlet.add_cloth()
bpy.ops.verlet.bake(frame_start=1, frame_end=3)
self_test = sys.modules["bl_ext.user_default.verlet_soft_body.verlet_addon.core.self_test"]
print("kernels:", self_test.fallback_reason() or self_test.backend().library._name)
bpy.ops.preferences.addon_disable(module="bl_ext.user_default.verlet_soft_body")
assert not hasattr(bpy.types.Scene, "verlet")
(key,) = bpy.data.shape_keys
print("keys:", *[block.name for block in key.key_blocks if block.name.startswith("verlet_")])
"""


def blender(script: Path) -> list[str | Path]:
    """How to run a script in a Blender like this one, be it a program or a Python module."""
    if not bpy.app.binary_path:
        return [sys.executable, script]
    options = ["--background", "--factory-startup", "--python-exit-code", "1", "--python"]
    return [bpy.app.binary_path, *options, script, "--"]


def test_the_zip_installs_bakes_and_leaves_the_keys(extension_zip: Path, tmp_path: Path) -> None:
    """In a Blender that never saw the add-on, the zip works; what it baked outlives it."""
    script = tmp_path / "install.py"
    script.write_text(INSTALL_BAKE_AND_UNINSTALL, encoding="utf-8")
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path / "user")}
    for name in ("PYTHONPATH", "VERLET_KERNELS"):
        environment.pop(name, None)
    command = [*blender(script), extension_zip]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "keys: verlet_0001 verlet_0002 verlet_0003" in said, said
    kernels = re.search(r"^kernels: (.*)", said, re.MULTILINE)
    assert kernels is not None, said
    assert Path(kernels[1]).parts[-3:-1] == ("site-packages", "verlet_kernels")
    assert tmp_path / "user" in Path(kernels[1]).parents


@pytest.fixture
def package() -> Iterator[ModuleType]:
    """The add-on, taken out of Blender, and put back after the test."""
    package = import_module("verlet_addon")
    package.unregister()
    yield package
    package.register()


def what_addons_may_change() -> dict[str, object]:
    """Everything that registration can reach: types, properties, menus, handlers, shortcuts."""
    types = [getattr(bpy.types, name) for name in dir(bpy.types)]
    handlers = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
    keymaps = bpy.context.window_manager.keyconfigs.addon.keymaps
    return {
        "types": set(dir(bpy.types)),
        "properties": {
            kind.__name__: set(kind.bl_rna.properties.keys())
            for kind in (bpy.types.Object, bpy.types.Scene, bpy.types.Mesh, bpy.types.WindowManager)
        },
        "menus": {
            kind.__name__: list(kind.draw._draw_funcs)
            for kind in types
            if hasattr(getattr(kind, "draw", None), "_draw_funcs")
        },
        "handlers": {name: list(of) for name, of in handlers.items() if isinstance(of, list)},
        "shortcuts": {keymap.name: len(keymap.keymap_items) for keymap in keymaps},
    }


def test_unregister_takes_back_what_register_made(package: ModuleType) -> None:
    """Switching the add-on off and on again, twice, changes nothing that is not its own."""
    before = what_addons_may_change()
    for _ in range(2):
        package.register()
        present = what_addons_may_change()
        assert all(present[what] != before[what] for what in ("types", "properties", "menus"))
        package.unregister()
        assert what_addons_may_change() == before
