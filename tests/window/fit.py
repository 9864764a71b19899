"""Fit to Morphs by its dialog, in a window of real Blender."""

import bpy

from tests.blender.scenes import file_content, select, verlet
from tests.window.hand import Hand, Steps, wait, wait_until


def test_esc_ends_a_fit_and_leaves_nothing(hand: Hand) -> Steps:
    """While it lasts, the panel and the status bar say how far it is."""
    bpy.ops.object.delete()
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=0.4, location=(0.0, 0.0, 0.5))
    body = bpy.context.object
    body.shape_key_add(name="Basis")
    for point in body.shape_key_add(name="Wide").data:
        point.co.x *= 1.3
    verlet.make_collider()
    verlet.add_cloth(resolution=40, size=1.2, location=(0.0, 0.0, 1.0))
    cloth = bpy.context.object
    cloth.verlet.pin_group = ""
    select(cloth)
    before = file_content()
    yield from hand.sidebar()
    yield from hand.over_view()
    with hand.override():
        verlet.fit("INVOKE_DEFAULT", on=body.name)
    yield from wait(0.5)
    # On a field of the dialog, Enter would edit that.
    yield from hand.move(hand.place[0] - 240, hand.place[1] + 44)
    yield from wait(0.5)
    hand.picture("fit_dialog")
    yield from hand.press("RET")
    yield from wait_until(lambda: not verlet.bake.poll())
    yield from hand.over_view()
    yield from wait(1.0)
    hand.picture("fitting")
    yield from hand.press("ESC")
    yield from wait_until(verlet.bake.poll)
    assert file_content() == before
