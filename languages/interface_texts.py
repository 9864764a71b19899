"""All texts of the interface, in English, as a catalog of translations has them.

Labels, tooltips and choices are those that Blender has registered; messages are those of the manual
(docs/site/message_texts.py) but for the command line's, which stay in English; phrases that
messages are put together from are listed in phrases.toml.
"""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

import bpy

from docs.site.message_texts import messages_in, modules, text_of
from verlet_addon.blender.registration import CLASSES
from verlet_addon.blender.ui.manual import PAGES, properties_of

# The stubs lack the operators of add-ons.
_blender: Any = bpy

CHOSEN: dict[str, Any] = tomllib.loads(
    (Path(__file__).parent / "phrases.toml").read_text(encoding="utf-8")
)

DRAWN = {"text", "confirm_text", "heading"}
"""Arguments of layouts that are shown."""


@dataclass
class Source:
    """Where a text comes from, and what stands in its places, for whoever translates it."""

    places: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


Texts = dict[tuple[str, str], Source]
"""By context and text, as in a catalog."""


def interface_texts() -> Texts:
    """Each text of the interface, with its source."""
    found: Texts = {}
    for context, text, place in _registered():
        found.setdefault((context, text), Source()).places.add(place)
    for context, text, module in _drawn():
        found.setdefault((context, text), Source()).places.add(module)
    for text in CHOSEN["of_blender"]:
        found.setdefault(("*", text), Source())
    for text, node, module in _messages():
        source = found.setdefault(("*", template(text)), Source())
        source.places.add(module)
        source.notes = source.notes or [f"{{{n}}}: {code}" for n, code in enumerate(values(node))]
    return found


def template(text: str) -> str:
    """A text with its places numbered, without marks at its ends: "; undo …" is "undo {0}"."""
    numbers = count()
    return re.sub(r"…|\{\w+\}", lambda _: f"{{{next(numbers)}}}", text).strip(" ;,.:")


def values(node: ast.AST) -> Iterator[str]:
    """The code of what is filled into the places of a text, in their order."""
    match node:
        case ast.JoinedStr(parts):
            for part in parts:
                yield from (
                    [ast.unparse(part.value)]
                    if isinstance(part, ast.FormattedValue)
                    else values(part)
                )
        case ast.BinOp(left, ast.Add(), right):
            for part in (left, right):
                yield from values(part) if text_of(part) else [ast.unparse(part)]
        case ast.Constant(str(text)):
            yield from re.findall(r"\{(\w+)\}", text)


def _messages() -> Iterator[tuple[str, ast.AST, str]]:
    """Messages and phrases, where they are written, and in which module."""
    phrases = {*CHOSEN["phrases"]}
    for module, tree in modules().items():
        if module.startswith(tuple(CHOSEN["in_english"])):
            continue
        yield from ((text, node, module) for text, node in messages_in(tree))
        for node in ast.walk(tree):
            if (text := text_of(node)) in phrases:
                yield text, node, module


def _drawn() -> Iterator[tuple[str, str, str]]:
    """Context, text and module of each text that panels and menus draw in place of a label.

    Texts that are put together there, and not translated as a whole, have no entry.
    """
    for module, tree in modules().items():
        for call in ast.walk(tree):
            match call:
                case ast.Call(ast.Name("draw_wrapped"), [_, wrapped]):
                    context, drawn = "*", [] if isinstance(wrapped, ast.Name) else [wrapped]
                case ast.Call(ast.Attribute(attr=name)):
                    context = "Operator" if name == "operator" else "*"
                    drawn = [each.value for each in call.keywords if each.arg in DRAWN]
                    drawn = [each for each in drawn if not isinstance(each, ast.JoinedStr)]
                case _:
                    continue
            for text in chain(*map(_choices, drawn)):
                yield context, template(text), module


def _choices(node: ast.AST) -> list[str]:
    """The texts that an argument may be, with letters of their own."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "translated":
        node = node.args[0]
    parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]
    return [text for text in map(text_of, parts) if re.search(r"[^\W…]{2}", text)]


def _registered() -> Iterator[tuple[str, str, str]]:
    """Context, text and place of each label, tooltip and choice that Blender has registered."""
    for kind in PAGES:
        yield from _of_properties(kind, properties_of(kind).values())
    for cls in CLASSES:
        name, label = cls.__name__, getattr(cls, "bl_label", "")
        if "_OT_" in name:
            known = getattr(_blender.ops.verlet, name.partition("_OT_")[2]).get_rna_type()
            yield "Operator", label, name
            yield from [("*", known.description, name)] if known.description else ()
            yield from _of_properties(name, [*known.properties.values()][1:])
        elif label:
            yield "*", label, name


def _of_properties(owner: str, properties: Iterable[Any]) -> Iterator[tuple[str, str, str]]:
    """The same of settings and options."""
    for known in properties:
        shown = [known.name, known.description]
        if known.type == "ENUM":
            for item in known.enum_items_static:
                shown += [item.name, item.description]
        for text in shown:
            if text and not known.is_hidden:
                yield "*", text, f"{owner}.{known.identifier}"
