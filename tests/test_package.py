"""What users download: complete, small, and without complaint from Blender's own checks."""

import io
import re
import struct
import subprocess
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

from verlet_addon.core.c_source import RECORDED_DIGEST, library_name

ROOT = Path(__file__).parents[1]
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))


def test_the_zip_holds_the_addon_and_nothing_else(extension_zip: Path) -> None:
    """Every module and catalog is there, the C compiled in wheels, and the samples; no tests."""
    sources = [*ROOT.glob("verlet_addon/**/*.py"), *ROOT.glob("verlet_addon/**/*.po")]
    modules = {path.relative_to(ROOT).as_posix() for path in sources}
    modules.add(RECORDED_DIGEST.relative_to(ROOT).as_posix())
    modules.add("verlet_addon/blender/cli/flamenco_job.js")
    texts = {"blender_manifest.toml", "__init__.py", "LICENSE", "sample_blends/LICENSE.md"}
    samples = {f"sample_blends/{path.name}" for path in ROOT.glob("sample_blends/*.blend")}
    wheels = {wheel.removeprefix("./") for wheel in MANIFEST["wheels"]}
    with zipfile.ZipFile(extension_zip) as package:
        assert set(package.namelist()) == modules | texts | samples | wheels


def test_the_zip_is_quick_to_download(extension_zip: Path) -> None:
    """It stays under 6.5 MB, of which 4.7 are samples: the menu opens them without a network.

    A quarter of these is Blender's description of its own data, in each file anew. Of the rest,
    two fifths are kernels for six kinds of machines; curves, forms, bones, textures and cages took
    it over 1.2, hair and all kinds of bodies in one call over 1.5, and the licence in each of six
    packages of kernels, which are on Python's index as they are here, over 1.6; flesh, reports of
    exceptions and places in the manual over 1.7.
    """
    assert extension_zip.stat().st_size < 6_500_000


def test_the_wheels_are_of_this_version_and_for_every_machine() -> None:
    names = [Path(wheel).name for wheel in MANIFEST["wheels"]]
    assert {name.split("-")[1] for name in names} == {MANIFEST["version"]}
    assert sorted(name.split("-")[-1] for name in names) == [
        "macosx_10_15_x86_64.whl",
        "macosx_11_0_arm64.whl",
        "manylinux_2_17_aarch64.whl",
        "manylinux_2_17_x86_64.whl",
        "win_amd64.whl",
        "win_arm64.whl",
    ]


def test_the_version_has_one_place() -> None:
    """Others follow the manifest: the newest section of changes, and the kernels for Python."""
    version = MANIFEST["version"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)", changes, re.MULTILINE)[0] == version
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dynamic"] == ["version"]
    pins = [each for each in project["dependencies"] if each.startswith("verlet-kernels")]
    assert [each.partition(";")[0] for each in pins] == [f"verlet-kernels=={version}"]


def test_a_library_of_another_source_has_another_name(extension_zip: Path) -> None:
    """A Blender that runs has loaded the former one, and would be given it again from its path.

    Its wheel has the plain version of the release, as Python's index and its tools ask for.
    """
    version = MANIFEST["version"]
    about = f"verlet_kernels-{version}.dist-info"
    suffixes = {"manylinux": ".so", "macosx": ".dylib", "win": ".dll"}
    with zipfile.ZipFile(extension_zip) as package:
        for wheel in MANIFEST["wheels"]:
            (suffix,) = {suffixes[system] for system in suffixes if f"-{system}_" in wheel}
            with zipfile.ZipFile(io.BytesIO(package.read(wheel.removeprefix("./")))) as parts:
                names = {name for name in parts.namelist() if not name.startswith(f"{about}/")}
                assert names == {f"verlet_kernels/{library_name(suffix)}"}
                assert f"Version: {version}\n" in parts.read(f"{about}/METADATA").decode()


