"""Builds the package of the kernels: its source, and a wheel for each kind of machine.

    python release/wheels.py     wheels/*.whl, which blender_manifest.toml names

The wheels are built from the source package, as pip does. The same files give the same bytes.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kernels.compiler import PLATFORMS  # noqa: E402
from verlet_addon.core.c_source import (  # noqa: E402
    RECORDED_DIGEST,
    source_digest,
    source_files,
)

WHEELS = ROOT / "wheels"
EPOCH = "1577836800"
"""Time of all files in packages: the first second of 2020."""
NEEDED = (
    "LICENSE",
    "blender_manifest.toml",
    "kernels/compiler.py",
    "verlet_addon/__init__.py",
    "verlet_addon/core/__init__.py",
    "verlet_addon/core/c_source.py",
)
"""Files besides the C source that its package needs."""


def build_package(project: Path, folder: Path, target: str, tag: str = "") -> Path:
    """The package of a project that hatchling builds: its source or a wheel."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": EPOCH, "VERLET_WHEEL_TAG": tag}
    before = {*folder.iterdir()}
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)
    (made,) = {*folder.iterdir()} - before
    return made


def lay_out(folder: Path) -> None:
    """Copies the files of the package of the kernels to where hatchling builds it."""
    own = ROOT / "release" / "kernels"
    for path in [*own.iterdir(), *(ROOT / name for name in NEEDED), *source_files()]:
        if path.is_file():
            copy = folder / path.relative_to(own if path.parent == own else ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def build_packages(project: Path, folder: Path, tags: Sequence[str] = ("",)) -> list[Path]:
    """The wheels of a project, made in this folder from its source package, which is there too."""
    source = build_package(project, folder, "sdist")
    with TemporaryDirectory() as name:
        with tarfile.open(source) as archive:
            archive.extractall(name, filter="data")
        (unpacked,) = Path(name).iterdir()
        return [build_package(unpacked, folder, "wheel", tag) for tag in tags]


def build_kernels(folder: Path) -> list[Path]:
    """The wheels of the kernels for all machines, made in this folder with their source package."""
    with TemporaryDirectory() as name:
        lay_out(Path(name))
        return build_packages(Path(name), folder, [each.tag for each in PLATFORMS.values()])


def place_wheels(made: list[Path]) -> None:
    """Puts copies of the wheels where the manifest names them, and the digest of their source.

    Raises
    ------
    SystemExit
        If the manifest names others.
    """
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))
    WHEELS.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=WHEELS) as folder:
        # Put in place each at once: elsewhere a zip may be packed of the same ones meanwhile.
        for wheel in made:
            os.replace(shutil.copy(wheel, folder), WHEELS / wheel.name)
        digest = Path(folder, RECORDED_DIGEST.name)
        digest.write_text(source_digest(), "utf-8")
        os.replace(digest, RECORDED_DIGEST)
    for other in {path.name for path in WHEELS.glob("*.whl")} - {path.name for path in made}:
        (WHEELS / other).unlink()
    named = {f"./{WHEELS.name}/{path.name}" for path in made}
    if named != set(manifest["wheels"]):
        sys.exit(f"blender_manifest.toml should name these wheels: {sorted(named)}")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        place_wheels(build_kernels(Path(folder)))
