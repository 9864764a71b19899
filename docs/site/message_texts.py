"""Texts of the add-on that are messages: found in its syntax trees, so that none is left out.

A message is an error, a warning, a remark on a bake, a report in the status bar, a reason why a
button is grey, or a hint in a panel. Whatever stands in its place when it is shown is "…".
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "verlet_addon"
SHOWN_BY = {"Remark", "report", "poll_message_set", "label", "draw_wrapped", "error", "translated"}
"""Functions and methods whose texts are shown as they are."""
DESCRIBED_BY = {"description", "help", "epilog", "metavar"}
"""Arguments that describe settings and options: the reference has these elsewhere."""
FEWEST_WORDS, FEWEST_ANYWHERE = 4, 6
"""Words of a message, placeholders not counted: where texts are shown, and in other functions."""
NO_MESSAGES = {"blender/ui/overlay/points.py", "blender/cli/flamenco.py", "core/kernel.py"}
"""Modules whose longer texts are code of other languages."""


@cache
def messages() -> dict[str, str]:
    """Each message with the module that it is in, as `core/mesh.py`; the same text once."""
    found: dict[str, str] = {}
    for module, tree in modules().items():
        for text in texts_of(tree):
            found.setdefault(text, module)
    return found


@cache
def modules() -> dict[str, ast.Module]:
    """The syntax trees of the modules that have messages, by their names."""
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
    return {
        name: ast.parse(path.read_text(encoding="utf-8"))
        for name, path in paths.items()
        if name not in NO_MESSAGES
    }


def texts_of(node: ast.AST) -> Iterator[str]:
    """The messages in a syntax tree."""
    return (text for text, _ in messages_in(node))


def messages_in(node: ast.AST, *, fewest: int = 1000) -> Iterator[tuple[str, ast.AST]]:
    """The messages in a syntax tree, and where: texts with a remedy, and those of so many words."""
    match node:
        case ast.Expr(ast.Constant()) | ast.Tuple() | ast.Dict():
            return  # docstrings; names and descriptions of choices
        case ast.keyword(arg=name) if name in DESCRIBED_BY:
            return
        case ast.FunctionDef():
            fewest = FEWEST_ANYWHERE
        case ast.Raise():
            fewest = FEWEST_WORDS
        case ast.Call(ast.Attribute(attr=name) | ast.Name(name)) if name in SHOWN_BY:
            fewest = FEWEST_WORDS
    parts: list[ast.AST] = [*ast.iter_child_nodes(node)]
    if text := text_of(node):
        words = text.replace("…", "").split()
        if len(words) >= fewest or ("; " in text and len(words) >= 3):
            yield text, node
        parts = [each.value for each in ast.walk(node) if isinstance(each, ast.FormattedValue)]
        fewest = FEWEST_ANYWHERE
    for part in parts:
        yield from messages_in(part, fewest=fewest)


def text_of(node: ast.AST) -> str:
    """A text as it is written, on one line, with "…" for what is filled in; empty of others."""
    return " ".join((_text(node) or "").split())


def remedy_of(text: str) -> str:
    """What a message itself says that one can do; empty if it does not."""
    last = text.rpartition("; ")[2] if "; " in text else ""
    return last if len(last.replace("…", " ").split()) > 1 else ""


def _text(node: ast.AST) -> str | None:
    """A text as it is written, with "…" for what is filled in; None of anything else."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(values):
            return "".join(_text(value) or "…" for value in values)
        case ast.BinOp(left, ast.Add(), right):
            found = _text(left), _text(right)
            return "".join(part or "…" for part in found) if any(found) else None
    return None
