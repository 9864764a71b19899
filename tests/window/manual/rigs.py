"""Pages of docs/how_to on soft bones, hair and flesh."""

import tempfile
from pathlib import Path

import bpy

from tests.blender import rigs
from tests.blender.scenes import verlet
from tests.window.cache import BAKE as BAKE_CACHE
from tests.window.first_minutes import BAKE
from tests.window.hand import Hand, Steps
from tests.window.manual import steps

MAKE_BONES = "bpy.ops.verlet.make_soft_bones()"
PAINT = "bpy.ops.verlet.paint_flesh()"


def test_page_bones(hand: Hand) -> Steps:
    """Of the fox, whose hips have their keys: its tail and its ears."""
    yield from steps.sample(hand, "fox")
    (fox,) = steps.named("Fox")
    rigs.select(fox, "Tail.0", "Ear.L.0", "Ear.R.0")
    with hand.override():
        verlet.release_soft_bones()
    made = bpy.data.objects
    assert "Fox Bones" not in made
    yield from hand.redrawn()
    yield from hand.take("bones_none_tab", "Soft Bones")
    yield from steps.press(hand, MAKE_BONES, lambda: "Fox Bones" in made)
    yield from hand.take("bones_made_tab", "Soft Bones")
    last = fox.pose.bones["Tail.1"]
    yield from steps.press(hand, BAKE, lambda: bool(last.constraints))
    yield from hand.film("bones")


def test_page_hair(hand: Hand) -> Steps:
    """Of the sample, saved in a folder of its own, beside which its cache goes."""
    yield from steps.sample(hand, "long_hair", "Long Hair")
    (hair,) = steps.named("Long Hair")
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(tempfile.mkdtemp()) / "long_hair.blend"))
    yield from steps.make_body(hand, hair)
    yield from hand.take("hair_made_tab", "Soft Body")
    steps.as_in_sample(hair)
    before = len(hair.modifiers)
    yield from steps.press(hand, BAKE_CACHE, lambda: len(hair.modifiers) > before)
    yield from hand.film("hair")


def test_page_flesh(hand: Hand) -> Steps:
    """Of the person who jumps, in a shirt that is simulated with the belly."""
    yield from steps.sample(hand, "jumper", "Person")
    person, shirt = steps.named("Person", "Shirt")
    person.vertex_groups.remove(person.vertex_groups["Flesh"])
    yield from steps.make_body(hand, person)
    yield from steps.choose_type(hand, person, "FLESH", "F")
    yield from steps.press(hand, PAINT, lambda: bool(person.verlet.flesh_group))
    yield from hand.take("flesh_painted_tab", "Soft Body", mark=PAINT)
    steps.as_in_sample(person)
    person.verlet.flesh_group = person.vertex_groups[-1].name
    yield from steps.bake(hand, person, shirt)
    yield from hand.film("flesh")
