"""Pages of the manual that are made from the source say what it says now, and all of it."""

import json
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.blender.scenes import sheet

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.skipif(
    not DOCS.exists() or bpy.app.version < (5, 0) or not bpy.app.module,
    reason="the docs are of the source, and of the properties as this Blender has them",
)


def of_site(module: str) -> Any:
    """A module that makes pages; an installed extension has none beside it."""
    return import_module(f"docs.site.{module}")


def test_the_reference_has_every_setting_once() -> None:
    pages, manual = of_site("settings_pages"), import_module("verlet_addon.blender.ui.manual")
    assert set(pages.OWNERS.values()) == set(manual.PAGES)
    for owner, kind in pages.OWNERS.items():
        assert sorted(pages.listed()[owner]) == sorted(manual.properties_of(kind))


def test_the_pages_are_those_of_the_source() -> None:
    """`make reference` writes them anew."""
    for name, text in of_site("write_reference").reference_pages().items():
        assert (DOCS / "reference" / name).read_text(encoding="utf-8") == text, name


def test_each_setting_has_a_picture_or_a_reason_why_not() -> None:
    """A setting that is gone has neither."""
    pages, table = of_site("settings_pages"), of_site("pictures").TABLE
    for owner in of_site("pictures").PREFIXES:
        rows = [*table.get(owner, {}), *table["left_out"].get(owner, {})]
        assert sorted(rows) == sorted(pages.listed()[owner])


def test_pictures_are_those_of_the_table() -> None:
    """`make pictures` draws them: no row lacks its file, and no file its row."""
    pages, table = of_site("settings_pages"), of_site("pictures")
    drawn = [*pages.pictures(), *table.symptoms()]
    assert {picture.path for picture in drawn} == {*table.FOLDER.iterdir()}


def test_the_script_of_the_page_bakes(tmp_path: Path) -> None:
    flag: Any = sheet("Flag", height=2.0)
    flag.vertex_groups.new(name="Mast").add([0, 1], 1.0, "REPLACE")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    text = (DOCS / "reference" / "scripts.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    exec(compile(script.replace("100", "5"), "script", "exec"), {})
    assert flag.verlet.material == "SILK"
    assert len(list((tmp_path / "shot_verlet_cache").rglob("*.pc2"))) == 1


def fields(value: Any, name: str = "") -> Iterator[str]:
    """Names of the fields of a JSON object as the page writes them."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield name + key
            yield from fields(each, f"{name}{key}.")
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from fields(value[0], f"{name[:-1]}[].")


def test_the_page_has_every_field_of_the_json(
    cli: ModuleType, blend: Path, printed: Callable[[], Any]
) -> None:
    """Of a bake to a cache, of one that fails, of a dry run, and of several files."""
    text = (DOCS / "reference" / "command_line.md").read_text(encoding="utf-8")
    alone, several = (
        {name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in row.split("`")[1::2]}
        for table in text.partition("## The JSON")[2]
        .partition("\n## ")[0]
        .split("Of several files,")
    )
    out, found = str(blend.parent / "out.blend"), list[set[str]]()
    for options in (
        ["--output", out, "--mode", "cache"],
        ["--output", out, "--set", "nothing=1"],
        ["--output-dir", str(blend.parent / "out"), "--check"],
    ):
        cli.main(["bake", str(blend), *options, "--json"])
        found.append(set(fields(json.loads(printed().out))))
    baked, failed, of_files = found
    assert baked | {name for name in failed if not name.startswith("errors[]")} == alone
    assert failed >= {f"errors[].{name}" for name in ("kind", "code", "body", "sentence", "file")}
    shared = {f"tasks[].{name}" for name in alone - {"output"}}
    assert of_files - shared - {"error", "warnings"} == several
