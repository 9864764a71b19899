"""Makes a release: all that users download, in dist/.

    python release/make_release.py [--website URL] TOOL...    TOOL is Blender's for extensions

- dist/verlet_soft_body-VERSION.zip: the extension for all platforms, to install from disk;
- dist/repository: files of a repository of extensions, for any web server, with a zip for each
  platform; zips of former releases stay there, and the index leaves them out, as Blender mistakes
  two versions for one platform;
- dist/extensions.blender.org: the extension that is Python alone;
- dist/python: the packages for Python's index.

The same files give the same bytes, at any time and place.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from release.wheels import build_kernels, build_packages, place_wheels  # noqa: E402

DIST = ROOT / "dist"
PLATFORMS = ("linux-arm64", "linux-x64", "macos-arm64", "macos-x64", "windows-arm64", "windows-x64")
"""Names of platforms in Blender, one for each wheel."""
NOT_PYTHON = ("flamenco_job.js", "source_digest.txt")
"""Files that the zip which is Python alone leaves out."""
TEMPLATE = ROOT / "release" / "index.html"
TIME = (2020, 1, 1, 0, 0, 0)
"""Time of all files in zips."""


def stage(folder: Path, manifest: str, *, without: tuple[str, ...] = ()) -> Path:
    """A copy of what the extension is built of, with another manifest."""
    ignored = shutil.ignore_patterns("__pycache__", *without)
    for name in ("verlet_addon", "wheels"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    ignored = shutil.ignore_patterns("__pycache__", "*.py")
    shutil.copytree(ROOT / "sample_blends", folder / "sample_blends", ignore=ignored)
    for name in ("__init__.py", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    (folder / "blender_manifest.toml").write_text(manifest, "utf-8")
    return folder


def build_zips(tool: list[str], source: Path, *options: str) -> list[Path]:
    """The zips that Blender's tool builds of a source, beside it, each checked by the tool."""
    made = source.with_name(f"{source.name}_zips")
    made.mkdir()
    run(*tool, "build", "--source-dir", source, "--output-dir", made, *options)
    for path in made.iterdir():
        normalize(path)
        run(*tool, "validate", path)
    return sorted(made.iterdir())


def normalize(path: Path) -> None:
    """Writes a zip anew, with its files in their order by name and of one time."""
    with ZipFile(path) as package:
        files = {name: package.read(name) for name in sorted(package.namelist())}
    with ZipFile(path, "w") as package:
        for name, data in files.items():
            entry = ZipInfo(name, TIME)
            entry.compress_type, entry.create_system = ZIP_DEFLATED, 3
            entry.external_attr = 0o644 << 16
            package.writestr(entry, data, compresslevel=9)


def build_index(tool: list[str], folder: Path) -> None:
    """Writes the index of the zips in a folder, and a page with links that install by a drag.

    The tool lists zips as the file system does; here they are sorted.
    """
    run(*tool, "server-generate", "--repo-dir", folder, "--html", "--html-template", TEMPLATE)
    index = folder / "index.json"
    content = json.loads(index.read_text("utf-8"))
    content["data"].sort(key=lambda each: each["archive_url"])
    index.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
    page, row = folder / "index.html", re.compile(r"  <tr>\n    <td>.*?</tr>\n", re.DOTALL)
    text = page.read_text("utf-8")
    rows = iter(sorted(row.findall(text)))
    page.write_text(row.sub(lambda _: next(rows), text), "utf-8")


def build_extensions(tool: list[str], website: str) -> None:
    """The zips of the extension, and the repository."""
    manifest = (ROOT / "blender_manifest.toml").read_text("utf-8")
    wheels = re.compile(r"^(# .*\n)?wheels = \[.*?^\]\n", re.MULTILINE | re.DOTALL)
    if website:
        manifest = manifest.replace(
            "\nlicense = ", f"\nwebsite = {json.dumps(website)}\nlicense = "
        )
    by_platform = f"platforms = {json.dumps(PLATFORMS)}\n"
    with TemporaryDirectory() as name:
        folder = Path(name)
        whole = build_zips(tool, stage(folder / "all", manifest))
        split = wheels.sub(lambda found: by_platform + found[0], manifest)
        parts = build_zips(tool, stage(folder / "split", split), "--split-platforms")
        alone = stage(folder / "alone", wheels.sub("", manifest), without=("*.whl", *NOT_PYTHON))
        only = build_zips(tool, alone)
        check_python_alone(*only)
        build_index(tool, parts[0].parent)
        publish(whole, DIST)
        publish(only, DIST / "extensions.blender.org")
        publish([*parts[0].parent.iterdir()], DIST / "repository")


def check_python_alone(path: Path) -> None:
    """Stops if a zip holds anything but Python, catalogs, the manifest, licences and samples."""
    with ZipFile(path) as package:
        known = (".py", ".po", ".blend")
        names = {name for name in package.namelist() if not name.endswith(known)}
    if names != {"blender_manifest.toml", "LICENSE", "sample_blends/LICENSE.md"}:
        sys.exit(f"{path.name} is not Python alone: {sorted(names)}")


def publish(files: list[Path], folder: Path) -> None:
    """Copies files to a folder, and leaves there what others have put into it."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        shutil.copyfile(path, folder / path.name)


def build_python_packages() -> None:
    """The packages for Python's index, checked by twine; its wheels are those of the extension."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        place_wheels(build_kernels(folder))
        build_packages(ROOT, folder)
        made = sorted(folder.iterdir())
        run(sys.executable, "-m", "twine", "check", "--strict", *made)
        publish(made, DIST / "python")


def run(*command: str | Path) -> None:
    """Runs a command; shows what it printed, and stops, if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def main() -> None:
    """Builds everything, after a look at the changelog."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--website", default="", help="address of the add-on's own website")
    parser.add_argument("tool", nargs="+")
    given = parser.parse_args()
    version = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))["version"]
    if f"\n## {version}\n" not in (ROOT / "CHANGELOG.md").read_text("utf-8"):
        sys.exit(f"CHANGELOG.md has no section {version}, the version of blender_manifest.toml")
    build_python_packages()
    build_extensions(given.tool, given.website)
    print(f"Verlet {version} is in {DIST.relative_to(ROOT)}/")
    print("docs/how_it_works/releasing.md tells what to do")


if __name__ == "__main__":
    main()
