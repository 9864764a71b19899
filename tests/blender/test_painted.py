"""Vertex groups scale settings; a shape key is the rest shape; shrinking can be keyed."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import baked, body, coordinates, line, mesh_object, pin, sheet, verlet

Addon = Callable[[str], ModuleType]


@pytest.fixture(autouse=True)
def weightless() -> None:
    """A scene of ten frames without gravity or ground."""
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 24
    scene.use_gravity = scene.verlet.use_ground = False


def painted(obj: Any, name: str, weights: Any) -> None:
    """Gives an object a vertex group with these weights."""
    group = obj.vertex_groups.new(name=name)
    for vertex, weight in enumerate(weights):
        group.add([vertex], float(weight), "REPLACE")


def spans(obj: Any, frame: int) -> Any:
    """The lengths of an object's edges at a frame."""
    bpy.context.scene.frame_set(frame)
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    points = coordinates(shown.vertices)
    pairs = np.array([edge.vertices[:] for edge in obj.data.edges])
    return np.linalg.norm(points[pairs[:, 1]] - points[pairs[:, 0]], axis=1)


LAYERS = ("stretch", "shear", "bend", "shrinking", "thickness", "pressure", "stiffness")
EXEMPT = ("object_collisions", "self_collisions")


def test_groups_reach_the_core(addon: Addon) -> None:
    obj = body(sheet())
    shares = np.linspace(0, 1, len(obj.data.vertices))
    for layer in LAYERS:
        painted(obj, layer.title(), shares)
        setattr(obj.verlet, f"{layer}_group", layer.title())
    for layer in EXEMPT:
        setattr(obj.verlet, f"vertex_group_{layer}", "Stretch")
    mesh = addon("blender.scene.mesh_io").read_body(
        obj, bpy.context.evaluated_depsgraph_get(), velocities=np.zeros((len(shares), 3))
    )
    for layer in (*LAYERS, *EXEMPT):
        assert getattr(mesh.paint, layer) == pytest.approx(shares, abs=1e-6)
    assert mesh.rest_positions is None


def test_a_map_of_threads_reaches_the_core(addon: Addon) -> None:
    """Corner by corner; and a sheet hung along its warp stretches otherwise than along its weft."""
    lowest = []
    bpy.context.scene.use_gravity = True
    for turned in (False, True):
        obj = body(sheet(), damping=5.0, stretch_compliance=1e-3, weft_compliance=1e-2)
        layer = obj.data.uv_layers.new(name="Threads")
        for loop in obj.data.loops:
            x, y, _ = obj.data.vertices[loop.vertex_index].co
            layer.data[loop.index].uv = (y, x) if turned else (x, y)
        obj.verlet.thread_map = "Threads"
        mesh = addon("blender.scene.mesh_io").read_body(
            obj, bpy.context.evaluated_depsgraph_get(), velocities=np.zeros((25, 3))
        )
        places = coordinates(obj.data.vertices)[mesh.face_vertices][:, [1, 0] if turned else [0, 1]]
        assert mesh.threads == pytest.approx(places, abs=1e-6)
        pin(obj, [0, 1, 2, 3, 4])
        obj.rotation_euler = (-np.pi / 2, 0.0, 0.0)
        assert verlet.bake() == {"FINISHED"}
        bpy.context.scene.frame_set(24)
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        lowest.append(coordinates(shown.vertices)[:, 1].max())
        verlet.release()
        bpy.data.objects.remove(obj)
    assert 1.0 < lowest[0] < 1.01
    assert 1.02 < lowest[1] < 1.1


def test_a_line_stays_stretched_that_was_pulled_too_far() -> None:
    """Its end is pulled out by a half, and back: it hangs through, for it is longer."""
    obj = body(line(), mass=0.01, stretch_compliance=0.1, use_plasticity=True, yield_strain=0.1)
    obj.shape_key_add(name="Basis")
    pulled = obj.shape_key_add(name="Pulled", from_mix=False)
    for point in pulled.data:
        point.co *= 1.5
    for frame, value in ((1, 0.0), (12, 1.0), (20, 0.0)):
        pulled.value = value
        pulled.keyframe_insert("value", frame=frame)
    bpy.context.scene.frame_set(1)
    pin(obj, [0, len(obj.data.vertices) - 1])
    bpy.context.scene.use_gravity = True
    assert verlet.bake() == {"FINISHED"}
    assert spans(obj, 24).sum() == pytest.approx(1.4 * spans(obj, 1).sum(), rel=0.03)


