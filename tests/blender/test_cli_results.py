"""The command line for programs: JSON after every end, exit codes, checks and versions."""

import json
import os
import signal
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.blender.command_line import keys_in, run
from tests.blender.scenes import body, line, sheet, verlet

Printed = Callable[[], Any]
Addon = Callable[[str], ModuleType]


@pytest.fixture
def handlers() -> Iterator[Any]:
    """Blender's handlers; those that the test adds are removed after it."""
    before = {
        name: [*getattr(bpy.app.handlers, name)] for name in ("frame_change_post", "save_post")
    }
    yield bpy.app.handlers
    for name, present in before.items():
        getattr(bpy.app.handlers, name)[:] = present


def end_by(number: int) -> Any:
    """A script of the file's, in which a signal comes: Blender swallows exceptions there."""
    return bpy.app.handlers.persistent(lambda *_: os.kill(os.getpid(), number))


ENDS = pytest.mark.parametrize(
    ("number", "kind", "code"),
    [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)],
)


@ENDS
@pytest.mark.parametrize("moment", ["frame_change_post", "save_post"])
def test_a_signal_ends_a_bake_and_a_save_and_leaves_nothing_behind(
    cli: ModuleType,
    blend: Path,
    printed: Printed,
    handlers: Any,
    moment: str,
    number: int,
    kind: str,
    code: int,
) -> None:
    out = blend.parent / "out.blend"
    getattr(handlers, moment).append(end_by(number))
    before = signal.getsignal(number)
    if before is None:  # Blender's own handler, which Python cannot put back
        before = signal.default_int_handler
    assert cli.main(["bake", str(blend), "--output", str(out), "--json"]) == code
    assert signal.getsignal(number) == before
    text = printed()
    assert text.err.splitlines()[-1] == f"verlet: {kind}; nothing was written"
    error = json.loads(text.out)["error"]
    assert (error["kind"], error["code"], error["file"]) == (kind, code, str(blend))
    assert [path.name for path in blend.parent.iterdir()] == ["in.blend"]


@ENDS
def test_a_signal_after_the_file_is_written_denies_nothing(
    cli: ModuleType,
    blend: Path,
    printed: Printed,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    kind: str,
    code: int,
) -> None:
    out = blend.parent / "out.blend"
    kernels = cli.kernels

    def told_late() -> str:
        assert out.exists(), (kind, code)
        os.kill(os.getpid(), number)
        return str(kernels())

    monkeypatch.setattr(cli, "kernels", told_late)
    assert cli.main(["bake", str(blend), "--output", str(out), "--frames", "1", "2"]) == 0
    assert printed().out.endswith(f"{out}\n")


def test_wrong_usage_is_told_as_json_too(
    cli: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["bake", "in.blend", "--json"])
    assert caught.value.code == 2
    text = capsys.readouterr()
    error = json.loads(text.out)["error"]
    assert (error["kind"], error["code"]) == ("usage", 2)
    assert error["sentence"] == "the following arguments are required: --output"
    assert error["sentence"] in text.err


