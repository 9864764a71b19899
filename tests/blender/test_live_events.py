"""Live simulations through whatever users do meanwhile: nothing of theirs is changed or lost."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import (
    baked,
    ball,
    blender,
    body,
    file_content,
    pin,
    select,
    sheet,
    shown,
    verlet,
)

END = 6


@pytest.fixture
def scene() -> Any:
    """A scene of a few frames."""
    found: Any = bpy.context.scene
    found.frame_start, found.frame_end = 1, END
    found.frame_set(1)
    return found


def cloth(name: str = "Cloth", *, height: float = 2.0) -> Any:
    """A cloth that hangs from two corners."""
    obj = body(sheet(name, resolution=4, height=height))
    pin(obj, [0, 4])
    return obj


def play(scene: Any, *, start: int = 1, end: int = END) -> None:
    """Goes through frames in order."""
    for frame in range(start, end + 1):
        scene.frame_set(frame)


def start(scene: Any, *, end: int = END) -> None:
    """Switches live on, and plays."""
    scene.verlet.use_live = True
    play(scene, end=end)


def live_names(obj: Any) -> list[str]:
    """Names of the modifiers that show a live simulation on an object."""
    return [item.name for item in obj.modifiers if item.type == "MESH_CACHE"]


def file_of(obj: Any) -> Path:
    """The point cache that an object shows."""
    (name,) = live_names(obj)
    return Path(bpy.path.abspath(obj.modifiers[name].filepath))


@contextmanager
def handler(name: str, function: Callable[..., None]) -> Iterator[None]:
    """A handler of another add-on."""
    handlers: list[Any] = getattr(bpy.app.handlers, name)
    handlers.append(function)
    yield
    handlers.remove(function)


CHANGES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "setting": (lambda c, _: setattr(c.verlet, "damping", 3.0), "Damping of Cloth changed"),
    "substeps": (lambda _, s: setattr(s.verlet, "substeps", 3), "Substeps changed"),
    "gravity": (lambda _, s: setattr(s, "gravity", (0, 0, -1)), "Gravity changed"),
    "frame rate": (lambda _, s: setattr(s.render, "fps", 30), "Frame Rate"),
    "first frame": (lambda _, s: setattr(s, "frame_start", 2), "Start Frame"),
    "moved": (lambda c, _: setattr(c, "location", (0, 0, 3)), "Cloth changed"),
    "collider": (lambda *_: ball().modifiers.new("", "COLLISION"), "Ball collides now"),
    "hidden collider": (
        lambda *_: setattr(bpy.data.objects["Floor"], "hide_viewport", True),
        "Floor no longer collides",
    ),
    "collider settings": (
        lambda *_: setattr(bpy.data.objects["Floor"].collision, "cloth_friction", 3.0),
        "Floor changed",
    ),
    "deleted collider": (
        lambda *_: bpy.data.objects.remove(bpy.data.objects["Floor"]),
        "Floor no longer collides",
    ),
    "field": (lambda *_: bpy.ops.object.effector_add(type="WIND"), "Wind acts now"),
    "renamed": (lambda c, _: setattr(c, "name", "Clothes"), "Cloth was removed"),
    "another body": (lambda *_: cloth("Other", height=4.0), "Other was added"),
    "hidden": (lambda c, _: c.hide_set(True), "Cloth was removed"),
    "switched off": (lambda c, _: setattr(c.verlet, "enabled", False), "Cloth was removed"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_has_changed_is_named(change: str, scene: Any, live: ModuleType) -> None:
    obj = cloth()
    floor = sheet("Floor", size=3.0)
    floor.modifiers.new("Collision", "COLLISION")
    cloth("Second", height=5.0)
    start(scene)
    session = live.session_of(scene)
    act, reason = CHANGES[change]
    act(obj, scene)
    bpy.context.view_layer.update()
    live.note_changes(session)
    assert reason in session.stale
    scene.frame_set(scene.frame_start)
    assert live.session_of(scene) is not session
    assert reason in live.session_of(scene).restarted


def driven(obstacle: Any) -> Any:
    """An object that moves a collider by a driver."""
    leader = bpy.data.objects.new("Leader", None)
    bpy.context.scene.collection.objects.link(leader)
    curve = obstacle.driver_add("location", 2)
    curve.driver.expression = "way"
    variable = curve.driver.variables.new()
    variable.name, variable.type = "way", "TRANSFORMS"
    variable.targets[0].id = leader
    variable.targets[0].transform_type = "LOC_Z"
    return leader


@pytest.mark.parametrize("what", ["body", "mesh", "carrier", "driver", "collider", "weights"])
def test_changes_that_a_frame_change_evaluates_are_noticed(
    what: str, scene: Any, live: ModuleType
) -> None:
    """While the timeline plays slowly, Blender reports updates to no handler."""
    obj = cloth()
    hook: Any = bpy.data.objects.new("Hook", None)
    scene.collection.objects.link(hook)
    obj.modifiers.new("Hook", "HOOK").object = hook
    floor = sheet("Floor", size=3.0)
    floor.modifiers.new("Collision", "COLLISION")
    floor.keyframe_insert("location", index=0, frame=1)
    floor.location.x = 0.1
    floor.keyframe_insert("location", index=0, frame=END)
    obstacle = ball()
    obstacle.modifiers.new("Collision", "COLLISION")
    leader = driven(obstacle)
    bpy.context.view_layer.update()
    start(scene)
    session = live.session_of(scene)
    assert not session.stale
    if what == "body":
        obj.location.z = 3.0
    if what == "mesh":
        obj.data.vertices[7].co.z = 0.3
        obj.data.update()
    if what == "carrier":
        hook.location.z = 0.3
    if what == "driver":
        leader.location.z = -3.0
    if what == "collider":
        sheet("Other").modifiers.new("Collision", "COLLISION")
    if what == "weights":
        obj.vertex_groups["Pin"].add([7], 1.0, "REPLACE")
    scene.frame_set(3)
    assert session.stale
    play(scene)
    assert live.session_of(scene) is not session


def test_other_changes_leave_the_simulation_valid(scene: Any, live: ModuleType) -> None:
    obj = cloth()
    other = sheet("Other", height=4.0)
    start(scene)
    session = live.session_of(scene)
    scene.frame_end = 20
    scene.render.resolution_x = 300
    other.location.x = 3.0
    select(other)
    bpy.data.objects.new("Loose", None)
    scene.collection.objects.link(bpy.data.objects["Loose"])
    bpy.context.view_layer.update()
    other.location.x = 4.0
    play(scene, end=9)
    assert live.session_of(scene) is session
    assert not session.stale
    assert session.last == 9
    assert live_names(obj)


def test_a_duplicate_does_not_show_the_cache_of_its_original(scene: Any, live: ModuleType) -> None:
    obj = cloth()
    start(scene)
    select(obj)
    bpy.ops.object.duplicate()
    copy: Any = bpy.context.object
    copy.location.x += 3.0
    bpy.context.view_layer.update()
    assert not live_names(copy)
    play(scene)
    assert live.session_of(scene).last == END
    assert file_of(copy) != file_of(obj)
    verlet.reset()
    assert not live_names(copy) + live_names(obj)


def test_a_deleted_body_is_simulated_no_more(scene: Any, live: ModuleType) -> None:
    obj, other = cloth(), cloth("Other", height=4.0)
    start(scene)
    path = file_of(obj)
    bpy.data.objects.remove(obj)
    bpy.context.view_layer.update()
    assert "Cloth" in live.session_of(scene).stale
    play(scene)
    assert [*live.session_of(scene).stage.bodies] == [other]
    assert not path.exists()
    bpy.data.objects.remove(other)
    play(scene)
    assert live.session_of(scene) is None
    assert "There is no soft body" in live.message_of(scene)


def test_a_body_taken_out_of_the_scene_shows_no_cache(scene: Any, live: ModuleType) -> None:
    obj, other = cloth(), cloth("Other", height=4.0)
    start(scene)
    scene.collection.objects.unlink(obj)
    play(scene)
    assert [*live.session_of(scene).stage.bodies] == [other]
    assert not live_names(obj)


@pytest.mark.usefixtures("live")
def test_edit_mode_pauses_and_then_restarts(scene: Any, live: ModuleType) -> None:
    obj = cloth()
    start(scene, end=3)
    session = live.session_of(scene)
    select(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    play(scene)
    assert live.session_of(scene) is session
    assert session.last == 3
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0, 0, 1))
    bpy.ops.object.mode_set(mode="OBJECT")
    play(scene)
    assert live.session_of(scene).last == END
    assert shown(obj, END)[:, 2].max() == pytest.approx(3.0, abs=1e-5)
    verlet.reset()
    assert len(obj.modifiers) == 0


def test_undo_past_the_start_ends_live(scene: Any, live: ModuleType) -> None:
    cloth()
    bpy.ops.ed.undo_push(message="Before")
    before = file_content()
    verlet.live()
    bpy.ops.ed.undo_push(message="Live")
    play(scene)
    path = file_of(bpy.data.objects["Cloth"])
    bpy.ops.ed.undo()
    scene = bpy.context.scene
    assert live.session_of(scene) is None
    assert not scene.verlet.use_live
    assert not path.exists()
    scene.frame_set(1)
    assert file_content() == before
    bpy.ops.ed.redo()
    scene = bpy.context.scene
    assert scene.verlet.use_live
    play(scene)
    assert live.session_of(scene).last == END
    assert len(live_names(bpy.data.objects["Cloth"])) == 1
    verlet.reset()
    scene.frame_set(1)
    assert file_content() == before


def test_undo_and_redo_of_a_change_make_the_simulation_stale(scene: Any, live: ModuleType) -> None:
    cloth()
    start(scene)
    bpy.ops.ed.undo_push(message="Live")
    blender.data.objects["Cloth"].verlet.damping = 4.0
    bpy.data.objects["Cloth"].location.z = 3.0
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Changed")
    play(bpy.context.scene)
    changed = shown(bpy.data.objects["Cloth"], END)
    session = live.session_of(bpy.context.scene)
    bpy.ops.ed.undo()
    bpy.context.scene.frame_set(END)
    assert live.session_of(bpy.context.scene) is session
    assert session.stale
    play(bpy.context.scene)
    first = shown(bpy.data.objects["Cloth"], END)
    assert not np.allclose(first, changed, atol=1e-3)
    bpy.ops.ed.redo()
    play(bpy.context.scene)
    assert np.array_equal(shown(bpy.data.objects["Cloth"], END), changed)


def test_undo_of_a_bake_starts_live_again(scene: Any, live: ModuleType) -> None:
    cloth()
    start(scene)
    before = shown(bpy.data.objects["Cloth"], END)
    bpy.ops.ed.undo_push(message="Live")
    verlet.bake()
    bpy.ops.ed.undo_push(message="Bake")
    bpy.ops.ed.undo()
    obj, scene = bpy.data.objects["Cloth"], bpy.context.scene
    assert not baked(obj)
    play(scene)
    assert live.session_of(scene).last == END
    assert np.array_equal(shown(obj, END), before)
    assert len(live_names(obj)) == 1


def test_each_saved_file_has_its_own_caches(scene: Any, live: ModuleType, tmp_path: Path) -> None:
    obj = cloth()
    start(scene, end=3)
    here, there = tmp_path / "a" / "one.blend", tmp_path / "b" / "two.blend"
    here.parent.mkdir()
    there.parent.mkdir()
    working = file_of(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(here))
    assert file_of(obj) == working
    third = shown(obj, 3)
    play(scene, start=4)
    last = shown(obj, END)
    bpy.ops.wm.save_as_mainfile(filepath=str(there))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a" / "copy.blend"), copy=True)
    assert file_of(obj) == working
    assert not live.session_of(scene).stale
    verlet.reset()
    assert not working.exists()
    for path, shows in ((here, third), (there, last), (tmp_path / "a" / "copy.blend", last)):
        bpy.ops.wm.open_mainfile(filepath=str(path))
        assert np.array_equal(shown(bpy.data.objects["Cloth"], END), shows)
    verlet.reset()
    bpy.ops.wm.save_mainfile()
    assert not list(tmp_path.glob("a/copy_*"))
    assert list(tmp_path.glob("a/one_*"))


@pytest.mark.usefixtures("live")
def test_a_project_that_is_moved_plays_on(scene: Any, tmp_path: Path) -> None:
    obj = cloth()
    start(scene)
    last = shown(obj, END)
    path = tmp_path / "first" / "saved.blend"
    path.parent.mkdir()
    for _ in range(2):
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    verlet.reset()
    path.parent.rename(tmp_path / "second")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "second" / "saved.blend"))
    assert np.array_equal(shown(bpy.data.objects["Cloth"], END), last)


@pytest.mark.usefixtures("live")
def test_a_bake_of_a_file_saved_while_live_is_seen(scene: Any, tmp_path: Path) -> None:
    cloth()
    start(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    verlet.bake()
    assert not live_names(bpy.data.objects["Cloth"])


def test_loading_a_file_drops_live(scene: Any, live: ModuleType, tmp_path: Path) -> None:
    obj = cloth()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "before.blend"))
    start(scene)
    path = file_of(obj)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "before.blend"))
    assert not path.exists()
    scene = bpy.context.scene
    assert live.session_of(scene) is None
    play(scene)
    assert not live_names(bpy.data.objects["Cloth"])


def test_two_scenes_simulate_side_by_side(scene: Any, live: ModuleType) -> None:
    obj = cloth()
    other_scene: Any = bpy.data.scenes.new("Other")
    other_scene.frame_end = END
    other = cloth("Other")
    scene.collection.objects.unlink(other)
    other_scene.collection.objects.link(other)
    start(scene)
    last = shown(obj, END)
    start(other_scene)
    assert live.session_of(scene).last == live.session_of(other_scene).last == END
    assert not live.session_of(scene).stale
    live.end_live(other_scene)
    assert not live_names(other)
    assert np.array_equal(shown(obj, END), last)
    start(other_scene)
    bpy.data.scenes.remove(other_scene)
    bpy.context.view_layer.update()
    assert not live_names(other)
    assert live_names(obj)


def test_a_body_of_two_scenes_is_simulated_in_one(scene: Any, live: ModuleType) -> None:
    obj = cloth()
    start(scene)
    other: Any = bpy.data.scenes.new("Other")
    other.frame_end = END
    other.collection.objects.link(obj)
    start(other)
    assert live.session_of(other).last == END
    assert live.session_of(scene) is None
    assert "Cloth is simulated in Other" in live.message_of(scene)
    assert len(live_names(obj)) == 1


@pytest.mark.parametrize("first", [True, False])
def test_another_view_layer_changes_nothing(first: bool, scene: Any, live: ModuleType) -> None:
    obj = cloth()
    layer = scene.view_layers.new("Another")
    scene.verlet.use_live = True
    play(scene)
    wanted = shown(obj, END)
    verlet.reset()
    live.start_live(scene, scene.view_layers[0] if first else layer)
    play(scene)
    assert live.session_of(scene).last == END
    assert np.array_equal(shown(obj, END), wanted)
    layer.update()
    assert not live.session_of(scene).stale


@pytest.fixture
def renders(scene: Any) -> Any:
    """A scene that renders in a moment."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 1
    scene.cycles.use_denoising = False  # which some builds lack
    scene.render.resolution_x = scene.render.resolution_y = 8
    return scene


