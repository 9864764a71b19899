"""A blanket over a sofa by Drape and Apply, in a window of real Blender."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from tests.blender.scenes import file_content, select, shown, verlet
from tests.window.first_minutes import the_cloth
from tests.window.hand import Hand, Steps, wait, wait_until

DRAPE = "bpy.ops.verlet.drape()"
APPLY = "bpy.ops.verlet.apply_shape(mode='{}')"


def blanket_over_sofa() -> Any:
    """A cloth of the Add menu, without pins, above three boxes that are colliders."""
    bpy.ops.object.delete()
    for size, x in (((2.0, 0.9, 0.4), 0.0), ((2.0, 0.2, 0.9), 0.5), ((0.2, 0.9, 0.6), -0.5)):
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, x, size[2] / 2), scale=size)
        verlet.make_collider()
    verlet.add_cloth(resolution=30, size=1.6, location=(0.0, 0.1, 1.1))
    cloth: Any = bpy.context.object
    cloth.verlet.pin_group = ""
    select(cloth)
    return cloth


def differs(hand: Hand, seen: Any) -> Callable[[], bool]:
    """A test whether a hundredth of the view's pixels have changed since they were seen."""
    return lambda: bool((hand.view_pixels() != seen).any(axis=2).mean() > 0.01)


def test_a_blanket_on_a_sofa_becomes_a_plain_mesh(hand: Hand) -> Steps:
    """By two clicks; the view shows it meanwhile, and undo brings the drape back."""
    cloth = blanket_over_sofa()
    start = shown(cloth, 1)
    yield from hand.sidebar()
    yield from hand.click((yield from hand.find(DRAPE)))
    yield from wait_until(lambda: np.abs(shown(cloth, 1) - start).max() > 0.05)
    hand.picture("draping")
    assert cloth.verlet.enabled
    yield from wait_until(verlet.apply_shape.poll, seconds=120)
    yield from hand.redrawn()
    hand.picture("draped")
    seen = shown(cloth, 1)
    assert seen[:, 2].min() < 0.6
    yield from hand.click((yield from hand.find(APPLY.format("MESH"))))
    yield from wait_until(lambda: not the_cloth().modifiers)
    yield from hand.redrawn()
    hand.picture("applied")
    cloth = the_cloth()
    assert not cloth.verlet.enabled
    assert cloth.data.shape_keys is None
    assert np.abs(shown(cloth, 1) - seen).max() < 1e-5
    yield from hand.over_view()
    yield from hand.press("Z", ctrl=True)
    yield from wait(0.5)
    assert the_cloth().verlet.enabled
    assert np.abs(shown(the_cloth(), 1) - seen).max() < 1e-5


def test_the_view_shows_the_blanket_fall(hand: Hand) -> Steps:
    """Its pixels change again and again, with no event and no frame change, which redraw it."""
    blanket_over_sofa()
    scene: Any = bpy.context.scene
    scene.verlet.substeps = 50  # so many that it is at work for several redraws
    with hand.override():
        bpy.ops.view3d.view_selected()
    yield from hand.sidebar()
    yield from hand.click((yield from hand.find(DRAPE)))
    for _ in range(3):
        yield from wait_until(differs(hand, hand.view_pixels()), seconds=30)
    yield from hand.press("ESC")
    yield from wait(0.5)


def test_esc_ends_a_drape_and_enter_keeps_it(hand: Hand) -> Steps:
    """After Esc all is as before; what Enter keeps becomes a shape key by a button."""
    cloth = blanket_over_sofa()
    bpy.context.scene.verlet.substeps = 200  # so many that it is still at work when a key comes
    start, before = shown(cloth, 1), file_content()
    yield from hand.sidebar()
    place = yield from hand.find(DRAPE)
    for key in ("ESC", "RET"):
        yield from hand.click(place)
        yield from hand.over_view()
        yield from wait_until(lambda: np.abs(shown(cloth, 1) - start).max() > 0.05)
        yield from hand.press(key)
        yield from wait(1.0)
        if key == "ESC":
            assert file_content() == before
    kept = shown(cloth, 1)
    assert np.abs(kept - start).max() > 0.05
    yield from hand.redrawn()
    yield from hand.click((yield from hand.find(APPLY.format("SHAPE_KEY"))))
    yield from wait_until(lambda: cloth.data.shape_keys is not None)
    assert cloth.verlet.enabled
    assert not cloth.modifiers
    assert np.abs(shown(cloth, 1) - kept).max() < 1e-5
