"""Features that meet: curves, cages, edited frames and loops in every form of bake and export."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import body, file_content, line, pin, select, sheet, shown, verlet
from tests.blender.test_cache import moving, range_to, saved
from tests.blender.test_cages import cage_of
from tests.blender.test_curves import curve, drawn

END = 8


def cape() -> Any:
    """A sheet that swings, and frames to bake."""
    range_to(END)
    obj = body(sheet("Cape", resolution=6, height=3.0))
    pin(obj, [0, 6])
    return obj


def motion(obj: Any, end: int = END) -> Any:
    """(end, n, 3) what an object shows at each frame."""
    return np.array([shown(obj, frame) for frame in range(1, end + 1)])


@pytest.mark.parametrize("mode", ["ABSOLUTE", "COMPACT", "CACHE"])
def test_a_curve_has_a_key_per_frame_alone(mode: str, tmp_path: Path) -> None:
    range_to(END)
    body(curve())
    saved(tmp_path)
    before = file_content()
    with pytest.raises(RuntimeError, match=r"Rope is a curve, .*bake (it to a )?shape key"):
        verlet.bake(mode=mode)
    assert file_content() == before
    verlet.bake()
    before = file_content()
    for options in ({"mode": mode}, {"mode": "RELATIVE", "step": 2}):
        with pytest.raises(RuntimeError, match=r"Rope is a curve, .*Rope Mesh from Curve"):
            verlet.convert_bake(**options)
    assert file_content() == before


@pytest.mark.parametrize("mode", ["RELATIVE", "ABSOLUTE", "COMPACT", "CACHE"])
def test_a_curve_does_not_loop(mode: str, tmp_path: Path) -> None:
    range_to(40)
    body(curve())
    saved(tmp_path)
    before = file_content()
    with pytest.raises(RuntimeError, match="a loop cannot be shown; bake it without, or make it"):
        verlet.bake(mode=mode, loop=12)
    assert file_content() == before


@pytest.mark.parametrize("former", ["RELATIVE", "ABSOLUTE"])
@pytest.mark.parametrize("mode", ["RELATIVE", "CACHE", "ABSOLUTE", "COMPACT"])
def test_a_single_key_shown_is_not_taken_for_the_bake(
    former: str, mode: str, tmp_path: Path
) -> None:
    obj = cape()
    saved(tmp_path)
    verlet.bake(mode=former)
    wanted = motion(obj)
    obj.show_only_shape_key = True
    verlet.convert_bake(mode=mode, tolerance=0.02, **({"step": 1} if mode == former else {}))
    assert obj.show_only_shape_key
    obj.show_only_shape_key = False
    assert np.abs(motion(obj) - wanted).max() <= (0.02 if mode == "COMPACT" else 1e-5)


@pytest.fixture
def edited(tmp_path: Path) -> Any:
    """A cape whose bake to a cache is edited by hand at a frame."""
    obj = cape()
    saved(tmp_path)
    verlet.bake(mode="CACHE")
    bpy.context.scene.frame_set(4)
    verlet.edit_frame()
    return obj


def test_an_edited_frame_is_neither_converted_nor_exported(edited: Any, tmp_path: Path) -> None:
    before = file_content()
    for operator, options in {
        "convert_bake": {"mode": "RELATIVE"},
        "export_cache": {"filepath": str(tmp_path / "cape.pc2")},
        "export_vat": {"filepath": str(tmp_path / "cape.png")},
        "bake_bones": {},
    }.items():
        with pytest.raises(
            RuntimeError, match=r"has an edited frame, 4, .* or Discard Edited Frame"
        ):
            getattr(verlet, operator)(**options)
    assert file_content() == before
    verlet.discard_edit()
    assert verlet.convert_bake(mode="RELATIVE") == {"FINISHED"}
    assert edited.data.shape_keys.key_blocks[1].name == "verlet_0001"


@pytest.mark.parametrize("operator", ["clear_bake", "release", "apply_shape"])
def test_an_edited_frame_goes_with_its_bake(operator: str, edited: Any) -> None:
    wanted = shown(edited, 4)
    options = {"keep_motion": False} if operator == "release" else {}
    getattr(verlet, operator)(**options)
    assert edited.data.shape_keys is None
    assert not edited.modifiers
    if operator == "apply_shape":
        assert np.abs(shown(edited, 4) - wanted).max() < 1e-6


def test_a_key_of_the_users_that_is_called_so_stays_with_a_bake_to_keys() -> None:
    obj = cape()
    verlet.bake()
    obj.shape_key_add(name="Edited 3")
    verlet.clear_bake()
    assert "Edited 3" in obj.data.shape_keys.key_blocks


@pytest.mark.parametrize("made", ["loop", "conversion"])
def test_a_frame_is_only_edited_where_a_bake_can_go_on(made: str, tmp_path: Path) -> None:
    obj = cape()
    range_to(40)
    saved(tmp_path)
    if made == "loop":
        verlet.bake(mode="CACHE", loop=12)
    else:
        verlet.bake()
        verlet.convert_bake(mode="CACHE")
    bpy.context.scene.frame_set(obj.verlet.baked_start + 3)
    before = file_content()
    with pytest.raises(RuntimeError, match=r"cannot go on .* bake it anew as a cache"):
        verlet.edit_frame()
    assert file_content() == before


def test_keys_on_pins_let_a_curve_go(said: Any) -> None:
    range_to(20)
    rope = body(curve())
    rope.verlet.hold_start = True
    for frame, weight in ((5, 1.0), (6, 0.0)):
        rope.verlet.pin_weight = weight
        rope.keyframe_insert("verlet.pin_weight", frame=frame)
    assert said() == []
    verlet.bake()
    heights = [drawn(rope, frame)[0, 2] for frame in (1, 5, 20)]
    assert heights[1] == pytest.approx(heights[0], abs=1e-6)
    assert heights[2] < heights[0] - 0.5


def looping(loop: int = 20) -> Any:
    """A rope that swings in a loop."""
    range_to(60)
    obj = body(line("Rope", segments=12, height=3.0))
    pin(obj, [0])
    verlet.bake(loop=loop)
    return obj


def test_bones_of_a_loop_repeat() -> None:
    rope = looping()
    first = rope.verlet.baked_start
    verlet.bake_bones(count=4)
    skin = bpy.data.objects["Rope Skin"]
    for frame in range(first - 20, first + 41):
        away = np.linalg.norm(shown(skin, frame) - shown(rope, frame), axis=1)
        assert away.max() <= skin["bone_error_worst"] + 1e-5


def test_bones_of_a_loop_on_an_object_that_moves_on_end_with_it() -> None:
    rope = looping()
    moving(rope, 60)
    verlet.bake(loop=20)
    last = rope.verlet.baked_end
    verlet.bake_bones(count=4)
    skin = bpy.data.objects["Rope Skin"]
    np.testing.assert_array_equal(shown(skin, last + 5), shown(skin, last))


def test_a_conversion_leaves_curves_as_they_are_and_says_so() -> None:
    range_to(END)
    rope = body(curve())
    other = body(line("Line", height=4.0))
    pin(other, [0])
    verlet.bake()
    keys = rope.data.shape_keys.key_blocks.keys()
    assert verlet.convert_bake(mode="ABSOLUTE") == {"FINISHED"}
    assert other.verlet.baked_form == "ABSOLUTE"
    assert (rope.verlet.baked_form, rope.data.shape_keys.key_blocks.keys()) == ("", keys)


def test_a_frame_of_a_body_with_a_cage_is_not_edited(tmp_path: Path) -> None:
    range_to(END)
    fine = cage_of(sheet("Fine", resolution=8, height=2.0), sheet("Cage", height=2.0))
    select(fine)
    saved(tmp_path)
    verlet.bake(mode="CACHE")
    bpy.context.scene.frame_set(4)
    before = file_content()
    with pytest.raises(
        RuntimeError, match="Fine follows Cage, its Simulate As, which an edited frame"
    ):
        verlet.edit_frame()
    assert file_content() == before


def test_a_curve_is_exported_as_a_mesh_alone(tmp_path: Path) -> None:
    range_to(END)
    rope = body(curve())
    verlet.bake()
    before = file_content()
    for operator, options in {
        "export_cache": {"filepath": str(tmp_path / "rope.pc2")},
        "export_vat": {"filepath": str(tmp_path / "rope.png")},
        "bake_bones": {},
    }.items():
        with pytest.raises(RuntimeError, match=r"Rope is a curve, .*Rope Mesh from Curve"):
            getattr(verlet, operator)(**options)
    assert file_content() == before
    verlet.curve_to_mesh()
    mesh = bpy.context.object
    assert mesh is not None
    assert mesh != rope
    verlet.bake()
    verlet.export_cache(filepath=str(tmp_path / "rope.pc2"))
    assert (tmp_path / "rope.pc2").exists()


def morphed() -> Any:
    """A collider with a morph."""
    obj = sheet("Table")
    verlet.make_collider()
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Higher")
    return obj


def test_a_curve_is_neither_draped_nor_fitted() -> None:
    body(curve())
    ball = morphed()
    for operator, options in {"drape": {}, "fit": {"garment": "Rope", "on": ball.name}}.items():
        with pytest.raises(RuntimeError, match=r"Rope is a curve, .*Rope Mesh from Curve"):
            getattr(verlet, operator)(**options)


@pytest.mark.parametrize("mode", ["RELATIVE", "ABSOLUTE", "COMPACT", "CACHE"])
def test_the_fine_mesh_of_a_cage_is_exported_from_every_form(mode: str, tmp_path: Path) -> None:
    range_to(END)
    fine = cage_of(sheet("Fine", resolution=8, height=2.0), sheet("Cage", height=2.0))
    saved(tmp_path)
    verlet.bake(mode=mode, tolerance=0.02)
    wanted = motion(fine)
    select(fine)
    path = tmp_path / "fine.pc2"
    verlet.export_cache(filepath=str(path), space="WORLD")
    written = np.frombuffer(path.read_bytes()[32:], "<f4").reshape(wanted.shape)
    assert np.abs(written - wanted).max() < 1e-5
    verlet.bake_bones(count=4)
    skin = bpy.data.objects["Fine Skin"]
    away = np.linalg.norm(motion(skin) - wanted, axis=2)
    assert away.max() == pytest.approx(skin["bone_error_worst"], abs=1e-5)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_directed_loop_closes_and_keeps_its_distance(share: float) -> None:
    obj = cape()
    range_to(70)
    obj.verlet.inertia_share = share
    obj.verlet.use_maximum_distance, obj.verlet.maximum_distance = True, 0.1
    for frame in range(1, 112, 5):  # to and fro, once in 20 frames
        obj.location.x = np.sin(2 * np.pi * (frame - 1) / 20)
        obj.keyframe_insert("location", frame=frame)
    verlet.bake(loop=20)
    first = obj.verlet.baked_start
    loop = [shown(obj, frame) for frame in range(first, first + 21)]
    assert np.abs(loop[-1] - loop[0]).max() < 1e-5
    assert bpy.context.scene.verlet.baked_remarks == ""
    verlet.clear_bake()
    for frame, places in enumerate(loop, start=first):
        away = np.linalg.norm(places - shown(obj, frame), axis=1)
        assert away.max() <= 0.1 + 1e-5


def test_an_edited_frame_is_not_grabbed(edited: Any, addon: Callable[[str], Any]) -> None:
    """What is kept would take its place, without what was sculpted."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    before = file_content()
    with pytest.raises(Exception, match="Cape has an edited frame, 4, which would act"):
        addon("blender.live.grab").begin_grab(scene, layer)
    assert file_content() == before
    assert edited.data.shape_keys.key_blocks.keys() == ["Basis", "Edited 4"]