def test_a_render_plays_the_cache_and_simulates_nothing(
    renders: Any, live: ModuleType, tmp_path: Path
) -> None:
    obj = cloth()
    start(renders, end=3)
    third = shown(obj, 3)
    session, seen = live.session_of(renders), dict[int, Any]()

    def look(scene: Any, depsgraph: Any = None) -> None:
        del depsgraph
        seen[scene.frame_current] = live.session_of(scene).last

    renders.render.filepath = str(tmp_path / "frame")
    with handler("render_post", look):
        bpy.ops.render.render(animation=True)
    assert seen == dict.fromkeys(range(1, END + 1), 3)
    assert "after 3" in live.message_of(renders)
    assert np.array_equal(shown(obj, 3), third)
    play(renders, start=4)
    assert live.session_of(renders) is session
    assert session.last == END


def test_a_render_that_fails_leaves_live_at_work(scene: Any, live: ModuleType) -> None:
    cloth()
    start(scene, end=3)
    scene.camera = None
    with pytest.raises(RuntimeError):
        bpy.ops.render.render()
    play(scene, start=4)
    assert live.session_of(scene).last == END


def test_a_complete_range_renders_without_a_warning(renders: Any, live: ModuleType) -> None:
    cloth()
    start(renders)
    bpy.ops.render.render()
    assert not live.message_of(renders)
    blender.data.objects["Cloth"].verlet.damping = 3.0
    renders.frame_set(3)
    bpy.ops.render.render()
    assert "Damping of Cloth" in live.message_of(renders)


