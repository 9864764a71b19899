"""Brings all catalogs in step with the source; `make catalogs` runs it.

    python -m languages.write_catalogs TEMPLATES

New texts get an empty entry, entries of texts that are gone leave, and translations stay. The
folder has what Sphinx takes to be translatable in the pages of the manual, as .pot files.
"""

import sys
from io import BytesIO
from pathlib import Path

from babel.messages import pofile
from babel.messages.catalog import Catalog

import verlet_addon
from languages.interface_texts import Texts, interface_texts
from verlet_addon.blender.translation.catalogs import FOLDER, languages

MANUAL = Path(__file__).parents[1] / "docs" / "locale"
"""Catalogs of the manual, where Sphinx looks for them."""
HEADER = """\
msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"

"""
"""What begins a catalog, for editors of catalogs."""


def template_catalog(texts: Texts) -> Catalog:
    """The texts as a catalog without translations."""
    catalog = Catalog(fuzzy=False)
    for (context, text), source in sorted(texts.items(), key=lambda item: item[0][::-1]):
        places = [(place, 1) for place in sorted(source.places)]
        catalog.add(text, locations=places, auto_comments=source.notes, context=_named(context))
    return catalog


def update(path: Path, language: str, template: Catalog) -> None:
    """Gives the catalog in a file the entries of a template, each text on one line."""
    with path.open("rb") as file:
        catalog = pofile.read_po(file, locale=language)
    catalog.update(template, no_fuzzy_matching=True, update_header_comment=False)
    catalog.obsolete.clear()
    entries = BytesIO()  # without a header of Babel's, whose dates change from day to day
    pofile.write_po(entries, catalog, width=0, omit_header=True, include_lineno=False)
    path.write_bytes(HEADER.format(language=language).encode() + entries.getvalue())


def _named(context: str) -> str | None:
    """The context of an entry, which those of no context lack."""
    return None if context == "*" else context


def main(templates: Path) -> None:
    """Updates the catalogs of the interface, and those of the manual."""
    verlet_addon.register()
    template = template_catalog(interface_texts())
    for name in languages():
        update(FOLDER / f"{name}.po", name, template)
    verlet_addon.unregister()
    for path in sorted(MANUAL.glob("*/LC_MESSAGES/*.po")):
        with (templates / path.with_suffix(".pot").name).open("rb") as file:
            update(path, path.parts[-3], pofile.read_po(file))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
