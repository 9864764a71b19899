"""Grab with mouse and keyboard, in a window of real Blender."""

from time import monotonic
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
    start = over_vertex(hand, seen(obj)[vertex])
    yield from hand.move(*start)
    yield from hand.event("LEFTMOUSE")
    for step in range(1, 11):
        hand.place = (start[0] + shift[0] * step // 10, start[1] + shift[1] * step // 10)
        yield from hand.event("MOUSEMOVE", "NOTHING")
        yield from wait(0.05)


def begin(hand: Hand) -> Steps:
    """Presses the button of the panel, and lets the cloth hang."""
    yield from hand.sidebar()
    yield from hand.click((yield from hand.find(GRAB)))
    cloth: Any = bpy.data.objects["Cloth"]
    yield from wait_until(lambda: len(cloth.modifiers) == 1)
    yield from hand.over_view()
    yield from wait_until(lambda: speed(cloth) < 0.05)


def speed(obj: Any) -> float:
    """How fast a body moves since this was asked last [m/s]."""
    now, places = monotonic(), seen(obj)
    before, then = _asked.get(obj.name, (0.0, places + 1.0))
    _asked[obj.name] = now, places
    return float(np.abs(places - then).max() / (now - before))


_asked: dict[str, tuple[float, Any]] = {}


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
    at = over_vertex(hand, seen(cloth)[lowest])
    assert np.hypot(at[0] - hand.place[0], at[1] - hand.place[1]) < 15
    for _ in range(5):
        yield from hand.event("WHEELDOWNMOUSE")
    yield from wait(0.5)
    hand.picture("grab_wider")
    yield from hand.press("P")
    yield from hand.event("LEFTMOUSE", "RELEASE")
    yield from wait(0.7)
    held = seen(cloth)[lowest]
    yield from wait(0.5)
    hand.picture("grab_pinned")
    assert np.linalg.norm(seen(cloth)[lowest] - held) < 1e-6
    yield from hand.press("ESC")
    yield from wait(0.5)
    assert file_content() == before
    hand.picture("grab_cancelled")


def test_enter_keeps_the_shape_and_undo_takes_it_back(hand: Hand) -> Steps:
    """What Shift P has pinned is in the pin group then."""
    yield from cloth_alone(hand)
    yield from begin(hand)
    cloth: Any = bpy.data.objects["Cloth"]
    group = cloth.vertex_groups[cloth.verlet.pin_group].index
    places = seen(cloth)
    lowest = int(places[:, 2].argmin())
    yield from drag(hand, cloth, lowest, (60, 40))
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
    pinned = [v.index for v in cloth.data.vertices for g in v.groups if g.group == group]
    assert lowest in pinned
    assert np.linalg.norm(seen(cloth)[lowest] - places[lowest]) > 0.1
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
