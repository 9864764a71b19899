"""The first pages of the manual in other languages: a site of each beside the English one.

`sphinx -D language=de` builds it of the first page and Start alone, from docs/locale; whatever else
they link to is in English.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils.nodes import document
    from sphinx.application import Sphinx
    from sphinx.config import Config

NAMES = {"en": "English", "de": "Deutsch", "es": "Español", "ja": "日本語", "zh_CN": "简体中文"}
"""What the languages call themselves, by the codes that Sphinx has for them."""
IN_ENGLISH = ["how_to", "reference", "how_it_works"]
"""Folders of docs/ that are not translated."""


def setup(app: "Sphinx") -> dict[str, bool]:
    """Registers this extension of Sphinx."""
    app.connect("config-inited", leave_out)
    app.connect("doctree-read", link_in_english)
    app.connect("doctree-read", ask_for_all)
    app.connect("html-page-context", offer_languages)
    return {"parallel_read_safe": True}


def leave_out(_app: "Sphinx", config: "Config") -> None:
    """Leaves pages that are not translated out of the site of another language."""
    if config.language != "en":
        config.exclude_patterns += IN_ENGLISH


def link_in_english(app: "Sphinx", page: "document") -> None:
    """Leads links to pages that were left out to the English site."""
    from docutils.nodes import reference
    from sphinx.addnodes import pending_xref

    for link in list(page.findall(pending_xref)):
        if link["refdomain"] == "doc" and link["reftarget"] not in app.env.found_docs:
            up = "../" * (app.env.docname.count("/") + 1)
            anchor = f"#{its}" if (its := link.get("reftargetid")) else ""
            address = f"{up}{link['reftarget']}.html{anchor}"
            link.replace_self(reference("", "", *link.children, refuri=address))


def ask_for_all(app: "Sphinx", page: "document") -> None:
    """Warns of a page that is not translated in full, which ends the build."""
    from docutils.nodes import TextElement
    from sphinx.util.logging import getLogger

    if app.config.language == "en":
        return
    for part in page.findall(TextElement):
        if part.get("translated") is False:
            getLogger(__name__).warning(
                "No translation; make catalogs lists it in docs/locale: %s",
                part.astext(),
                location=app.env.docname,
            )


def offer_languages(
    app: "Sphinx", name: str, _template: str, context: dict[str, Any], _page: Any
) -> None:
    """Tells the template of the sidebar where this page is in each language."""
    here = "" if app.config.language == "en" else f"{app.config.language}/"
    up = "../" * (name.count("/") + bool(here))
    translated = name == "index" or name.startswith("start/")
    context["languages"] = [
        (title, f"{up}{'' if code == 'en' else code + '/'}{name if translated else 'index'}.html")
        for code, title in NAMES.items()
    ]
