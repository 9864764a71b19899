"""The compiler of the kernels and its options, for this machine and all others.

It needs nothing but Python and Zig's compiler, which compiles for every platform on any. The same
source gives the same bytes: nothing here depends on the time, on the folder or on the machine.
"""

import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from verlet_addon.core.c_source import CORE, library_name, source_digest, source_files

COMPILER = "-m", "ziglang", "cc"
"""Arguments of a Python that has the compiler."""
FLAGS = (
    "-shared -O2 -std=c99 -ffp-contract=off -fno-math-errno -fno-builtin -s -g0 -Wall -Wextra "
    "-fvisibility=hidden -fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer "
    "-mllvm -unroll-runtime=false -mllvm -unroll-full-max-count=4 -fno-vectorize -Wno-pass-failed"
)
"""Contracted or reordered arithmetic would give other digits on every processor. Libraries are
a tenth smaller, and as quick, without loops of unknown length unrolled; 3 % smaller again, jelly
being 4 % slower, without those of more than four rounds; a tenth smaller once more, and as quick,
where only loops that say WIDE take several numbers at a time, which they cannot in what is SMALL.
With fewer functions put into their callers, bakes with contacts take a sixth longer. C throws
nothing to unwind.
"""
ALONE = "-nostdlib"
"""Flag for libraries that need nothing of the system; a Mac's have to name the system's."""
OWN = f"{ALONE} -Wl,-Bsymbolic"
"""Flags for Linux, where kernels would call functions of the same names in other libraries."""
NAMED = "-Wl,-install_name,@rpath/kernels.dylib"
"""A Mac's library holds its name, which would be that of the folder it was made in."""


@dataclass(frozen=True)
class Platform:
    """One kind of machine."""

    target: str
    """Name of the platform in Zig."""
    tag: str
    """Tag of the platform in the names of wheels."""
    suffix: str
    """Ending of the library's name, for which `compiled.py` looks."""
    flags: str


LINUX, WINDOWS, MAC = (".so", OWN), (".dll", ALONE), (".dylib", NAMED)
PLATFORMS = {
    ("Linux", "x86_64"): Platform("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", *LINUX),
    ("Linux", "aarch64"): Platform("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64", *LINUX),
    ("Windows", "AMD64"): Platform("x86_64-windows-gnu", "win_amd64", *WINDOWS),
    ("Windows", "ARM64"): Platform("aarch64-windows-gnu", "win_arm64", *WINDOWS),
    ("Darwin", "x86_64"): Platform("x86_64-macos.10.15", "macosx_10_15_x86_64", *MAC),
    ("Darwin", "arm64"): Platform("aarch64-macos.11.0", "macosx_11_0_arm64", *MAC),
}
"""Platforms by system and processor, as Python names these."""


def this_machine() -> Platform | None:
    """The platform of this machine; None if it is none of those above."""
    return PLATFORMS.get((platform.system(), platform.machine()))


def compile_for(machine: Platform, folder: Path, *, python: str = sys.executable) -> Path:
    """The library for one kind of machine, made in this folder by a Python with the compiler."""
    library = folder / library_name(machine.suffix)
    sources = [path for path in source_files() if path.suffix == ".c"]
    command = [python, *COMPILER, "-target", machine.target, *FLAGS.split()]
    command += [*machine.flags.split(), f'-DKERNELS_SOURCE="{source_digest()}"']
    command += ["-o", str(library), *(path.relative_to(CORE).as_posix() for path in sources)]
    subprocess.run(command, cwd=CORE, check=True)
    return library
