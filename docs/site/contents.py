"""Contents of the site: the links of docs/index.md, part by part; and anchors of headings.

Code hosts show no table of contents that Sphinx knows, so that the page has plain links, and the
tables are made of them here.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docutils.nodes import document
    from sphinx.application import Sphinx


def setup(app: "Sphinx") -> dict[str, bool]:
    """Registers this extension of Sphinx."""
    app.connect("source-read", add_contents)
    app.connect("doctree-read", add_names_of_code_hosts)
    return {"parallel_read_safe": True}


def add_contents(app: "Sphinx", name: str, source: list[str]) -> None:
    """Adds a hidden table of contents for each part of the first page."""
    if name == app.config.root_doc:
        source[0] += "".join(
            f"\n```{{toctree}}\n:hidden:\n:caption: {part}\n\n" + "\n".join(pages) + "\n```\n"
            for part, pages in parts(source[0]).items()
            if app.env.found_docs.issuperset(pages)
        )


def add_names_of_code_hosts(_app: "Sphinx", page: "document") -> None:
    """Gives each heading also the anchor that code hosts give it, which may have underscores."""
    for section in page.findall(lambda node: node.tagname == "section"):
        if (name := section.get("slug")) and name not in section["ids"]:
            section["ids"].append(name)


def parts(text: str) -> dict[str, list[str]]:
    """The pages that are linked under each heading of the second level."""
    pieces = re.split(r"^## (.*)$", text, flags=re.MULTILINE)[1:]
    links = [re.findall(r"\]\(([\w/]+)\.md\)", piece) for piece in pieces[1::2]]
    return dict(zip(pieces[::2], links, strict=True))
