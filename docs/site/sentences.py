"""Search of messages: the page of the site's search also finds them with names and numbers in them.

Sphinx itself finds pages that have all words of a query, and no page has the names in a file.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docutils.nodes import document
    from sphinx.application import Sphinx

PAGE = "reference/messages"


def setup(app: "Sphinx") -> dict[str, bool]:
    """Registers this extension of Sphinx."""
    app.add_js_file("messages.js")
    app.add_js_file("sentences.js")
    app.connect("doctree-read", shorten_contents)
    app.connect("build-finished", write_messages)
    return {"parallel_read_safe": True}


def shorten_contents(app: "Sphinx", _page: "document") -> None:
    """Leaves single messages out of the contents beside their page."""
    if app.env.docname == PAGE:
        app.env.metadata[PAGE]["tocdepth"] = 2


def write_messages(app: "Sphinx", error: Exception | None) -> None:
    """Writes each message with its anchor for the page of the search."""
    if error is None and PAGE in app.env.found_docs and app.builder.format == "html":
        sections = app.env.get_doctree(PAGE).findall(lambda node: node.tagname == "section")
        found = [(each[0].astext(), each["ids"][0]) for each in sections]
        text = f"const SENTENCES = {json.dumps(found, ensure_ascii=False)};\n"
        (Path(app.outdir) / "_static" / "messages.js").write_text(text, encoding="utf-8")
