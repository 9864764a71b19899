"""The command line: what it bakes, what it prints where, and how it ends."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.command_line import keys_in, names, run
from tests.blender.scenes import baked, body, line, shown, verlet

# --- what is baked ------------------------------------------------------------------------------


def test_all_bodies_of_the_file_are_baked_over_its_own_frames(
    cli: ModuleType, blend: Path, tmp_path: Path
) -> None:
    assert cli.main(["bake", str(blend), "--output", str(tmp_path / "out.blend")]) == 0
    found = keys_in(tmp_path / "out.blend")
    assert found == {"Cloth": names(range(1, 7)), "Rope": names(range(1, 7)), "Table": []}


def test_the_command_bakes_what_the_operator_bakes(
    cli: ModuleType, blend: Path, tmp_path: Path
) -> None:
    verlet.bake()
    wanted = {obj.name: list(baked(obj).values()) for obj in bpy.data.objects}
    cli.main(["bake", str(blend), "--output", str(tmp_path / "out.blend")])
    keys_in(tmp_path / "out.blend")
    for obj in bpy.data.objects:
        assert np.array_equal(list(baked(obj).values()), wanted[obj.name])


def test_chosen_objects_frames_and_step(cli: ModuleType, blend: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.blend"
    options = ["--object", "Rope", "--frames", "-2", "5", "--step", "3", "--mode", "relative"]
    assert cli.main(["bake", str(blend), "--output", str(out), *options]) == 0
    found = keys_in(out)
    assert found["Cloth"] == []
    assert found["Rope"] == ["verlet_-002", "verlet_0001", "verlet_0004", "verlet_0005"]
    rope = bpy.data.objects["Rope"]
    assert shown(rope, 4)[:, 2].min() < shown(rope, 1)[:, 2].min() < shown(rope, -2)[:, 2].min()


def test_the_input_stays_and_may_be_the_output(
    cli: ModuleType, blend: Path, tmp_path: Path
) -> None:
    before = blend.read_bytes()
    cli.main(["bake", str(blend), "--output", str(tmp_path / "out.blend")])
    assert blend.read_bytes() == before
    assert cli.main(["bake", str(blend), "--output", str(blend), "--frames", "1", "3"]) == 0
    assert keys_in(blend)["Rope"] == names(range(1, 4))


@pytest.mark.usefixtures("blend")
def test_paths_are_relative_to_the_current_folder(
    cli: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deeper").mkdir()
    monkeypatch.chdir(tmp_path / "deeper")
    assert cli.main(["bake", "../in.blend", "--output", "out.blend"]) == 0
    assert (tmp_path / "deeper" / "out.blend").exists()


def test_the_scene_that_the_file_shows_is_baked(cli: ModuleType, tmp_path: Path) -> None:
    body(line("First"))
    other = bpy.data.scenes.new("Other")
    other.frame_start, other.frame_end = 1, 2
    bpy.context.window.scene = other
    body(line("Second"))
    path = tmp_path / "in.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    bpy.context.window.scene = bpy.data.scenes["Scene"]
    assert cli.main(["bake", str(path), "--output", str(path)]) == 0
    assert keys_in(path) == {"First": [], "Second": names(range(1, 3))}


def test_the_scene_that_is_asked_for_is_baked_and_the_file_shows_the_same_as_before(
    cli: ModuleType, blend: Path
) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    shot = bpy.data.scenes.new("Shot 2")
    shot.frame_start, shot.frame_end = 11, 13
    shot.collection.objects.link(bpy.data.objects["Rope"])
    bpy.ops.wm.save_mainfile()
    out = blend.parent / "out.blend"
    assert cli.main(["bake", str(blend), "--output", str(out), "--scene", "Shot 2"]) == 0
    assert keys_in(out) == {"Cloth": [], "Rope": names(range(11, 14)), "Table": []}
    assert bpy.context.scene.name == "Scene"


def test_settings_of_the_scene_and_of_bodies_are_set_for_one_bake(
    cli: ModuleType, blend: Path
) -> None:
    """The bake is that of a file which has them; the file read stays, the output keeps them."""
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.data.objects["Cloth"].name = "Cloth.v2"
    rope: Any = bpy.data.objects["Rope"]
    bpy.ops.wm.save_mainfile()
    rope.verlet.pin_group, rope.verlet.gravity = "", 0.5
    bpy.context.scene.verlet.substeps = 4
    cloth: Any = bpy.data.objects["Cloth.v2"]
    cloth.verlet.enabled = False
    verlet.bake()
    wanted = list(baked(rope).values())
    out = blend.parent / "out.blend"
    given = ["substeps=4", "Rope.gravity=0.5", "Rope.pin_group=", "Cloth.v2.enabled=off"]
    options = [word for each in given for word in ("--set", each)]
    assert cli.main(["bake", str(blend), "--output", str(out), *options]) == 0
    assert keys_in(out)["Cloth.v2"] == []
    assert np.array_equal(list(baked(bpy.data.objects["Rope"]).values()), wanted)
    assert bpy.context.scene.verlet.substeps == 4
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert bpy.context.scene.verlet.substeps == 10


def test_a_material_that_is_set_brings_its_settings(cli: ModuleType, blend: Path) -> None:
    out = blend.parent / "out.blend"
    assert (
        cli.main(["bake", str(blend), "--output", str(out), "--set", "Cloth.material=denim"]) == 0
    )
    keys_in(out)
    cloth: Any = bpy.data.objects["Cloth"]
    assert (cloth.verlet.material, cloth.verlet.use_density) == ("DENIM", True)


def test_a_material_of_another_type_is_refused_unless_the_type_is_set_first(
    cli: ModuleType, blend: Path, printed: Callable[[], Any]
) -> None:
    out = blend.parent / "out.blend"
    given = ["bake", str(blend), "--output", str(out)]
    assert cli.main([*given, "--set", "*.material=hemp"]) == 1
    assert printed().err == (
        "verlet: --set *.material=hemp does not suit Cloth, which is Cloth; give it a material of "
        "Cloth, or make it Rope first, by --set Cloth.body_type=rope\n"
    )
    assert not out.exists()
    first = ["--set", "Cloth.body_type=rope"]
    assert cli.main([*given, *first, "--set", "*.material=hemp"]) == 0
    keys_in(out)
    cloth: Any = bpy.data.objects["Cloth"]
    assert (cloth.verlet.body_type, cloth.verlet.material) == ("ROPE", "HEMP")


def test_hair_and_water_are_told_what_suits_them(
    addon: Callable[[str], ModuleType], blend: Path
) -> None:
    override = addon("blender.cli.setting_overrides").override
    settings_error = addon("core.errors").SettingsError
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    for given, told in (
        (["Cloth.material=curly"], r"is Cloth; give it a material of Cloth$"),
        (["Cloth.body_type=water", "Cloth.material=fat"], r"is Water; make it Flesh first, by"),
        (["Cloth.material=curly"], r"is Water; name the bodies that it suits, by BODY\.material$"),
    ):
        with pytest.raises(settings_error, match=told):
            override(bpy.context.scene, given)


def test_textures_are_found_from_another_folder(
    cli: ModuleType, blend: Path, tmp_path: Path
) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    image = bpy.data.images.new("Image", 4, 4)
    image.source, image.filepath, image.use_fake_user = "FILE", "//image.png", True
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    (tmp_path / "deeper").mkdir()
    out = tmp_path / "deeper" / "out.blend"
    cli.main(["bake", str(blend), "--output", str(out), "--frames", "1", "2"])
    keys_in(out)
    found = bpy.path.abspath(bpy.data.images["Image"].filepath)
    assert Path(found).resolve() == tmp_path / "image.png"


# --- what is printed ----------------------------------------------------------------------------


def test_json_is_all_there_is_on_stdout(
    cli: ModuleType, blend: Path, tmp_path: Path, printed: Callable[[], Any]
) -> None:
    out = tmp_path / "out.blend"
    assert cli.main(["bake", str(blend), "--output", str(out), "--json"]) == 0
    text = printed()
    assert text.err == ""
    result = json.loads(text.out)
    assert result.pop("seconds") > 0
    assert result.pop("threads") >= 1  # those that were the fastest
    assert 0 < result.pop("worst_stretch") < 0.5
    assert result.pop("most_stretched") in ("Cloth", "Rope")
    assert 0 <= result.pop("worst_penetration") <= 0.005  # they touch: both start at one height
    (search,) = result.pop("contact_searches")
    assert search["objects"] == ["Cloth", "Rope"]
    assert search["searches"] > 0
    assert search["tests"] > 0
    cloth: Any = bpy.data.objects["Cloth"]
    made = {"mode": "relative", "keys": 6, "frames": [1, 6], "loop": 0, "worst": 0.0, "rms": 0.0}
    assert result.pop("bakes") == [{"body": name, **made} for name in ("Cloth", "Rope")]
    assert result == {
        "output": str(out),
        "bodies": ["Cloth", "Rope"],
        "frames": [1, 6],
        "step": 1,
        "mode": "relative",
        "loop": 0,
        "colliders": 0,
        "warnings": [],
        "remarks": [],
        "memory": 64 * 2**20 + 6 * 24 * (25 + 5) + 2 * 6 * 5000,
        "kernels": cloth.verlet.baked_kernels,
        "error": None,
    }


def test_json_holds_what_is_warned_of(
    cli: ModuleType, blend: Path, tmp_path: Path, printed: Callable[[], Any]
) -> None:
    """Who bakes hundreds of files reads one answer for each."""
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.data.objects["Rope"].hide_set(True)
    bpy.ops.wm.save_mainfile()
    printed()
    out = tmp_path / "out.blend"
    assert cli.main(["bake", str(blend), "--output", str(out), "--json"]) == 0
    (warning,) = json.loads(printed().out)["warnings"]
    assert warning.startswith("Rope is hidden and left out")


def test_without_json_one_line_says_what_was_done(
    cli: ModuleType, blend: Path, tmp_path: Path, printed: Callable[[], Any]
) -> None:
    out = tmp_path / "out.blend"
    cli.main(["bake", str(blend), "--output", str(out)])
    text = printed()
    assert text.err == ""
    (told,) = text.out.splitlines()
    assert told.startswith("Baked Cloth, Rope, frames 1 to 6, in ")
    assert told.endswith(str(out))


def test_a_terminal_is_told_how_far_it_is(
    cli: ModuleType,
    blend: Path,
    tmp_path: Path,
    printed: Callable[[], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    cli.main(["bake", str(blend), "--output", str(tmp_path / "out.blend")])
    shown_lines = printed().err.split("\r")
    assert any("frame 3 of 6" in line for line in shown_lines)
    assert shown_lines[-1].strip("\x1b[K") == ""


def test_a_log_is_told_how_far_it_is_line_by_line(
    cli: ModuleType,
    blend: Path,
    tmp_path: Path,
    printed: Callable[[], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One line every ten seconds, so none for a bake as short as this; here one for each frame."""
    assert cli.LOG_SECONDS == 10.0
    monkeypatch.setattr(cli, "LOG_SECONDS", 0.0)
    cli.main(["bake", str(blend), "--output", str(tmp_path / "out.blend")])
    told = [line for line in printed().err.splitlines() if "frame" in line]
    assert [line.split(",")[0] for line in told] == [
        f"verlet: frame {number} of 6" for number in range(1, 7)
    ]
    assert told[0].endswith("6")
    assert all(line.endswith(" left") for line in told[1:])


