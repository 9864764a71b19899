"""Many files: what is baked where, at the same time, and what is told of those that fail."""

import json
import os
import signal
import sys
from collections.abc import Callable
from glob import glob
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.blender.command_line import ended, keys_in, names, run, started
from tests.blender.scenes import body, line, pin, sheet

Printed = Callable[[], Any]


@pytest.fixture
def shots(blend: Path) -> Path:
    """A folder with two good shots, garbage, and a file without bodies."""
    folder = blend.parent / "shots"
    for number in ("010", "020"):
        (folder / number).mkdir(parents=True)
        (folder / number / "anim.blend").write_bytes(blend.read_bytes())
    (folder / "garbage.blend").write_bytes(b"BLENDER, but nothing else")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    sheet("Table")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "empty.blend"), copy=True)
    return folder


def outputs(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- what is baked ------------------------------------------------------------------------------


@pytest.mark.slow
def test_of_twelve_files_two_are_broken_and_ten_are_baked(
    cli: ModuleType, shots: Path, tmp_path: Path, printed: Printed
) -> None:
    good = [tmp_path / f"shot_{number:02}.blend" for number in range(10)]
    for path in good:
        path.write_bytes((shots / "010" / "anim.blend").read_bytes())
    files = [*good[:4], shots / "garbage.blend", *good[4:7], shots / "empty.blend", *good[7:]]
    out = tmp_path / "out"
    options = ["--output-dir", str(out), "--jobs", "2", "--frames", "1", "3", "--json"]
    assert cli.main(["bake", *map(str, files), *options]) == 1
    report = json.loads(printed().out)
    assert (report["done"], report["failed"], report["error"]) == (10, 2, None)
    assert [Path(row["input"]) for row in report["tasks"]] == files
    failed = {Path(row["input"]).stem: row for row in report["tasks"] if row["error"]}
    assert {name: row["code"] for name, row in failed.items()} == {"garbage": 3, "empty": 1}
    assert failed["empty"]["error"]["sentence"].startswith("There is no soft body in Scene; ")
    assert outputs(out) == [path.name for path in good]
    for row in report["tasks"]:
        assert row["error"] or row["bodies"] == ["Cloth", "Rope"]
    for path in good:
        assert keys_in(out / path.name)["Rope"] == names(range(1, 4))


def test_a_pattern_keeps_the_names_of_its_folders(
    cli: ModuleType, shots: Path, tmp_path: Path, printed: Printed
) -> None:
    out, pattern = tmp_path / "deep" / "out", str(shots / "*" / "anim.blend")
    options = ["--output-dir", str(out), "--frames", "1", "2", "--object", "Ro*"]
    assert cli.main(["bake", pattern, *options]) == 0
    first, _, whole = printed().out.splitlines()
    assert first.startswith("010_anim: Baked Rope, frames 1 to 2, in ")
    assert first.endswith(str(out / "010_anim.blend"))
    assert whole.startswith("Baked 2 of 2 in ")
    assert outputs(out) == ["010_anim.blend", "020_anim.blend"]
    assert keys_in(out / "010_anim.blend") == {"Cloth": [], "Rope": names(range(1, 3)), "Table": []}


def test_a_pattern_that_the_shell_has_replaced_does_the_same(
    cli: ModuleType, shots: Path, tmp_path: Path
) -> None:
    """Files of the same name get those of their folders, as by a quoted pattern."""
    options = ["--output-dir", str(tmp_path / "out"), "--format", "commands", "--output"]
    pattern = str(shots / "*" / "anim.blend")
    assert cli.main(["job", pattern, *options, str(tmp_path / "quoted.txt")]) == 0
    assert cli.main(["job", *glob(pattern), *options, str(tmp_path / "plain.txt")]) == 0
    lines = [(tmp_path / f"{name}.txt").read_text().splitlines() for name in ("quoted", "plain")]
    assert len(lines[0]) == 2
    assert sorted(lines[0]) == sorted(lines[1])


@pytest.mark.slow
def test_each_scene_that_matches_is_baked_into_a_file_of_its_own(
    cli: ModuleType, blend: Path, tmp_path: Path
) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    for number in (1, 2):
        shot = bpy.data.scenes.new(f"Shot/{number}")
        shot.frame_start, shot.frame_end = 10 * number, 10 * number + 1
        shot.collection.objects.link(bpy.data.objects["Rope"])
    bpy.ops.wm.save_mainfile()
    out = tmp_path / "out"
    assert cli.main(["bake", str(blend), "--scene", "Shot*", "--output-dir", str(out)]) == 0
    assert outputs(out) == ["in_Shot_1.blend", "in_Shot_2.blend"]
    assert keys_in(out / "in_Shot_2.blend")["Rope"] == names(range(20, 22))


@pytest.mark.slow
def test_a_scene_that_a_file_lacks_is_its_error_alone(
    cli: ModuleType, shots: Path, tmp_path: Path, printed: Printed
) -> None:
    files = [str(shots / "010" / "anim.blend"), str(shots / "garbage.blend")]
    options = ["--scene", "Other", "--output-dir", str(tmp_path / "out"), "--json"]
    assert cli.main(["bake", *files, *options]) == 1
    first, second = json.loads(printed().out)["tasks"]
    assert first["error"]["sentence"].startswith("There is no scene Other in the file")
    assert second["error"]["kind"] == "file"


def test_all_options_reach_each_bake(cli: ModuleType, blend: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--set", "substeps=3", "--set", "Rope.mass=2", "--step", "2", "--frames", "-2", "2"]
    assert cli.main(["bake", str(blend), "--output-dir", str(out), *options, "--strict"]) == 0
    assert keys_in(out / "in.blend")["Rope"] == ["verlet_-002", "verlet_0000", "verlet_0002"]
    rope: Any = bpy.data.objects["Rope"]
    assert (rope.verlet.mass, bpy.context.scene.verlet.substeps) == (2.0, 3)


@pytest.mark.slow
def test_a_check_of_many_files_names_what_is_wrong_with_each(
    cli: ModuleType, shots: Path, printed: Printed
) -> None:
    assert cli.main(["bake", str(shots / "*.blend"), "--check", "--jobs", "2"]) == 1
    text = printed()
    assert "verlet: empty: There is no soft body in Scene; " in text.err
    assert "verlet: garbage: Cannot read" in text.err
    assert text.out.startswith("Checked 0 of 2 in ")
    assert text.out.endswith("; failed: empty, garbage\n")


@pytest.mark.slow
def test_what_is_printed_while_files_are_baked_is_a_line_each(
    cli: ModuleType, shots: Path, tmp_path: Path, printed: Printed
) -> None:
    options = ["--output-dir", str(tmp_path / "out"), "--log-seconds", "0", "--jobs", "2"]
    assert cli.main(["bake", str(shots / "*" / "*.blend"), *options]) == 0
    lines = printed().err.splitlines()
    assert lines[:2] == ["verlet: 010_anim: starts", "verlet: 020_anim: starts"]
    for name in ("010", "020"):
        own = [line for line in lines if line.startswith(f"verlet: {name}_anim: frame")]
        assert len(own) == 6


# --- wrong usage --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["a.blend", "b.blend", "--output", "out.blend"],
        ["a.blend", "b.blend"],
        ["a.blend", "--output", "out.blend", "--output-dir", "out"],
        ["a.blend", "--output-dir", "out", "--jobs", "0"],
        ["a.blend", "--output-dir", "out", "--jobs", "two"],
        ["a.blend", "--output", "out.blend", "--scene", "A", "--scene", "B"],
    ],
)
def test_arguments_that_contradict_each_other_are_wrong_usage(
    cli: ModuleType, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["bake", *arguments])
    assert caught.value.code == 2
    assert "usage: blender --command verlet bake" in capsys.readouterr().err


