"""Grab: what a script asks for is simulated and kept, and what is cancelled leaves no trace."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import (
    baked,
    body,
    coordinates,
    file_content,
    line,
    pin,
    sheet,
    verlet,
)

Addon = Callable[[str], ModuleType]
GRAB = "blender.live.grab"


def curtain(resolution: int = 8) -> Any:
    """A sheet at a height of two metres on two corners."""
    cloth = body(sheet(resolution=resolution, height=2.0))
    pin(cloth, [0, resolution])
    return cloth


def begin(addon: Addon) -> Any:
    """A grab of the scene as it is."""
    bpy.context.view_layer.update()
    return addon(GRAB).begin_grab(bpy.context.scene, bpy.context.view_layer)


def seen(obj: Any) -> Any:
    """World positions of the evaluated mesh now."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world)
    return coordinates(evaluated.data.vertices) @ matrix[:3, :3].T + matrix[:3, 3]


def test_what_is_cancelled_leaves_no_trace(addon: Addon) -> None:
    """Neither in the file nor on the disk, and the frame stays; until then it is shown."""
    cloth = curtain()
    bpy.context.scene.frame_set(7)
    before, start = file_content(), seen(cloth)
    grab = begin(addon)
    grab.hold(0, 80, 0.3)
    grab.drags[0].target = grab.drags[0].target + np.array([0, 0, 1.0])
    for _ in range(10):
        grab.tick(1 / 60)
    grab.show()
    bpy.context.view_layer.update()
    assert seen(cloth) == pytest.approx(grab.positions[0], abs=1e-6)
    assert np.abs(grab.positions[0] - start).max() > 0.05
    grab.end()
    assert file_content() == before
    assert seen(cloth) == pytest.approx(start, abs=0.0)
    assert not any(path.exists() for path in grab.caches)