def test_the_step_is_the_scene_s_unless_one_is_given(
    cli: ModuleType, blend: Path, tmp_path: Path
) -> None:
    bpy.context.scene.verlet.key_step = 5
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    out = tmp_path / "out.blend"
    assert cli.main(["bake", str(blend), "--output", str(out)]) == 0
    assert keys_in(out)["Rope"] == names(range(1, 7, 5))
    assert cli.main(["bake", str(blend), "--output", str(out), "--step", "3"]) == 0
    assert keys_in(out)["Rope"] == ["verlet_0001", "verlet_0004", "verlet_0006"]


# --- mistakes -----------------------------------------------------------------------------------


def missing(folder: Path) -> list[str]:
    return [str(folder / "nowhere.blend"), "--output", str(folder / "out.blend")]


def no_blend(folder: Path) -> list[str]:
    (folder / "text.blend").write_text("Not a file of Blender's", encoding="utf-8")
    return [str(folder / "text.blend"), "--output", str(folder / "out.blend")]


def damaged(folder: Path) -> list[str]:
    (folder / "cut.blend").write_bytes((folder / "in.blend").read_bytes()[:11])
    return [str(folder / "cut.blend"), "--output", str(folder / "out.blend")]


def no_such_object(folder: Path) -> list[str]:
    return [*good(folder), "--object", "Curtain"]


