"""Compiles the kernels for this machine: build/kernels/verlet_kernels, where a checkout looks.

    python kernels/build.py

It takes seconds. release/wheels.py makes the wheels for all machines.
"""

import os
import platform
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kernels.compiler import compile_for, this_machine  # noqa: E402
from kernels.header import write_header  # noqa: E402
from verlet_addon.core.compiled import BUILD_FOLDER  # noqa: E402


def build_here() -> None:
    """Puts the library for this machine where the checkout looks for it, in place of others."""
    machine = this_machine()
    if machine is None:
        print(f"no compiled kernels for {platform.platform()}: NumPy's serve")
        return
    BUILD_FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=BUILD_FOLDER) as folder:
        library = compile_for(machine, Path(folder))
        # Put in place at once: a process may have the former one loaded.
        os.replace(library, BUILD_FOLDER / library.name)
    for other in {*BUILD_FOLDER.glob("kernels*.*")} - {BUILD_FOLDER / library.name}:
        other.unlink()


if __name__ == "__main__":
    write_header()
    build_here()
