"""The picture of Blender's preferences where the extension's repository has been added."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import bpy

from tests.window.hand import Hand, wait, wait_until

FILES = Path(__file__).resolve().parents[1] / "dist" / "repository"
"""What `make release` has made, which the window reads from this machine."""
SHOWN = "https://WEBSITE/index.json"
"""Stands for the address, which whoever releases the extension chooses."""
SIZE, ROWS = (1000, 640), (26, 322)
"""Size of the window, and which of its rows the picture shows, from the top [pixels]."""


def repository(hand: Hand) -> Iterator[None]:
    """Adds the repository, and leaves its place in the preferences on the screen."""
    preferences: Any = bpy.context.preferences
    preferences.system.use_online_access = True
    repositories = preferences.extensions.repos
    repositories.remove(repositories[0])  # of Blender's own platform, which is not asked
    server = _serve()
    address = f"http://127.0.0.1:{server.server_address[1]}/index.json"
    new = repositories.new(name="Verlet", module="verlet", remote_url=address)
    new.enabled = True
    place = [each.module for each in repositories].index("verlet")
    with hand.override():
        bpy.ops.extensions.repo_sync(repo_index=place)
    index = Path(new.directory) / ".blender_ext" / "index.json"
    yield from wait_until(index.is_file)
    with hand.override():
        bpy.ops.screen.screen_full_area()
    yield
    hand.area.ui_type, preferences.active_section = "PREFERENCES", "EXTENSIONS"
    yield from wait(5.0)  # in which Blender looks for updates
    server.shutdown()
    new.remote_url, preferences.extensions.active_repo = SHOWN, place
    (area,) = hand.window.screen.areas
    region = next(each for each in area.regions if each.type == "WINDOW")
    right, top = region.x + region.width, region.y + region.height
    yield from hand.click((right - 100, top - 18))  # Repositories
    yield from wait(1.5)


def _serve() -> ThreadingHTTPServer:
    """A server of the files of the repository, in a thread of its own."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(FILES))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
