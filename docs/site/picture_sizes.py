"""Sizes of pictures in the pages of the site: room is kept for each before it is loaded.

Without them a page grows as its pictures come, and what an address with an anchor leads to, such as
the setting that F1 opens, moves out of view.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docutils.nodes import document
    from sphinx.application import Sphinx


def setup(app: "Sphinx") -> dict[str, bool]:
    """Registers this extension of Sphinx."""
    app.connect("doctree-read", ask_for_sizes)
    return {"parallel_read_safe": True}


def ask_for_sizes(_app: "Sphinx", page: "document") -> None:
    """Gives each picture its full scale, by which Sphinx also writes its width and height."""
    for picture in page.findall(lambda node: node.tagname == "image"):
        picture["scale"] = 100
