"""Grab with mouse and keyboard, in a window of real Blender."""

from typing import Any

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

from tests.blender.scenes import coordinates, file_content
from tests.window.first_minutes import add_cloth
from tests.window.hand import Hand, Steps, wait, wait_until

GRAB = "bpy.ops.verlet.grab()"


def cloth_alone(hand: Hand) -> Steps:
    """A cloth from the Add menu in place of the cube."""
    yield from hand.over_view()
    yield from hand.press("DEL")
    yield from add_cloth(hand)


def seen(obj: Any) -> Any:
    """World positions of the evaluated mesh now."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world)
    return coordinates(evaluated.data.vertices) @ matrix[:3, :3].T + matrix[:3, 3]


def over_vertex(hand: Hand, place: Any) -> tuple[int, int]:
    """Where a place of the world is in the window."""
    region = hand.region("WINDOW")
    found: Any = location_3d_to_region_2d(
        region, hand.area.spaces.active.region_3d, Vector(place.tolist())
    )
    return region.x + round(found.x), region.y + round(found.y)


def drag(hand: Hand, obj: Any, vertex: int, shift: tuple[int, int]) -> Steps:
    """Presses the left button on a vertex and moves the mouse, which stays pressed."""
    yield from drag_from(hand, seen(obj)[vertex], shift)


def drag_from(hand: Hand, place: Any, shift: tuple[int, int]) -> Steps:
    """The same at a place in the world."""
    start = over_vertex(hand, place)
    yield from hand.move(*start)
    yield from hand.event("LEFTMOUSE")
    for step in range(1, 11):
        hand.place = (start[0] + shift[0] * step // 10, start[1] + shift[1] * step // 10)
        yield from hand.event("MOUSEMOVE", "NOTHING")
        yield from wait(0.05)


def rest(obj: Any) -> Steps:
    """Waits until a body moves by less than 5 mm within half a second."""
    places = seen(obj) + 1.0
    for _ in range(100):
        before, places = places, seen(obj)
        if np.abs(places - before).max() < 5e-3:
            return
        yield from wait(0.5)
    raise AssertionError(f"{obj.name} does not rest")


def begin(hand: Hand) -> Steps:
    """Presses the button of the panel, and waits until the cloth hangs still."""
    yield from hand.sidebar()
    yield from hand.click((yield from hand.find(GRAB)))
    cloth: Any = bpy.data.objects["Cloth"]
    yield from wait_until(lambda: len(cloth.modifiers) == 1)
    yield from hand.over_view()
    yield from wait(1.0)
    yield from rest(cloth)


def under_mouse(hand: Hand, obj: Any) -> tuple[int, float]:
    """The vertex that is shown nearest to the mouse, and how many pixels away."""
    places = np.array([over_vertex(hand, place) for place in seen(obj)])
    distances = np.linalg.norm(places - hand.place, axis=1)
    return int(distances.argmin()), float(distances.min())


def pinned_vertices(obj: Any) -> set[int]:
    """The vertices in the pin group."""
    group = obj.vertex_groups[obj.verlet.pin_group].index
    return {v.index for v in obj.data.vertices for each in v.groups if each.group == group}


def test_a_cloth_is_dragged_and_esc_restores_all(hand: Hand) -> Steps:
    """The mouse leads a corner, the wheel changes how much goes along, P pins it."""
    yield from cloth_alone(hand)
    before = file_content()
    yield from begin(hand)
    cloth: Any = bpy.data.objects["Cloth"]
    places = seen(cloth)
    lowest = int(places[:, 2].argmin())
    hand.picture("grab_hanging")
    yield from drag(hand, cloth, lowest, (60, 40))
    yield from wait(0.7)
    hand.picture("grab_dragged")
    assert under_mouse(hand, cloth)[1] < 10
    assert np.linalg.norm(seen(cloth)[lowest] - places[lowest]) > 0.1
    for _ in range(5):
        yield from hand.event("WHEELDOWNMOUSE")
    yield from wait(0.5)
    hand.picture("grab_wider")
    vertex, _ = under_mouse(hand, cloth)
    yield from hand.press("P")
    yield from hand.event("LEFTMOUSE", "RELEASE")
    yield from wait(0.7)
    held = seen(cloth)
    yield from wait(0.3)
    hand.picture("grab_pinned")
    still = np.flatnonzero(np.linalg.norm(seen(cloth) - held, axis=1) < 1e-6)
    # What is pinned stays, beside the upper row; and the rest swings.
    new = set(still.tolist()) - pinned_vertices(cloth)
    assert 1 <= len(new) < 5
    assert np.linalg.norm(held[list(new)] - held[vertex], axis=1).min() < 0.1
    yield from hand.press("ESC")
    yield from wait(0.5)
    assert file_content() == before
    hand.picture("grab_cancelled")


def test_enter_keeps_the_shape_and_undo_takes_it_back(hand: Hand) -> Steps:
    """What Shift P has pinned is in the pin group then."""
    yield from cloth_alone(hand)
    yield from begin(hand)
    cloth: Any = bpy.data.objects["Cloth"]
    before = pinned_vertices(cloth)
    places = seen(cloth)
    middle = int(np.linalg.norm(places - places.mean(axis=0), axis=1).argmin())
    yield from drag(hand, cloth, middle, (60, 40))
    yield from wait(0.5)
    yield from hand.press("P", shift=True)
    yield from hand.event("LEFTMOUSE", "RELEASE")
    yield from wait(0.5)
    shape = seen(cloth)
    yield from hand.press("RET")
    yield from wait_until(lambda: cloth.data.shape_keys is not None)
    yield from wait(0.5)
    hand.picture("grab_kept")
    assert not cloth.modifiers
    assert cloth.verlet.rest_key == "Basis"
    assert np.abs(seen(cloth) - shape).max() < 0.1
    (new,) = pinned_vertices(cloth) - before
    assert np.linalg.norm(places[new] - places[middle]) < 0.15
    assert np.linalg.norm(seen(cloth)[new] - shape[new]) < 1e-5
    yield from hand.press("Z", ctrl=True)
    yield from wait(0.5)
    assert bpy.data.objects["Cloth"].data.shape_keys is None


def test_the_tool_of_the_toolbar_grabs_at_a_press(hand: Hand) -> Steps:
    """Its icon stands in the toolbar."""
    yield from cloth_alone(hand)
    yield from hand.over_view()
    hand.area.spaces.active.show_region_toolbar = True
    with hand.override():
        bpy.ops.wm.tool_set_by_id(name="verlet.grab_tool")
    yield from wait(0.5)
    hand.picture("grab_tool")
    cloth: Any = bpy.data.objects["Cloth"]
    places = seen(cloth)
    middle = int(np.linalg.norm(places - places.mean(axis=0), axis=1).argmin())
    yield from drag(hand, cloth, middle, (60, 60))
    yield from wait(0.5)
    assert len(cloth.modifiers) == 1
    assert np.linalg.norm(seen(cloth)[middle] - places[middle]) > 0.05
    yield from hand.event("LEFTMOUSE", "RELEASE")
    yield from hand.press("ESC")
    yield from wait(0.3)
    assert not cloth.modifiers
