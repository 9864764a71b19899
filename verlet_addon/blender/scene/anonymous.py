"""Texts without names and paths of the user, for reports that anyone may read."""

import builtins
import errno
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import bpy

from ..settings.properties import BODY_TYPES, body_properties, is_body

WORD = r"\w+|[^\x00-\x7f]+"
"""A word, or signs that are not ASCII."""
NUMBER = r"\d+[^\W\d_]{0,2}"
"""A number, also with its unit or exponent."""
PATH = r"(?<!\w)(?:[A-Za-z]:)?[\\/](?:.*[\\/])?\S*"
"""A path, up to the last word with a slash in it."""
PATH_LEFT_OUT, WORD_LEFT_OUT = "(path)", "…"


class Anonymous:
    """Texts in which names of the open file are numbered, and other words of the user left out.

    A word stays if it stands in the code of the add-on or in messages of the system or of Python.
    So words of a name that is in use no longer, or of a path with spaces, are left out too.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._labels: dict[str, str] = {}
        for path in _paths():
            if not _is_plain(path):
                self._labels.setdefault(path, PATH_LEFT_OUT)
        for name, kind in _names():
            self._add(name, kind)
        longest_first = sorted(self._labels, key=len, reverse=True)
        names = "|".join(map(re.escape, longest_first))
        self._known = re.compile(rf"(?<![\w/\\])(?:{names})(?![\w/\\])")

    def _add(self, name: str, kind: str) -> None:
        """Numbers a name, unless it tells nothing and is that of no object."""
        if name and name not in self._labels and (kind in _OBJECTS or not _is_plain(name)):
            number = self._numbers[kind] = self._numbers.get(kind, 0) + 1
            self._labels[name] = f"{kind} {number}"

    def __call__(self, text: str) -> str:
        """The text, with numbered names and without paths or unknown words."""
        text = self._known.sub(lambda found: self._labels[found[0]], text)
        text = re.sub(PATH, PATH_LEFT_OUT, text)
        text = re.sub(r"\S*[\\/]\S*", _path_or_unit, text)
        return re.sub(WORD, lambda found: _known_word(found[0]), text)


_BODIES: dict[str, str] = {item[0]: item[1] for item in BODY_TYPES}
"""Labels of bodies by their types."""
_OBJECTS = (*_BODIES.values(), "Object")
"""Labels of objects: of bodies, and of all others."""


_OF_EXCEPTIONS = """
    associated attr bpy_prop_collection bpy_struct couldn defined dictionary executing got gufunc
    implemented inconsistent incorrect inhomogeneous keyword matmul mismatch mutable NoneType
    operand operands positional readonly recursion referenced requested signature StructRNA
    subscriptable traceback truth unhashable unsupported
"""
"""Words of exceptions of Python, NumPy and Blender that the add-on has no other use for."""


@cache
def own_words() -> frozenset[str]:
    """Words of the add-on's code and of messages of the system and Python, in lower case."""
    texts = [path.read_text("utf-8") for path in Path(__file__).parents[2].rglob("*.py")]
    texts += [*map(os.strerror, errno.errorcode), *dir(builtins)]
    return frozenset(word for text in texts for word in re.findall(WORD, text.lower()))


def _is_plain(name: str) -> bool:
    """Whether a name is one word that the add-on uses too, which tells nothing of the user."""
    return name.lower() in own_words()


def _known_word(word: str) -> str:
    """The word, or the sign that one was left out."""
    known = re.fullmatch(NUMBER, word) or word.lower() in own_words()
    return word if known else WORD_LEFT_OUT


def _path_or_unit(found: re.Match[str]) -> str:
    """The text itself if it is a unit such as m/s, else the sign that a path was left out."""
    words = re.findall(WORD, found[0])
    return found[0] if all(map(_is_unit, words)) else PATH_LEFT_OUT


def _is_unit(word: str) -> bool:
    """Whether a word of a fraction is part of a unit, such as kg or m², or a number."""
    return len(word) <= 3 and _known_word(word) == word


def _paths() -> Iterator[str]:
    """Paths of the user that messages may hold: of the file, its folders, libraries and home."""
    home = Path.home()
    yield from (str(home), home.name)
    for path in (bpy.data.filepath, *(library.filepath for library in bpy.data.libraries)):
        if path:
            whole = Path(bpy.path.abspath(path))
            yield from (path, str(whole), whole.name, whole.stem)
            yield from (str(folder) for folder in whole.parents if folder.name)


def _names() -> Iterator[tuple[str, str]]:
    """Each name in the open file, with what it is a name of, bodies and other objects first."""
    for obj in bpy.data.objects:
        yield obj.name, _BODIES[body_properties(obj).body_type] if is_body(obj) else "Object"
    data: Any = bpy.data
    for kind in data.bl_rna.properties:
        if kind.type == "COLLECTION":
            for block in getattr(data, kind.identifier):
                yield block.name, kind.fixed_type.name
                yield from _names_within(block)


def _names_within(block: Any) -> Iterator[tuple[str, str]]:
    """Each name within a datablock, with what it is a name of."""
    for property_name, kind in _PARTS.items():
        for part in getattr(block, property_name, None) or ():
            yield getattr(part, "name", ""), kind


_PARTS = {
    "vertex_groups": "Vertex Group",
    "bones": "Bone",
    "key_blocks": "Shape Key",
    "attributes": "Attribute",
    "modifiers": "Modifier",
    "constraints": "Constraint",
    "view_layers": "View Layer",
}
"""Names of properties of datablocks that list further names, and what these name."""