def test_an_error_on_the_way_leaves_no_trace(addon: Addon, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator says what is wrong, and changes nothing."""
    curtain()
    before = file_content()
    errors, grab = addon("core.errors"), addon(GRAB)

    def unstable(_: Any, __: int) -> None:
        raise errors.DivergenceError("Sheet became unstable")

    monkeypatch.setattr(grab.Grab, "advance", unstable)
    with pytest.raises(RuntimeError, match="Sheet became unstable"):
        verlet.grab(seconds=0.5)
    assert file_content() == before
    monkeypatch.undo()
    for wrong in ({"body": "Nobody", "vertex": 0}, {"body": "Sheet", "vertex": 81}):
        with pytest.raises(RuntimeError, match=r"Nobody|no vertex 81"):
            verlet.grab(seconds=0.1, **wrong)
    assert file_content() == before


def test_a_script_drags_a_vertex_to_a_place_and_keeps_the_shape_key() -> None:
    """It hangs there but for the sag of its springs, and the mesh is as before below the key."""
    cloth = curtain()
    rest = coordinates(cloth.data.vertices).copy()
    target = (0.2, 0.4, 1.9)
    answer = verlet.grab(
        body="Sheet", vertex=80, target=target, radius=0.05, seconds=2.0, keep="SHAPE_KEY"
    )
    assert answer == {"FINISHED"}
    assert np.linalg.norm(seen(cloth)[80] - target) < 0.03
    assert [key.name for key in cloth.data.shape_keys.key_blocks] == ["Basis", "Grab"]
    assert not cloth.verlet.rest_key
    assert np.array_equal(coordinates(cloth.data.shape_keys.reference_key.points), rest)
    assert not cloth.modifiers


def test_a_bake_starts_from_a_starting_shape_with_the_lengths_of_the_mesh() -> None:
    """A former bake no longer holds, and goes; what is dragged is pinned where it was."""
    cloth = curtain()
    bpy.context.scene.frame_end = 12
    verlet.bake()
    target = (0.5, 0.3, 1.8)
    verlet.grab(body="Sheet", vertex=76, target=target, seconds=1.0, pin=True)
    assert not baked(cloth)
    assert cloth.verlet.rest_key == "Basis"
    group = cloth.vertex_groups[cloth.verlet.pin_group]
    assert group.weight(76) == 1.0
    start = seen(cloth)
    assert np.linalg.norm(start[76] - target) < 0.03
    verlet.bake()
    bpy.context.scene.frame_set(1)
    assert seen(cloth) == pytest.approx(start, abs=1e-5)
    bpy.context.scene.frame_set(12)
    ends = coordinates_of_edges(cloth)
    assert np.abs(ends - 1 / 8).max() < 0.05 / 8
    assert seen(cloth)[76] == pytest.approx(start[76], abs=1e-5)


def coordinates_of_edges(obj: Any) -> Any:
    """Lengths of the edges as they are shown."""
    places, pairs = seen(obj), np.array([list(edge.vertices) for edge in obj.data.edges])
    return np.linalg.norm(places[pairs[:, 1]] - places[pairs[:, 0]], axis=1)


def test_a_grab_starts_from_what_a_bake_shows_and_leaves_it(addon: Addon) -> None:
    """A shape key beside a bake is added with value 0."""
    cloth = curtain()
    bpy.context.scene.frame_end = 12
    verlet.bake()
    bpy.context.scene.frame_set(12)
    shown = seen(cloth)
    grab = begin(addon)
    assert grab.positions[0] == pytest.approx(shown, abs=1e-6)
    grab.end()
    verlet.grab(seconds=0.0, keep="SHAPE_KEY")
    assert len(baked(cloth)) == 12
    key = cloth.data.shape_keys.key_blocks["Grab"]
    assert key.value == 0.0
    assert coordinates(key.points) + np.array([0, 0, 2.0]) == pytest.approx(shown, abs=1e-5)


def test_undo_takes_a_kept_shape_back() -> None:
    cloth = curtain()
    bpy.ops.ed.undo_push(message="before")
    before = seen(cloth)
    verlet.grab("EXEC_DEFAULT", True, seconds=0.2)
    assert np.abs(seen(cloth) - before).max() > 0.01
    bpy.ops.ed.undo()
    cloth = bpy.data.objects["Sheet"]
    assert cloth.data.shape_keys is None
    assert seen(cloth) == pytest.approx(before, abs=0.0)


def test_pins_hold_where_they_are_put_and_let_go_again(addon: Addon) -> None:
    body(line(height=3.0))
    grab = begin(addon)
    drag = grab.drags[0]
    assert drag.toggle_pin(2, grab.positions[0])
    place = grab.positions[0][2].copy()
    for _ in range(60):
        grab.advance(4)
    assert np.array_equal(grab.positions[0][2], place)
    assert not drag.toggle_pin(2, grab.positions[0])
    for _ in range(30):
        grab.advance(4)
    assert grab.positions[0][2, 2] < place[2] - 0.5
    grab.end()


def test_the_radius_reaches_along_the_mesh_alone(addon: Addon) -> None:
    """Two sheets in one mesh, one just above the other."""
    cloth = curtain()
    other = sheet("Other", resolution=8, height=2.01)
    with bpy.context.temp_override(
        active_object=cloth, object=cloth, selected_editable_objects=[cloth, other]
    ):
        bpy.ops.object.join()
    grab = begin(addon)
    grab.hold(0, 40, 0.3)
    drag = grab.drags[0]
    assert set(drag.vertices.tolist()) <= set(range(81))
    assert len(drag.vertices) == 21
    assert drag.weights.sum() == pytest.approx(1.0)
    assert drag.vertices[drag.weights.argmax()] == 40
    # Half of all that weighs 0.5 kg hangs together.
    assert drag.mass == pytest.approx(0.25, rel=0.05)
    drag.reach(0.0, grab.positions[0])
    assert drag.vertices.tolist() == [40]
    grab.end()


def test_steps_are_longer_where_time_is_short_but_not_endlessly(addon: Addon) -> None:
    """And what is still too much is left out."""
    curtain()
    module = addon(GRAB)
    grab = begin(addon)
    first = grab.step
    for _ in range(200):
        grab._note_load(5.0)
    assert first < grab.step <= module.LONGEST_STEP
    assert grab.tick(100.0) <= module.MOST_AT_ONCE / grab.step + 1
    grab.end()


def test_a_ray_finds_the_nearest_corner_of_the_first_face(addon: Addon) -> None:
    picking = addon("blender.live.picking")
    places = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1.0]])
    faces = np.array([[0, 1, 2], [3, 4, 5]]).T
    origin, down = np.array([0.7, 0.2, 5.0]), np.array([0, 0, -1.0])
    assert picking.hit_vertex(origin, down, places, faces) == (pytest.approx(4.0), 4)
    assert picking.hit_vertex(origin, -down, places, faces) is None
    assert picking.hit_vertex(origin + np.array([1, 0, 0]), down, places, faces) is None


def test_in_the_view_the_nearest_edge_gives_its_nearer_end(addon: Addon) -> None:
    """Long edges of ropes and bones are met in their middle; of those held, the other end."""
    nearest = addon("blender.live.picking").nearest_on_screen
    places = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
    view, size, edges = np.eye(4), np.array([200.0, 100.0]), np.array([[0, 1], [0, 2]])
    every, held = np.ones(3, bool), np.array([True, False, True])
    for mouse, chosen, found in (
        ((204, 52), every, (np.hypot(4, 2), 1)),  # beyond the end of an edge
        ((160, 57), every, (7.0, 1)),
        ((140, 57), every, (7.0, 0)),
        ((160, 57), held, (7.0, 0)),
    ):
        distance, vertex = nearest(view, size, np.array(mouse), places, edges, chosen)
        assert (distance, vertex) == (pytest.approx(found[0]), found[1])


def test_a_grab_begins_where_live_is_and_live_goes_on_after_esc(addon: Addon) -> None:
    """Its cache stays; only what Enter keeps ends it."""
    cloth, scene = curtain(), bpy.context.scene
    verlet.live()
    for frame in range(1, 8):
        scene.frame_set(frame)
    before, shown = file_content(), seen(cloth)
    grab = begin(addon)
    assert grab.positions[0] == pytest.approx(shown, abs=1e-6)
    grab.advance(20)
    grab.show()
    bpy.context.view_layer.update()
    assert seen(cloth) == pytest.approx(grab.positions[0], abs=1e-6)
    grab.end()
    assert file_content() == before
    assert seen(cloth) == pytest.approx(shown, abs=0.0)
    verlet.grab(seconds=0.0)
    assert not scene.verlet.use_live
    assert seen(cloth) == pytest.approx(shown, abs=1e-5)
