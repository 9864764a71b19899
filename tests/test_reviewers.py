"""Whoever reviews the add-on finds a reason for all that they search for, and nothing else.

The words are those that reviewers of Blender's extensions search zips for: programs, files,
interpreters, threads, libraries, the network.
"""

import ast
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTES = ROOT / "docs" / "how_it_works" / "reviewers.md"
MODULES = {
    *("ctypes", "fcntl", "importlib", "msvcrt", "multiprocessing", "pickle", "pkgutil", "shutil"),
    *("signal", "socket", "ssl", "subprocess", "sys", "tempfile", "threading", "urllib", "http"),
    *("asyncio", "concurrent", "marshal", "code", "runpy", "webbrowser", "atexit", "requests"),
}
NAMES = {"exec", "eval", "compile", "open", "__import__", "__file__", "globals"}
ATTRIBUTES = {
    *("open", "unlink", "rmdir", "rmtree", "rename", "write_text", "write_bytes", "environ"),
    *("url_open", "copyfile", "copytree"),
}
OF_SYSTEM = {"system", "popen", "execv", "fork", "kill", "dup2", "putenv", "remove", "replace"}
"""Attributes of the module `os`."""


def words_of(text: str) -> Iterator[str]:
    """The words of a module that reviewers search for."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import():
                yield from {alias.name.partition(".")[0] for alias in node.names} & MODULES
            case ast.ImportFrom(module=str(module), level=0):
                yield from {module.partition(".")[0]} & MODULES
            case ast.Name(id=name):
                yield from {name} & NAMES
            case ast.Attribute(value=ast.Name("os"), attr=name):
                yield from {name} & (ATTRIBUTES | OF_SYSTEM)
            case ast.Attribute(attr=name):
                yield from {name} & ATTRIBUTES


def explained() -> dict[str, set[str]]:
    """The words that the notes explain, by the modules that have them."""
    row = re.compile(r"^\| `([\w/]+\.py)` \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)
    rows = row.findall(NOTES.read_text("utf-8"))
    return {name: set(re.findall(r"`(\w+)`", words)) for name, words in rows}


def found_in(sources: dict[str, str]) -> dict[str, set[str]]:
    """The words that modules have."""
    found = {name: set(words_of(text)) for name, text in sources.items()}
    return {name: words for name, words in found.items() if words}


def test_the_notes_explain_all_that_reviewers_search_for(extension_zip: Path) -> None:
    with zipfile.ZipFile(extension_zip) as package:
        names = [name for name in package.namelist() if name.endswith(".py")]
        sources = {name: package.read(name).decode() for name in names}
    found = found_in(sources)
    assert found == {f"verlet_addon/{name}": words for name, words in explained().items()}


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("exec('')", "exec"),
        ("import os.path, subprocess as s", "subprocess"),
        ("from urllib.request import urlopen", "urllib"),
        ("Path(__file__)", "__file__"),
        ("path.open('w')", "open"),
        ("os.environ['A'] = ''", "environ"),
    ],
)
def test_a_word_is_found_however_it_is_written(line: str, word: str) -> None:
    assert found_in({"a.py": line}) == {"a.py": {word}}


def test_nothing_is_run_that_is_no_code_of_the_add_on() -> None:
    """No notes would explain these."""
    refused = {"exec", "eval", "compile", "__import__", "pickle", "marshal", "urllib", "http"}
    assert not refused & set().union(*explained().values())
