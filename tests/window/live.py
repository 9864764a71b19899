"""Live simulation with mouse and keyboard, in a window of real Blender."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import bpy
import numpy as np

from tests.blender.scenes import baked, file_content, select, shown, verlet
from tests.window.first_minutes import BAKE, add_cloth
from tests.window.hand import Hand, Steps, wait, wait_until

LIVE = "bpy.ops.verlet.live()"
EVERY_FRAME = 'bpy.ops.wm.context_set_enum(data_path="scene.sync_mode", value="NONE")'
CONTROL = "bl_ext.user_default.verlet_soft_body.verlet_addon.blender.live.control"


def session() -> Any:
    """The live simulation of the scene; None without one."""
    return import_module(CONTROL).session_of(bpy.context.scene)


def simulated(number: int) -> Callable[[], bool]:
    """Whether frames are simulated so far, and valid."""

    def is_so() -> bool:
        found = session()
        return found is not None and not found.stale and found.last >= number

    return is_so


def restarted(reason: str) -> Callable[[], bool]:
    """Whether the simulation has restarted for a reason."""
    return lambda: reason in session().restarted


def modifiers(obj: Any) -> list[str]:
    """The names of the modifiers of an object."""
    return [modifier.name for modifier in obj.modifiers]


def frame_reached(number: int) -> Callable[[], bool]:
    """Whether the timeline has come so far."""
    return lambda: bpy.context.scene.frame_current >= number


def test_space_plays_a_live_simulation(hand: Hand) -> Steps:
    """Add a cloth, press Live and Space: it moves; end it, and the scene is as before.

    End Live asks first, for undo would not bring the frames back.
    """
    yield from hand.over_view()
    yield from hand.press("DEL")
    yield from add_cloth(hand)
    cloth: Any = bpy.data.objects["Cloth"]
    bpy.context.scene.frame_end = 40
    start = shown(cloth, 1)
    before = file_content()
    yield from hand.sidebar()
    hand.picture("live_before")
    yield from hand.click((yield from hand.find(LIVE)))
    yield from wait_until(lambda: bpy.context.scene.verlet.use_live)
    yield from hand.over_view()
    yield from hand.press("SPACE")
    yield from wait_until(frame_reached(25), seconds=60)
    hand.picture("live_playing")
    yield from hand.press("SPACE")
    assert np.abs(shown(cloth, 20) - start).max() > 0.3
    cloth.verlet.mass = 1.0
    bpy.context.scene.frame_set(22)
    yield from hand.redrawn()
    hand.picture("live_changed")
    place = yield from hand.find(LIVE)
    yield from hand.click(place)
    yield from wait(0.5)
    hand.picture("live_asked")
    yield from hand.press("ESC")
    yield from wait(0.5)
    assert bpy.context.scene.verlet.use_live
    yield from hand.click(place)
    yield from wait(0.5)
    yield from hand.press("RET")
    yield from wait_until(lambda: not bpy.context.scene.verlet.use_live)
    cloth.verlet.property_unset("mass")
    bpy.context.scene.frame_set(1)
    yield from wait(0.2)
    assert file_content() == before
    assert not modifiers(cloth)


def test_undo_while_live_is_safe(hand: Hand) -> Steps:
    """Ctrl Z past the start of a live simulation ends it, and nothing of ours is left."""
    yield from hand.over_view()
    yield from hand.press("DEL")
    yield from add_cloth(hand)
    yield from hand.sidebar()
    yield from hand.click((yield from hand.find(LIVE)))
    yield from wait_until(lambda: bpy.context.scene.verlet.use_live)
    for number in range(1, 8):
        bpy.context.scene.frame_set(number)
    yield from hand.over_view()
    for _ in range(2):
        yield from hand.press("Z", ctrl=True)
        yield from wait(0.5)
    hand.picture("live_undone")
    for obj in bpy.data.objects:
        assert "Verlet Live" not in modifiers(obj)
    assert not bpy.context.scene.verlet.use_live


def prepared(hand: Hand, *, end: int) -> Steps:
    """A cloth, live, and so many frames."""
    yield from hand.over_view()
    yield from hand.press("DEL")
    yield from add_cloth(hand)
    bpy.context.scene.frame_end = end
    yield from hand.sidebar()
    yield from hand.click((yield from hand.find(LIVE)))
    yield from wait_until(lambda: bpy.context.scene.verlet.use_live)
    yield from hand.over_view()


def undo(hand: Hand, times: int) -> Steps:
    """Ctrl Z, so many times."""
    yield from hand.over_view()
    for _ in range(times):
        yield from hand.press("Z", ctrl=True)
        yield from wait(0.7)


def add_ball(hand: Hand) -> None:
    """A sphere below the cloth, made a collider by the button of the panel's operator."""
    with hand.override():
        bpy.ops.mesh.primitive_uv_sphere_add(radius=0.4, location=(0.3, 0.4, 0.6))
        verlet.make_collider()


