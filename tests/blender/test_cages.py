"""A fine mesh that is simulated as a light cage follows that, in every form of bake."""

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import baked, body, mesh_object, pin, select, sheet, shown, verlet

FRAMES = {"frame_start": 1, "frame_end": 10}


@pytest.fixture(autouse=True)
def _no_ground() -> None:
    scene: Any = bpy.context.scene
    scene.verlet.use_ground = False


def cage_of(fine: Any, cage: Any, *, pins: Any = (0, 4)) -> Any:
    """The fine object, a body that is simulated as the cage, held by the cage's vertices."""
    body(fine)
    cage.vertex_groups.new(name="Pin").add(list(pins), 1.0, "REPLACE")
    fine.verlet.simulate_as, fine.verlet.pin_group = cage, "Pin"
    return fine


def own_bake() -> list[Any]:
    """The motion of the cage as a body itself."""
    alone = body(sheet("Alone", height=2.0))
    pin(alone, [0, 4])
    verlet.bake(**FRAMES)
    track = [shown(alone, frame) for frame in range(1, 11)]
    bpy.data.objects.remove(alone)
    return track


@pytest.mark.parametrize("form", ["RELATIVE", "CACHE", "LIVE"])
@pytest.mark.usefixtures("live")
def test_a_mesh_equal_to_its_cage_moves_as_that_alone_would(form: str, tmp_path: Any) -> None:
    """Within a thousandth of a millimetre, in every form."""
    wanted = own_bake()
    fine = cage_of(sheet("Fine", height=2.0), sheet("Cage", height=2.0))
    scene: Any = bpy.context.scene
    scene.frame_end = 10
    if form == "LIVE":
        scene.frame_set(1)
        scene.verlet.use_live = True
    else:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
        verlet.bake(mode=form, **FRAMES)
    found = [shown(fine, frame) for frame in range(1, 11)]
    assert np.abs(found[-1] - found[0]).max() > 0.1
    assert np.abs(np.array(found) - wanted).max() < 1e-6
    cage = bpy.data.objects["Cage"]
    assert not baked(cage)
    assert not cage.modifiers


def test_a_sheet_ten_times_as_fine_follows_the_surface_of_its_cage() -> None:
    """At the cage's vertices within a micrometre, elsewhere within a tenth of its cells."""
    wanted = own_bake()
    fine = cage_of(sheet("Fine", resolution=40, height=2.0), sheet("Cage", height=2.0))
    verlet.bake(**FRAMES)
    for frame in (1, 5, 10):
        points = shown(fine, frame).reshape(41, 41, 3)
        coarse = wanted[frame - 1].reshape(5, 5, 3)
        assert np.abs(points[::10, ::10] - coarse).max() < 2e-6
        middles = (coarse[1:] + coarse[:-1]) / 2.0
        assert np.abs(points[5::10, ::10] - middles).max() < 0.1 * 0.25


def test_offsets_turn_with_the_cage() -> None:
    """Bumps on a sheet that swings stay as high as they are, and on their side."""
    cage = sheet("Cage", height=2.0)
    bumps = [(0.13 + 0.25 * k, 0.6, 0.05 * (-1) ** k) for k in range(4)]
    plate = [(x + dx, y + dy, z) for x, y, z in bumps for dx, dy in ((0, 0), (0.02, 0), (0, 0.02))]
    faces = [(3 * k, 3 * k + 1, 3 * k + 2) for k in range(4)]
    fine = cage_of(mesh_object("Bumps", plate, [], faces, height=2.0), cage, pins=range(25))
    cage.vertex_groups["Pin"].remove([24])
    cage.keyframe_insert("rotation_euler", frame=1)
    cage.rotation_euler = (1.2, -0.4, 2.0)
    cage.keyframe_insert("rotation_euler", frame=10)
    rest = shown(fine, 1)
    verlet.bake(**FRAMES)
    bpy.context.scene.frame_set(10)
    turn = np.array(cage.matrix_world)[:3, :3]
    # The vertices around the others have faces that are free.
    off = shown(fine, 10)[:6] - (rest[:6] - [0, 0, 2]) @ turn.T - [0, 0, 2]
    assert np.abs(off).max() < 1e-5


