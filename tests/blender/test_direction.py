"""Simulation weighed against animation: keyed pins and seams, a largest distance, inertia."""

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import ball, body, line, mesh_object, pin, sheet, shown, verlet


@pytest.fixture(autouse=True)
def _no_ground() -> None:
    scene: Any = bpy.context.scene
    scene.verlet.use_ground = False


def key(holder: Any, path: str, values: dict[int, Any], item: Any = None) -> None:
    """Keys a property, with values that stay until the next key."""
    for frame, value in values.items():
        setattr(item or holder, path.rpartition(".")[2], value)
        holder.keyframe_insert(path, frame=frame)
    for curve in curves(holder):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"


def curves(holder: Any) -> Any:
    """All curves of an object."""
    action = holder.animation_data.action
    if hasattr(action, "fcurves"):
        return action.fcurves
    return [
        each
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
        for each in bag.fcurves
    ]


def askew(obj: Any) -> Any:
    """The object as no test is tuned for: turned, scaled unevenly, and parented."""
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.scene.collection.objects.link(holder)
    holder.rotation_euler = (0.3, 0.2, 1.0)
    obj.parent = holder
    obj.scale, obj.rotation_euler = (1.2, 0.7, 1.0), (0.1, 0.4, 0.2)
    return obj


@pytest.mark.parametrize("mode", ["RELATIVE", "LIVE"])
@pytest.mark.usefixtures("live")
def test_pins_are_let_go_and_hold_again_by_keys(mode: str) -> None:
    """Within a frame they are in place again; in live simulation too."""
    obj = askew(body(sheet("Flag", height=3.0)))
    pin(obj, [0, 1, 2, 3, 4])
    key(obj, "verlet.pin_weight", {1: 1.0, 5: 0.0, 12: 1.0}, obj.verlet)
    bpy.context.scene.frame_end = 16
    rest = shown(obj, 1)[:5]
    if mode == "LIVE":
        bpy.context.scene.verlet.use_live = True
        away = {f: np.abs(shown(obj, f)[:5] - rest).max() for f in range(1, 17)}
    else:
        verlet.bake()
        away = {f: np.abs(shown(obj, f)[:5] - rest).max() for f in range(1, 17)}
    assert max(away[f] for f in (1, 2, 3, 4, 5)) < 1e-6
    assert away[7] > 0.01
    assert away[12] > 0.2
    assert max(away[f] for f in (13, 14, 15, 16)) < 1e-6


def test_a_resumed_bake_holds_the_same_pins(tmp_path: Any) -> None:
    """A cache that goes on where pins were let go is equal to the last byte."""
    obj = body(sheet("Flag", height=3.0))
    pin(obj, [0, 4])
    key(obj, "verlet.pin_weight", {1: 1.0, 5: 0.0, 9: 1.0}, obj.verlet)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "flag.blend"))
    verlet.bake(mode="CACHE", frame_start=1, frame_end=14)
    whole = [shown(obj, frame) for frame in range(1, 15)]
    for end in (6, 10):
        verlet.clear_bake()
        verlet.bake(mode="CACHE", frame_start=1, frame_end=end)
        verlet.bake(mode="CACHE", resume=True, frame_start=1, frame_end=14)
        np.testing.assert_array_equal([shown(obj, frame) for frame in range(1, 15)], whole)


def test_attachments_and_pins_are_switched_apart() -> None:
    """Pins go while what is attached stays."""
    obj = body(sheet("Flag", height=3.0))
    pin(obj, [0])
    mast = bpy.data.objects.new("Mast", None)
    bpy.context.scene.collection.objects.link(mast)
    obj.vertex_groups.new(name="Held").add([4], 1.0, "REPLACE")
    held = obj.verlet.attachments.add()
    held.target, held.vertex_group = mast, "Held"
    key(obj, "verlet.pin_weight", {1: 1.0, 3: 0.0}, obj.verlet)
    rest = shown(obj, 1)
    verlet.bake(frame_start=1, frame_end=10)
    away = np.abs(shown(obj, 10) - rest).max(axis=1)
    assert away[4] < 1e-6
    assert away[0] > 0.05


