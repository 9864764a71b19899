"""Where keys hide objects, a bake does not depend on the frame at which the file was saved."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import baked, body, mesh_object, pin, sheet, verlet

Addon = Callable[[str], ModuleType]
LAST = 12


def plate(height: float) -> Any:
    """A collider: a square below or above the cloth, larger than it."""
    corners = [(-1, -1, 0), (2, -1, 0), (2, 2, 0), (-1, 2, 0)]
    obj = mesh_object("Plate", corners, [], [(0, 1, 2, 3)], height=height)
    verlet.make_collider()
    return obj


def cube(height: float) -> Any:
    """A closed collider of 0.4 m whose middle is in the cloth's."""
    corners = [(x, y, z) for x in (0.3, 0.7) for y in (0.3, 0.7) for z in (-0.2, 0.2)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    obj = mesh_object("Cube", corners, [], faces, height=height)
    verlet.make_collider()
    return obj


def cloth(height: float = 1.0, *, size: float = 1.0, resolution: int = 4, **settings: Any) -> Any:
    """A cloth that falls, without a ground."""
    bpy.context.scene.verlet.use_ground = False
    bpy.context.scene.frame_end = LAST
    shape = sheet(height=height, size=size, resolution=resolution)
    return body(shape, thickness=0.01, **settings)


def key(obj: Any, path: str, values: dict[int, Any]) -> None:
    """Keys a property of an object at some frames."""
    owner, _, name = path.rpartition(".")
    holder = obj.path_resolve(owner) if owner else obj
    for frame, value in values.items():
        setattr(holder, name, value)
        obj.keyframe_insert(path, frame=frame)


def hide_by_keys(obj: Any) -> None:
    """Hides an object up to frame 6, and from frame 10 on."""
    key(obj, "hide_viewport", {1: True, 6: False, 10: True})


def hide_by_strip(obj: Any) -> None:
    """The same by a strip in the NLA."""
    hide_by_keys(obj)
    animation = obj.animation_data
    action, animation.action = animation.action, None
    animation.nla_tracks.new().strips.new("Hidden", 1, action)


def hide_by_driver(obj: Any) -> None:
    """The same by a driver that reads the frame."""
    obj.driver_add("hide_viewport").driver.expression = "not 6 <= frame < 10"


def hide_by_keyed_property(obj: Any) -> None:
    """The same by a driver that reads a keyed property of another object."""
    switch = bpy.data.objects.new("Switch", None)
    bpy.context.scene.collection.objects.link(switch)
    switch["hidden"] = 1
    for frame, value in ((1, 1), (6, 0), (10, 1)):
        switch["hidden"] = value
        switch.keyframe_insert('["hidden"]', frame=frame)
    for curve in fcurves(switch):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    driver = obj.driver_add("hide_viewport").driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = switch, '["hidden"]'
    driver.expression = variable.name


def fcurves(obj: Any) -> Any:
    """The F-curves of an object."""
    action = obj.animation_data.action
    if hasattr(action, "fcurves"):
        return action.fcurves
    return action.layers[0].strips[0].channelbag(obj.animation_data.action_slot).fcurves


def hide_the_modifier(obj: Any) -> None:
    """Turns a collider's modifier off at the same frames."""
    key(obj, 'modifiers["Collision"].show_viewport', {1: False, 6: True, 10: False})


HIDINGS = (hide_by_keys, hide_by_strip, hide_by_driver, hide_by_keyed_property)


def bake_saved_at(frame: int, folder: Path) -> dict[str, bytes]:
    """Bakes a copy of the open file that was saved at a frame; the keys of all bodies."""
    path = folder / "saved.blend"
    bpy.context.scene.frame_set(frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    verlet.bake()
    assert bpy.context.scene.frame_current == frame
    keys = {
        f"{obj.name} {name}": points.tobytes()
        for obj in bpy.context.scene.objects
        if obj.type == "MESH"
        for name, points in baked(obj).items()
    }
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return keys


def heights(name: str = "Sheet") -> Any:
    """Mean height of a baked body at each frame, in its own space."""
    return np.array([points[:, 2].mean() for points in baked(bpy.data.objects[name]).values()])


@pytest.mark.parametrize("hide", [*HIDINGS, hide_the_modifier])
def test_a_collider_acts_at_the_frames_at_which_it_is_shown(
    hide: Callable[[Any], None], tmp_path: Path
) -> None:
    """The cloth falls freely up to frame 6, lies on the plate, and falls again from frame 10 on."""
    cloth()
    support = plate(0.75)
    key(support, "location", {1: (0, 0, 0.75), LAST: (0.2, 0, 0.75)})
    hide(support)
    saved = [bake_saved_at(frame, tmp_path) for frame in (1, 7, 12)]
    assert len(saved[0]) == LAST
    assert saved[0] == saved[1] == saved[2]
    verlet.bake()
    with_plate = heights()
    bpy.data.objects["Plate"].modifiers.clear()
    verlet.bake()
    free = heights()
    np.testing.assert_array_equal(with_plate[:6], free[:6])
    assert free[9] < -0.3 < with_plate[9]
    assert with_plate[-1] < with_plate[9] - 0.02


@pytest.mark.parametrize("hide", HIDINGS)
def test_a_body_that_appears_has_been_simulated_from_the_first_frame_on(
    hide: Callable[[Any], None], tmp_path: Path
) -> None:
    """Its pins follow their animation also while it is hidden."""
    flag = cloth()
    pin(flag, [0, 4])
    key(flag, "location", {1: (0, 0, 1), LAST: (3, 0, 1)})
    verlet.bake()
    seen = {name: points.tobytes() for name, points in baked(flag).items()}
    verlet.clear_bake()
    hide(flag)
    for frame in (1, 7, 12):
        saved = bake_saved_at(frame, tmp_path)
        assert {name.split()[1]: points for name, points in saved.items()} == seen
    flag = bpy.data.objects["Sheet"]
    bpy.context.scene.frame_set(1)
    assert flag.hide_viewport  # and its keys are as they were
    bpy.context.scene.frame_set(7)
    assert not flag.hide_viewport


def test_a_body_with_animated_visibility_is_named(addon: Addon) -> None:
    flag, scene = cloth(), bpy.context.scene
    hide_by_keys(flag)
    cautions = addon("blender.bake.cautions").cautions
    said = [cautions(scene, bpy.context.view_layer, [flag]) for _ in map(scene.frame_set, (1, 7))]
    assert said[0] == said[1]
    (sentence,) = said[0]
    assert "The visibility of Sheet in viewports is animated" in sentence


def test_a_driver_that_reads_no_time_hides_as_before(addon: Addon) -> None:
    """Rigs switch their parts by drivers: what is switched off is left out."""
    flag = cloth()
    flag.driver_add("hide_viewport").driver.expression = "1"
    bpy.context.view_layer.update()
    taking_part = addon("blender.bake.bake").taking_part
    other = body(sheet("Other"))
    assert taking_part([flag, other], bpy.context.view_layer) == [other]


def test_a_collider_that_appears_around_cloth_pushes_it_out() -> None:
    flag = cloth(0.15, size=0.1, resolution=1, gravity=0.0)
    flag.location = (0.45, 0.45, 0.15)
    key(cube(0.0), "hide_viewport", {1: True, 3: False})
    bpy.context.scene.frame_end = 18
    verlet.bake()
    tracks = np.array(list(baked(flag).values()))
    assert np.abs(tracks[:3] - tracks[0]).max() < 1e-6
    assert (tracks[-1][:, 2] + 0.15 > 0.2).all()


def live_frames(live: ModuleType) -> list[Any]:
    """World positions of the first body at each frame of a live simulation that plays."""
    scene = bpy.context.scene
    verlet.live()
    for frame in range(1, LAST + 1):
        scene.frame_set(frame)
    frames = [frame.positions[0] for frame in live.session_of(scene).frames]
    scene.frame_set(1)
    return frames


def test_live_goes_on_where_a_collider_appears_as_a_bake_does(live: ModuleType) -> None:
    cloth()
    hide_by_keys(plate(0.75))
    seen = live_frames(live)
    assert len(seen) == LAST
    verlet.reset()
    verlet.bake()
    places = np.array(list(baked(bpy.data.objects["Sheet"]).values()))
    np.testing.assert_allclose(places + np.array((0, 0, 1)), seen, atol=1e-6)  # float32


def test_live_simulates_a_body_that_keys_hide(live: ModuleType) -> None:
    flag = cloth()
    pin(flag, [0, 4])
    key(flag, "location", {1: (0, 0, 1), LAST: (1, 0, 1)})
    shown = live_frames(live)
    verlet.reset()
    hide_by_keys(flag)
    np.testing.assert_array_equal(live_frames(live), shown)
    assert flag.hide_viewport
    bpy.context.scene.frame_set(7)
    assert not flag.hide_viewport


def test_a_force_field_acts_at_the_frames_at_which_it_is_shown(tmp_path: Path) -> None:
    cloth(gravity=0.0)
    bpy.ops.object.effector_add(type="WIND", location=(0.5, 0.5, 0.5))
    wind = bpy.context.object
    wind.field.strength = 50.0
    hide_by_keys(wind)
    saved = [bake_saved_at(frame, tmp_path) for frame in (1, 7)]
    assert saved[0] == saved[1]
    verlet.bake()
    assert heights()[4] == pytest.approx(0.0, abs=1e-6)
    assert heights()[8] > 1e-4


def test_an_attachment_follows_a_target_that_keys_hide(tmp_path: Path) -> None:
    flag = cloth()
    flag.vertex_groups.new(name="Held").add([0, 4], 1.0, "REPLACE")
    mast = bpy.data.objects.new("Mast", None)
    bpy.context.scene.collection.objects.link(mast)
    key(mast, "location", {1: (0, 0, 0), LAST: (2, 0, 0)})
    item = flag.verlet.attachments.add()
    item.target, item.vertex_group = mast, "Held"
    verlet.bake()
    seen = {f"Sheet {name}": points.tobytes() for name, points in baked(flag).items()}
    verlet.clear_bake()
    hide_by_keys(mast)
    for frame in (1, 7):
        assert bake_saved_at(frame, tmp_path) == seen