def test_handlers_of_other_addons_are_followed_as_by_a_bake(scene: Any, live: ModuleType) -> None:
    """One moves the cloth by hand at each frame, and goes to other frames on the way."""
    obj = cloth()
    nested = [False]

    def move(scene: Any, _depsgraph: Any = None) -> None:
        if nested[0]:
            return
        frame = scene.frame_current
        nested[0] = True
        scene.frame_set(frame + 7)
        scene.frame_set(frame)
        nested[0] = False
        obj.location.x = 0.1 * frame

    with handler("frame_change_post", move):
        start(scene)
        assert live.session_of(scene).last == END
        lively = [frame.positions[0] for frame in live.session_of(scene).frames]
        bake = verlet.bake
        bake()
        assert live.session_of(scene) is None
        kept = baked(obj)
        verlet.clear_bake()
        bake()
        fresh = baked(obj)
    assert len(lively) == END
    assert all(np.array_equal(kept[name], fresh[name]) for name in fresh)


def test_disabling_the_addon_ends_live(scene: Any, addon: Callable[[str], ModuleType]) -> None:
    obj = cloth()
    handlers = addon("blender.live.handlers")
    before = file_content()
    start(scene)
    path = file_of(obj)
    handlers.unregister_handlers()
    try:
        assert not path.exists()
        scene.frame_set(1)
        assert file_content() == before
        scene.verlet.use_live = True
        play(scene)
        assert not live_names(obj)
    finally:
        scene.verlet.use_live = False
        handlers.register_handlers()


