"""Writes generated.h, by which C knows what Python says: structs, prototypes and constants.

    python kernels/header.py

With it, it writes generated.py, which has the calls of kernels.

A constant is shared by its name alone: where C uses a name in capitals that Python has, it is that
constant, and C has no #define of it. `kernels/build.py` writes the header before it compiles.
"""

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from types import UnionType
from typing import Any, get_args, get_origin

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kernels.calls import MODULE, calls  # noqa: E402
from verlet_addon import core  # noqa: E402
from verlet_addon.core.c_source import CORE, source_files  # noqa: E402
from verlet_addon.core.kernel import (  # noqa: E402
    ELEMENTS,
    PROTOTYPES,
    SCALARS,
    STRUCTS,
    Struct,
    struct_of,
)

HEADER = CORE / "generated.h"
BEGIN = """\
/* Written by kernels/header.py: the structs of Python's objects, the prototypes of kernels, and the
   constants that C shares with Python. */
#ifndef VERLET_GENERATED_H
#define VERLET_GENERATED_H
"""
CONSTANT = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\b[A-Z]{4,}\b")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def import_core() -> dict[str, set[int | float]]:
    """The values of all constants of the core by their names, after the import of its modules."""
    found: dict[str, set[int | float]] = {}
    for module in pkgutil.walk_packages(core.__path__, f"{core.__name__}."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if name.isupper() and isinstance(value, int | float):
                found.setdefault(name, set()).add(value)
    return found


def constants(known: dict[str, set[int | float]]) -> Iterator[str]:
    """The definition of each constant that C uses.

    Raises
    ------
    ValueError
        If modules give it different values, or C defines it too.
    """
    sources = [path for path in source_files() if path != HEADER]
    texts = [COMMENT.sub("", path.read_text("utf-8")) for path in sources]
    used = {name for text in texts for name in CONSTANT.findall(text)}
    defined = {name for text in texts for name in re.findall(r"#define (\w+)", text)}
    if defined & known.keys():
        raise ValueError(f"C defines what Python does: {sorted(defined & known.keys())}")
    for name in sorted(used & known.keys()):
        if len(known[name]) > 1:
            raise ValueError(f"{name} has several values: {sorted(known[name])}")
        value = known[name].pop()
        yield f"#define {name} {value if isinstance(value, int) else float(value)!r}"


def member(name: str, hint: Any, *, shared: bool) -> Iterator[tuple[str, str]]:
    """The types and the declarators of a member with this type."""
    if get_origin(hint) is UnionType:
        (hint,) = set(get_args(hint)) - {type(None)}
    struct = struct_of(hint)
    if hint in SCALARS:
        yield SCALARS[hint][1], name
    elif struct:
        yield f"const struct {struct.name}", f"*{name}"
    elif get_origin(hint) in (list, Sequence):
        struct = struct_of(get_args(hint)[0])
        kind = f"const struct {struct.name}" if struct else ELEMENTS[get_args(hint)[0]]
        yield kind, f"*const *{name}"
        yield "integer", f"{name}_count"
    else:
        kind = hint if isinstance(hint, str) else ELEMENTS[hint]
        yield f"{'' if shared else 'const '}{kind}", f"*{name}"


def declaration(struct: Struct[Any]) -> str:
    """The declaration of a struct; members of one type that follow each other share a line."""
    read = struct.reads.split()
    parts = [
        part
        for name, hint in struct.types.items()
        for part in member(name, hint, shared=name not in read)
    ]
    lines = [
        f"{kind} {', '.join(declarator for _, declarator in group)};"
        for kind, group in groupby(parts, lambda part: part[0])
    ]
    wrapped = (
        "\n".join(wrap(line, 100, initial_indent="    ", subsequent_indent="        "))
        for line in lines
    )
    return f"typedef struct {struct.name} {{\n{chr(10).join(wrapped)}\n}} {struct.name};\n"


def header() -> str:
    """The text of generated.h."""
    parts = [BEGIN, "".join(f"{line}\n" for line in constants(import_core()))]
    parts += [declaration(STRUCTS[name]) for name in sorted(STRUCTS)]
    parts += ["\n".join(map(prototype, sorted(PROTOTYPES))), "#endif\n"]
    return "\n".join(parts)


def prototype(name: str) -> str:
    """The declaration of a function in C."""
    return "\n".join(wrap(f"EXPORT {PROTOTYPES[name]}", 100, subsequent_indent="    "))


def write_header() -> None:
    """Writes generated.h and generated.py, unless they are as they should be."""
    for path, text in ((HEADER, header()), (MODULE, calls())):
        if not path.exists() or text != path.read_text("utf-8"):
            path.write_text(text, "utf-8")


if __name__ == "__main__":
    write_header()
