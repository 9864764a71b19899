"""What every test shares: repeatable examples, and the extension as users get it."""

import os
import subprocess
import sys
import time
from math import inf
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

# The same examples in every run, and no deadline: a busy machine is not a mistake in the code.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# Processes that share the tests share no presets and preferences of Blender.
if "PYTEST_XDIST_WORKER" in os.environ and "BLENDER_USER_RESOURCES" in os.environ:
    os.environ["BLENDER_USER_RESOURCES"] += os.sep + os.environ["PYTEST_XDIST_WORKER"]

END = float(os.environ.get("VERLET_QUICK_END", inf))
"""When `make quick` begins no further test [s since 1970]."""


class ImmediateFailures:
    """A plugin that prints a failure when it happens, not only after the last test."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Prints the error of a failed test."""
        if report.failed:
            writer = self._config.get_terminal_writer()
            writer.line()
            writer.sep("_", report.nodeid, red=True)
            report.toterminal(writer)


def pytest_configure(config: pytest.Config) -> None:
    """Prints failures at once, in the process that prints at all."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(ImmediateFailures(config))


def pytest_runtest_setup() -> None:
    """Skips a test for which `make quick` has no time left."""
    if time.time() > END:
        pytest.skip("no time left")


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
    if inf > END:
        pytest.skip("make quick builds no wheels")
    path = tmp_path_factory.mktemp("extension") / "verlet_soft_body.zip"
    extension_tool("build", "--source-dir", ROOT, "--output-filepath", path)
    return path
