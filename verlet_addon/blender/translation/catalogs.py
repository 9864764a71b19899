"""Catalogs of translations: text files in the format of gettext (.po), beside this module.

They are read as they are, so that what a translator saves is what the add-on shows.
"""

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
Catalog = dict[tuple[str, str], str]
"""Translations by context, as Blender has it ("*" or "Operator"), and text in English."""

_ENTRY = re.compile(r'^(?:msgctxt (".*")\n)?msgid ((?:".*"\n)+)msgstr ((?:".*"\n?)+)', re.MULTILINE)


@cache
def languages() -> tuple[str, ...]:
    """Names of the languages that have a catalog, as `de` and `zh_HANS`."""
    return (*sorted(path.stem for path in FOLDER.glob("*.po")),)


@cache
def language_of(locale: str) -> str:
    """The language with a catalog that a locale, as `de_DE`, is of; empty without one."""
    known = languages()
    return next((name for name in (locale, locale.split("_")[0]) if name in known), "")


@cache
def catalog(language: str) -> Catalog:
    """The translations into a language; entries that have none yet are left out."""
    found = _ENTRY.findall((FOLDER / f"{language}.po").read_text(encoding="utf-8"))
    contexts, texts, translations = map(_unquoted, zip(*found, strict=True))
    entries = zip(contexts, texts, translations, strict=True)
    return {(context or "*", text): its for context, text, its in entries if text and its}


def _unquoted(quoted: Iterable[str]) -> list[str]:
    """Texts of quoted lines, which have the escapes of JSON, all at once, which is quick."""
    texts = (lines.strip().replace('"\n"', "") or '""' for lines in quoted)
    found: list[str] = json.loads(f"[{','.join(texts)}]")
    return found
