"""The interface speaks each of its languages, all of it."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import bpy
import pytest

from tests.blender.scenes import sheet
from verlet_addon.blender.translation.catalogs import FOLDER, catalog, language_of, languages
from verlet_addon.blender.translation.interface import translated
from verlet_addon.blender.translation.line_breaks import wrapped
from verlet_addon.blender.translation.templates import PLACE, Templates
from verlet_addon.blender.ui.messages import last_messages

ROOT = Path(__file__).parents[2]
of_source = pytest.mark.skipif(
    not (ROOT / "languages").exists() or bpy.app.version < (5, 0) or not bpy.app.module,
    reason="what is to be translated is found in the source",
)
in_words = pytest.mark.skipif(
    not bpy.app.build_options.international, reason="Blender as a module speaks English alone"
)
GRAMMAR = re.compile(r"\{(\d+)\}: (?:verb$|them$|'[^']*' if .* else '[^']*'$)")
"""Places for words that another language may have no need of."""


@of_source
@pytest.mark.parametrize("language", languages())
def test_a_catalog_has_every_text_and_no_other(language: str) -> None:
    """`make catalogs` adds those that it lacks, and removes others."""
    texts = import_module("languages.interface_texts").interface_texts()
    assert set(catalog(language)) == set(texts)


@of_source
def test_phrases_are_those_of_the_source() -> None:
    texts = import_module("languages.interface_texts")
    known = {text for _, text in texts.interface_texts()}
    assert [each for each in texts.CHOSEN["phrases"] if texts.template(each) not in known] == []


@of_source
@pytest.mark.parametrize("language", languages())
def test_a_translation_has_the_places_of_its_text(language: str) -> None:
    texts = import_module("languages.interface_texts").interface_texts()
    for key, its in catalog(language).items():
        places, filled = set(PLACE.findall(key[1])), set(PLACE.findall(its))
        words = {found[1] for note in texts[key].notes if (found := GRAMMAR.match(note))}
        assert filled <= places, (key[1], its)
        assert places - filled <= words, (key[1], its)


@of_source
@pytest.mark.parametrize("code", ["de", "es", "ja", "zh_CN"])
def test_pages_call_labels_what_the_interface_calls_them(code: str) -> None:
    """Bold words of the manual that are labels, in each language."""
    read = import_module("babel.messages.pofile").read_po
    known = catalog({"zh_CN": "zh_HANS"}.get(code, code))
    labels = {text: {known[key] for key in known if key[1] == text} for _, text in known}
    del labels["Space"]  # a key, in these pages
    bold = re.compile(r"\*\*(.+?)\*\*")
    for path in (ROOT / "docs" / "locale" / code).rglob("*.po"):
        with path.open("rb") as file:
            for message in read(file):
                meant = [labels[word] for word in bold.findall(message.id or "") if word in labels]
                said = bold.findall(message.string)
                assert all(its & {*said} for its in meant), (message.id, said)


def test_there_are_four_languages() -> None:
    assert languages() == ("de", "es", "ja", "zh_HANS")
    assert all((FOLDER / f"{language}.po").stat().st_size > 100_000 for language in languages())


@pytest.fixture(params=["de_DE", "es", "ja_JP", "zh_HANS"])
def preferred(request: pytest.FixtureRequest) -> Any:
    """The language of the preferences, until the test ends."""
    view: Any = bpy.context.preferences.view
    before = view.language
    try:
        view.language = request.param
    except TypeError:
        view.language = request.param.split("_")[0]  # as German is called in 4.5 and later
    view.use_translate_interface = view.use_translate_tooltips = True
    yield bpy.app.translations.locale
    view.language = before


@pytest.fixture
def language(preferred: str, addon: Callable[[str], ModuleType]) -> Any:
    """The same language, with our catalogs, as where there is a window."""
    interface = addon("blender.translation.interface")
    interface.register_catalogs()
    yield preferred
    interface.unregister_catalogs()


@pytest.mark.skipif(bool(bpy.app.binary_path), reason="Python alone starts the source's add-on")
def test_a_start_without_a_window_reads_no_catalog() -> None:
    """That takes longer than all else that the add-on does then."""
    code = "import verlet_addon as a; from verlet_addon.blender.translation.catalogs import catalog"
    code += "; a.register(); print('read', catalog.cache_info().currsize); a.unregister()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert "read 0" in done.stdout.splitlines()


@in_words
@pytest.mark.usefixtures("preferred")
@pytest.mark.skipif(not bpy.app.background, reason="there is a window")
def test_without_a_window_all_is_in_english() -> None:
    """What scripts and the logs of farms look for."""
    find: Any = bpy.app.translations.pgettext_iface
    operators: Any = bpy.ops
    convert = operators.verlet.convert.get_rna_type()
    assert find(convert.name, convert.translation_context) == "Make Soft Body"
    sheet("Flag", height=2.0).data.clear_geometry()
    operators.verlet.convert()
    with pytest.raises(RuntimeError, match="Flag has no vertices; add some, or remove its soft"):
        operators.verlet.bake()


@in_words
def test_labels_and_messages_are_in_the_language(language: str) -> None:
    its = catalog(language_of(language))
    find: Any = bpy.app.translations.pgettext_iface
    operators: Any = bpy.ops
    convert, scene = operators.verlet.convert.get_rna_type(), bpy.types.Scene.bl_rna
    assert find(convert.name, convert.translation_context) == its["Operator", "Make Soft Body"]
    its_scene = cast(Any, scene.properties["verlet"]).fixed_type
    steps = its_scene.properties["steps_per_second"]
    assert find(steps.name, steps.translation_context) == its["*", "Substeps per Second"]
    assert find(steps.description) == its["*", steps.description]
    obj = sheet("Flag", height=2.0)
    obj.data.clear_geometry()
    operators.verlet.convert()
    template = its["*", "{0} has no vertices; add some, or remove its soft body"]
    with pytest.raises(RuntimeError, match=re.escape(template.format("Flag"))):
        operators.verlet.bake()
    # In English, as reports of a fault are.
    assert last_messages()[0] == "Flag has no vertices; add some, or remove its soft body"


@in_words
def test_a_panel_is_drawn_in_the_language(language: str) -> None:
    assert translated("Baked frames 1 to 60") == catalog(language_of(language))[
        "*", "Baked frames {0} to {1}"
    ].format(1, 60)


@pytest.mark.parametrize("language", languages())
def test_a_message_is_translated_by_what_it_was_made_from(language: str) -> None:
    """Whatever its names are; those stay as they are."""
    known = {text: its for (_, text), its in catalog(language).items()}
    translate = Templates(known).translate
    names = ["Ärmel.001", "3", "字", "0.25", "Rope_2", "«x»", "7", "abc", "Q"]
    for text in filter(PLACE.search, known):
        assert translate(text.format(*names)) == known[text].format(*names)


def test_clauses_are_translated_that_no_template_joins() -> None:
    words = {"{0} is torn": "{0} ist zerrissen", "no cloth": "kein Tuch", "mend {0}": "flicke {0}"}
    translate = Templates(words).translate
    assert translate("Flag is torn: no cloth") == "Flag ist zerrissen: kein Tuch"
    assert translate("Flag is torn; mend X, no cloth") == "Flag ist zerrissen; flicke X, kein Tuch"
    assert translate("Flag is worn") == "Flag is worn"


def test_a_message_within_a_message_is_translated_too() -> None:
    words = {"{0} failed: {1}": "{0} misslang: {1}", "{0} has no faces": "{0} ohne Flächen"}
    translate = Templates(words).translate
    assert translate("Bake failed: Flag has no faces") == "Bake misslang: Flag ohne Flächen"


def test_what_leaves_fewest_letters_as_they_are_is_taken() -> None:
    words = {
        "{0} of {1} to {2}": "{2}/{1}/{0}",
        "Baked {0} in {1} s": "gebacken: {0}, {1} s",
        "a loop of {0} frames ({1} to {2})": "Schleife, {0} Bilder ({1} bis {2})",
        "no edge stretched by more than {0} ({1})": "keine Kante um mehr als {0} ({1}) gestreckt",
        "{0} {1} of its edges are bent; mend {2}": "{1} Kanten: {0}; {2} flicken",
        "'{0}' is open, and": "'{0}' ist offen, und",
    }
    translate = Templates(words, is_name=lambda text: text == "Baked").translate
    assert translate(
        "Baked a loop of 9 frames (1 to 9) in 2 s; no edge stretched by more than 1 % (A)"
    ) == ("gebacken: Schleife, 9 Bilder (1 bis 9), 2 s; keine Kante um mehr als 1 % (A) gestreckt")
    assert translate("'A B' is open, and 5 of its edges are bent; mend Baked") == (
        "5 Kanten: 'A B' ist offen, und; Baked flicken"
    )


@of_source
def test_texts_that_are_put_together_are_translated_where_they_are_shown() -> None:
    """Blender looks up texts that stand in the source alone."""
    shown = {"text", "title", "message", "confirm_text"}
    package = ROOT / "verlet_addon" / "blender"
    for path in (*(package / "ui").rglob("*.py"), *(package / "live").glob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                values = [each.value for each in call.keywords if each.arg in shown]
                values += call.args if call.func.attr in {"poll_message_set", "report"} else []
                for value in values:
                    shown_as_is = isinstance(value, ast.JoinedStr) and "translated(" not in (
                        ast.unparse(value)
                    )
                    assert not shown_as_is, f"{path.name}: {ast.unparse(call)}"


def test_lines_break_between_words_and_between_letters_of_japanese() -> None:
    assert list(wrapped("Bake the cloth again", 8)) == ["Bake the", "cloth", "again"]
    assert list(wrapped("布をもう一度ベイクします。", 8)) == [
        "布をもう",
        "一度ベイ",
        "クしま",
        "す。",
    ]
    assert list(wrapped("Flag の頂点", 8)) == ["Flag の", "頂点"]
    assert list(wrapped("", 8)) == []