def test_carriers_after_what_finishes_the_mesh_are_told(scene: Any, live: ModuleType) -> None:
    obj = cloth()
    obj.modifiers.new("Subdivision", "SUBSURF")
    obj.modifiers.new("Hook", "HOOK")
    # Blender 5.2 puts new carriers first.
    obj.modifiers.move(obj.modifiers.find("Hook"), 1)
    before = file_content()
    start(scene)
    assert live.session_of(scene) is None
    assert "Subdivision comes before Hook" in live.message_of(scene)
    scene.frame_set(1)
    assert file_content() == before


def test_a_modifier_pinned_to_the_end_stays_there(scene: Any, live: ModuleType) -> None:
    obj = cloth()
    obj.modifiers.new("Subdivision", "SUBSURF")
    if not hasattr(obj.modifiers[0], "use_pin_to_last"):
        pytest.skip("this Blender pins no modifiers")
    obj.modifiers[0].use_pin_to_last = True
    start(scene)
    assert live.session_of(scene) is not None
    assert [item.type for item in obj.modifiers] == ["MESH_CACHE", "SUBSURF"]
    verlet.reset()
    assert [item.type for item in obj.modifiers] == ["SUBSURF"]


def test_scripts_may_rename_the_scene(scene: Any, live: ModuleType) -> None:
    cloth()
    start(scene)
    scene.name = "Renamed"
    play(scene)
    assert live.session_of(scene).last == END
    assert not live.session_of(scene).stale


