"""Pages of the reference on settings: each as Blender has it registered, with our notes.

The panels, units that Blender does not know and notes are in settings.toml; what can be keyed and
painted, and why the rest cannot, is that of animation.md.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.site.pictures import Picture, of_setting
from docs.site.values import number, scale_of, unit_of
from verlet_addon.blender.ui.manual import properties_of

DOCS = Path(__file__).parents[1]
CHOSEN: dict[str, Any] = tomllib.loads(
    (DOCS / "site" / "settings.toml").read_text(encoding="utf-8")
)
OWNERS = {
    "object.verlet": "VERLET_PG_body",
    "object.verlet.attachments[n]": "VERLET_PG_attachment",
    "scene.verlet": "VERLET_PG_scene",
    "workspace.verlet_overlay": "VERLET_PG_overlay",
    "preferences": "VERLET_AP_preferences",
    "object": "Object",
    "pose_bone": "PoseBone",
}
"""The class in Blender of whatever has a setting, by the name that pages call it."""
LARGEST = 2.0**31 - 1
"""Numbers from here on are no limit: Blender's own of whole numbers and of others."""


def settings_pages() -> dict[str, str]:
    """The Markdown of each page, by the name of its file."""
    return {f"{page['file']}.md": "\n\n".join(_page(page)) + "\n" for page in CHOSEN["page"]}


def listed() -> dict[str, list[str]]:
    """The settings that the pages list, by owner."""
    found: dict[str, list[str]] = {owner: [] for owner in OWNERS}
    for page in CHOSEN["page"]:
        for panel in page["panel"]:
            found[panel.get("owner", "object.verlet")] += panel["settings"]
    return found


def pictures() -> Iterator[Picture]:
    """The pictures of all settings."""
    for page in CHOSEN["page"]:
        for panel in page["panel"]:
            owner = panel.get("owner", "object.verlet")
            properties = properties_of(OWNERS[owner])
            for name, told in panel["settings"].items():
                if picture := of_setting(owner, properties[name], told):
                    yield picture


def _page(page: dict[str, Any]) -> Iterator[str]:
    """The paragraphs of a page."""
    yield f"# {page['title']}"
    yield page["intro"].strip()
    yield (
        "Ranges are those of dragging with the mouse. Most settings take larger numbers if you "
        "type them, and a bake says so where one is out of bounds. In Blender, **F1** over a "
        "setting opens its place here, if Verlet comes from its website. "
        "[What can be keyed and painted](animation.md) is a table of all settings."
    )
    reasons = _reasons()
    for panel in page["panel"]:
        owner = panel.get("owner", "object.verlet")
        yield f"## {panel['title']}"
        yield from [panel["intro"].strip()] if "intro" in panel else []
        properties = properties_of(OWNERS[owner])
        for name, told in panel["settings"].items():
            yield from _entry(owner, properties[name], told, reasons.get((owner, name)))
        yield from [panel["outro"].strip()] if "outro" in panel else []


def _entry(
    owner: str, known: Any, told: dict[str, str], row: tuple[str, str, str] | None
) -> Iterator[str]:
    """The paragraphs on one setting."""
    yield f"### {known.name} `{known.identifier}`"
    yield " ".join(filter(None, (f"{escaped(known.description)}.", told.get("note"))))
    facts = [f"`{owner}.{known.identifier}`", *_values(known, unit_of(known, told))]
    if row is not None:
        keys, painted, reason = row
        if painted and painted != f"`{known.identifier}`":
            facts.append(f"painted by {painted}")
        facts.append("can be keyed" if keys == "yes" else f"cannot be keyed: {reason}")
    yield " · ".join(facts)
    if known.type == "ENUM" and known.enum_items:
        yield items_of(known)
    if picture := of_setting(owner, known, told):
        yield picture.markdown()


def _values(known: Any, unit: str) -> Iterator[str]:
    """Unit, range and default of a property."""
    if known.type in ("FLOAT", "INT"):
        yield from [unit] if unit else []
        scale = scale_of(known)
        limits = known.hard_min, known.hard_max
        if max(map(abs, limits)) >= LARGEST:
            limits = known.soft_min, known.soft_max
        if max(map(abs, limits)) < LARGEST:
            yield " to ".join(number(limit * scale) for limit in limits)
        yield f"default {number(known.default * scale)}"
    elif known.type == "BOOLEAN":
        yield "default on" if known.default else "default off"
    elif known.type == "ENUM" and known.enum_items:
        yield f"default {known.enum_items[known.default].name}"


def items_of(known: Any) -> str:
    """The values of an enumeration, a line each."""
    lines = (
        f"- `{item.identifier}`: {item.name}"
        + (f". {item.description}" if item.description else "")
        for item in known.enum_items
    )
    return "\n".join(lines)


def escaped(text: str) -> str:
    """A text of Blender's as Markdown, in which asterisks and the like mean nothing."""
    return re.sub(r"([*_<\[\]])", r"\\\1", text)


def _reasons() -> dict[tuple[str, str], tuple[str, str, str]]:
    """Whether each setting can be keyed, what paints it, and why not, by its owner and name."""
    found: dict[tuple[str, str], tuple[str, str, str]] = {}
    reasons: dict[str, str] = {}
    owner = ""
    text = (DOCS / "reference" / "animation.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        if heading := re.match(r"Of .*`([\w.\[\]]+)`.*:$", line):
            owner = heading[1]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 5 and cells[1].startswith("`"):
            found[owner, cells[1].strip("`")] = (cells[2], cells[3], cells[4])
            reasons[cells[0]] = cells[4]
    return {place: (*row[:2], in_full(row[2], reasons)) for place, row in found.items()}


def in_full(reason: str, others: dict[str, str]) -> str:
    """A reason without reference to that of another setting of the table."""
    for label in sorted(others, key=len, reverse=True):
        if reason == f"as {label}" or reason.startswith(f"as {label};"):
            return others[label] + reason.removeprefix(f"as {label}")
    return reason
