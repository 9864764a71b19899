"""Pages in a real browser: headless Chromium, three.js from npm, and what a page has found."""

import base64
import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import bpy
import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "vat"
MODULES = ROOT / "build" / "vat"
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
in_browser = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not bpy.app.binary_path and bpy.app.version < (4, 3, 0), reason="no glTF in this Python"
    ),
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
]
"""Marks of tests with pages."""
_FRAME = """
<script type="importmap">{"imports": {"three": "./node_modules/three/build/three.module.js",
  "three/addons/": "./node_modules/three/examples/jsm/"}}</script>
<script type="module">
  let found;
  try {
    found = await (async () => { SCRIPT })();
  } catch (error) {
    found = { error: `${error.stack}` };
  }
  await fetch("/found", { method: "POST", body: JSON.stringify(found) });
</script>
"""


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder, and passes on what the page posts."""

    def __init__(self, *arguments: Any, told: Callable[[bytes], None], directory: str) -> None:
        self.told = told
        super().__init__(*arguments, directory=directory)

    def do_POST(self) -> None:
        """Takes what the page has found."""
        self.told(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Prints nothing."""


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Serves a folder; yields its address, and a function that waits for what a page posts."""
    posted, arrived = [b""], threading.Event()

    def told(body: bytes) -> None:
        posted[0] = body
        arrived.set()

    def wait() -> Any:
        assert arrived.wait(120), "the page has posted nothing"
        return json.loads(posted[0])

    handler = partial(Handler, told=told, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", wait
        finally:
            server.shutdown()


def modules(packages: Sequence[str]) -> Path:
    """The folder of three.js, as the page asks for it, and of packages; installed once by npm.

    Parameters
    ----------
    packages : as npm takes them, `NAME@VERSION`.
    """
    folder = MODULES / "node_modules"
    names = ["three", *(package.partition("@")[0] for package in packages)]
    if not all((folder / name).is_dir() for name in names):
        MODULES.mkdir(parents=True, exist_ok=True)
        shutil.copy(PAGE / "package.json", MODULES)
        npm = shutil.which("npm")
        command = [str(npm), "install", "--no-audit", "--no-fund", *packages]
        if npm is None or subprocess.run(command, cwd=MODULES, timeout=300, check=False).returncode:
            pytest.skip(f"npm cannot install {', '.join(names)} here")
    return folder


def found_by(script: str, folder: Path, packages: Sequence[str] = ()) -> Any:
    """What the JavaScript of a page returns, which may import from `three` and from a folder."""
    (folder / "node_modules").symlink_to(modules(packages))
    (folder / "measure.html").write_text(_FRAME.replace("SCRIPT", script), encoding="utf-8")
    with served(folder) as (address, wait):
        options = ("--headless=new", "--no-sandbox", "--no-first-run", "--use-angle=swiftshader")
        command = [str(BROWSER), *options, "--enable-unsafe-swiftshader"]
        user = f"--user-data-dir={folder / 'user'}"
        browser = subprocess.Popen(
            [*command, user, f"{address}/measure.html"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            found = wait()
        finally:
            browser.terminate()
            browser.wait()
    assert "error" not in found, found["error"]
    return found


_STEPPED = "<script>requestAnimationFrame = (call) => { window.step = call; };</script>"
_DRAW = """
const frame = document.createElement("iframe");
Object.assign(frame, { width: 800, height: 500, src: "index.html" });
document.body.append(frame);
const page = frame.contentWindow;
while (!page.step) await new Promise((done) => setTimeout(done, 50));
return TIMES.map((time) => {
  page.step(1000 * time);
  return page.document.querySelector("canvas").toDataURL();
});
"""


def pictures_of(page: str, times: Sequence[float], folder: Path) -> list[bytes]:
    """What a page draws at some times since its start, as PNG; a folder has its files.

    Parameters
    ----------
    page : HTML with a canvas.
    times : [s]
    """
    stepped = page.replace("<title>", f"{_STEPPED}<title>", 1)
    (folder / "index.html").write_text(stepped, encoding="utf-8")
    found = found_by(_DRAW.replace("TIMES", str(list(times))), folder)
    return [base64.b64decode(picture.partition(",")[2]) for picture in found]