def test_shrinking_is_keyed() -> None:
    """A line shrinks by a third while the factor goes from 0 to it."""
    obj = body(line(), damping=5.0)
    obj.verlet.keyframe_insert("shrinking", frame=1)
    obj.verlet.shrinking = 1 / 3
    obj.verlet.keyframe_insert("shrinking", frame=12)
    bpy.context.scene.frame_set(1)
    assert verlet.bake() == {"FINISHED"}
    assert spans(obj, 1) == pytest.approx(0.25)
    assert spans(obj, 24) == pytest.approx(0.25 * 2 / 3, rel=0.01)


def test_what_a_curve_plays_acts_frame_by_frame() -> None:
    """A line falls only once it feels gravity; a curve out of range is told, with the name."""
    obj = body(line("Cord"), body_type="ROPE", damping=0.0)
    scene: Any = bpy.context.scene
    scene.use_gravity = True
    for frame, share in ((4, 0.0), (5, 1.0)):
        obj.verlet.gravity = share
        obj.verlet.keyframe_insert("gravity", frame=frame)
    assert verlet.bake() == {"FINISHED"}
    heights = [shape[:, 2].mean() for shape in baked(obj).values()]
    assert np.ptp(heights[:4]) == 0.0
    fallen = heights[3] - heights[9]  # half a step early or late
    assert fallen == pytest.approx(9.81 * (6 / 24) ** 2 / 2, rel=0.02)
    obj.verlet.damping = -1.0
    obj.verlet.keyframe_insert("damping", frame=8)
    obj.verlet.damping = 0.0
    obj.verlet.keyframe_insert("damping", frame=4)
    with pytest.raises(RuntimeError, match="Cord: damping is -0"):
        verlet.bake()


def test_what_is_keyed_counts_as_no_change_of_settings(addon: Addon) -> None:
    """Whatever the frame; what is not keyed does, on an animated object too."""
    changed = addon("blender.bake.record").changed_since_bake
    obj = body(line("Cord"), body_type="ROPE")
    for frame, friction in ((1, 0.0), (10, 1.0)):
        obj.verlet.friction = friction
        obj.verlet.keyframe_insert("friction", frame=frame)
    verlet.bake()
    bpy.context.scene.frame_set(7)
    assert changed(bpy.context.scene, bpy.context.view_layer) == []
    obj.verlet.damping = 3.0
    assert changed(bpy.context.scene, bpy.context.view_layer) == ["Cord"]


def test_a_shape_key_is_the_rest_shape() -> None:
    """Turned, moved and scaled as the object is."""
    obj = body(sheet(), damping=5.0)
    obj.scale = (2.0, 2.0, 2.0)
    obj.shape_key_add(name="Basis")
    small = obj.shape_key_add(name="Small", from_mix=False)
    for point in small.data:
        point.co *= 0.75
    small.value = 0.0
    obj.verlet.rest_key = "Small"
    assert verlet.bake() == {"FINISHED"}
    assert spans(obj, 1) == pytest.approx(0.25)
    assert spans(obj, 24) == pytest.approx(0.75 * 0.25, rel=0.01)


def test_panels_are_sewn_together() -> None:
    """Two squares with loose edges between them, in Blender's own way of modelling seams."""
    obj = mesh_object(
        "Panels",
        [(x, y, 0) for x in (0.0, 0.2, 0.3, 0.5) for y in (0.0, 0.2)],
        [(2, 4), (3, 5)],
        [(0, 2, 3, 1), (4, 6, 7, 5)],
    )
    body(obj, damping=5.0, use_sewing=True, sewing_force=1.0)
    assert verlet.bake() == {"FINISHED"}
    assert obj.verlet.body_type == "CLOTH"
    bpy.context.scene.frame_set(24)
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    points = coordinates(shown.vertices)
    assert points[2] == pytest.approx(points[4], abs=0.01)
    assert points[3] == pytest.approx(points[5], abs=0.01)


