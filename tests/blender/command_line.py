"""The command line as a user starts it, and what it wrote."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import bpy

from tests.blender.scenes import baked

ROOT = Path(__file__).parents[2]


def started(*arguments: str | Path, **options: Any) -> "subprocess.Popen[str]":
    """Starts the command: Blender's own, or the Python module's."""
    if bpy.app.binary_path:
        command: list[str | Path] = [bpy.app.binary_path, "--command", "verlet"]
    else:
        command = [sys.executable, "-m", "verlet_addon"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    return subprocess.Popen(
        [*command, *arguments], text=True, env=environment, **{**streams, **options}
    )


def ended(process: "subprocess.Popen[str]") -> "subprocess.CompletedProcess[str]":
    """Waits for the command's end."""
    out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def run(*arguments: str | Path, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Runs the command to its end."""
    return ended(started(*arguments, **options))


def keys_in(path: Path) -> dict[str, list[str]]:
    """Names of the baked keys of every object in a file."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return {obj.name: list(baked(obj)) for obj in bpy.data.objects}


def names(frames: range) -> list[str]:
    """Names of baked keys."""
    return [f"verlet_{frame:04}" for frame in frames]