def no_such_object_but_one_like_it(folder: Path) -> list[str]:
    return [*good(folder), "--object", "cloth"]


def no_body(folder: Path) -> list[str]:
    return [*good(folder), "--object", "Table"]


def range_reversed(folder: Path) -> list[str]:
    return [*good(folder), "--frames", "10", "1"]


def no_folder(folder: Path) -> list[str]:
    return [str(folder / "in.blend"), "--output", str(folder / "nowhere" / "out.blend")]


def output_is_a_folder(folder: Path) -> list[str]:
    return [str(folder / "in.blend"), "--output", str(folder)]


def no_such_scene(folder: Path) -> list[str]:
    return [*good(folder), "--scene", "Shot 2"]


def setting_something(text: str) -> Callable[[Path], list[str]]:
    return lambda folder: [*good(folder), "--set", text]


def good(folder: Path) -> list[str]:
    return [str(folder / "in.blend"), "--output", str(folder / "out.blend")]


UNREADABLE = [
    (missing, "nowhere.blend"),
    (no_blend, "text.blend is not a .blend file"),
    (damaged, "cut.blend"),
    (no_folder, "there is no folder"),
    (output_is_a_folder, "it is a folder"),
]
MISTAKES = [
    (no_such_object, "no object Curtain"),
    (no_body, "Table is not a soft body; make it one"),
    (range_reversed, "ends before it starts"),
    (no_such_scene, "no scene Shot 2 in the file; choose one of Scene"),
    *(
        (setting_something(text), f"--set {text} {what}")
        for text, what in {
            "substeps": "has to be SETTING=VALUE",
            "=1": "has to be SETTING=VALUE",
            "magic=1": "names no setting of the scene (for those of a body, BODY.SETTING) that is",
            "Cloth.magic=1": "names no setting of Cloth",
            "Cloth.baked_keys=1": "names no setting of Cloth",
            "substeps=many": "is invalid; give a whole number",
            "settle_frames=-1": "is invalid; give a whole number from 0",
            "time_scale=nan": "is invalid; give a number",
            "use_ground=perhaps": "is invalid; give on or off",
            "Cloth.Mas=1": "names no setting of Cloth that is a number, a switch or a name; the "
            "manual lists them under Settings; did you mean mass?",
            "Cloth.body_type=stone": "is invalid; give one of CLOTH, ROPE, SOFT (Jelly), WATER",
        }.items()
    ),
    (setting_something("Table.mass=1"), "--set: the scene Scene has no soft body Table"),
    (setting_something("cloth.mass=1"), "has no soft body cloth; did you mean Cloth?"),
    (no_such_object_but_one_like_it, "no object cloth in the scene Scene; did you mean Cloth?"),
    (setting_something("Cloth.mass=-1"), "Cloth: "),
]


