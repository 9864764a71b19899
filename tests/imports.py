"""Which files of the project use which others, as their import statements say."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "verlet_addon"

IMPORT = re.compile(r"^ *from (\.*)([\w.]*) import (\([^)]*\)|.*)|^ *import ([\w.]+)", re.M)
ADDON_MODULE = re.compile(r'"((?:core|blender)(?:\.\w+)+)"')
"""A module of the add-on as tests of Blender name it: `addon("blender.bake.bake")`."""


def imported(path: Path) -> Iterator[Path]:
    """The paths, without a suffix, of modules and of names in modules that a file imports."""
    text = path.read_text(encoding="utf-8")
    for dots, module, names, whole in IMPORT.findall(text):
        base = (path.parents[len(dots) - 1] if dots else ROOT).joinpath(
            *(module or whole).split(".")
        )
        yield base
        yield from (base / name for name in re.findall(r"\w+", names))
    for module in ADDON_MODULE.findall(text):
        yield PACKAGE.joinpath(*module.split("."))


def users(files: Iterable[Path]) -> Mapping[Path, set[Path]]:
    """Of each file those that import it, and of C and its headers the module beside them."""
    files = set(files)
    found: dict[Path, set[Path]] = {}
    for file in files:
        named = list(imported(file))
        used = {place.with_suffix(".py") for place in named} | {p / "__init__.py" for p in named}
        for each in used & files - {file}:
            found.setdefault(each, set()).add(file)
        for suffix in (".c", ".h"):
            found.setdefault(file.with_suffix(suffix), set()).add(file)
    return found


def distances(changed: Iterable[Path], users_of: Mapping[Path, set[Path]]) -> dict[Path, int]:
    """Imports between each file that changed files can affect and the nearest of them."""
    found = dict.fromkeys(changed, 0)
    waiting = deque(found)
    while waiting:
        file = waiting.popleft()
        for user in users_of.get(file, set()) - found.keys():
            found[user] = found[file] + 1
            waiting.append(user)
    return found