def test_live_from_the_first_cloth_to_a_render(hand: Hand) -> Steps:
    """Change the material and add a collider while it plays, keep it, undo, save, open, render."""
    yield from prepared(hand, end=40)
    cloth: Any = bpy.data.objects["Cloth"]
    yield from hand.press("SPACE")
    yield from wait_until(simulated(15))
    with hand.override():
        select(cloth)
        verlet.set_material(material="LEATHER")
    yield from wait_until(restarted("of Cloth changed"))
    hand.picture("live_material")
    yield from wait_until(simulated(10))
    add_ball(hand)
    yield from wait_until(restarted("Sphere collides now"))
    yield from wait_until(simulated(40), seconds=120)
    yield from hand.press("SPACE")
    yield from hand.redrawn()
    hand.picture("live_collider")
    lively = [shown(cloth, frame) for frame in range(1, 41)]
    ball: Any = bpy.data.objects["Sphere"]
    away = np.linalg.norm(lively[-1] - np.array(ball.location), axis=1)
    assert away.min() > 0.39
    with hand.override():
        bpy.ops.ed.undo_push(message="Changes")  # Blender 4.3 adds none for commands of a script
    yield from hand.click((yield from hand.find(BAKE)))
    yield from wait_until(lambda: len(baked(cloth)) == 40)
    yield from wait_until(lambda: session() is None)
    assert not modifiers(cloth)
    assert all(np.array_equal(shown(cloth, n + 1), places) for n, places in enumerate(lively))
    hand.picture("live_kept")
    yield from undo(hand, 2)
    assert not baked(bpy.data.objects["Cloth"])
    hand.picture("live_undone_twice")
    yield from keep_saved(hand)


def keep_saved(hand: Hand) -> Steps:
    """Plays what is left after undo to the end, saves, opens the file, and renders it."""
    scene, cloth = bpy.context.scene, bpy.data.objects["Cloth"]
    assert scene.verlet.use_live
    yield from wait_until(lambda: session() is not None)
    for frame in range(1, 41):
        scene.frame_set(frame)
    assert session().last == 40
    lively = shown(cloth, 40)
    path = Path(mkdtemp()) / "live.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert not session().stale
    bpy.ops.wm.open_mainfile(filepath=str(path))
    yield from wait(1.0)
    scene, cloth = bpy.context.scene, bpy.data.objects["Cloth"]
    assert not scene.verlet.use_live
    assert np.array_equal(shown(cloth, 40), lively)
    hand.picture("live_opened")
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y = 320, 240
    scene.render.filepath = str(path.with_suffix(".png"))
    bpy.ops.render.render(write_still=True)
    assert path.with_suffix(".png").stat().st_size > 1000
    yield from wait(0.2)
    verlet.reset()
    assert not modifiers(cloth)


def test_dropped_frames_are_told_and_a_button_plays_them(hand: Hand) -> Steps:
    """Playback that skips frames simulates none; the button of the panel has it play every one."""
    yield from prepared(hand, end=60)
    scene: Any = bpy.context.scene
    scene.sync_mode = "FRAME_DROP"
    scene.render.fps = 240
    yield from hand.press("SPACE")
    yield from wait(2.0)
    yield from hand.redrawn()
    hand.picture("live_dropping")
    assert session().last < 60
    yield from hand.click((yield from hand.find(EVERY_FRAME)))
    assert scene.sync_mode == "NONE"
    yield from wait_until(simulated(60), seconds=120)
    yield from hand.over_view()
    yield from hand.press("SPACE")


def test_edit_mode_and_a_drag_while_it_plays(hand: Hand) -> Steps:
    """The mesh can be edited and the body moved while the timeline plays: it starts again."""
    yield from prepared(hand, end=60)
    cloth: Any = bpy.data.objects["Cloth"]
    yield from hand.press("SPACE")
    yield from wait_until(simulated(5))
    yield from hand.press("TAB")
    yield from wait_until(lambda: cloth.mode == "EDIT")
    yield from wait(1.0)
    hand.picture("live_editing")
    yield from hand.press("TAB")
    yield from wait_until(restarted("Cloth changed"))
    yield from wait_until(simulated(5))
    yield from hand.press("G")
    yield from hand.press("Z")
    yield from hand.type("1")
    yield from hand.press("RET")
    yield from wait_until(lambda: cloth.location.z > 2.5)
    yield from wait_until(simulated(20))
    hand.picture("live_moved")
    yield from hand.press("SPACE")
    assert shown(cloth, 20)[:, 2].max() > 2.9
