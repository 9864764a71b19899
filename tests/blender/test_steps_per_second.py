"""Steps are as long at every frame rate, and files of before keep as many a frame as they had."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import body, line, pin, sheet, shown, verlet

Addon = Callable[[str], ModuleType]
FRAME_RATES = [12, 24, 60, 120]


@pytest.fixture
def scene() -> Any:
    """The scene."""
    return bpy.context.scene


@pytest.fixture
def per_frame(addon: Addon, scene: Any) -> Callable[[], int]:
    """How many steps a bake makes from one frame of the scene to the next."""
    return lambda: addon("blender.settings.core_settings").scene_settings(scene).substeps


def fallen(fps: int) -> Any:
    """Where a cloth of a metre that hangs from one edge is after half a second."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene: Any = bpy.context.scene
    scene.render.fps, scene.verlet.use_ground = fps, False
    cloth = body(sheet(resolution=8, height=2.0))
    pin(cloth, range(9))
    verlet.bake(frame_start=0, frame_end=fps // 2)
    return shown(cloth, fps // 2)


def test_cloth_moves_alike_at_every_frame_rate() -> None:
    """To float32 of shape keys, as steps are as long; ten a frame differ by a centimetre."""
    wanted = fallen(FRAME_RATES[-1])
    for fps in FRAME_RATES[:-1]:
        assert np.abs(fallen(fps) - wanted).max() < 1e-5, fps


@pytest.mark.parametrize(
    ("fps", "base", "steps"),
    [
        *((fps, 1.0, 240 // fps) for fps in (12, 24, 30, 48, 60, 120, 240)),
        *((25, 1.0, 10), (50, 1.0, 5), (24, 1.001, 10), (30, 1.001, 8), (60, 1.001, 4)),
        (1, 5.0, 1200),
        (1000, 1.0, 1),
    ],
)
def test_steps_are_rounded_up_to_whole_ones_in_a_frame(
    per_frame: Callable[[], int], scene: Any, fps: int, base: float, steps: int
) -> None:
    """Television's rates, a thousandth slower, make as many as those that they are called by."""
    scene.render.fps, scene.render.fps_base = fps, base
    assert per_frame() == steps


def test_the_number_that_was_set_last_counts(per_frame: Callable[[], int], scene: Any) -> None:
    """Scripts that set steps a frame, as ever, get these."""
    scene.render.fps = 60
    scene.verlet.substeps = 20
    assert (scene.verlet.use_steps_per_second, per_frame()) == (False, 20)
    scene.verlet.steps_per_second = 600
    assert (scene.verlet.use_steps_per_second, per_frame()) == (True, 10)


def test_stretched_time_has_as_many_steps(per_frame: Callable[[], int], scene: Any) -> None:
    """A frame that shows half as much of the animation is half as long."""
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    assert per_frame() == 5


def reopened(path: Path, *, of_before: bool) -> Any:
    """The scene after the file was saved and opened; of before versions were noted in files."""
    former = bpy.app.handlers.save_pre[:]
    if of_before:
        bpy.app.handlers.save_pre.clear()
        scene: Any
        for scene in bpy.data.scenes:
            scene.verlet.property_unset("settings_version")
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    finally:
        bpy.app.handlers.save_pre[:] = former
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.context.scene


@pytest.mark.parametrize("set_to", [None, 7])
def test_a_file_of_before_keeps_its_steps_a_frame(
    tmp_path: Path, scene: Any, set_to: int | None
) -> None:
    """Those of the default, which files do not store, and others; also once it is saved again."""
    body(sheet())
    scene.render.fps = 60
    if set_to is not None:
        scene.verlet.substeps = set_to
        scene.verlet.property_unset("use_steps_per_second")  # it was not there
    for of_before in (True, False):
        now = reopened(tmp_path / "shot.blend", of_before=of_before)
        assert (now.verlet.use_steps_per_second, now.verlet.substeps) == (False, set_to or 10)


def test_a_file_of_now_keeps_its_steps_a_second(tmp_path: Path) -> None:
    """And one of before that has no bodies yet makes as many steps as a new one."""
    assert reopened(tmp_path / "empty.blend", of_before=True).verlet.use_steps_per_second
    body(sheet())
    assert reopened(tmp_path / "shot.blend", of_before=False).verlet.use_steps_per_second


def test_keys_on_the_number_that_does_not_count_are_named(addon: Addon, scene: Any) -> None:
    body(line(height=1.0))
    scene.keyframe_insert("verlet.substeps", frame=1)
    cautions = addon("blender.bake.idle_keys").idle_keys
    assert list(cautions(scene, bpy.context.view_layer, [])) == [
        "The keys of the scene Scene on Substeps have no effect while By Second is on; delete them"
    ]
    scene.verlet.use_steps_per_second = False
    assert not list(cautions(scene, bpy.context.view_layer, []))


def test_the_panel_says_what_it_is_in_a_frame(addon: Addon, scene: Any) -> None:
    scene.render.fps = 25
    panel = addon("blender.ui.simulation_panel").VERLET_PT_simulation
    assert panel.steps_text(scene) == "10 per frame, at 25 fps"


def test_cloth_of_before_keeps_how_its_bends_are_damped(tmp_path: Path) -> None:
    """Damping below 1 was that of its bends, too; a value of its own is left alone."""
    cloth, own = body(sheet("Cloth")), body(sheet("Own"))
    for obj in (cloth, own):
        obj.verlet.damping = 0.5
    own.verlet.inner_damping = 0.1
    cloth.verlet.property_unset("inner_damping")
    for of_before in (True, False):
        scene = reopened(tmp_path / "shot.blend", of_before=of_before)
        kept = [scene.objects[name].verlet.inner_damping for name in ("Cloth", "Own")]
        assert kept == pytest.approx([0.15, 0.1])
