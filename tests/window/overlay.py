"""Pins, attachments, colliders and strain as a viewport draws them, in a window of real Blender."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from tests.blender.scenes import baked, select, verlet
from tests.window.first_minutes import BAKE, add_cloth, the_cloth
from tests.window.hand import Hand, Steps, wait, wait_until

Colors = Callable[[Any, Any, Any], Any]


def yellow(red: Any, green: Any, blue: Any) -> Any:
    """Pixels of pins."""
    return (red > 0.8) & (green > 0.65) & (blue < 0.45)


def cyan(red: Any, green: Any, blue: Any) -> Any:
    """Pixels of attachments."""
    return (red < 0.5) & (green > 0.55) & (blue > 0.75)


def light_green(red: Any, green: Any, blue: Any) -> Any:
    """Pixels of colliders."""
    return (red < 0.65) & (green > 0.8) & (blue < 0.65)


def strongly_red(red: Any, green: Any, blue: Any) -> Any:
    """Pixels of edges that are stretched far, in light and in shade."""
    return (red > 0.2) & (green < 0.3 * red) & (blue < 0.45 * red)


def count(hand: Hand, name: str, *colors: Colors) -> list[int]:
    """How many pixels of the 3D viewport have each of some colors."""
    image: Any = bpy.data.images.load(str(hand.picture(name).absolute()))
    width, height = image.size
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    region = hand.region("WINDOW")
    # Without the header and the gizmos at the right, which have colors of their own.
    rows = slice(region.y + 120, min(region.y + region.height - 60, height))
    columns = slice(region.x + 80, min(region.x + region.width - 150, width))
    view = pixels.reshape(height, width, 4)[rows, columns, :3]
    return [int(np.count_nonzero(color(*view.reshape(-1, 3).T))) for color in colors]


def look(hand: Hand) -> Steps:
    """Looks at what stands above the origin, from nearby."""
    view = hand.area.spaces.active.region_3d
    view.view_distance, view.view_location = 7.0, (0.0, 0.0, 1.5)
    yield from hand.redrawn()


def test_a_new_cloth_is_seen_to_hang(hand: Hand) -> Steps:
    """Pins along its edge, before the first bake; not without overlays, nor where it is hidden."""
    yield from hand.over_view()
    yield from hand.press("DEL")
    yield from add_cloth(hand)
    cloth: Any = bpy.data.objects["Cloth"]
    yield from look(hand)
    assert count(hand, "overlay_pins", yellow)[0] > 300
    overlay = hand.area.spaces.active.overlay
    overlay.show_overlays = False
    yield from hand.redrawn()
    assert count(hand, "overlay_off", yellow)[0] == 0
    overlay.show_overlays = True
    hand.window.workspace.verlet_overlay.show_pins = False
    yield from hand.redrawn()
    assert count(hand, "overlay_no_pins", yellow)[0] == 0
    hand.window.workspace.verlet_overlay.show_pins = True
    cloth.hide_set(True)
    yield from hand.redrawn()
    assert count(hand, "overlay_hidden", yellow)[0] == 0
    cloth.hide_set(False)
    for mode in ("EDIT", "WEIGHT_PAINT"):
        bpy.ops.object.mode_set(mode=mode)
        yield from hand.redrawn()
        assert count(hand, f"overlay_{mode.lower()}", yellow)[0] > 100
    bpy.ops.object.mode_set(mode="OBJECT")
    select()
    yield from hand.redrawn()
    assert count(hand, "overlay_inactive", yellow)[0] == 0


def test_attachments_and_colliders_are_marked(hand: Hand) -> Steps:
    """A cloth held by an empty, over a cube that is a collider; soft pins are rings."""
    bpy.ops.object.delete()
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, 0.8))
    verlet.make_collider()
    bpy.ops.object.empty_add(location=(1.0, -1.0, 3.0))
    empty = bpy.context.object
    verlet.add_cloth(resolution=10)
    cloth: Any = bpy.context.object
    cloth.vertex_groups["Pin"].add(list(range(99, 110)), 0.3, "REPLACE")
    cloth.vertex_groups.new(name="Corner").add([0, 1, 2, 10, 9], 1.0, "REPLACE")
    item = cloth.verlet.attachments.add()
    item.target, item.vertex_group = empty, "Corner"
    yield from look(hand)
    pins, held, colliders = count(hand, "overlay_all", yellow, cyan, light_green)
    assert pins > 150
    assert held > 150
    assert colliders > 100
    with hand.override():
        bpy.ops.wm.call_panel(name="VIEW3D_PT_overlay")
    yield from wait(1.0)
    hand.picture("overlay_popover")
    yield from hand.press("ESC")


def test_vertices_are_pinned_by_f3_and_the_panel_has_buttons(hand: Hand) -> Steps:
    """In Edit Mode; Ctrl Z takes it back, the choice of the pin group too."""
    yield from hand.over_view()
    yield from hand.press("DEL")
    yield from add_cloth(hand)
    cloth: Any = bpy.data.objects["Cloth"]
    cloth.vertex_groups.clear()
    cloth.verlet.pin_group = ""
    yield from look(hand)
    yield from hand.press("TAB")
    yield from hand.press("A")
    yield from hand.search("pin selected verlet")
    hand.picture("overlay_f3")
    yield from hand.press("RET")
    yield from wait_until(lambda: cloth.verlet.pin_group == "Pin")
    yield from hand.sidebar()
    assert count(hand, "overlay_pinned", yellow)[0] > 1_000
    buttons = yield from hand.buttons(1 / 4)
    assert "bpy.ops.verlet.pin_selected()" in buttons
    yield from hand.over_view()
    yield from hand.press("Z", ctrl=True)
    yield from wait_until(lambda: not the_cloth().verlet.pin_group)
    assert not the_cloth().vertex_groups
    with hand.override():
        bpy.ops.wm.call_menu(name="VIEW3D_MT_edit_mesh_vertices")
    yield from wait(0.5)
    hand.picture("overlay_vertex_menu")
    yield from hand.press("ESC")
    yield from hand.press("TAB")


def test_strain_is_shown_while_baking_in_playback_and_live(hand: Hand) -> Steps:
    """Rubber that is pulled down by its weight, red at its pins, with a scale in percent."""
    bpy.ops.object.delete()
    verlet.add_cloth(resolution=40)
    cloth: Any = bpy.context.object
    cloth.verlet.stretch_compliance, cloth.verlet.mass = 0.05, 1.0
    scene: Any = bpy.context.scene
    scene.frame_end, scene.verlet.substeps = 60, 300
    hand.window.workspace.verlet_overlay.show_strain = True
    hand.window.workspace.verlet_overlay.strain_scale = 8.0
    select(cloth)
    yield from hand.sidebar()
    yield from look(hand)
    before = count(hand, "strain_before", strongly_red)[0]
    yield from hand.click((yield from hand.find(BAKE)))
    during = 0
    while not baked(cloth):
        yield from wait(0.2)
        during = max(during, count(hand, "strain_while_baking", strongly_red)[0])
    assert len(baked(cloth)) == 60
    scene.frame_set(24)
    yield from hand.redrawn()
    after = count(hand, "strain_baked", strongly_red)[0]
    modifier: Any = cloth.modifiers.new("Subdivision", "SUBSURF")
    modifier.levels = 2
    yield from hand.redrawn()
    smooth = count(hand, "strain_subdivision", strongly_red)[0]
    cloth.modifiers.remove(modifier)
    verlet.clear_bake()
    scene.frame_set(1)
    verlet.live()
    for frame in range(1, 25):
        scene.frame_set(frame)
    yield from hand.redrawn()
    live = count(hand, "strain_live", strongly_red)[0]
    verlet.reset()
    print(f"red pixels: {before} before, {during} during the bake, {after} after, {live} live")
    assert during > before + 300  # the X axis is red, too
    assert after > before + 300
    assert abs(live - after) < 0.1 * after
    assert smooth > 0.5 * after