def split_across(obj: Any) -> set[str]:
    """Selects the edges across the middle of a sheet in Edit Mode, and splits it there."""
    middle = {i for i, v in enumerate(obj.data.vertices) if abs(v.co.y - 0.5) < 1e-6}
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for edge in obj.data.edges:
        edge.select = set(edge.vertices) <= middle
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        return set(verlet.split_for_tearing())
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("tears", [False, True])
def test_a_sheet_tears_where_it_was_split(tears: bool) -> None:
    """Held by one edge it falls apart in the middle, or hangs on as if whole."""
    scene: Any = bpy.context.scene
    scene.use_gravity = True
    obj = body(sheet(), use_tearing=tears, tear_strength=0.01, damping=1.0, use_density=True)
    assert split_across(obj) == {"FINISHED"}
    assert len(obj.data.vertices) == 30
    pin(obj, [0, 1, 2, 3, 4])
    assert verlet.bake() == {"FINISHED"}
    scene.frame_set(24)
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    lowest = coordinates(shown.vertices)[:, 2].min()
    assert lowest < -1.5 if tears else lowest > -1.05


def test_splitting_asks_for_edges_and_for_no_bake() -> None:
    obj = body(sheet())
    assert not verlet.split_for_tearing.poll()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="no selected edge between two faces"):
        verlet.split_for_tearing()
    bpy.ops.object.mode_set(mode="OBJECT")
    verlet.bake()
    with pytest.raises(RuntimeError, match="clear the bake first"):
        split_across(obj)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("stretch_group", "no vertex group Gone; choose another stretch group or none"),
        ("shrinking_group", "no vertex group Gone; choose another shrinking group or none"),
        ("thread_map", "no UV map Gone; choose another one or none"),
        ("rest_key", "no shape key Gone; choose another rest shape or none"),
    ],
)
def test_what_is_gone_is_named(name: str, words: str) -> None:
    obj = body(sheet())
    setattr(obj.verlet, name, "Gone")
    with pytest.raises(RuntimeError, match=f"Sheet has {words}"):
        verlet.bake()


def test_a_baked_key_is_no_rest_shape() -> None:
    """The next bake would remove it."""
    obj = body(sheet())
    pin(obj, [0])
    verlet.bake()
    obj.verlet.rest_key = next(iter(baked(obj)))
    with pytest.raises(RuntimeError, match="baked key as its rest shape"):
        verlet.bake()


def test_a_change_of_paint_is_told(addon: Addon) -> None:
    """The panel lists bodies whose settings are others than those of their bake."""
    obj = body(sheet())
    verlet.bake()
    changed = addon("blender.bake.record").changed_since_bake
    assert changed(bpy.context.scene, bpy.context.view_layer) == []
    painted(obj, "Soft", np.ones(len(obj.data.vertices)))
    obj.verlet.bend_group = "Soft"
    assert changed(bpy.context.scene, bpy.context.view_layer) == [obj.name]
    verlet.release()
    assert obj.verlet.bend_group == ""


@pytest.mark.parametrize("panel", ["VERLET_PT_shape", "VERLET_PT_plasticity", "VERLET_PT_weights"])
def test_panels_show_where_they_act(addon: Addon, panel: str) -> None:
    shown = getattr(addon("blender.ui.shape_panels"), panel)
    assert shown in addon("blender.registration").CLASSES
    sheet()
    assert not shown.poll(bpy.context)
    obj = body(sheet())
    assert shown.poll(bpy.context)
    obj.verlet.body_type = "SOFT"
    assert shown.poll(bpy.context) == (panel == "VERLET_PT_weights")
    obj.verlet.body_type = "WATER"
    assert not shown.poll(bpy.context)
