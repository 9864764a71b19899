"""Texts in lines of a width, also where a language writes no spaces and its letters are wide."""

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

_WIDE = r"\u3000-\u9fff\uff00-\uffef"
"""Letters and marks of Chinese and Japanese."""
_PIECE = re.compile(rf"\s*(?:[{_WIDE}][\u3001\u3002\u30fc\uff09\uff0c\uff1a\uff1b]*|[^\s{_WIDE}]+)")
"""A word, or a letter of Chinese or Japanese with the marks that no line may begin with."""


def wrapped(text: str, letters: int) -> Iterator[str]:
    """The lines of a text, each as wide as so many Latin letters at most; words stay whole."""
    line = ""
    for piece in _PIECE.findall(text):
        if line and width(line + piece) > letters:
            yield line
            line = ""
        line += piece if line else piece.lstrip()
    if line:
        yield line


def width(text: str) -> int:
    """The width of a text in Latin letters, of which each of Chinese or Japanese takes two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
