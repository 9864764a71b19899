"""Releases as users meet them: made, served on this machine, and installed into empty programs.

`.ci/run` runs these tests after `make release`; `make test` does not.
"""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "verlet-ci"
PROGRAMS = [path for name in ("sid", "trixie") if (path := CACHE / name / "blender").exists()]
MODULES = [Path(sys.executable), *sorted((ROOT / "build").glob("bpy-*/bin/python"))]


def make_release(checkout: Path, **environment: str) -> None:
    """Runs `make release` in a checkout."""
    settings = [f"{name}={value}" for name, value in environment.items()]
    command = ["env", *settings, "make", "-s", "release", f"PYTHON={sys.executable}"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def run_in(
    program: Path, user: Path, script: Path, *arguments: str | Path
) -> subprocess.CompletedProcess[str]:
    """Runs a script in a Blender, whose settings are in a folder of its own, with its add-ons."""
    given: list[str | Path] = [script, "--", *arguments]
    if program in PROGRAMS:
        options = ["--online-mode", "--background", "--python-exit-code", "1", "--python"]
        given = [*options, *given]
    command = [*map(str, (program, *given))]
    return subprocess.run(
        command, cwd=ROOT, env=environment_of(user), capture_output=True, text=True, check=False
    )


def environment_of(user: Path) -> dict[str, str]:
    """The environment of a Blender whose settings are in a folder, with its add-ons alone."""
    left_out = ("PYTHONPATH", "VERLET_KERNELS")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {"BLENDER_USER_RESOURCES": str(user)}


@pytest.fixture(scope="session")
def copy_of_the_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the project in another folder, and the tools of this one."""
    copy = tmp_path_factory.mktemp("elsewhere") / "copy"
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
    (copy / "build").mkdir()
    for name in (".venv", "build/compiler", "build/packaging"):
        (copy / name).symlink_to((ROOT / name).resolve())
    return copy


class Website:
    """A folder that is served on this machine; its content changes with the releases."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        handler = partial(_Quiet, directory=str(folder))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/index.json"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def publish(self, dist: Path) -> None:
        """Copies the files of a release over those that are there."""
        shutil.copytree(dist / "repository", self.folder, dirs_exist_ok=True)

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


@pytest.fixture
def website(tmp_path: Path) -> Iterator[Website]:
    """The website of the extension, with the release that is in dist."""
    site = Website(tmp_path / "site")
    site.publish(DIST)
    yield site
    site.close()
