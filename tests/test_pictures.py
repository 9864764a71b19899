"""Pictures and films of the manual: pages show each of them, with the labels of the interface."""

import json
from pathlib import Path

import pytest

from docs.site.samples import with_baked
from tests.test_docs import INDEX, PAGES, README, ROOT, links
from tests.test_labels import labels

IMAGES = INDEX.parent / "images"
SHOWN: dict[str, list[str]] = json.loads((IMAGES / "labels.json").read_text(encoding="utf-8"))
"""Labels that `make pictures` has seen in each picture of a panel."""

OTHERS = {"fabrics.blend"}
"""Samples that no page of How to is about."""


def gone(texts: list[str]) -> set[str]:
    """Those of some texts that the interface does not have."""
    return {text for text in texts if not labels().fullmatch(text)}


@pytest.mark.parametrize("picture", SHOWN)
def test_the_interface_has_the_labels_in_a_picture(picture: str) -> None:
    """Where one is gone, take the picture anew: make pictures PAGES=..."""
    assert gone(SHOWN[picture]) == set()


def test_a_label_in_a_picture_that_the_interface_does_not_have_is_found() -> None:
    assert gone(["Make Soft Body", "Make Hard Body"]) == {"Make Hard Body"}


def test_each_picture_of_a_panel_has_its_labels() -> None:
    assert {path.name for path in IMAGES.glob("*_tab.png")} == {*SHOWN}
    assert all(SHOWN.values())


def test_pages_show_each_picture_of_a_panel_and_each_film() -> None:
    shown = {Path(target).name for page in (README, *PAGES) for target in links(page)}
    taken = {path.name for kind in ("*_tab.png", "*.webp") for path in IMAGES.glob(kind)}
    assert taken <= shown


def test_pages_link_their_samples_as_ready() -> None:
    """Each sample has a page of How to; that the files are there, the test of links checks."""
    linked = {Path(target).name for page in PAGES for target in links(page)}
    assert {path.name for path in (ROOT / "sample_blends").glob("*.blend")} - OTHERS <= linked


def test_the_site_links_baked_samples_where_they_are(tmp_path: Path) -> None:
    page = "[ready](../../sample_blends/fox.blend), [ready](../../sample_blends/fur.blend)"
    assert with_baked(page, tmp_path) == page
    for name in ("fur.blend", "fur.zip"):
        (tmp_path / name).touch()
    assert with_baked(page, tmp_path) == f"{page}, [baked](../../build/demo/fur.zip)"