@pytest.mark.parametrize(
    ("arguments", "what"), MISTAKES, ids=lambda item: getattr(item, "__name__", "")
)
def test_a_mistake_is_one_line_on_stderr_and_exit_code_1(
    cli: ModuleType,
    blend: Path,
    printed: Callable[[], Any],
    arguments: Callable[[Path], list[str]],
    what: str,
) -> None:
    is_told(cli, blend, printed, arguments, what, code=1)


@pytest.mark.parametrize(
    ("arguments", "what"), UNREADABLE, ids=lambda item: getattr(item, "__name__", "")
)
def test_a_file_that_cannot_be_read_or_written_is_one_line_on_stderr_and_exit_code_3(
    cli: ModuleType,
    blend: Path,
    printed: Callable[[], Any],
    arguments: Callable[[Path], list[str]],
    what: str,
) -> None:
    is_told(cli, blend, printed, arguments, what, code=3)


def is_told(
    cli: ModuleType,
    blend: Path,
    printed: Callable[[], Any],
    arguments: Callable[[Path], list[str]],
    what: str,
    *,
    code: int,
) -> None:
    """One line on stderr, or with `--json` an object on stdout besides; nothing is written."""
    for option in ([], ["--json"]):
        assert cli.main(["bake", *arguments(blend.parent), *option]) == code
        text = printed()
        (told,) = text.err.splitlines()
        assert told.startswith("verlet: ")
        assert what in told
        assert not (blend.parent / "out.blend").exists()
        if not option:
            assert text.out == ""
            continue
        error = json.loads(text.out)["error"]
        assert error["code"] == code
        assert what in error["sentence"]
        assert (error["kind"] == "file") == (code == 3)
        assert Path(error["file"]).parts