def test_outputs_that_would_replace_each_other_or_an_input_are_wrong_usage(
    cli: ModuleType, shots: Path, tmp_path: Path, printed: Printed
) -> None:
    anims = sorted(map(str, shots.glob("*/anim.blend")))
    before = Path(anims[0]).read_bytes()
    for files, folder, what in (
        ([anims[0], anims[0]], tmp_path / "out", "would both be written to"),
        (anims[:1], shots / "010", "would replace a file that is read"),
        ([str(shots / "*.none")], tmp_path / "out", "No file matches"),
    ):
        assert cli.main(["bake", *files, "--output-dir", str(folder), "--json"]) == 2
        text = printed()
        assert what in text.err
        assert json.loads(text.out)["error"]["kind"] == "usage"
    assert not (tmp_path / "out").exists()
    assert Path(anims[0]).read_bytes() == before


def test_a_folder_that_cannot_be_made_is_told(
    cli: ModuleType, blend: Path, printed: Printed
) -> None:
    assert cli.main(["bake", str(blend), "--output-dir", str(blend / "out"), "--json"]) == 3
    text = printed()
    assert "Cannot make the folder" in text.err
    report = json.loads(text.out)
    assert (report["done"], report["failed"]) == (0, 1)
    (row,) = report["tasks"]
    assert (row["input"], row["code"], row["error"]["kind"]) == (str(blend), 3, "file")


def test_a_report_has_its_tasks_after_wrong_usage_too(
    cli: ModuleType, blend: Path, tmp_path: Path, printed: Printed
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["bake", str(blend), str(blend), "--json"])
    found = [json.loads(printed().out)]
    assert cli.main(["bake", str(tmp_path / "*.none"), "--output-dir", "out", "--json"]) == 2
    found.append(json.loads(printed().out))
    for report in found:
        assert report["error"]["kind"] == "usage"
        assert (report["tasks"], report["done"], report["failed"]) == ([], 0, 0)


