"""What every test shares: repeatable examples, and the extension as users get it."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

# The same examples in every run, and no deadline: a busy machine is not a mistake in the code.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


class ExtensionTool:
    """Blender's own command line for extensions, as a plain script that every build ships."""

    def __init__(self) -> None:
        import bpy

        (folder,) = bpy.utils.script_paths(subdir="addons_core/bl_pkg/cli")
        self._script = Path(folder, "blender_ext.py")

    def __call__(self, *arguments: str | Path) -> str:
        """Returns everything the tool prints, and fails if it reports failure."""
        command = [sys.executable, self._script, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="session")
def extension_tool() -> ExtensionTool:
    """Runs `blender --command extension …` without starting Blender."""
    return ExtensionTool()


@pytest.fixture(scope="session")
def extension_zip(extension_tool: ExtensionTool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip that users install, built from the source as it is now."""
    path = tmp_path_factory.mktemp("extension") / "verlet_soft_body.zip"
    extension_tool("build", "--source-dir", ROOT, "--output-filepath", path)
    return path