def architecture(library: bytes) -> str:
    """Format and processor of a library, from its first bytes; of a Mac's, that it is signed."""
    if library[:4] == b"\x7fELF":
        return {62: "Linux x64", 183: "Linux arm64"}[struct.unpack_from("<H", library, 18)[0]]
    if library[:2] == b"MZ":
        (header,) = struct.unpack_from("<I", library, 60)
        return {0x8664: "Windows x64", 0xAA64: "Windows arm64"}[
            struct.unpack_from("<H", library, header + 4)[0]
        ]
    magic, processor, _, _, commands = struct.unpack_from("<5I", library)
    assert magic == 0xFEEDFACF
    place, kinds = 32, set()
    for _ in range(commands):
        kind, size = struct.unpack_from("<2I", library, place)
        kinds.add(kind)
        place += size
    signed = " signed" if 0x1D in kinds else ""
    return {0x01000007: "Mac x64", 0x0100000C: "Mac arm64"}[processor] + signed


def test_every_wheel_holds_every_kernel_for_its_machine(extension_zip: Path) -> None:
    """An arm64 Mac refuses what is not signed, if only by the compiler.

    On Linux kernels that call each other look up no names: others in the process may have them too.
    """
    sources = (ROOT / "verlet_addon").rglob("*.c")
    exported = r"^EXPORT .*?(\w+)\("
    texts = [path.read_text(encoding="utf-8") for path in sources]
    names = {name for text in texts for name in re.findall(exported, text, re.MULTILINE)}
    found = []
    with zipfile.ZipFile(extension_zip) as package:
        for wheel in MANIFEST["wheels"]:
            with zipfile.ZipFile(io.BytesIO(package.read(wheel.removeprefix("./")))) as parts:
                (path,) = (name for name in parts.namelist() if "/kernels-" in name)
                library = parts.read(path)
            assert all(name.encode() + b"\0" in library for name in names)
            assert b".rela.plt\0" not in library
            found.append(architecture(library))
    assert [name.removesuffix(" signed") for name in found] == [
        "Mac x64",
        "Mac arm64",
        "Linux arm64",
        "Linux x64",
        "Windows x64",
        "Windows arm64",
    ]
    assert found[1] == "Mac arm64 signed"


def test_blender_builds_and_validates_without_a_warning(
    extension_tool: Callable[..., str], extension_zip: Path
) -> None:
    """Blender's own tool finds nothing to say about the source or the zip."""
    for source in (ROOT, extension_zip):
        said = extension_tool("validate", source)
        assert re.fullmatch(r'Success parsing TOML in "[^"]+"\n', said)


def test_texts_fit_the_interface() -> None:
    """Blender cuts off what is longer than 64 characters, and adds the full stop itself."""
    for text in (MANIFEST["tagline"], *MANIFEST["permissions"].values()):
        assert len(text) <= 64
        assert text[-1].isalnum()


def test_the_licence_is_the_one_the_manifest_names() -> None:
    """The manifest says GPL 3 or later, and the zip carries that text."""
    assert MANIFEST["license"] == ["SPDX:GPL-3.0-or-later"]
    head = (ROOT / "LICENSE").read_text(encoding="utf-8")[:200]
    assert re.search(r"GNU GENERAL PUBLIC LICENSE\s+Version 3", head)


def test_the_network_is_not_asked_for() -> None:
    """The add-on reads and writes files, and copies a report where asked to."""
    assert set(MANIFEST["permissions"]) == {"files", "clipboard"}


def test_an_installed_blender_builds_the_zip_without_a_gigabyte_of_tools() -> None:
    """`make zip` sets up .venv only where no Blender is found."""
    for blender, builds, sets_up in (
        ("blender", "\nblender --command extension build ", False),
        ("flatpak run Blender", "\nflatpak run Blender --command extension build ", False),
        ("", "blender_ext.py build ", True),
    ):
        command = ["make", "--dry-run", "zip", f"BLENDER={blender}", "READY=missing"]
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        assert builds in said
        assert ("Setting up .venv" in said) == sets_up
