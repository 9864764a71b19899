"""The page of the reference on messages: what each says, why, and what to do."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.site.message_texts import messages, remedy_of

TOLD: dict[str, Any] = tomllib.loads(
    (Path(__file__).parent / "messages.toml").read_text(encoding="utf-8")
)
NOTHING_TO_DO = ("All is well", "Nothing", "Part of another message", "It is not an error")
"""How notes begin that ask for nothing."""
INTRO = """\
Every sentence that Verlet shows, with why it does and what to do. "…" stands for names and numbers
of yours. Search for a few words of it, without these; the search of the site also takes the whole
sentence, as it stands in Blender."""


def messages_page() -> dict[str, str]:
    """The Markdown of the page, by the name of its file."""
    paragraphs = ["# Messages", INTRO]
    for section in TOLD["section"]:
        paragraphs += [f"## {section['title']}", section["why"]]
        for text in sorted(of_section(section), key=_letters):
            paragraphs += _entry(text)
    return {"messages.md": "\n\n".join(paragraphs) + "\n"}


def of_section(section: dict[str, Any]) -> list[str]:
    """The messages of a section."""
    return [
        text
        for text, module in messages().items()
        if text not in TOLD["parts"] and _section_of(module) is section
    ]


def unexplained() -> list[str]:
    """Messages that stand in no section, or say neither themselves nor here what to do."""
    return [
        text
        for text, module in messages().items()
        if text not in TOLD["parts"]
        and (_section_of(module) is None or not (remedy_of(text) or text in TOLD["notes"]))
    ]


def outdated() -> set[str]:
    """Texts that messages.toml explains and the source no longer has."""
    return {*TOLD["parts"], *TOLD["notes"], *TOLD["whys"]} - set(messages())


def _section_of(module: str) -> dict[str, Any] | None:
    """The section of the messages of a module; None without one."""
    sections: list[dict[str, Any]] = TOLD["section"]
    return next((each for each in sections if module.startswith(tuple(each["modules"]))), None)


def _letters(text: str) -> str:
    """What messages are sorted by: their own letters, from the first one on."""
    return re.sub(r"^\W+", "", text).lower()


def _entry(text: str) -> Iterator[str]:
    """The paragraphs on one message: its sentence, why it is shown, and what to do."""
    note, remedy = TOLD["notes"].get(text), remedy_of(text)
    sentence = text.removesuffix("; …") if note else text.removesuffix(f"; {remedy}")
    about = "… " if re.match("(has|is|moves) ", text) else ""
    yield f"### {about}{_markdown(sentence)}"
    if why := TOLD["whys"].get(text):
        yield why
    told = note or f"{_markdown(remedy[:1].upper() + remedy[1:])}."
    yield told if told.startswith(NOTHING_TO_DO) else f"**To do:** {told}"


def _markdown(text: str) -> str:
    """A text in which nothing means more than it says, and no code host makes quotes curly."""
    return re.sub(r"([*_<\[\]`{}])", r"\\\1", text)