def test_settings_are_those_of_the_fine_object_alone() -> None:
    """Those of the cage do not count, nor its own vertex groups by other names."""
    cage = sheet("Cage", height=2.0)
    cage.verlet.gravity = 0.0
    fine = cage_of(sheet("Fine", height=2.0), cage)
    verlet.bake(**FRAMES)
    assert shown(fine, 10)[:, 2].min() < 1.9
    fine.verlet.gravity = 0.0
    verlet.bake(**FRAMES)
    assert shown(fine, 10)[:, 2].min() > 1.999


def test_cage_and_body_may_be_turned_scaled_parented_and_have_modifiers() -> None:
    """The fine mesh has Subdivision and a carrier; the cage is parented, scaled and subdivided."""
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.scene.collection.objects.link(holder)
    holder.rotation_euler = (0.2, 0.1, 0.5)
    fine, cage = sheet("Fine", resolution=12), sheet("Cage", size=0.5)
    for obj in (fine, cage):
        obj.parent = holder
    cage.scale = (2.0, 2.0, 1.0)
    cage.modifiers.new("Subdivision", "SUBSURF")
    fine.modifiers.new("Subdivision", "SUBSURF")
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook)
    fine.modifiers.new("Hook", "HOOK").object = hook
    cage_of(fine, cage)
    fine.modifiers["Subdivision"].show_viewport = False
    rest = shown(fine, 1)
    verlet.bake(**FRAMES)
    assert shown(fine, 1) == pytest.approx(rest, abs=1e-5)
    assert np.abs(shown(fine, 10) - rest).max() > 0.1
    assert cage.modifiers["Subdivision"].show_viewport