# --- how it ends --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_processes_and_leaves_whole_files_alone(
    blend: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """The first file is baked by then; the other two would take minutes."""
    out = tmp_path / "out"
    for name in ("a", "b"):
        (tmp_path / f"{name}.blend").write_bytes(blend.read_bytes())
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.context.scene.frame_end = 90000
    for name in ("c", "d"):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / f"{name}.blend"), copy=True)
    files = [tmp_path / f"{name}.blend" for name in "abcd"]
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = started(
        "bake", *files, "--output-dir", out, "--jobs", "2", "--json", "--log-seconds", "0.2"
    )
    signal.signal(signal.SIGINT, former)
    assert process.stderr is not None
    seen = ""
    while "d: frame" not in seen:
        seen += process.stderr.readline()
    children = [int(each) for each in children_of(process.pid)]
    assert len(children) == 2
    process.send_signal(number)
    pressed = monotonic()
    done = ended(process)
    assert monotonic() - pressed < 10
    assert done.returncode == 128 + number
    report = json.loads(done.stdout)
    word = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[number]
    assert report["error"]["sentence"] == f"{word}; 2 of 4 are done, and nothing else was written"
    assert [row["code"] for row in report["tasks"]] == [0, 0, 143, 143]
    assert outputs(out) == ["a.blend", "b.blend"]
    assert not any(map(is_running, children))


DONE_AS_IT_IS_ENDED = """
import json, os, signal
waiting = [True]
signal.signal(signal.SIGTERM, lambda *_: waiting.clear())
os.kill(os.getppid(), signal.SIGTERM)
while waiting:
    signal.pause()
ended = {"bodies": ["Rope"], "frames": [1, 3], "seconds": 1.0, "output": "a.blend"}
print(json.dumps({**ended, "warnings": [], "error": None}))
"""
"""A bake that ends the batch, and whose file is written as it is ended itself."""


@pytest.mark.parametrize(
    ("mode", "rest"),
    [
        ("relative", "nothing else was written"),
        ("cache", "the frames in the caches of the others stay, and --resume goes on with them"),
    ],
)
def test_a_file_that_was_written_as_the_signal_came_is_told(
    cli: ModuleType,
    addon: Callable[[str], ModuleType],
    tmp_path: Path,
    printed: Printed,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    rest: str,
) -> None:
    program = [sys.executable, "-c", DONE_AS_IT_IS_ENDED]
    monkeypatch.setattr(addon("blender.cli.batch"), "own_command", lambda: program)
    files = [str(tmp_path / f"{name}.blend") for name in "ab"]
    command = ["bake", *files, "--output-dir", str(tmp_path / "out"), "--mode", mode, "--json"]
    assert cli.main(command) == 143
    text = printed()
    report = json.loads(text.out)
    assert report["error"]["sentence"] == f"terminated; 1 of 2 are done, and {rest}"
    assert [row["code"] for row in report["tasks"]] == [0, 143]
    assert (report["done"], report["failed"]) == (1, 1)
    assert "verlet: a: Baked Rope, frames 1 to 3" in text.err


def children_of(process: int) -> list[str]:
    """Numbers of the processes that a process has started."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return text.split()


def is_running(process: int) -> bool:
    """Whether a process exists."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_process_that_dies_is_a_row_and_the_rest_is_baked(blend: Path, tmp_path: Path) -> None:
    other, out = tmp_path / "other.blend", tmp_path / "out"
    other.write_bytes(blend.read_bytes())
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.context.scene.frame_end = 90000
    bpy.ops.wm.save_mainfile()
    process = started("bake", blend, other, "--output-dir", out, "--json", "--log-seconds", "0.2")
    assert process.stderr is not None
    while "in: frame" not in process.stderr.readline():
        sleep(0.01)
    for child in children_of(process.pid):
        os.kill(int(child), signal.SIGKILL)
    done = ended(process)
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert [row["code"] for row in report["tasks"]] == [1, 0]
    error = report["tasks"][0]["error"]
    assert error["kind"] == "crash"
    assert error["sentence"] == (
        "The process was killed (SIGKILL) before it was done, as systems do where memory is short; "
        "free some, or bake fewer files at the same time"
    )
    assert outputs(out) == ["other.blend"]


def test_the_program_bakes_several_files(blend: Path, tmp_path: Path) -> None:
    pin(body(line("Hose")), [0])
    out = tmp_path / "out"
    done = run("bake", blend, "--output-dir", out, "--json", "--frames", "1", "2")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["tasks"]
    assert row["output"] == str(out / "in.blend")
    assert keys_in(out / "in.blend")["Rope"] == names(range(1, 3))
