"""Versions of the add-on and of what it runs in."""

import os
import platform
import re
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import bpy
import numpy as np

_MANIFEST = Path(__file__).parents[3] / "blender_manifest.toml"


def addon_version() -> str:
    """The version of the add-on, as its manifest has it."""
    return str(_manifest()["version"])


def quick_build() -> str:
    """Words for the build that has compiled kernels, with the address that the manifest has."""
    return f"the build with compiled kernels from {website() or 'its own website'}"


def website() -> str:
    """The address of the add-on's website, which releases have in their manifest; else empty."""
    return str(_manifest().get("website", ""))


@cache
def _manifest() -> dict[str, Any]:
    """The manifest of the extension."""
    return tomllib.loads(_MANIFEST.read_text("utf-8"))


def versions() -> str:
    """Versions of add-on, Blender, Python, NumPy and system, and the number of processors."""
    python = ".".join(map(str, sys.version_info[:3]))
    # What distributions and companies add to the number of their kernel may be a name.
    system = re.match(r"[\d.]*", platform.release())
    return ", ".join(
        (
            f"Verlet {addon_version()}",
            f"Blender {bpy.app.version_string} ({bpy.app.build_hash.decode()})",
            f"Python {python}",
            f"NumPy {np.__version__}",
            f"{platform.system()} {system[0] if system else ''} {platform.machine()}",
            f"{os.cpu_count()} processors",
        )
    )
