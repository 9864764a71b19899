"""Compiles the library while the wheel is built, for this machine or for VERLET_WHEEL_TAG."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelHook(BuildHookInterface):
    """Hook of hatchling, which calls it for each wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Adds the library to the wheel, whose name tells the platform."""
        sys.path.insert(0, self.root)
        from kernels.compiler import PLATFORMS, compile_for, this_machine

        tag = os.environ.get("VERLET_WHEEL_TAG")
        tagged = next((each for each in PLATFORMS.values() if each.tag == tag), None)
        machine = tagged if tag else this_machine()
        if machine is None:
            known = ", ".join(each.tag for each in PLATFORMS.values())
            raise SystemExit(f"There are no compiled kernels for this machine, only for {known}")
        self._folder = TemporaryDirectory()
        library = compile_for(machine, Path(self._folder.name))
        build_data["force_include"][str(library)] = f"verlet_kernels/{library.name}"
        build_data["tag"], build_data["pure_python"] = f"py3-none-{machine.tag}", False

    def finalize(self, *_: object) -> None:
        """Deletes what was compiled."""
        self._folder.cleanup()