def test_seams_are_sewn_and_let_go_by_keys() -> None:
    vertices = [(x + 0.5 * side, y, 0) for side in (0, 1) for y in (0, 0.1) for x in (0, 0.1)]
    obj = mesh_object("Dress", vertices, [(1, 4), (3, 6)], [(0, 1, 3, 2), (4, 5, 7, 6)], height=1.0)
    body(obj, body_type="CLOTH", use_sewing=True, gravity=0.0, damping=5.0)
    key(obj, "verlet.sewing_weight", {1: 0.0, 5: 1.0}, obj.verlet)
    verlet.bake(frame_start=1, frame_end=60)
    gaps = {f: np.linalg.norm(np.diff(shown(obj, f)[[1, 4]], axis=0)) for f in (1, 4, 60)}
    assert gaps[4] == pytest.approx(gaps[1], abs=1e-5)
    assert gaps[60] < 0.02


@pytest.mark.parametrize("body_type", ["CLOTH", "ROPE", "SOFT"])
def test_no_vertex_leaves_the_animation_by_more_than_the_keyed_distance(body_type: str) -> None:
    """While the object moves, scaled, parented and turned."""
    made: Any = {"CLOTH": sheet, "ROPE": line, "SOFT": ball}[body_type]
    obj = askew(body(made(), body_type=body_type))
    obj.verlet.use_maximum_distance = True
    key(obj, "verlet.maximum_distance", {1: 0.1, 8: 0.02}, obj.verlet)
    key(obj, "location", {1: (0, 0, 2), 5: (0, 0.5, 2), 9: (1, 0, 2)})
    places = [shown(obj, frame) for frame in range(1, 13)]
    verlet.bake(frame_start=1, frame_end=12)
    away = [
        np.linalg.norm(shown(obj, frame) - place, axis=1).max()
        for frame, place in enumerate(places, start=1)
    ]
    radii = [0.1] * 7 + [0.02] * 5
    assert all(far < radius + 2e-6 for far, radius in zip(away, radii, strict=True))
    assert max(away[:7]) > 0.09
    assert max(away[8:]) > 0.019


