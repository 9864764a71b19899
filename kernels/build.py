"""Compiles the kernels: for this machine, or for all and into the wheels that the zip carries.

    python kernels/build.py          build/kernels/verlet_kernels, where a checkout looks
    python kernels/build.py wheels   wheels/*.whl, which blender_manifest.toml names

Either takes seconds. The compiler is Zig's, from the requirements: it compiles for every platform
on any. The same source gives the same bytes: nothing here depends on the time, on the folder or on
the machine.
"""

import base64
import hashlib
import os
import platform
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kernels.header import write_header  # noqa: E402
from verlet_addon.core.compiled import (  # noqa: E402
    BUILD_FOLDER,
    CORE,
    RECORDED_DIGEST,
    source_digest,
    source_files,
)

COMPILER = [str(ROOT / "build" / "compiler" / "bin" / "python"), "-m", "ziglang", "cc"]
"""Path of the compiler, where `make` puts it."""
WHEELS = ROOT / "wheels"
NAME = "verlet_kernels"
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
    library: str
    """File name of the library, for which `compiled.py` looks."""
    flags: str


LINUX, WINDOWS, MAC = ("kernels.so", OWN), ("kernels.dll", ALONE), ("kernels.dylib", NAMED)
PLATFORMS = {
    ("Linux", "x86_64"): Platform("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", *LINUX),
    ("Linux", "aarch64"): Platform("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64", *LINUX),
    ("Windows", "AMD64"): Platform("x86_64-windows-gnu", "win_amd64", *WINDOWS),
    ("Windows", "ARM64"): Platform("aarch64-windows-gnu", "win_arm64", *WINDOWS),
    ("Darwin", "x86_64"): Platform("x86_64-macos.10.15", "macosx_10_15_x86_64", *MAC),
    ("Darwin", "arm64"): Platform("aarch64-macos.11.0", "macosx_11_0_arm64", *MAC),
}
"""Platforms by system and processor, as Python names these."""


def compile_for(machine: Platform, folder: Path) -> Path:
    """The library for one kind of machine, made in this folder."""
    library = folder / machine.library
    sources = [path for path in source_files() if path.suffix == ".c"]
    command = [*COMPILER, "-target", machine.target, *FLAGS.split()]
    command += [*machine.flags.split(), f'-DKERNELS_SOURCE="{source_digest()}"']
    command += ["-o", str(library), *(path.relative_to(CORE).as_posix() for path in sources)]
    subprocess.run(command, cwd=CORE, check=True)
    return library


def build_here() -> None:
    """Puts the library for this machine where the checkout looks for it."""
    machine = PLATFORMS.get((platform.system(), platform.machine()))
    if machine is None:
        print(f"no compiled kernels for {platform.platform()}: NumPy's serve")
        return
    BUILD_FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=BUILD_FOLDER) as folder:
        library = compile_for(machine, Path(folder))
        # Put in place at once: a process may have the former one loaded.
        os.replace(library, BUILD_FOLDER / library.name)


def build_wheel(machine: Platform, version: str, folder: Path) -> Path:
    """The wheel for one kind of machine, made in this folder.

    Inside it calls itself by its source too, for Blender leaves an installed wheel of the same name
    alone, and another build of the same release would be left without its kernels.
    """
    release, version = version, f"{version}+{source_digest()[:12]}"
    about = f"{NAME}-{version}.dist-info"
    tag = f"py3-none-{machine.tag}"
    library = compile_for(machine, folder).read_bytes()
    files = {
        f"{NAME}/{machine.library}": library,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n".encode(),
        f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: {NAME}\n"
        f"Root-Is-Purelib: false\nTag: {tag}\n".encode(),
    }
    record = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items()]
    files[f"{about}/RECORD"] = "".join([*record, f"{about}/RECORD,,\n"]).encode()
    path = folder / f"{NAME}-{release}-{tag}.whl"
    with ZipFile(path, "w") as wheel:
        for name, data in files.items():
            entry = ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system = ZIP_DEFLATED, 3
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, compresslevel=9)
    return path


def _digest(data: bytes) -> str:
    """Digest of a file as wheels' records have it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def build_wheels() -> None:
    """Puts the wheels where the manifest names them.

    Raises
    ------
    SystemExit
        If the manifest names others.
    """
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))
    WHEELS.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=WHEELS) as folder:
        made = {
            build_wheel(machine, manifest["version"], Path(folder))
            for machine in PLATFORMS.values()
        }
        # Put in place each at once: elsewhere a zip may be packed of the same ones meanwhile.
        for wheel in made:
            os.replace(wheel, WHEELS / wheel.name)
        digest = Path(folder, RECORDED_DIGEST.name)
        digest.write_text(source_digest(), "utf-8")
        os.replace(digest, RECORDED_DIGEST)
    for other in {path.name for path in WHEELS.glob("*.whl")} - {path.name for path in made}:
        (WHEELS / other).unlink()
    named = {f"./{WHEELS.name}/{path.name}" for path in made}
    if named != set(manifest["wheels"]):
        sys.exit(f"blender_manifest.toml should name these wheels: {sorted(named)}")


if __name__ == "__main__":
    write_header()
    build_wheels() if sys.argv[1:] == ["wheels"] else build_here()