def spoiled(case: str, fine: Any, cage: Any) -> Any:  # noqa: C901
    """The cage, or another object, as none can be."""
    match case:
        case "itself":
            return fine
        case "camera":
            bpy.data.objects.remove(cage)
            cage = bpy.data.objects.new("Cage", bpy.data.cameras.new("Cage"))
            bpy.context.scene.collection.objects.link(cage)
        case "body":
            body(cage)
        case "baked":
            body(cage)
            select(cage)
            verlet.bake(selected=True, **FRAMES)
            cage.verlet.enabled = False
        case "disabled":
            cage.hide_viewport = True
        case "edited":
            select(cage)
            bpy.ops.object.mode_set(mode="EDIT")
        case "edges":
            cage.data.clear_geometry()
            cage.data.from_pydata([(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
        case "flat":
            for vertex in cage.data.vertices:
                vertex.co = (vertex.index, 0.0, 0.0)
        case "away":
            cage.location.x = 3.0
        case "cycle":
            bound = cage.modifiers.new("Surface Deform", "SURFACE_DEFORM")
            bound.target = fine
            select(cage)
            bpy.ops.object.surfacedeform_bind(modifier=bound.name)
        case "groups":
            cage.vertex_groups.clear()
    return cage


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("itself", "cannot be simulated as itself"),
        ("camera", "Cage, which is not a mesh"),
        ("body", "is a soft body too"),
        ("baked", "has a bake of its own"),
        ("disabled", "is disabled in viewports"),
        ("edited", "is in Edit Mode"),
        ("edges", "has no faces to follow"),
        ("flat", "whose faces have no area"),
        ("away", "m away from Cage"),
        ("groups", "Cage has no vertex group Pin"),
        ("cycle", "Cage, as which Fine is simulated, follows the mesh of Fine"),
    ],
)
def test_what_is_wrong_with_a_cage_is_said_in_one_sentence(case: str, words: str) -> None:
    fine, cage = body(sheet("Fine")), sheet("Cage")
    group = cage.vertex_groups.new(name="Pin")
    group.add([0], 1.0, "REPLACE")
    fine.verlet.pin_group = "Pin"
    cage = spoiled(case, fine, cage)
    fine.verlet.simulate_as = cage
    if case == "edited":
        bpy.context.view_layer.objects.active = cage
    with pytest.raises(RuntimeError, match=words) as found:
        verlet.bake(**FRAMES)
    assert "\n" not in str(found.value).removeprefix("Error: ").strip()
    assert not baked(fine)


def test_a_cage_that_is_removed_leaves_a_body_of_its_own() -> None:
    fine = cage_of(sheet("Fine", height=2.0), sheet("Cage", height=2.0))
    fine.verlet.pin_group = ""
    bpy.data.objects.remove(bpy.data.objects["Cage"])
    assert fine.verlet.simulate_as is None
    verlet.bake(**FRAMES)
    assert shown(fine, 10)[:, 2].max() < 1.9


def test_drape_and_grab_say_that_they_move_no_body_by_a_cage() -> None:
    cage_of(sheet("Fine", height=2.0), sheet("Cage", height=2.0))
    with pytest.raises(RuntimeError, match="Fine follows Cage, its Simulate As, which Drape"):
        verlet.drape()
    with pytest.raises(RuntimeError, match="Fine follows Cage, its Simulate As, which Grab"):
        verlet.grab(body="Fine", vertex=3, target=(0, 0, 1), seconds=0.1)


def test_a_bake_as_a_cage_is_converted_and_resumed(tmp_path: Any) -> None:
    """The cache has the fine mesh's vertices, and goes on to the same bytes."""
    fine = cage_of(sheet("Fine", resolution=8, height=2.0), sheet("Cage", height=2.0))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    verlet.bake(mode="CACHE", **FRAMES)
    whole = [shown(fine, frame) for frame in range(1, 11)]
    verlet.clear_bake()
    verlet.bake(mode="CACHE", frame_start=1, frame_end=5)
    verlet.bake(mode="CACHE", resume=True, **FRAMES)
    np.testing.assert_array_equal([shown(fine, frame) for frame in range(1, 11)], whole)
    verlet.convert_bake(mode="RELATIVE")
    found = [shown(fine, frame) for frame in range(1, 11)]
    assert np.abs(np.array(found) - whole).max() < 1e-5


def test_a_change_of_the_cage_makes_the_bake_stale(addon: Any) -> None:
    fine = cage_of(sheet("Fine", height=2.0), sheet("Cage", height=2.0))
    verlet.bake(**FRAMES)
    changed = addon("blender.bake.record").changed_since_bake
    scene, layer = bpy.context.scene, bpy.context.view_layer
    assert not changed(scene, layer)
    bpy.data.objects["Cage"].data.vertices[7].co.z += 0.01
    assert changed(scene, layer) == [fine.name]


@pytest.mark.parametrize("hidden", [False, True])
def test_a_cage_hidden_by_its_eye_moves_all_the_same(hidden: bool) -> None:
    """Its own animation is read, and pins follow that."""
    fine, cage = sheet("Fine", resolution=8, height=2.0), sheet("Cage", height=2.0)
    cage_of(fine, cage, pins=range(5))
    cage.keyframe_insert("location", frame=1)
    cage.location.x = 1.0
    cage.keyframe_insert("location", frame=10)
    cage.hide_set(hidden)
    cage.hide_render = hidden
    rest = shown(fine, 1)
    verlet.bake(**FRAMES)
    moved = (shown(fine, 10) - rest)[:9] - [1.0, 0.0, 0.0]
    assert np.abs(moved[::2]).max() < 1e-5  # at the pins themselves
    assert np.abs(moved).max() < 0.02 * 0.25  # between them, where the surface is smooth
