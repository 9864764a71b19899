"""Pages of docs/how_to on what is done with settings and bakes: painted, loop, art direction."""

import tempfile
from pathlib import Path
from typing import Any

import bpy

from tests.blender.scenes import baked
from tests.window.cache import BAKE as BAKE_CACHE
from tests.window.hand import Hand, Steps
from tests.window.manual import steps

SETTLE = 'bpy.data.scenes["Scene"].verlet.settle_frames'
LENGTH = 'bpy.data.scenes["Scene"].verlet.loop_length'
RANGE = "bpy.ops.verlet.scene_range_to_loop()"
EDIT = "bpy.ops.verlet.edit_frame()"


def test_page_painted(hand: Hand) -> Steps:
    """A shirt whose collar is stiff."""
    yield from steps.sample(hand, "dancer")
    (shirt,) = steps.named("Shirt")
    yield from steps.choose(hand, shirt)
    yield from steps.open_panel(hand, "Property Weights")
    shirt.verlet.bend_group = "Collar"
    mark = steps.path(shirt, "verlet.bend_group")
    yield from hand.take("painted_weights_tab", "Property Weights", mark=mark)
    yield from steps.open_panel(hand, "Property Weights")


def test_page_loop(hand: Hand) -> Steps:
    """Of the flag that is waved, once to and fro."""
    yield from steps.sample(hand, "flag")
    (flag,) = steps.named("Flag")
    scene: Any = bpy.context.scene
    length = 48 if hand.frames > 100 else 8
    scene.frame_end = length + (72 if length > 8 else 9)
    yield from steps.open_panel(hand, "Options")
    yield from steps.enter(hand, LENGTH, str(length))
    yield from hand.take("loop_options_tab", "Options", mark=LENGTH)
    # Its title is above its first setting while it is open.
    _, y = yield from hand.find(SETTLE)
    x = hand.region("UI").x + round(60 * steps.scale())
    yield from hand.click((x, y + round(31 * steps.scale())))
    command = f"bpy.ops.verlet.bake(loop={length})"
    yield from steps.press(hand, command, lambda: bool(baked(flag)))
    yield from hand.take("loop_range_tab", "Bake", mark=RANGE)
    yield from steps.press(hand, RANGE, lambda: scene.frame_end - scene.frame_start == length)
    yield from hand.film_loop("loop")


def test_page_art_direction(hand: Hand) -> Steps:
    """Of the cape: near its animation, and a frame that is edited."""
    yield from steps.sample(hand, "cape")
    (cape,) = steps.named("Cape")
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(tempfile.mkdtemp()) / "cape.blend"))
    yield from steps.choose(hand, cape)
    yield from steps.take_up(hand, cape, "Animation", "use_maximum_distance")
    mark = steps.path(cape, "verlet.use_maximum_distance")
    yield from hand.take("art_direction_distance_tab", "Animation", mark=mark)
    yield from steps.open_panel(hand, "Animation")
    cape.verlet.use_maximum_distance = False
    bpy.context.scene.frame_end = 8
    bpy.context.scene.verlet.bake_mode = "CACHE"
    yield from hand.redrawn()
    yield from steps.press(hand, BAKE_CACHE, lambda: bool(cape.modifiers))
    yield from hand.take("art_direction_edit_tab", "Bake", mark=EDIT)
