"""The page of the reference on operators, as Blender has them registered."""

from collections.abc import Iterator
from typing import Any

import bpy

from docs.site.settings_pages import escaped
from docs.site.values import number

_operators: Any = bpy.ops
_verlet = _operators.verlet

INTRO = """\
`bpy.ops.verlet.NAME(…)`, in the order of the alphabet. Each works from a script as from its button;
those that show progress do so only where a person presses the button. Press **F3** and type
"verlet" to find them all; **F1** over a button opens its place here, if Verlet comes from its
website."""


def operator_page() -> dict[str, str]:
    """The Markdown of the page, by the name of its file."""
    paragraphs = ["# Operators", INTRO]
    for name in operators():
        paragraphs += _entry(name)
    return {"operators.md": "\n\n".join(paragraphs) + "\n"}


def operators() -> list[str]:
    """Names of the operators."""
    return sorted(dir(_verlet))


def _entry(name: str) -> Iterator[str]:
    """The paragraphs on one operator."""
    known = getattr(_verlet, name).get_rna_type()
    yield f"## {known.name} `{name}`"
    yield f"{escaped(known.description)}."
    shown = [each for each in known.properties if each.identifier != "rna_type"]
    lines = [_property(each) for each in shown if not each.is_hidden]
    if lines:
        yield "\n".join(lines)


def _property(known: Any) -> str:
    """The line on a property of an operator."""
    told = f"- `{known.identifier}`: {known.name}"
    if known.description:
        told += f". {escaped(known.description)}"
    if known.type == "ENUM":
        names = ", ".join(f"`{item.identifier}`" for item in known.enum_items)
        told += f". One of {names}" if names else ""
    return told + f". Default {_default(known)}" if _default(known) else told


def _default(known: Any) -> str:
    """The default of a property; empty where it has none to show."""
    if known.type in ("FLOAT", "INT") and not known.is_array:
        return f"`{number(known.default)}`"
    if known.type == "BOOLEAN" and not known.is_array:
        return f"`{known.default}`"
    return f"`'{known.default}'`" if known.type in ("ENUM", "STRING") and known.default else ""
