"""The command line on a farm: files that lack something, Ctrl+C, disks, odd names and streams."""

import json
import os
import pty
import re
import resource
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.blender.command_line import ended, keys_in, names, run, started
from tests.blender.scenes import blender, body, line, sheet, verlet

Addon = Callable[[str], ModuleType]
Printed = Callable[[], Any]
UNPRINTED = "verlet: note: the result could not be printed"


def saved(path: Path) -> Path:
    """Saves what is open."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
    return path


def driven(expression: str, folder: Path, *, variables: int = 0) -> Path:
    """A file with a body whose place along X a driver gives; its variables are of no object."""
    obj = body(line("Rope", height=3.0))
    driver = obj.driver_add("location", 0).driver
    for _ in range(variables):
        driver.variables.new()
    driver.expression = expression
    bpy.context.scene.frame_end = 6
    return saved(folder / "in.blend")


def linking(folder: Path, linked: str = "Post") -> Path:
    """A file with a body whose parent is linked from `library.blend`."""
    post = sheet(linked)
    bpy.data.libraries.write(str(folder / "library.blend"), {post})
    bpy.data.objects.remove(post)
    rope = body(line("Rope", height=3.0))
    with blender.data.libraries.load(str(folder / "library.blend"), link=True) as (_, found):
        found.objects = [linked]
    rope.parent = bpy.data.objects[linked]
    bpy.context.scene.collection.objects.link(rope.parent)
    bpy.context.scene.frame_end = 6
    return saved(folder / "in.blend")


# --- warnings -----------------------------------------------------------------------------------


def missing_library(folder: Path) -> Path:
    path = linking(folder)
    (folder / "library.blend").unlink()
    return path


def missing_in_library(folder: Path) -> Path:
    path = linking(folder)
    bpy.data.libraries.write(str(folder / "library.blend"), {bpy.data.meshes.new("Other")})
    return path


def missing_alembic(folder: Path) -> Path:
    if not bpy.app.build_options.alembic:
        pytest.skip("this Blender was built without Alembic")
    body(line("Rope", height=3.0))
    path = folder / "carrier.abc"
    bpy.ops.wm.alembic_export(filepath=str(path))
    bpy.ops.wm.alembic_import(filepath=str(path), always_add_cache_reader=True)
    bpy.context.scene.frame_end = 6
    path.unlink()
    return saved(folder / "in.blend")


def missing_point_cache(folder: Path) -> Path:
    body(line("Rope", height=3.0))
    cache = sheet("Carrier").modifiers.new("Cache", "MESH_CACHE")
    cache.filepath = "//carrier.pc2"
    bpy.context.scene.frame_end = 6
    return saved(folder / "in.blend")


def blocked_driver(folder: Path) -> Path:
    return driven("bpy.data.scenes[0].frame_current", folder)


def broken_driver(folder: Path) -> Path:
    return driven("var + 1", folder, variables=1)


def newer_blender(folder: Path) -> Path:
    body(line("Rope", height=3.0))
    bpy.context.scene.frame_end = 6
    path = saved(folder / "in.blend")
    content = path.read_bytes()
    path.write_bytes(re.sub(rb"(v\d+)\d", rb"\g<1>9", content[:17], count=1) + content[17:])
    return path


FAULTS = [
    (missing_library, "library.blend cannot be read"),
    (missing_in_library, "library.blend no longer has Post"),
    (missing_alembic, "carrier.abc is missing"),
    (missing_point_cache, "carrier.pc2 is missing"),
    (blocked_driver, "blocked the file's Python code (Driver 'bpy.data.scenes[0].frame_current')"),
    (broken_driver, "Drivers do not work (Rope location)"),
    (newer_blender, "was saved by Blender "),
]
fault = pytest.mark.parametrize(
    ("make", "what"), FAULTS, ids=lambda item: getattr(item, "__name__", "")
)


@fault
def test_what_a_file_lacks_is_one_line_of_warning(
    cli: ModuleType, tmp_path: Path, printed: Printed, make: Callable[[Path], Path], what: str
) -> None:
    path, out = make(tmp_path), tmp_path / "out.blend"
    printed()
    assert cli.main(["bake", str(path), "--output", str(out)]) == 0
    own = "verlet: warning: "  # Blender itself says at every frame that a cache is missing
    (told,) = [line for line in printed().err.splitlines() if line.startswith(own)]
    assert what in told
    assert out.exists()


@fault
def test_strict_takes_a_warning_for_an_error(
    cli: ModuleType, tmp_path: Path, printed: Printed, make: Callable[[Path], Path], what: str
) -> None:
    path, out = make(tmp_path), tmp_path / "out.blend"
    printed()
    assert cli.main(["bake", str(path), "--output", str(out), "--strict"]) == 1
    text = printed()
    assert text.out == ""
    (told,) = [line for line in text.err.splitlines() if line.startswith("verlet: ")]
    assert what in told
    assert not out.exists()


def test_strict_minds_a_driver_that_fails_only_later(
    cli: ModuleType, tmp_path: Path, printed: Printed
) -> None:
    path, out = driven("1 / (frame - 4) + len([1])", tmp_path), tmp_path / "out.blend"
    printed()
    assert cli.main(["bake", str(path), "--output", str(out), "--strict"]) == 1
    assert "verlet: Drivers do not work (Rope location)" in printed().err
    assert not out.exists()


def test_drivers_that_fail_sooner_or_later_are_each_named_once(
    cli: ModuleType, tmp_path: Path, printed: Printed
) -> None:
    """In a line when it is known, in the result, and in the panel of the file that is written."""
    out, other = tmp_path / "out.blend", sheet("Other")
    other.driver_add("location", 0).driver.expression = "1 / (frame - 1)"
    bpy.context.scene.frame_set(1)
    path = driven("1 / (frame - 4)", tmp_path)
    printed()
    assert cli.main(["bake", str(path), "--output", str(out), "--json"]) == 0
    text = printed()
    own = "verlet: warning: "
    lines = [line.removeprefix(own) for line in text.err.splitlines() if line.startswith(own)]
    assert [re.findall(r"\((.*)\)", line) for line in lines] == [
        ["Other location"],
        ["Rope location"],
    ]
    assert json.loads(text.out)["warnings"] == lines
    bpy.ops.wm.open_mainfile(filepath=str(out))
    stored = json.loads(blender.context.scene.verlet.baked_remarks)
    assert [(text, grade) for text, grade, *_ in stored] == [(line, "WARNING") for line in lines]


def torn_apart(folder: Path) -> Path:
    """A cape that two objects hold by the ends of an edge, one of which moves away."""
    cape = body(sheet("Cape"))
    for vertex, far in ((0, 0.0), (1, 0.5)):
        target = bpy.data.objects.new(f"Hand {vertex}", None)
        bpy.context.scene.collection.objects.link(target)
        for frame, x in ((1, 0.0), (6, far)):
            target.location.x = x
            target.keyframe_insert("location", frame=frame)
        cape.vertex_groups.new(name=target.name).add([vertex], 1.0, "REPLACE")
        item = cape.verlet.attachments.add()
        item.target, item.vertex_group = target, target.name
    bpy.context.scene.frame_end = 6
    return saved(folder / "in.blend")


@pytest.mark.parametrize("mode", ["relative", "cache"])
def test_strict_takes_a_warning_of_the_simulation_for_an_error(
    cli: ModuleType, tmp_path: Path, printed: Printed, mode: str
) -> None:
    path, out = torn_apart(tmp_path), tmp_path / "out.blend"
    printed()
    given = ["bake", str(path), "--output", str(out), "--mode", mode, "--json"]
    assert cli.main([*given, "--strict"]) == 1
    text = printed()
    error = json.loads(text.out)["error"]
    assert (error["kind"], error["body"]) == ("warning", "Cape")
    assert "Cape is attached to Hand 0 and Hand 1 at vertices that move apart" in error["sentence"]
    assert not out.exists()
    assert cli.main(given) == 0
    text = printed()
    (remark, *_) = json.loads(text.out)["remarks"]
    assert f"verlet: warning: {remark}" in text.err.splitlines()
    assert out.exists()


def test_strict_minds_warnings_of_frames_that_an_earlier_try_has_simulated(
    cli: ModuleType, tmp_path: Path, printed: Printed
) -> None:
    """Else a task that a farm has stopped passes as soon as it is run again."""
    path, out = torn_apart(tmp_path), tmp_path / "out.blend"
    given = ["bake", str(path), "--output", str(out), "--mode", "cache", "--resume", "--json"]
    printed()
    assert cli.main([*given, "--frames", "1", "5"]) == 0
    (first,) = json.loads(printed().out)["remarks"]
    for _ in range(2):  # with a frame to simulate, and with none
        assert cli.main([*given, "--strict"]) == 1
        assert json.loads(printed().out)["error"]["sentence"] == first
    assert cli.main(given) == 0
    assert json.loads(printed().out)["remarks"] == [first]


def test_a_hint_on_the_simulation_passes_strict(
    cli: ModuleType, blend: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch, addon: Addon
) -> None:
    hint = addon("core.remark").Remark("Cloth could be lighter; lower its Mass", grade="INFO")
    monkeypatch.setattr(
        addon("blender.bake.statistics").BakeStatistics, "at_end", lambda *_: [hint]
    )
    given = ["bake", str(blend), "--output", str(blend), "--json", "--strict"]
    assert cli.main(given) == 0
    text = printed()
    assert json.loads(text.out)["remarks"] == [hint]
    assert text.err == f"verlet: note: {hint}\n"


def test_a_whole_file_passes_strict(
    cli: ModuleType, tmp_path: Path, blend: Path, printed: Printed
) -> None:
    out = tmp_path / "out.blend"
    assert cli.main(["bake", str(blend), "--output", str(out), "--strict"]) == 0
    assert printed().err == ""


def test_python_drivers_run_in_a_trusted_file(tmp_path: Path) -> None:
    path, out = blocked_driver(tmp_path), tmp_path / "out.blend"
    done = run("bake", "-y", path, "--output", out, "--strict")
    assert (done.returncode, done.stderr) == (0, "")
    assert keys_in(out)["Rope"] == names(range(1, 7))


def test_what_scripts_print_does_not_reach_stdout(
    cli: ModuleType, blend: Path, tmp_path: Path, printed: Printed
) -> None:
    def chatter(*_: Any) -> None:
        print("chatter")

    handlers = bpy.app.handlers.frame_change_post
    handlers.append(bpy.app.handlers.persistent(chatter))
    try:
        given = ["--output", str(tmp_path / "out.blend"), "--json", "--set", "substeps=9"]
        cli.main(["bake", str(blend), *given])
    finally:
        handlers.pop()
    text = printed()
    assert json.loads(text.out)["bodies"] == ["Cloth", "Rope"]
    assert "chatter" in text.err


# --- Ctrl+C -------------------------------------------------------------------------------------


def test_ctrl_c_ends_at_once_with_130_and_writes_nothing(blend: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.blend"
    out.write_bytes(b"older")
    # On a terminal the command tells when it has come how far.
    terminal, stderr = pty.openpty()
    # What runs in the background ignores Ctrl+C, and hands that on to what it starts.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = started("bake", blend, "--output", out, "--frames", "1", "90000", stderr=stderr)
    signal.signal(signal.SIGINT, former)
    os.close(stderr)
    seen = b""
    while b"frame 3 of" not in seen:
        seen += os.read(terminal, 1000)
    pressed = monotonic()
    process.send_signal(signal.SIGINT)
    last = b""
    while process.poll() is None and monotonic() - pressed < 10:
        last += read_quietly(terminal)
    process.kill()
    # 0.4 s on an idle machine; the bake itself would take minutes.
    assert monotonic() - pressed < 10
    last += read_quietly(terminal)
    os.close(terminal)
    assert process.returncode == 130
    assert last.endswith(b"\r\x1b[Kverlet: interrupted; nothing was written\r\n")
    assert process.communicate()[0] == ""
    assert out.read_bytes() == b"older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.blend", "out.blend"]


def read_quietly(terminal: int) -> bytes:
    """Reads what a terminal shows; nothing, once its other end is closed."""
    try:
        return os.read(terminal, 1000)
    except OSError:
        return b""


# --- the output ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_jobs_on_one_output_each_write_a_whole_file(blend: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.blend"
    command = ("bake", blend, "--output", out, "--frames", "1", "3")
    jobs = [started(*command) for _ in range(2)]
    assert [ended(job).returncode for job in jobs] == [0, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.blend", "out.blend"]
    assert keys_in(out)["Rope"] == names(range(1, 4))


def test_nothing_lies_beside_an_output_that_is_replaced(
    cli: ModuleType, blend: Path, tmp_path: Path
) -> None:
    for _ in range(2):
        assert cli.main(["bake", str(blend), "--output", str(tmp_path / "out.blend")]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.blend", "out.blend"]


def test_a_new_output_has_the_usual_permissions_and_an_older_one_keeps_its_own(
    cli: ModuleType, blend: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.blend"
    (tmp_path / "usual").touch()
    cli.main(["bake", str(blend), "--output", str(out)])
    assert out.stat().st_mode == (tmp_path / "usual").stat().st_mode
    out.chmod(0o640)
    cli.main(["bake", str(blend), "--output", str(out)])
    assert stat.S_IMODE(out.stat().st_mode) == 0o640


def test_a_full_disk_is_told_with_path_and_cause_and_leaves_an_older_output(
    blend: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.blend"
    out.write_bytes(b"older")
    # A file may not grow beyond 20,000 bytes: writes fail as they do on a full disk.
    limit = (20_000, 20_000)
    done = run(
        *("bake", blend, "--output", out),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
        restore_signals=False,  # the signal that goes with it stays ignored, as in Python
    )
    assert (done.returncode, done.stdout) == (4, "")
    # Blender 5.2 may have said before that it cannot write something of its own.
    told = done.stderr.splitlines()[-1]
    assert told.startswith(f"verlet: Cannot write {out}: Blender could not finish it (")
    assert "MB left on the disk" in told
    assert out.read_bytes() == b"older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.blend", "out.blend"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder nobody can write to")
def test_a_folder_that_takes_no_files_is_told_before_any_work(
    cli: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["bake", "nowhere.blend", "--output", "/proc/out.blend"]) == 3
    assert capfd.readouterr().err.startswith("verlet: Cannot write /proc/out.blend: ")


def test_an_output_that_is_a_pipe_is_refused(
    cli: ModuleType, blend: Path, tmp_path: Path, printed: Printed
) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert cli.main(["bake", str(blend), "--output", str(tmp_path / "pipe")]) == 3
    assert printed().err.splitlines() == [
        f"verlet: Cannot write {tmp_path / 'pipe'}: it is a device, a pipe or a socket; name a file"
    ]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_an_output_that_is_no_blend_file_is_refused(
    cli: ModuleType, blend: Path, printed: Printed
) -> None:
    other = blend.with_name("x.txt")
    for command in (["bake"], ["convert", "--mode", "cache"]):
        assert cli.main([*command, str(blend), "--output", str(other)]) == 2
        assert printed().err == f"verlet: {other} is no .blend file; name it with .blend\n"
    assert [path.name for path in blend.parent.iterdir()] == ["in.blend"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_followed(cli: ModuleType, blend: Path, tmp_path: Path, exists: bool) -> None:
    target, link = tmp_path / "deeper" / "out.blend", tmp_path / "link.blend"
    target.parent.mkdir()
    if exists:
        target.write_bytes(b"older")
    link.symlink_to(target)
    assert cli.main(["bake", str(blend), "--output", str(link)]) == 0
    assert link.readlink() == target
    assert keys_in(target)["Rope"] == names(range(1, 7))


def test_a_link_to_itself_is_refused(
    cli: ModuleType, blend: Path, tmp_path: Path, printed: Printed
) -> None:
    link = tmp_path / "link.blend"
    link.symlink_to(link)
    assert cli.main(["bake", str(blend), "--output", str(link)]) == 3
    (told,) = printed().err.splitlines()
    assert told.startswith(f"verlet: Cannot write {link}: ")


def test_a_library_that_the_file_links_from_is_no_output(
    cli: ModuleType, tmp_path: Path, printed: Printed
) -> None:
    path, library = linking(tmp_path), tmp_path / "library.blend"
    before = library.read_bytes()
    printed()
    assert cli.main(["bake", str(path), "--output", str(library)]) == 3
    (told,) = printed().err.splitlines()
    assert told.endswith("the file links from it; name another file")
    assert library.read_bytes() == before


# --- odd names, numbers and streams -------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value", "what", "code"),
    [
        ("--object", "x" * 266, "There is no object xxx", 1),
        ("--object", "Cur\ntain\x1b[2J", r"There is no object Cur\ntain\x1b[2J in the scene", 1),
        ("--output", "x" * 266, "File name too long", 3),
        ("--output", "/".join(["x" * 200] * 6), "there is no folder", 3),
    ],
)
def test_an_odd_name_is_one_line(
    cli: ModuleType, blend: Path, printed: Printed, option: str, value: str, what: str, code: int
) -> None:
    arguments = ["bake", str(blend), "--output", str(blend.parent / "out.blend"), option, value]
    assert cli.main(arguments) == code
    (told,) = printed().err.splitlines()
    assert what in told


def test_an_input_of_an_overlong_name_is_one_line(
    cli: ModuleType, blend: Path, printed: Printed
) -> None:
    assert cli.main(["bake", "x" * 266, "--output", str(blend.parent / "out.blend")]) == 3
    (told,) = printed().err.splitlines()
    assert told.endswith("File name too long")


def test_a_path_that_blender_would_cut_off_is_refused(
    cli: ModuleType, blend: Path, printed: Printed
) -> None:
    folder = Path(blend.parent, *["x" * 200] * 5)
    folder.mkdir(parents=True)
    assert cli.main(["bake", str(blend), "--output", str(folder / "out.blend")]) == 3
    (told,) = printed().err.splitlines()
    assert told.endswith("Blender cannot write to so long a path; choose a shorter one")


@pytest.mark.parametrize("frames", [(1, 2_000_000_000), (-2_000_000_000, 1), (1, 10**30)])
def test_frames_that_blender_does_not_have_are_one_line(
    cli: ModuleType, blend: Path, printed: Printed, frames: tuple[int, int]
) -> None:
    numbers = [str(frame) for frame in frames]
    out = str(blend.parent / "out.blend")
    assert cli.main(["bake", str(blend), "--output", out, "--frames", *numbers]) == 1
    (told,) = printed().err.splitlines()
    assert "1048574" in told


def test_scripts_are_told_of_frames_that_blender_does_not_have() -> None:
    body(line())
    with pytest.raises(RuntimeError, match="1048574"):
        verlet.bake(frame_start=1, frame_end=2_000_000_000)


@pytest.mark.parametrize("json_wanted", [True, False])
def test_a_body_of_an_odd_name_is_one_line_of_the_result(
    cli: ModuleType, tmp_path: Path, printed: Printed, json_wanted: bool
) -> None:
    body(line("Ro\npe\x1b[2J"))
    path = saved(tmp_path / "in.blend")
    printed()
    arguments = ["bake", str(path), "--output", str(path), "--frames", "1", "2"]
    assert cli.main([*arguments, *["--json"] * json_wanted]) == 0
    (told,) = printed().out.splitlines()
    if json_wanted:
        assert json.loads(told)["bodies"] == ["Ro\npe\x1b[2J"]
    else:
        assert told.startswith(r"Baked Ro\npe\x1b[2J, frames 1 to 2")


def test_an_ascii_terminal_gets_names_escaped(tmp_path: Path) -> None:
    body(line("Tüch"))
    path = saved(tmp_path / "in.blend")
    command = ("bake", path, "--output", path, "--frames", "1", "2")
    done = run(*command, env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    # Blender's own Python does not heed the variable.
    assert done.stdout.startswith(("Baked T\\xfcch", "Baked Tüch"))


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_a_closed_stream_does_not_matter(blend: Path, tmp_path: Path, number: int) -> None:
    out = tmp_path / "out.blend"
    command = ("bake", blend, "--output", out, "--frames", "1", "2", "--json")
    done = run(*command, preexec_fn=lambda: os.close(number))
    assert done.returncode == 0, done.stderr
    # In Blender itself, something else that it opened has the number of a closed stdout.
    assert done.stderr in ("", f"{UNPRINTED}: Bad file descriptor\n")
    assert bool(done.stdout) == (number == 2)
    assert keys_in(out)["Rope"] == names(range(1, 3))


def test_a_result_that_nobody_reads_is_written_all_the_same(blend: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.blend"
    reader, writer = os.pipe()
    os.close(reader)
    done = run("bake", blend, "--output", out, "--frames", "1", "2", stdout=writer)
    os.close(writer)
    assert done.returncode == 0
    assert done.stderr == f"{UNPRINTED}: Broken pipe\n"
    assert keys_in(out)["Rope"] == names(range(1, 3))
