"""The web page of docs/vat draws each vertex where the bake has it, in a real browser."""

import base64
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import select, shown, verlet
from tests.blender.test_vertex_textures import y_up
from tests.blender.vat_files import read_glb, read_image, vertex_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "vat"
MODULES = ROOT / "build" / "vat"
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
NEAR = 1e-4
"""What a drawn vertex may be off [m]."""
MEASURE = """
<script type="importmap">{"imports": {"three": "./node_modules/three/build/three.module.js",
  "three/addons/": "./node_modules/three/examples/jsm/"}}</script>
<script type="module">
  let found;
  try {
    const { load } = await import("./player.js");
    const player = await load("Flag");
    const positions = FRAMES.map((frame) => player.positionsAt(frame));
    player.draw(FRAMES[5], 800, 500);
    found = { positions, picture: player.canvas.toDataURL() };
  } catch (error) {
    found = { error: `${error.stack}` };
  }
  await fetch("/found", { method: "POST", body: JSON.stringify(found) });
</script>
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not bpy.app.binary_path and bpy.app.version < (4, 3, 0), reason="no glTF in this Python"
    ),
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
]


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


def three() -> Path:
    """The folder of three.js, installed once by npm as the page says."""
    if not (MODULES / "node_modules" / "three").is_dir():
        MODULES.mkdir(parents=True, exist_ok=True)
        shutil.copy(PAGE / "package.json", MODULES)
        npm = shutil.which("npm")
        command = [str(npm), "install", "--no-audit", "--no-fund"]
        if npm is None or subprocess.run(command, cwd=MODULES, timeout=300, check=False).returncode:
            pytest.skip("npm cannot install three.js here")
    return MODULES / "node_modules"


def test_the_page_draws_the_flag_where_the_bake_has_it(tmp_path: Path) -> None:
    modules = three()
    bpy.ops.wm.open_mainfile(filepath=str(ROOT / "sample_blends" / "flag_in_wind.blend"))
    obj = bpy.data.objects["Flag"]
    verlet.bake()
    select(obj)
    folder = tmp_path / "page"
    shutil.copytree(PAGE, folder, ignore=shutil.ignore_patterns("node_modules"))
    os.symlink(modules, folder / "node_modules")
    verlet.export_vat(filepath=str(folder / "Flag.png"))
    scene = bpy.context.scene
    count = scene.frame_end - scene.frame_start + 1
    frames = np.linspace(0, count - 1, 10).astype(int).tolist()
    (folder / "measure.html").write_text(MEASURE.replace("FRAMES", str(frames)), encoding="utf-8")
    with served(folder) as (address, wait):
        options = ("--headless=new", "--no-sandbox", "--no-first-run", "--use-angle=swiftshader")
        command = [str(BROWSER), *options, "--enable-unsafe-swiftshader"]
        user = f"--user-data-dir={tmp_path / 'user'}"
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
    model, colors = read_glb(folder / "Flag.glb"), read_image(folder / "Flag.png")
    vertices = vertex_of(model, colors, count, len(obj.data.vertices))
    for frame, drawn in zip(frames, found["positions"], strict=True):
        wanted = y_up(shown(obj, scene.frame_start + frame))[vertices]
        off = np.linalg.norm(np.array(drawn).reshape(-1, 3) - wanted, axis=1)
        assert off.max() < NEAR, frame
    picture = tmp_path / "picture.png"
    picture.write_bytes(base64.b64decode(found["picture"].partition(",")[2]))
    assert (np.ptp(read_image(picture), axis=2) > 0.2).mean() > 0.02
