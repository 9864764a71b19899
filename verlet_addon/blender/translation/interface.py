"""The language of the interface: catalogs that Blender looks labels up in, and messages in full."""

from collections.abc import Iterable
from functools import cache
from inspect import get_annotations
from typing import Any, cast

import bpy

from .catalogs import catalog, language_of, languages
from .templates import PLACE, Templates

# The stubs do not know that collections of data are asked for names.
_blender: Any = bpy

NAME = "verlet"
"""The name that Blender knows our catalogs by."""

LABEL, COMMAND = "Verlet", "Verlet Operator"
"""Contexts of labels. Blender's own would find Blender's translations first, and these of single
words often mean another thing: Straight as an order, Strength as that of a brush."""


_registered: list[str] = []
"""The languages whose texts Blender has; none where there is no window."""


def translated(text: str) -> str:
    """A text that is put together, in the language of the interface, if its catalog is registered.

    Labels and texts that stand in the source as they are shown need no call: Blender finds these.
    """
    language = language_of(bpy.app.translations.locale)
    preferences = cast(bpy.types.Preferences, bpy.context.preferences)
    if language not in _registered or not preferences.view.use_translate_interface:
        return text
    return _templates(language).translate(text)


def register_catalogs() -> None:
    """Hands Blender the texts of all languages that need nothing filled in."""
    whole: dict[str, Any] = {}
    for language in languages():
        whole[language] = its = {}
        for (context, text), translation in catalog(language).items():
            if not PLACE.search(text):
                for place in (COMMAND,) if context == "Operator" else ("*", LABEL):
                    its[place, text] = translation
    bpy.app.translations.register(NAME, whole)
    _registered.extend(whole)


def unregister_catalogs() -> None:
    """Takes them back, if Blender has them."""
    _registered.clear()
    bpy.app.translations.unregister(NAME)


def name_contexts(classes: Iterable[type[Any]], properties: Iterable[Any]) -> None:
    """Has Blender look up labels in our contexts: before anything of it is registered.

    Parameters
    ----------
    properties
        Declarations, as `bpy.props` returns them, that are in none of the classes.
    """
    declared = [*properties]
    for cls in classes:
        is_command = issubclass(cls, bpy.types.Operator)
        cls.bl_translation_context = COMMAND if is_command else LABEL
        declared += [each for owner in cls.__mro__ for each in get_annotations(owner).values()]
    for each in declared:
        if hasattr(each, "keywords"):
            each.keywords["translation_context"] = LABEL


@cache
def _templates(language: str) -> Templates:
    """The translations into a language; of a text that is a command too, those of the text."""
    of_texts_last = sorted(catalog(language).items(), reverse=True)
    return Templates({text: its for (_, text), its in of_texts_last}, _is_name)


def _is_name(text: str) -> bool:
    """Whether anything of the open file that messages speak of is called so."""
    return any(text in names for names in (_blender.data.objects, _blender.data.scenes))
