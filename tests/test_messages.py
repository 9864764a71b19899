"""Every sentence that the add-on shows is in the manual, with what to do about it."""

import ast
import json
import re
import shutil
import subprocess
from itertools import cycle

import pytest

from docs.site.message_texts import messages, remedy_of, texts_of
from docs.site.messages_page import TOLD, messages_page, outdated, unexplained
from tests.test_docs import ROOT


def test_each_message_says_what_to_do_or_the_manual_does() -> None:
    """Else write it in docs/site/messages.toml, and run `make reference`."""
    assert unexplained() == []
    assert outdated() == set()


def test_the_page_has_the_messages_of_the_source() -> None:
    """`make reference` writes it anew."""
    for name, text in messages_page().items():
        assert (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise MeshError(f'{name!r} has no faces to bend')", "… has no faces to bend"),
        ("def f():\n x = (f'{a} is red' ' all over; ' f'paint {b}')", "… is red all over; paint …"),
        ("layout.label(text='Nothing acts on it')", "Nothing acts on it"),
        ("def f():\n return 'Frames after it are not simulated yet'",) * 2,
        (
            "Remark(f'{n} edges' + ' are much too short', grade='INFO')",
            "… edges are much too short",
        ),
    ],
)
def test_a_message_is_found_however_it_is_written(source: str, message: str) -> None:
    expected = message.partition("'")[2].rstrip("'") if message == source else message
    assert list(texts_of(ast.parse(source))) == [expected]


@pytest.mark.parametrize(
    "source",
    [
        '"""A module of a few words; no more."""',
        "FloatProperty(name='Mass', description='Weight of the object; more is heavier')",
        "ITEMS = (('A', 'Name', 'What it does; in a few words'),)",
    ],
)
def test_descriptions_are_no_messages(source: str) -> None:
    assert not list(texts_of(ast.parse(source)))


def test_a_remedy_is_more_than_a_placeholder() -> None:
    assert remedy_of("… is open; close its holes") == "close its holes"
    assert remedy_of("… is open; …") == ""


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no JavaScript")
def test_the_search_finds_each_message_with_names_and_numbers_in_it() -> None:
    """As it stands in Blender, among the three that the site shows."""
    titles = re.findall(r"^### (.*)$", messages_page()["messages.md"], re.M)
    known = [[re.sub(r"\\(.)", r"\1", title), ""] for title in titles]
    names = cycle(("Flag", "12", "Cape", "0.35", "Scene 2"))
    asked = [text for text in messages() if text not in TOLD["parts"]]
    shown = [re.sub("…", lambda _: next(names), text).lower() for text in asked]
    script = (ROOT / "docs" / "site" / "static" / "sentences.js").read_text(encoding="utf-8")
    script = f"""globalThis.document = {{ addEventListener() {{}} }};
    {script}
    const known = {json.dumps(known)}, shown = {json.dumps(shown)};
    console.log(JSON.stringify(shown.map((each) => bestOf(known, each).map(([text]) => text))));"""
    done = subprocess.run(["node"], input=script, capture_output=True, text=True, check=True)
    missed = [
        text
        for text, found in zip(asked, json.loads(done.stdout), strict=True)
        if not any(title.removeprefix("… ") in text for title in found)
    ]
    assert missed == []
