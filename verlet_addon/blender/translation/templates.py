r"""Translation of messages that hold names and numbers, by the templates that they were made from.

The core and the command line speak English, which logs and scripts rely on, and know no languages.
A catalog therefore has messages as templates, with {0}, {1} and so on for what is filled in: a
message is translated where it is shown, by the template that it fits. What was filled in may be a
message too, or a phrase of the catalog, and is translated likewise.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

PLACE = re.compile(r"\{(\d+)\}")
"""A place of a template where something is filled in."""
JOINTS = re.compile("(" + "|".join(map(re.escape, ("; ", ". ", ": ", ", "))) + ")")
"""What sentences and clauses are joined by that have templates of their own."""
ENDS = re.compile(r"([\s,;:.]*)(.*?)([\s,;:.]*)", re.DOTALL)
"""A text between marks that catalogs do not have at its ends."""


class Translation(NamedTuple):
    """A text in another language, and how many letters of it no entry of the catalog has."""

    text: str
    unknown: int


class Templates:
    """Translations of texts and templates into one language.

    Of all templates that a text fits, and of its clauses one by one, those are taken that leave
    the fewest letters as they are; then those with the most letters of their own.

    Parameters
    ----------
    translations
        By text in English. Places of a template stand in its translation in any order.
    is_name
        Whether a text is a name of the user's, which is not translated.
    """

    def __init__(
        self, translations: Mapping[str, str], is_name: Callable[[str], bool] = lambda _: False
    ) -> None:
        self._exact, self._is_name = translations, is_name
        templates = sorted(filter(PLACE.search, translations), key=_specificity, reverse=True)
        self._patterns = [
            (pattern, translations[text]) for text in templates for pattern in _patterns(text)
        ]
        self._best = lru_cache(maxsize=1000)(self._best_of)

    def translate(self, text: str) -> str:
        """A text in the language; as it is where the catalog has none of its clauses."""
        return self._best(text).text

    def _best_of(self, text: str) -> Translation:
        """The translation that leaves the fewest letters as they are."""
        found = ENDS.fullmatch(text)
        before, core, after = found.groups() if found else ("", text, "")
        if its := self._exact.get(core):
            return Translation(f"{before}{its}{after}", 0)
        as_it_is = Translation(core, sum(map(str.isalpha, core)))
        # The first of equal ones: a template may reach over clauses that have their own.
        candidates = (*self._clauses(core), *self._whole(core), as_it_is)
        best = min(candidates, key=lambda each: each.unknown)
        return Translation(f"{before}{best.text}{after}", best.unknown)

    def _whole(self, text: str) -> Iterator[Translation]:
        """Translations by each template that a text fits, with values filled in."""
        for pattern, its in self._patterns:
            if found := pattern.fullmatch(text):
                values = [self._value(value) for value in found.groups()]
                unknown = sum(value.unknown for value in values)
                yield Translation(its.format(*(value.text for value in values)), unknown)

    def _value(self, text: str) -> Translation:
        """The translation of what was filled in; another language may have no comma after it."""
        return Translation(text, 0) if self._is_name(text) else self._best(text.rstrip(","))

    def _clauses(self, text: str) -> Iterator[Translation]:
        """Translations of a text in two parts, at each of its joints."""
        for joint in JOINTS.finditer(text):
            parts = self._best(text[: joint.start()]), self._best(text[joint.end() :])
            whole = joint[0].join(part.text for part in parts)
            yield Translation(whole, sum(part.unknown for part in parts))


def _specificity(template: str) -> int:
    """The number of letters that are a template's own: the more, the surer it is meant."""
    return len(PLACE.sub("", template))


def _patterns(template: str) -> Iterator[re.Pattern[str]]:
    """What a template looks like once it is filled in: of places side by side, each may be long."""
    own = [re.escape(part) for part in PLACE.split(template)[::2]]
    yield re.compile("(.*?)".join(own), re.DOTALL)
    if "} {" in template:
        yield re.compile("(.*)".join(own), re.DOTALL)