def test_the_scene_is_as_before_after_all_of_it(scene: Any) -> None:
    """Twice over, in whatever order: keys, modifiers, selection and the active modifier."""
    obj = cloth()
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Own").value = 0.3
    for kind in ("SUBSURF", "SOLIDIFY"):
        obj.modifiers.new(kind.title(), kind)
    obj.modifiers.active = obj.modifiers[0]
    before = file_content()
    for _ in range(2):
        start(scene)
        obj.verlet.damping = 3.0
        play(scene)
        obj.verlet.property_unset("damping")
        play(scene)
        blender.ops.verlet.reset()
    scene.frame_set(1)
    assert file_content() == before


def test_what_waits_for_an_evaluation_is_read_from_copies(addon: Any) -> None:
    """Blender crashes where the original of an evaluated copy is asked for, and was deleted."""
    camera = SimpleNamespace(id_type="OBJECT", name_full="Camera")  # without `original`
    update = SimpleNamespace(id=camera, is_updated_geometry=False, is_updated_transform=True)
    updated = addon("blender.live.updates").updated
    assert updated(SimpleNamespace(updates=[update])) == {(("OBJECT", "Camera"), "transform")}


def test_a_deleted_object_waits_for_no_frame(scene: Any) -> None:
    """A camera that moved and was removed before the next frame: the simulation goes on."""
    cloth()
    start(scene)
    play(scene)
    for _ in range(5):
        data = bpy.data.cameras.new("Camera")
        camera = bpy.data.objects.new("Camera", data)
        scene.collection.objects.link(camera)
        bpy.context.view_layer.update()
        camera.location.x = 1.0
        bpy.data.cameras.remove(data)
        scene.frame_set(3)
    assert scene.verlet.use_live
