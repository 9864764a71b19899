"""What a release consists of is the same whoever makes it, and runs where nothing else is."""

import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.release.conftest import DIST, ROOT, make_release


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each file in a folder, by its path in there."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_release_made_again_elsewhere_has_the_same_bytes(copy_of_the_checkout: Path) -> None:
    """In another folder, at another time, by a clock of another zone."""
    make_release(copy_of_the_checkout, TZ="Asia/Tokyo")
    assert digests(copy_of_the_checkout / "dist") == digests(DIST)


def test_the_index_has_one_version_of_each_platform() -> None:
    """Of two Blender would install the former one for ever."""
    listed = json.loads((DIST / "repository" / "index.json").read_text("utf-8"))["data"]
    platforms = [platform for each in listed for platform in each["platforms"]]
    assert len(platforms) == len(set(platforms)) == len(listed) == 6
    for each in listed:
        path = DIST / "repository" / each["archive_url"]
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert each["archive_hash"] == f"sha256:{digest}"
        assert each["archive_size"] == path.stat().st_size
    page = (DIST / "repository" / "index.html").read_text("utf-8")
    assert len(re.findall(r"href=\"\./[^\"]+\.zip\?repository=\.%2Findex\.json&", page)) == 6


def test_the_zip_of_the_platform_is_python_alone() -> None:
    (path,) = (DIST / "extensions.blender.org").iterdir()
    with zipfile.ZipFile(path) as package:
        others = {
            name for name in package.namelist() if not name.endswith((".py", ".po", ".blend"))
        }
        assert others == {"LICENSE", "blender_manifest.toml", "sample_blends/LICENSE.md"}
        assert "wheels =" not in package.read("blender_manifest.toml").decode()


@pytest.fixture(scope="session")
def empty_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with nothing but the packages of the release and what they ask for."""
    folder = tmp_path_factory.mktemp("python")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    packages = ["--find-links", DIST / "python", "verlet-soft-body"]
    subprocess.run([*map(str, [*install, *packages])], check=True, env=without_paths())
    return python


def without_paths() -> dict[str, str]:
    """The environment, without what leads Python to the checkout."""
    left_out = ("PYTHONPATH", "VERLET_KERNELS")
    return {name: value for name, value in os.environ.items() if name not in left_out}


def run(python: Path, script: str, folder: Path) -> str:
    """What a script prints in an empty Python; warnings are errors."""
    command = [str(python), "-W", "error", "-c", script]
    done = subprocess.run(
        command, cwd=folder, env=without_paths(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_ten_lines_run_in_an_empty_python(empty_python: Path, tmp_path: Path) -> None:
    text = (ROOT / "release" / "library" / "README.md").read_text("utf-8")
    (lines,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    run(empty_python, lines, tmp_path)
    assert np.load(tmp_path / "motion.npy").shape == (48, 441, 3)


def test_the_library_finds_its_kernels_and_has_types(empty_python: Path, tmp_path: Path) -> None:
    script = (
        "from importlib.metadata import version\n"
        "from importlib.resources import files\n"
        "from verlet_addon.core.self_test import fallback_reason\n"
        "print(fallback_reason() or 'compiled', version('verlet-soft-body') == "
        "version('verlet-kernels'), files('verlet_addon').joinpath('py.typed').is_file())\n"
    )
    assert run(empty_python, script, tmp_path) == "compiled True True\n"
