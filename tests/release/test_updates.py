"""An update loses nothing of the user's, and its kernels serve at once.

Each Blender that is there installs this release from a repository on this machine, writes files,
updates to a next one, goes on with them, and is left without the add-on.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.release.conftest import DIST, MODULES, PROGRAMS, Website, make_release, run_in
from tests.test_package import MANIFEST

SCRIPT = Path(__file__).with_name("in_blender.py")
NEXT = "99.0.0"
"""Version of the next release."""


@pytest.fixture(scope="session")
def next_release(copy_of_the_checkout: Path) -> Path:
    """A later release whose C differs by a comment."""
    copy = copy_of_the_checkout
    for name in ("blender_manifest.toml", "pyproject.toml", "CHANGELOG.md"):
        text = (copy / name).read_text("utf-8")
        (copy / name).write_text(text.replace(MANIFEST["version"], NEXT), "utf-8")
    source = copy / "verlet_addon" / "core" / "library.c"
    source.write_text(source.read_text("utf-8") + "/* Another comment. */\n", "utf-8")
    make_release(copy)
    return copy / "dist"


class Blender:
    """A Blender whose settings are in a folder of its own."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program, self._folder = program, folder
        self._files = folder / "files"
        self._files.mkdir()

    def run(self, step: str, address: str) -> dict[str, Any]:
        """The result of a step of in_blender.py."""
        user = self._folder / "user"
        done = run_in(self._program, user, SCRIPT, step, self._files, address)
        found = [line for line in done.stdout.splitlines() if line.startswith("result: ")]
        assert found, done.stdout + done.stderr
        result: dict[str, Any] = json.loads(found[0].removeprefix("result: "))
        return result


@pytest.mark.parametrize(
    "program",
    [*PROGRAMS, *MODULES],
    ids=lambda path: path.parent.name if path in PROGRAMS else path.parents[1].name,
)
def test_an_update_loses_nothing(
    program: Path, website: Website, next_release: Path, tmp_path: Path
) -> None:
    blender = Blender(program, tmp_path)
    first = blender.run("install", website.address)
    assert (first["version"], first["reason"]) == (MANIFEST["version"], "")

    website.publish(next_release)
    found = blender.run("update", website.address)
    assert found["version_before"] == first["version"]
    assert (found["version_after"], found["reason_after"]) == (NEXT, "")
    assert found["library_after"] != found["library_before"] == first["library"]
    assert found["kept"]
    assert found["live"] == found["live_again"] == found["keys"] == found["anew"] == first["keys"]
    assert found["resumed"] == found["whole"]
    assert found["resumed"][: len(first["cache"])] == first["cache"]

    last = blender.run("again", website.address)
    assert (last["version"], last["reason"]) == (NEXT, "")
    assert last["library"] == found["library_after"]
    assert (last["without"], last["left"]) == (first["keys"], [])


def test_zips_of_former_releases_stay(website: Website, next_release: Path) -> None:
    """Whoever has a link, or needs that version, finds it."""
    website.publish(next_release)
    here = {path.name for path in website.folder.glob("*.zip")}
    assert here >= {path.name for path in (DIST / "repository").glob("*.zip")}
    assert len([name for name in here if NEXT in name]) == 6
