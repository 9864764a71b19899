"""Collisions and attachments as an artist sets them up, in a window of real Blender."""

from typing import Any

import bpy

from tests.blender.scenes import baked, select, shown, verlet
from tests.window.hand import Hand, Steps, wait_until

BAKE = "bpy.ops.verlet.bake()"
COLLIDER = "bpy.ops.verlet.make_collider()"
ATTACH = "bpy.ops.verlet.attachment_add()"
RELEASE = "bpy.ops.verlet.release()"
PHYSICAL_PROPERTIES, ATTACHMENTS, COLLISIONS = (RELEASE, -32), (RELEASE, -58), (RELEASE, -84)
"""From which button how far up the titles of these panels are, while they are closed [pixels]."""


def cloth_over_the_cube() -> Any:
    """A body above the cube that Blender opens with; the cube stays selected too."""
    cube: Any = bpy.data.objects["Cube"]
    bpy.ops.mesh.primitive_grid_add(size=3.0, location=(0.0, 0.0, 1.1))
    cloth: Any = bpy.context.object
    verlet.convert(body_type="CLOTH", use_material=False)
    cloth.vertex_groups.new(name="Corner").add([0], 1.0, "REPLACE")
    bpy.context.scene.frame_end = 24
    select(cube, cloth)
    return cloth


def open_panel(hand: Hand, button: str, up: int) -> Steps:
    """Clicks the title of a closed panel."""
    _, y = yield from hand.find(button)
    yield from hand.click((hand.region("UI").x + 60, y + up))
    yield from hand.redrawn()


def test_a_cube_is_made_solid_and_stops_a_cloth(hand: Hand) -> Steps:
    """By one button where the cube is active; the panel of the cloth counts it."""
    yield from hand.sidebar()
    hand.picture("make_collider")
    buttons = yield from hand.buttons()
    yield from hand.click(buttons[COLLIDER])
    cube: Any = bpy.data.objects["Cube"]
    yield from wait_until(lambda: len(cube.modifiers) == 1)
    cloth = cloth_over_the_cube()
    yield from hand.redrawn()
    yield from open_panel(hand, *COLLISIONS)
    hand.picture("collisions")
    yield from hand.click((yield from hand.find(BAKE)))
    yield from wait_until(lambda: len(baked(cloth)) == 24)
    hand.picture("collided")
    over = shown(cloth, 24)
    inside = (abs(over[:, :2]) < 0.9).all(axis=1)
    assert over[inside, 2].min() > 1.0


def test_a_corner_is_attached_by_the_plus(hand: Hand) -> Steps:
    """To what is selected beside the cloth, by its active vertex group."""
    cloth = cloth_over_the_cube()
    yield from hand.sidebar()
    yield from open_panel(hand, *ATTACHMENTS)
    hand.picture("attachments_empty")
    yield from hand.click((yield from hand.buttons(0.83))[ATTACH])
    yield from wait_until(lambda: len(cloth.verlet.attachments) == 1)
    yield from hand.redrawn()
    hand.picture("attachments")
    assert cloth.verlet.attachments[0].target == bpy.data.objects["Cube"]
    assert cloth.verlet.attachments[0].vertex_group == "Corner"