def test_a_bug_keeps_its_traceback_and_is_told_as_json(
    cli: ModuleType, blend: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise IndexError("a bug")

    monkeypatch.setattr(cli, "find_job", fail)
    with pytest.raises(IndexError):
        cli.main(["bake", str(blend), "--output", str(blend), "--json"])
    assert json.loads(printed().out)["error"]["kind"] == "bug"


def test_an_error_names_kind_body_and_file(cli: ModuleType, blend: Path, printed: Printed) -> None:
    out = blend.parent / "out.blend"
    given = ["bake", str(blend), "--output", str(out), "--json"]
    assert cli.main([*given, "--set", "Rope.mass=-1"]) == 1
    error = json.loads(printed().out)["error"]
    assert error == {
        "kind": "setting",
        "code": 1,
        "body": "Rope",
        "sentence": "Rope: mass is -1; set it to 1e-09 or more",
        "file": str(blend),
    }
    assert cli.main([*given, "--object", "Rop"]) == 1
    assert json.loads(printed().out)["error"]["body"] is None
    nowhere = blend.parent / "nowhere" / "out.blend"
    assert cli.main(["bake", str(blend), "--output", str(nowhere), "--json"]) == 3
    assert json.loads(printed().out)["error"]["file"] == str(nowhere)


# --- check --------------------------------------------------------------------------------------


def test_a_check_tells_every_error_and_ends_as_the_bake_would(
    cli: ModuleType, blend: Path, printed: Printed
) -> None:
    """An open jelly is found only once bodies are built; a bake ends with the first error."""
    out = blend.parent / "nowhere" / "out.blend"
    options = ["--set", "Cloth.body_type=SOFT", "--set", "Rope.magic=1", "--object", "Curtain"]
    options += ["--object", "Cloth", "--json"]
    assert cli.main(["bake", str(blend), "--output", str(out), "--check", *options]) == 3
    text = printed()
    errors = json.loads(text.out)["errors"]
    assert [(each["kind"], each["body"]) for each in errors] == [
        ("file", None),
        ("setting", "Rope"),
        ("input", None),
        ("mesh", "Cloth"),
    ]
    assert len(text.err.splitlines()) == 4
    assert cli.main(["bake", str(blend), "--output", str(out), *options]) == 3


def test_a_check_tries_each_body(cli: ModuleType, tmp_path: Path, printed: Printed) -> None:
    for name in ("First", "Second"):
        body(sheet(name), body_type="SOFT")
    path = tmp_path / "in.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    printed()
    assert cli.main(["bake", str(path), "--check"]) == 1
    told = printed().err.splitlines()
    assert [line.split("'")[1] for line in told] == ["First", "Second"]


def test_a_check_of_a_whole_file_writes_nothing(
    cli: ModuleType, blend: Path, printed: Printed
) -> None:
    out = blend.parent / "out.blend"
    for frames in (["1", "6"], ["1", "1"]):
        given = ["bake", str(blend), "--output", str(out), "--check", "--frames", *frames]
        assert cli.main([*given, "--strict"]) == 0
        text = printed()
        assert text.err == ""
        assert text.out == f"Would bake Cloth, Rope, frames {frames[0]} to {frames[1]}\n"
        assert cli.main([*given, "--json"]) == 0
        assert json.loads(printed().out)["output"] == str(out)
    assert [path.name for path in blend.parent.iterdir()] == ["in.blend"]


def test_a_check_tells_warnings_and_strict_makes_them_errors(
    cli: ModuleType, blend: Path, printed: Printed
) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.data.objects["Rope"].hide_set(True)
    bpy.ops.wm.save_mainfile()
    printed()
    assert cli.main(["bake", str(blend), "--check"]) == 0
    assert "warning: Rope is hidden" in printed().err
    assert cli.main(["bake", str(blend), "--check", "--strict", "--json"]) == 1
    assert json.loads(printed().out)["error"]["kind"] == "warning"


# --- names, kernels, threads and versions -------------------------------------------------------


@pytest.mark.usefixtures("blend")
@pytest.mark.parametrize("name", ["jelly", "Jelly", "soft", "SOFT", "flesh"])
def test_settings_are_named_as_the_interface_shows_them(addon: Addon, name: str) -> None:
    override = addon("blender.cli.setting_overrides").override
    override(bpy.context.scene, [f"Cloth.body_type={name}", "integrator=exact"])
    cloth: Any = bpy.data.objects["Cloth"]
    assert cloth.verlet.body_type == ("FLESH" if name == "flesh" else "SOFT")
    assert bpy.context.scene.verlet.integrator == "TCV_EXACT"


def test_scripts_may_call_jelly_jelly() -> None:
    obj = sheet("Cushion")
    assert verlet.convert(body_type="JELLY") == {"FINISHED"}
    assert obj.verlet.body_type == "SOFT"


@pytest.mark.parametrize(
    ("name", "value"), [("VERLET_THREADS", "0"), ("VERLET_THREADS", "x"), ("VERLET_KERNELS", "C")]
)
def test_nonsense_in_the_environment_is_told_although_nothing_asks_for_it(
    tmp_path: Path, name: str, value: str
) -> None:
    """A rope alone has nothing that threads do."""
    body(line("Rope", height=3.0))
    path = tmp_path / "in.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    command = ("bake", path, "--output", path, "--frames", "1", "2", "--json")
    done = run(*command, env={name: value})
    assert done.returncode == 1
    assert done.stderr.startswith(f"verlet: {name} is '{value}'")
    assert json.loads(done.stdout)["error"]["kind"] == "kernels"


def test_operators_tell_nonsense_in_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    body(line())
    monkeypatch.setenv("VERLET_THREADS", "0")
    with pytest.raises(RuntimeError, match="VERLET_THREADS is '0'"):
        verlet.bake(frame_start=1, frame_end=2)


def test_a_bake_notes_the_kernels_that_made_it(addon: Addon) -> None:
    obj = body(line("Rope"))
    verlet.bake(frame_start=1, frame_end=2)
    assert obj.verlet.baked_kernels == addon("core.self_test").kernels()
    assert obj.verlet.baked_kernels.startswith(("compiled, ", "NumPy, "))
    verlet.clear_bake()
    assert obj.verlet.baked_kernels == ""


def test_numpy_unwanted_is_warned_of_and_strict_ends_before_the_bake(
    cli: ModuleType,
    blend: Path,
    printed: Printed,
    addon: Addon,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    self_test, out = addon("core.self_test"), blend.parent / "out.blend"
    monkeypatch.setattr(self_test, "fallback_reason", lambda: "there are none here")
    given = ["bake", str(blend), "--output", str(out), "--frames", "1", "2", "--json"]
    assert cli.main(given) == 0
    result = json.loads(printed().out)
    assert result["kernels"].startswith("NumPy, results ")
    (warning,) = result["warnings"]
    assert warning.startswith("Without compiled kernels (there are none here) bakes take about ten")
    assert warning.endswith("install the extension again from its zip, and restart Blender")
    monkeypatch.setattr(cli, "_follow", None)
    assert cli.main([*given, "--strict"]) == 1
    assert json.loads(printed().out)["error"]["kind"] == "warning"


def test_versions_are_told(
    cli: ModuleType, addon: Addon, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ([], ["--json"]):
        with pytest.raises(SystemExit) as caught:
            cli.main([*option, "--version"])
        assert caught.value.code == 0
        (told,) = capsys.readouterr().out.splitlines()
        assert bpy.app.version_string in told
        assert addon("core.self_test").kernels() in told
    manifest = Path(__file__).parents[2] / "blender_manifest.toml"
    assert json.loads(told)["version"] == tomllib.loads(manifest.read_text("utf-8"))["version"]


# --- what killed jobs leave ---------------------------------------------------------------------


def test_what_killed_jobs_left_is_named_and_deleted_and_what_others_write_is_not(
    cli: ModuleType, blend: Path, printed: Printed, addon: Addon
) -> None:
    files, folder = addon("blender.cli.temporary_files"), blend.parent
    own = files.unused_name(folder)
    assert own.name.split("_")[2] == str(os.getpid())
    machine, gone = own.name.split("_")[1], 2**22 + 1
    left = [folder / f".verlet_{machine}_{gone}_a_b.blend@", folder / ".verlet_older.blend"]
    busy = [own, folder / f".verlet_0_{gone}_a.blend", folder / ".verlet_new.blend"]
    for path in [*left, *busy]:
        path.touch()
    os.utime(left[1], (0, 0))
    given = ["bake", str(blend), "--output", str(folder / "out.blend"), "--frames", "1", "2"]
    assert cli.main([*given, "--strict"]) == 0
    told = printed().err.splitlines()
    assert all(line.startswith("verlet: note: ") for line in told)
    assert sorted(line.split()[2] for line in told) == sorted(map(str, left))
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in busy)
    assert keys_in(folder / "out.blend")["Rope"] == ["verlet_0001", "verlet_0002"]
