"""Writes the pages of the reference that are made from the source; `make reference` runs it.

They are kept with the source, so that a code host shows them and the site needs no Blender.
"""

import verlet_addon
from docs.site.command_page import command_page
from docs.site.messages_page import messages_page
from docs.site.operator_page import operator_page
from docs.site.settings_pages import DOCS, settings_pages


def reference_pages() -> dict[str, str]:
    """The Markdown of each page in docs/reference, by the name of its file."""
    return settings_pages() | operator_page() | command_page() | messages_page()


if __name__ == "__main__":
    verlet_addon.register()
    for name, text in reference_pages().items():
        (DOCS / "reference" / name).write_text(text, encoding="utf-8")
    verlet_addon.unregister()
