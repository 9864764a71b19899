"""The pages for users and developers: each is linked, and no link leads nowhere."""

import re
from pathlib import Path

import pytest

from docs.site.assets import from_elsewhere, without_size
from docs.site.contents import parts

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
INDEX = ROOT / "docs" / "index.md"
PAGES = sorted((ROOT / "docs").glob("*/*.md"))


def links(page: Path) -> list[str]:
    """Targets of the links and pictures of a page, those on the web left out."""
    found = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    return [target for target in found if not target.startswith("http")]


def anchors(page: Path) -> set[str]:
    """Names that GitHub gives to the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_index_links_every_page() -> None:
    """Of these links the site makes its contents, in their order."""
    contents = parts(INDEX.read_text(encoding="utf-8"))
    assert list(contents) == ["Start", "How to", "Reference", "How it works"]
    for part, pages in contents.items():
        folder = INDEX.parent / part.lower().replace(" ", "_")
        assert {INDEX.parent / f"{page}.md" for page in pages} == {*folder.glob("*.md")}
    assert "docs/index.md" in links(README)


@pytest.mark.parametrize(
    "page", [README, ROOT / "CONTRIBUTING.md", INDEX, *PAGES], ids=lambda page: str(page.name)
)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target in links(page):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), target


def test_a_report_of_a_fault_is_asked_for_by_the_names_that_it_has() -> None:
    """The button and the command that the form for faults tells of are those of the add-on."""
    form = (ROOT / ".github" / "ISSUE_TEMPLATE" / "fault.yml").read_text(encoding="utf-8")
    ui = ROOT / "verlet_addon" / "blender" / "ui"
    for name, module in (("Copy Report", "report_operator"), ("Last Messages", "messages")):
        assert f"**{name}**" in form
        assert f'"{name}"' in (ui / f"{module}.py").read_text(encoding="utf-8")
    commands = (ui.parent / "cli" / "arguments.py").read_text(encoding="utf-8")
    (command,) = re.findall(r"`blender --command verlet (\w+) FILE.blend`", form)
    assert f'"{command}",' in commands


def test_what_the_site_would_load_from_elsewhere_is_found(tmp_path: Path) -> None:
    """`make manual` ends with this check; links that a reader follows are none."""
    page = """<a href="https://a.org"></a><link href="//b.org/c.css"><img src="d.png">
    <script src="https://e.org/f.js"></script>"""
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    (tmp_path / "style.css").write_text("a { b: url('http://g.org/h.woff2') url(i.png) }", "utf-8")
    assert list(from_elsewhere(tmp_path)) == [
        "page.html loads //b.org/c.css",
        "page.html loads https://e.org/f.js",
        "style.css loads http://g.org/h.woff2",
    ]


def test_pictures_of_the_site_that_keep_no_room_are_found(tmp_path: Path) -> None:
    """Else the place that F1 opens moves out of view as pictures above it are loaded."""
    page = """<img src="a.png" width="4" height="3"><img src="b.png" width="4">"""
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    assert list(without_size(tmp_path)) == ["page.html does not say how large b.png is"]
