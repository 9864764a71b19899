"""What a page shows of the extension keeps to what Blender's platform asks for."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from listing.clips import FILMS, HEIGHT, RATE, WIDTH
from listing.icon import icon
from listing.pictures import PICTURES
from verlet_addon.blender.cli.pictures import load_pixels

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "listing" / "listing.md").read_text(encoding="utf-8")
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
TAGS = """3D View, Add Curve, Add Mesh, Animation, Bake, Camera, Compositing, Development,
Game Engine, Geometry Nodes, Grease Pencil, Import-Export, Lighting, Material, Modeling, Mesh, Node,
Object, Paint, Pipeline, Physics, Render, Rigging, Scene, Sculpt, Sequencer, System, Text Editor,
Tracking, User Interface, UV"""
"""Tags of add-ons, by Blender's manual, "Extensions Tags"."""
PERMISSIONS = {"files", "network", "clipboard", "camera", "microphone"}


def section(title: str) -> str:
    """A section of the text."""
    return TEXT.split(f"## {title}\n")[1].split("\n## ")[0].strip()


def test_the_icon_is_as_the_script_draws_it() -> None:
    """256 pixels wide and high, with clear corners, and to be told from its background at 32."""
    drawn, kept = icon(), load_pixels(ROOT / "listing" / "icon.png")
    assert kept.shape == (256, 256, 4)
    assert np.abs(kept[..., 3] - drawn[..., 3]).max() < 0.005  # a step of 8 bits is 0.004
    assert np.abs((kept - drawn) * kept[..., 3:]).max() < 0.01
    assert not kept[0, 0, 3]
    small = kept[..., :3].reshape(32, 8, 32, 8, 3).mean(axis=(1, 3))
    assert np.ptp(small[14:26, 8:26].mean(axis=-1)) > 0.4


def test_the_tagline_and_the_permissions_are_short_enough() -> None:
    """At most 64 characters each, without a full stop, and those of the manifest."""
    for text in (MANIFEST["tagline"], *MANIFEST["permissions"].values()):
        assert len(text) <= 64
        assert text[-1].isalnum()
    assert section("Tagline") == MANIFEST["tagline"]
    assert set(MANIFEST["permissions"]) <= PERMISSIONS
    named = re.findall(r"^- \*\*(\w+):\*\*", section("Permissions"), re.M)
    assert [name.lower() for name in named] == list(MANIFEST["permissions"])


def test_the_tags_are_those_of_the_platform() -> None:
    known = re.split(r",\s+", TAGS)
    assert set(MANIFEST["tags"]) <= set(known)
    assert section("Tags").split(", ") == MANIFEST["tags"]


@pytest.mark.parametrize("name", FILMS)
def test_a_film_takes_eight_to_twelve_seconds(name: str) -> None:
    """At its own rate, with the motion at its true speed."""
    seconds = sum((shot.last - shot.frame) / 24 for shot in FILMS[name].values())
    assert 8 <= seconds + 1 / RATE <= 12
    assert (WIDTH, HEIGHT) == (1600, 900)


def test_all_that_is_shown_is_a_sample() -> None:
    shots = [*PICTURES.values(), *(shot for film in FILMS.values() for shot in film.values())]
    assert len(PICTURES) == 6
    for shot in shots:
        assert (ROOT / "sample_blends" / f"{shot.sample}.blend").exists()
