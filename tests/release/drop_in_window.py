"""Runs in a window of real Blender: drops a link twice, which adds the repository, then installs.

blender --online-mode --enable-event-simulate --python drop_in_window.py -- LINK

What Blender does at a drop is to call this operator with the link (`extensions.package_install`,
"Only for drop logic!"). What follows is done by keys, in the dialogs that it opens.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.window.hand import Hand, play, wait, wait_until

ID = "verlet_soft_body"
OPERATORS: Any = bpy.ops
PREFERENCES: Any = bpy.context.preferences


def addresses() -> list[str]:
    """Where the repositories are."""
    return [each.remote_url for each in PREFERENCES.extensions.repos]


def is_enabled() -> bool:
    """Whether the extension is installed and enabled."""
    return any(each.module.endswith(f".{ID}") for each in PREFERENCES.addons)


def drop(hand: Hand, link: str) -> Iterator[None]:
    """Drops a link over the 3D view, and waits for the dialog."""
    yield from hand.over_view()
    with hand.override():
        OPERATORS.extensions.package_install("INVOKE_DEFAULT", url=link)
    yield from wait(4.0)


def two_drags(link: str) -> Iterator[None]:
    """The repository is unknown at the first one; the second one offers to install."""
    hand = Hand()
    repositories = PREFERENCES.extensions.repos
    for each in [*repositories]:
        if each.remote_url.startswith("https:"):
            repositories.remove(each)  # the tests ask no other machine
    yield from drop(hand, link)
    hand.picture("drop_unknown")
    yield from hand.press("RET")  # Add Repository...
    yield from wait(1.0)
    hand.picture("drop_repository")
    for _ in range(2):  # the field with the address, then Create
        yield from hand.press("RET")
        yield from wait(0.5)
    index = link.partition("?")[0].rpartition("/")[0] + "/index.json"
    yield from wait_until(lambda: index in addresses())
    yield from wait(2.0)
    assert not is_enabled()
    yield from drop(hand, link)
    hand.picture("drop_install")
    yield from hand.press("RET")
    yield from wait_until(is_enabled)
    with hand.override():
        OPERATORS.verlet.add_cloth()
    assert "Cloth" in bpy.data.objects
    print("installed by two drags", flush=True)


PREFERENCES.view.show_splash = False
play(two_drags(sys.argv[-1]))