def test_painted_weights_scale_the_distance_and_0_holds_exactly() -> None:
    obj = body(sheet("Cape", height=2.0), use_maximum_distance=True, maximum_distance=0.2)
    group = obj.vertex_groups.new(name="Loose")
    for vertex in range(25):
        group.add([vertex], (vertex // 5) / 4.0, "REPLACE")
    obj.verlet.maximum_distance_group = "Loose"
    rest = shown(obj, 1)
    verlet.bake(frame_start=1, frame_end=24)
    away = np.linalg.norm(shown(obj, 24) - rest, axis=1).reshape(5, 5).max(axis=1)
    assert away[0] < 1e-6
    assert (away <= np.linspace(0.0, 0.2, 5) + 2e-6).all()
    assert away[4] > 0.15


def test_a_missing_distance_group_is_said() -> None:
    obj = body(sheet("Cape"), use_maximum_distance=True)
    obj.verlet.maximum_distance_group = "Gone"
    with pytest.raises(RuntimeError, match=r"Cape has no vertex group Gone.*distance group"):
        verlet.bake(frame_start=1, frame_end=2)


def test_a_flag_on_a_car_that_sets_off_hangs_as_on_one_that_stands() -> None:
    """With all of its inertia left out; with none it is blown back."""
    tracks = {}
    for name, share, moves in (("Still", 0.0, False), ("Calm", 1.0, True), ("Real", 0.0, True)):
        flag = body(sheet(name, height=2.0), inertia_share=share)
        pin(flag, [0, 5, 10, 15, 20])
        car = bpy.data.objects.new(f"Car {name}", None)
        bpy.context.scene.collection.objects.link(car)
        flag.parent = car
        if moves:
            car.location = (0.0, 0.0, 0.0)
            car.keyframe_insert("location", frame=5)
            car.location = (6.0, 1.0, 0.0)
            car.keyframe_insert("location", frame=20)
        for other in bpy.context.scene.objects:
            if other.type == "MESH":
                other.verlet.enabled = other == flag
        verlet.bake(frame_start=1, frame_end=24)
        tracks[name] = np.array([shown(flag, f) - np.array(car.location) for f in range(1, 25)])
    assert np.abs(tracks["Calm"] - tracks["Still"]).max() < 1e-5
    assert np.abs(tracks["Real"] - tracks["Still"]).max() > 0.2


def test_a_cape_attached_to_a_body_is_carried_with_it() -> None:
    """Its own object stays where it is; what it is attached to carries it."""
    cape = body(sheet("Cape", height=2.0), inertia_share=1.0)
    figure = bpy.data.objects.new("Figure", None)
    bpy.context.scene.collection.objects.link(figure)
    cape.vertex_groups.new(name="Neck").add([0, 1, 2, 3, 4], 1.0, "REPLACE")
    held = cape.verlet.attachments.add()
    held.target, held.vertex_group = figure, "Neck"
    verlet.bake(frame_start=1, frame_end=12)
    still = shown(cape, 12)
    figure.keyframe_insert("location", frame=2)
    figure.location = (2.0, 1.0, 0.5)
    figure.keyframe_insert("location", frame=9)
    verlet.bake(frame_start=1, frame_end=12)
    assert shown(cape, 12) - [2.0, 1.0, 0.5] == pytest.approx(still, abs=1e-4)


@pytest.mark.usefixtures("live")
def test_live_simulation_shows_what_a_bake_of_all_keyed_settings_does() -> None:
    """Of the scene and of a body that is carried, held near and let go; to the rounding of keys."""
    scene: Any = bpy.context.scene
    scene.verlet.use_ground, scene.frame_end = True, 14
    obj = askew(body(sheet("Flag", height=0.5), use_maximum_distance=True))
    pin(obj, [0, 4])
    keyed: dict[str, dict[int, Any]] = {
        "verlet.pin_weight": {1: 1.0, 8: 0.0},
        "verlet.maximum_distance": {1: 0.4, 6: 0.2},
        "verlet.inertia_share": {1: 0.0, 4: 0.7, 9: 0.2},
        "verlet.mass": {1: 0.5, 5: 2.0},
        "location": {1: (0, 0, 0.5), 9: (0.5, 0.2, 0.6)},
    }
    for path, values in keyed.items():
        key(obj, path, values, obj.verlet if "verlet" in path else None)
    keyed = {
        "substeps": {1: 6, 7: 9},
        "ground_friction": {1: 0.1, 6: 0.9},
        "ground_height": {1: 0.0, 5: 0.05},
    }
    for name, values in keyed.items():
        for frame, value in values.items():
            setattr(scene.verlet, name, value)
            scene.keyframe_insert(f"verlet.{name}", frame=frame)
    verlet.bake()
    wanted = np.array([shown(obj, frame) for frame in range(1, 15)])
    verlet.clear_bake()
    scene.frame_set(1)
    scene.verlet.use_live = True
    found = np.array([shown(obj, frame) for frame in range(1, 15)])
    assert np.abs(wanted[-1] - wanted[0]).max() > 0.1
    assert np.abs(found - wanted).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("body_type", ["ROPE", "SOFT"])
def test_pins_of_ropes_and_jelly_are_switched_by_keys_too(body_type: str) -> None:
    """They fall while the weight is 0, and are drawn back by half of it."""
    obj = body(line(height=3.0) if body_type == "ROPE" else ball(), body_type=body_type)
    obj.location.z = 5.0
    held = [0] if body_type == "ROPE" else [4]
    pin(obj, held)
    key(obj, "verlet.pin_weight", {1: 1.0, 5: 0.0, 10: 0.5, 20: 1.0}, obj.verlet)
    rest = shown(obj, 1)[held]
    verlet.bake(frame_start=1, frame_end=24)
    away = {f: np.abs(shown(obj, f)[held] - rest).max() for f in (5, 10, 16, 20, 24)}
    assert max(away[5], away[24]) < 1e-5
    assert away[10] > 0.1
    assert away[16] != pytest.approx(away[10], abs=1e-3)