@pytest.mark.parametrize("how", ["keyframes", "driver"])
def test_what_is_animated_is_not_set(
    cli: ModuleType, blend: Path, printed: Callable[[], Any], how: str
) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    cloth: Any = bpy.data.objects["Cloth"]
    if how == "keyframes":
        cloth.keyframe_insert("verlet.pressure")
    else:
        cloth.driver_add("verlet.pressure").driver.expression = "2 + 2"
    bpy.ops.wm.save_mainfile()
    out = blend.parent / "out.blend"
    assert cli.main(["bake", str(blend), "--output", str(out), "--set", "Cloth.pressure=3"]) == 1
    (told,) = printed().err.splitlines()
    assert "--set Cloth.pressure=3 has no effect, since the setting is animated" in told
    assert not out.exists()


def test_a_failed_bake_leaves_an_older_output(cli: ModuleType, blend: Path) -> None:
    old = blend.parent / "out.blend"
    old.write_bytes(b"older")
    assert cli.main(["bake", *range_reversed(blend.parent)]) == 1
    assert old.read_bytes() == b"older"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["bake"],
        ["bake", "in.blend"],
        ["bake", "in.blend", "--output"],
        ["bake", "in.blend", "--output", "out.blend", "--frames", "1"],
        ["bake", "in.blend", "--output", "out.blend", "--frames", "one", "two"],
        ["bake", "in.blend", "--output", "out.blend", "--mode", "magic"],
        ["simmer"],
    ],
)
def test_wrong_usage_ends_with_2(
    cli: ModuleType, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert "usage: blender --command verlet" in capsys.readouterr().err


def test_help_is_on_stdout(cli: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["bake", "--help"])
    assert caught.value.code == 0
    assert "--output OUT.blend" in capsys.readouterr().out


# --- the programs themselves --------------------------------------------------------------------


def test_the_program_bakes_and_prints_json_alone(blend: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.blend"
    done = run("bake", blend, "--output", out, "--json", "--frames", "1", "2")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["bodies"] == ["Cloth", "Rope"]
    assert done.stderr == ""
    assert keys_in(out)["Rope"] == names(range(1, 3))


def test_the_program_ends_with_1_and_one_line(blend: Path) -> None:
    done = run("bake", *no_such_object(blend.parent))
    assert (done.returncode, done.stdout) == (1, "")
    (told,) = done.stderr.splitlines()
    assert told == "verlet: There is no object Curtain in the scene Scene"


def test_the_program_explains_itself() -> None:
    done = run("bake")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--output OUT.blend" in done.stderr
