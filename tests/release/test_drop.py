"""A link that is dragged into Blender from the website: twice, and the extension is installed."""

import html
import re
import subprocess
from pathlib import Path

import pytest

from tests.release.conftest import CACHE, ROOT, Website, environment_of

WINDOW = CACHE / "sid" / "blender-gui"
SCRIPT = Path(__file__).with_name("drop_in_window.py")
OPTIONS = ("--online-mode", "--factory-startup", "--enable-event-simulate", "--python", SCRIPT)


@pytest.mark.skipif(not WINDOW.exists(), reason="needs a real Blender with a window")
def test_two_drags_of_a_link_install(website: Website, tmp_path: Path) -> None:
    """The first one offers to add the repository; nothing is installed but by the second."""
    page = (website.folder / "index.html").read_text("utf-8")
    (link,) = re.findall(r'href="\./([^"]+-linux_x64\.zip\?[^"]+)"', page)
    address = website.address.removesuffix("index.json") + html.unescape(link)
    command = [WINDOW, *OPTIONS, "--", address]
    done = subprocess.run(
        [*map(str, command)],
        cwd=ROOT,
        env=environment_of(tmp_path / "user"),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-5_000:]
    assert "installed by two drags" in done.stdout
