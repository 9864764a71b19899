"""Caches that are missing, damaged, stale or moved: told in one sentence, and nothing is lost."""

import errno
import json
import os
import re
import resource
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.command_line import run
from tests.blender.scenes import (
    blender,
    body,
    file_content,
    line,
    pin,
    select,
    sheet,
    shown,
    verlet,
)
from tests.blender.test_cache import frames_of, points_of, range_to, rope, saved

Addon = Callable[[str], ModuleType]
Printed = Callable[[], Any]


@pytest.fixture
def problems(addon: Addon) -> Callable[[], list[str]]:
    """What is wrong with the caches of the open file."""

    def found() -> list[str]:
        sentences: list[str] = addon("blender.bake.cache_handlers").problems()
        for sentence in sentences:
            assert re.search(r"[;,] ", sentence)
            assert not re.search(r"\n|\. [A-Z]", sentence)
        return sentences

    return found


def baked_rope(folder: Path, end: int = 12) -> Any:
    """A rope with a cache, in a saved file."""
    range_to(end)
    obj = rope()
    saved(folder)
    verlet.bake(mode="CACHE")
    bpy.ops.wm.save_mainfile()
    return obj


def opened(path: Path) -> Any:
    """The rope of a file."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects["Rope"]


# --- before and during a bake -------------------------------------------------------------------


def test_a_file_never_saved_has_no_place_for_a_cache() -> None:
    range_to(3)
    rope()
    before = file_content()
    with pytest.raises(RuntimeError, match="was never saved, and a cache is written beside it;"):
        verlet.bake(mode="CACHE")
    assert file_content() == before


def test_a_folder_that_cannot_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    range_to(3)
    rope()
    saved(tmp_path)
    before = file_content()

    def denied(path: Path, *_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", denied)
        with pytest.raises(RuntimeError, match=r"Cannot write .*bake_001: Permission denied"):
            verlet.bake(mode="CACHE")
    assert file_content() == before
    assert [path.name for path in tmp_path.iterdir()] == ["shot.blend"]


def test_a_cache_that_cannot_fit_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    range_to(3)
    rope()
    saved(tmp_path)
    usage = type("Usage", (), {"free": 1000})
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: usage)
        with pytest.raises(RuntimeError, match=r"needs .* MiB, and .* MiB are left on the disk;"):
            verlet.bake(mode="CACHE")
    assert [path.name for path in tmp_path.iterdir()] == ["shot.blend"]


def test_a_disk_that_fills_up_is_told_and_the_bake_can_be_resumed(
    tmp_path: Path, cli: ModuleType
) -> None:
    range_to(60)
    rope()
    blend, out, wanted = saved(tmp_path), tmp_path / "out.blend", tmp_path / "wanted.blend"
    mode = ("--mode", "cache")
    assert cli.main(["bake", str(blend), "--output", str(wanted), *mode]) == 0

    def limit() -> None:
        """Has no file grow beyond a size: writes fail as they do on a full disk."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    given = ("bake", blend, "--output", out, *mode, "--json")
    done = run(*given, preexec_fn=limit, restore_signals=False)
    assert done.returncode == 4, done
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == "disk"
    assert re.search(r"Cannot write .*out_verlet_cache.*: File too large", error["sentence"])
    assert not out.exists()
    assert [*tmp_path.rglob("*.part")] == []
    assert cli.main(["bake", str(blend), "--output", str(out), *mode, "--resume"]) == 0
    assert frames_of(opened(out)) == frames_of(opened(wanted))


@pytest.mark.parametrize("end", [6, 12])
def test_a_bake_that_goes_on_deletes_files_that_a_kill_left_half_written(
    tmp_path: Path, end: int
) -> None:
    """Also where the cache has all frames already."""
    obj, scene = baked_rope(tmp_path, end=6), range_to(6)
    folder = points_of(obj).parent
    left = [folder / f"{name}.part" for name in ("state_6.npy", "inputs_9.npy", "bake.json")]
    for path in left:
        path.write_bytes(b"half")
    scene.frame_end = end
    verlet.bake(mode="CACHE", resume=True)
    assert points_of(obj).parent == folder
    assert [*folder.glob("*.part")] == []


def test_an_error_in_the_motion_keeps_the_former_bake_and_the_frames_before_it(
    tmp_path: Path, addon: Addon, monkeypatch: pytest.MonkeyPatch
) -> None:
    obj = baked_rope(tmp_path)
    before, content = frames_of(obj), file_content()
    simulation = addon("core.simulation").Simulation
    advance = simulation.advance

    def fails(of: Any, sample: Any) -> Any:
        if sample.frame == 9:
            raise addon("core.errors").DivergenceError("Rope moves too fast; add substeps")
        return advance(of, sample)

    with monkeypatch.context() as patch:
        patch.setattr(simulation, "advance", fails)
        with pytest.raises(RuntimeError, match="moves too fast"):
            verlet.bake(mode="CACHE")
    assert file_content() == content
    assert frames_of(obj) == before
    verlet.bake(mode="CACHE", resume=True)
    assert frames_of(obj) == before
    assert points_of(obj).parent.name == "bake_002"


# --- files that are opened ------------------------------------------------------------------------


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-500])


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-200] ^= 64
    path.write_bytes(data)


def removed(path: Path) -> None:
    path.unlink()


def of_other_version(path: Path) -> None:
    record = path.with_name("bake.json")
    record.write_text(record.read_text().replace('"format": 1', '"format": 99'))


def edited(path: Path) -> None:
    record = path.with_name("bake.json")
    record.write_text(record.read_text().replace('"start": 1', '"start": 2'))


def without_record(path: Path) -> None:
    path.with_name("bake.json").unlink()


FAULTS: list[tuple[Callable[[Path], None], str]] = [
    (cut, "is damaged: its end is missing"),
    (flipped, "is damaged: a checksum differs"),
    (removed, "is missing; restore it"),
    (of_other_version, "has format 99, and this version of the add-on reads 1"),
    (edited, "its checksum does not match"),
    (without_record, "has no bake.json"),
]


@pytest.mark.parametrize(("damage", "told"), FAULTS, ids=lambda item: getattr(item, "__name__", ""))
def test_a_cache_that_is_not_as_it_was_written_is_told_and_not_played(
    damage: Callable[[Path], None],
    told: str,
    tmp_path: Path,
    problems: Callable[[], list[str]],
    printed: Printed,
) -> None:
    obj = baked_rope(tmp_path)
    path, wanted = points_of(obj), frames_of(obj)
    rest = np.array([vertex.co[:] for vertex in obj.data.vertices]) + obj.location
    assert not problems()
    damage(path)
    obj = opened(tmp_path / "shot.blend")
    (problem,) = problems()
    assert told in problem
    assert problem in printed().err
    assert np.abs(shown(obj, 12) - rest).max() < 1e-6
    bpy.context.scene.frame_set(1)
    if damage in (cut, flipped):
        verlet.bake(mode="CACHE", resume=True)
    else:
        verlet.bake(mode="CACHE")
    assert frames_of(obj) == wanted
    assert not problems()
    assert np.abs(shown(obj, 12) - rest).max() > 0.1


def test_a_cache_that_is_as_it_was_is_read_as_a_whole_only_after_a_copy(
    tmp_path: Path, problems: Callable[[], list[str]]
) -> None:
    baked_rope(tmp_path)
    shutil.copytree(tmp_path, tmp_path / "copy")
    opened(tmp_path / "copy" / "shot.blend")
    assert not problems()


def test_a_cache_of_other_settings_than_the_file_has_is_told(
    tmp_path: Path, problems: Callable[[], list[str]]
) -> None:
    """It was baked again after the file was saved."""
    obj = baked_rope(tmp_path)
    obj.verlet.gravity = 0.2
    verlet.bake(mode="CACHE", resume=True, from_frame=6)
    opened(tmp_path / "shot.blend")
    (problem,) = problems()
    assert "was baked again, with other settings, after this file was saved" in problem


def test_a_stored_simulation_that_is_damaged_is_made_up_from_an_earlier_one(
    tmp_path: Path,
) -> None:
    obj = baked_rope(tmp_path)
    wanted = frames_of(obj)
    bpy.context.scene.frame_end = 15
    verlet.bake(mode="CACHE", resume=True)
    longer = frames_of(obj)
    assert longer[: len(wanted)] == wanted
    verlet.bake(mode="CACHE", resume=True, from_frame=10)
    for state in points_of(obj).parent.glob("state_*.npy"):
        if state.name != "state_1.npy":
            state.write_bytes(b"")
    with pytest.raises(RuntimeError, match="cannot go on from frame"):
        verlet.bake(mode="CACHE", resume=True, from_frame=13)
    verlet.bake(mode="CACHE", resume=True, from_frame=8)
    assert frames_of(obj) == longer


# --- other names and places ---------------------------------------------------------------------


def test_a_file_saved_under_another_name_plays_the_cache_and_leaves_it_to_the_first(
    tmp_path: Path,
) -> None:
    obj = baked_rope(tmp_path)
    first, wanted = points_of(obj), frames_of(obj)
    looks = shown(obj, 12)
    (tmp_path / "later").mkdir()
    saved(tmp_path / "later", "next.blend")
    assert points_of(obj) == first
    bpy.context.scene.frame_end = 15
    verlet.bake(mode="CACHE", resume=True)
    assert points_of(obj).parent.parent == tmp_path / "later" / "next_verlet_cache"
    assert frames_of(obj)[: len(wanted)] == wanted
    bpy.ops.wm.save_mainfile()
    obj = opened(tmp_path / "shot.blend")
    assert frames_of(obj) == wanted
    assert np.array_equal(shown(obj, 12), looks)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "third.blend"))
    verlet.clear_bake()
    assert first.is_file()


def test_a_folder_that_is_moved_takes_its_caches_along(
    tmp_path: Path, problems: Callable[[], list[str]]
) -> None:
    (tmp_path / "here").mkdir()
    obj = baked_rope(tmp_path / "here")
    looks = shown(obj, 12)
    (tmp_path / "here").rename(tmp_path / "there")
    obj = opened(tmp_path / "there" / "shot.blend")
    assert not problems()
    assert np.array_equal(shown(obj, 12), looks)
    bpy.context.scene.frame_end = 14
    verlet.bake(mode="CACHE", resume=True)
    assert obj.verlet.baked_end == 14


@pytest.mark.parametrize("link", [False, True])
def test_an_object_that_is_appended_or_linked_plays_its_cache(
    link: bool, tmp_path: Path, problems: Callable[[], list[str]]
) -> None:
    looks = shown(baked_rope(tmp_path), 12)
    blend = tmp_path / "shot.blend"
    (tmp_path / "other").mkdir()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    saved(tmp_path / "other")
    with blender.data.libraries.load(str(blend), link=link, relative=True) as (_, found):
        found.objects = ["Rope"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Rope"])
    assert np.array_equal(shown(bpy.data.objects["Rope"], 12), looks)
    bpy.ops.wm.save_mainfile()
    obj = opened(tmp_path / "other" / "shot.blend")
    assert not problems()
    assert np.array_equal(shown(obj, 12), looks)


def test_a_duplicate_shares_the_cache_which_stays_while_one_shows_it(tmp_path: Path) -> None:
    obj = baked_rope(tmp_path)
    path = points_of(obj)
    select(obj)
    blender.ops.object.duplicate()
    copy = bpy.context.object
    select(copy)
    verlet.clear_bake(selected=True)
    assert "Verlet Cache" not in copy.modifiers
    assert path.is_file()
    verlet.clear_bake()
    assert not path.parent.parent.exists()


def test_a_replaced_cache_stays_until_the_file_is_saved(tmp_path: Path) -> None:
    obj = baked_rope(tmp_path)
    first = points_of(obj)
    obj.verlet.gravity = 0.5
    verlet.bake(mode="CACHE")
    assert points_of(obj) != first
    assert first.is_file()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"), copy=True)
    assert first.is_file()
    bpy.ops.wm.save_mainfile()
    assert not first.parent.exists()
    assert points_of(obj).is_file()
    verlet.bake()
    bpy.ops.wm.save_mainfile()
    assert not (tmp_path / "shot_verlet_cache").exists()


def test_the_preferences_choose_another_folder(
    tmp_path: Path, addon: Addon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There, files of the same name from different folders have caches of their own."""
    for name in ("cache_folder", "cache_bake"):
        module = addon(f"blender.bake.{name}")
        monkeypatch.setattr(module, "chosen_cache_folder", lambda: str(tmp_path / "sims"))
    found = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        obj = baked_rope(tmp_path / name, 3)
        found.add(points_of(obj))
        assert sorted(path.name for path in (tmp_path / name).iterdir())[0] == "shot.blend"
    assert len(found) == 2
    assert all(tmp_path / "sims" in path.parents for path in found)


def test_bodies_baked_apart_have_caches_of_their_own(tmp_path: Path) -> None:
    range_to(5)
    cloth = body(sheet("Cloth", height=5.0))
    pin(cloth, [0])
    obj = rope()
    saved(tmp_path)
    select(obj)
    verlet.bake(mode="CACHE", selected=True)
    assert "Verlet Cache" not in cloth.modifiers
    select(cloth)
    verlet.bake(mode="CACHE", selected=True)
    assert points_of(obj).parent != points_of(cloth).parent
    bpy.context.scene.frame_end = 8
    select(obj)
    verlet.bake(mode="CACHE", selected=True, resume=True)
    assert (obj.verlet.baked_end, cloth.verlet.baked_end) == (8, 5)
    with pytest.raises(RuntimeError, match="There is no cache of Cloth, Rope alone to go on with"):
        verlet.bake(mode="CACHE", resume=True)


def test_names_that_differ_in_case_or_odd_letters_have_files_of_their_own(tmp_path: Path) -> None:
    range_to(3)
    objects = [body(line(name, height=2.0 + n)) for n, name in enumerate(["A/b", "a_B", "ö"])]
    saved(tmp_path)
    verlet.bake(mode="CACHE")
    names = {points_of(obj).name.casefold() for obj in objects}
    assert len(names) == 3


# --- the command line ---------------------------------------------------------------------------


def test_a_check_of_a_cache_writes_nothing(cli: ModuleType, blend: Path, printed: Printed) -> None:
    given = ["bake", str(blend), "--check", "--mode", "cache", "--json"]
    assert cli.main(given) == 0
    assert json.loads(printed().out)["mode"] == "cache"
    assert [path.name for path in blend.parent.iterdir()] == ["in.blend"]


def test_the_result_names_the_files_of_the_cache(
    cli: ModuleType, blend: Path, printed: Printed
) -> None:
    out = blend.parent / "out.blend"
    assert cli.main(["bake", str(blend), "--output", str(out), "--mode", "cache", "--json"]) == 0
    result = json.loads(printed().out)
    assert result["mode"] == "cache"
    folder = blend.parent / "out_verlet_cache" / "bake_001"
    assert sorted(result["caches"]) == [str(folder / "Cloth.pc2"), str(folder / "Rope.pc2")]
    assert cli.main(["bake", str(blend), "--output", str(out), "--mode", "cache"]) == 0
    assert [path.name for path in folder.parent.iterdir()] == ["bake_002"]


@pytest.mark.parametrize(
    "given", [["--resume"], ["--mode", "cache", "--from-frame", "3"], ["--resume", "--check"]]
)
def test_options_that_need_others_are_wrong_usage_alone(
    cli: ModuleType, blend: Path, given: list[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["bake", str(blend), "--output", "out.blend", *given])
    assert caught.value.code == 2


def test_a_job_that_is_interrupted_says_that_its_cache_stays(
    cli: ModuleType, blend: Path, printed: Printed
) -> None:
    out = blend.parent / "out.blend"
    given = ["bake", str(blend), "--output", str(out), "--mode", "cache"]

    def end(scene: Any, _depsgraph: Any = None) -> None:
        if scene.frame_current == 4:
            os.kill(os.getpid(), signal.SIGTERM)

    handler = bpy.app.handlers.persistent(end)
    bpy.app.handlers.frame_change_post.append(handler)
    try:
        assert cli.main(given) == 143
    finally:
        bpy.app.handlers.frame_change_post.remove(handler)
    told = "verlet: terminated; the frames in the cache stay, and --resume goes on with them"
    assert printed().err.splitlines()[-1] == told
    assert not out.exists()
    again = run(*given, "--resume")  # in another process, as this one goes on
    assert again.returncode == 0, again.stderr
    assert len(frames_of(opened(out))) == 6 * 12 * 5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "ctrl_c"])
def test_a_signal_loses_no_frame_that_was_simulated(
    cli: ModuleType, addon: Addon, blend: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """As farms stop a task, in the middle of a frame: that one too is stored, to go on from it."""
    out, simulation = blend.parent / "out.blend", addon("core.simulation").Simulation
    given = ["bake", str(blend), "--output", str(out), "--mode", "cache"]
    assert cli.main(given) == 0
    wanted = frames_of(opened(out))
    shutil.rmtree(blend.parent / "out_verlet_cache")
    advance, simulated = simulation.advance, list[int]()

    def advanced(self: Any, sample: Any) -> Any:
        simulated.append(sample.frame)
        if sample.frame == 4 and len(simulated) < 5:
            os.kill(os.getpid(), number)
        return advance(self, sample)

    monkeypatch.setattr(simulation, "advance", advanced)
    assert cli.main(given) == 128 + number
    record = json.loads((blend.parent / "out_verlet_cache/bake_001/bake.json").read_text("utf-8"))
    assert (record["states"], record["blocks"][-1]["end"]) == ([1, 4], 4)
    assert cli.main([*given, "--resume"]) == 0
    assert simulated == [2, 3, 4, 5, 6]
    assert frames_of(opened(out)) == wanted


def during_frame(number: int, deed: Callable[[], None]) -> Any:
    """A handler that does something once, as a bake is at a frame."""
    done: list[int] = []

    def at_frame(scene: Any, _depsgraph: Any = None) -> None:
        if scene.frame_current == number and not done:
            done.append(number)
            deed()

    return bpy.app.handlers.persistent(at_frame)


def test_two_jobs_on_one_output_both_end_well(cli: ModuleType, blend: Path) -> None:
    """As a farm does that takes a machine for lost: the second runs while the first stands still.

    What the first has written stays, and a later bake deletes what nothing shows.
    """
    out, caches = blend.parent / "out.blend", blend.parent / "out_verlet_cache"
    given = ["bake", str(blend), "--output", str(out), "--mode", "cache"]
    ended = []
    handler = during_frame(4, lambda: ended.append(run(*given)))
    bpy.app.handlers.frame_change_post.append(handler)
    try:
        assert cli.main(given) == 0
    finally:
        bpy.app.handlers.frame_change_post.remove(handler)
    (other,) = ended
    assert other.returncode == 0, other.stderr
    assert sorted(path.name for path in caches.iterdir()) == ["bake_001", "bake_002"]
    assert len(frames_of(opened(out))) == 6 * 12 * 5
    assert points_of(bpy.data.objects["Rope"]).parent.name == "bake_001"
    assert cli.main(given) == 0
    assert [path.name for path in caches.iterdir()] == ["bake_003"]


def test_a_job_does_not_go_on_with_a_cache_that_another_one_writes(
    cli: ModuleType, blend: Path
) -> None:
    out = blend.parent / "out.blend"
    given = ["bake", str(blend), "--output", str(out), "--mode", "cache"]
    ended = []
    handler = during_frame(4, lambda: ended.append(run(*given, "--resume")))
    bpy.app.handlers.frame_change_post.append(handler)
    try:
        assert cli.main(given) == 0
    finally:
        bpy.app.handlers.frame_change_post.remove(handler)
    (other,) = ended
    assert other.returncode == 3
    assert other.stderr.splitlines()[-1] == (
        f"verlet: Another process writes the cache {out.parent / 'out_verlet_cache' / 'bake_001'}; "
        "wait until it has ended, or bake again from the start"
    )
    assert len(frames_of(opened(out))) == 6 * 12 * 5


def test_the_statistics_of_a_resumed_cache_are_those_of_all_its_frames(
    cli: ModuleType, tmp_path: Path, printed: Printed
) -> None:
    """The rope is jerked in its first frames, and hardly stretched in those that are resumed."""
    obj = rope(height=0.5)
    obj.verlet.stretch_compliance = 1e-3
    for frame, x in ((1, 0.0), (2, 0.0), (3, 2.0)):
        obj.location.x = x
        obj.keyframe_insert("location", frame=frame)
    bpy.context.scene.verlet.use_ground = True
    path = saved(tmp_path)

    def baked_to(end: int, name: str, *given: str) -> list[Any]:
        options = ["--output", str(tmp_path / name), "--mode", "cache", "--frames", "1", str(end)]
        assert cli.main(["bake", str(path), *options, "--json", *given]) == 0
        result = json.loads(printed().out.splitlines()[-1])
        return [result[key] for key in ("worst_stretch", "most_stretched", "worst_penetration")]

    whole, first = baked_to(12, "whole.blend"), baked_to(6, "out.blend")
    assert first == whole
    assert whole[0] > 1e-4
    assert whole[1] == "Rope"
    assert baked_to(12, "out.blend", "--resume") == whole
    (cache,) = (tmp_path / "out_verlet_cache").glob("*/bake.json")
    assert all(each["frame"] <= 6 for each in json.loads(cache.read_text())["extremes"])
    baked_to(12, "out.blend", "--resume", "--from-frame", "2")
    (cache,) = (tmp_path / "out_verlet_cache").glob("*/bake.json")
    assert json.loads(cache.read_text())["extremes"][-1]["stretch"] == whole[0]


def test_a_job_goes_on_from_a_frame(cli: ModuleType, blend: Path) -> None:
    out = blend.parent / "out.blend"
    given = ["bake", str(blend), "--output", str(out), "--mode", "cache"]
    assert cli.main(given) == 0
    opened(out)
    first = frames_of(bpy.data.objects["Rope"])
    assert cli.main([*given, "--resume", "--from-frame", "4", "--set", "Rope.gravity=0"]) == 0
    opened(out)
    again = frames_of(bpy.data.objects["Rope"])
    assert again[: 3 * 60] == first[: 3 * 60]
    assert again != first


def test_one_command_line_serves_the_first_try_of_a_task_and_later_ones(
    cli: ModuleType, blend: Path, printed: Printed
) -> None:
    out = blend.parent / "out.blend"
    given = ["bake", str(blend), "--output", str(out), "--mode", "cache", "--resume", "--strict"]
    assert cli.main([*given, "--json"]) == 0
    (told,) = json.loads(printed().out.splitlines()[-1])["warnings"]
    assert told == (
        f"There is no cache of Cloth, Rope alone in {out.parent / 'out_verlet_cache'} yet; the "
        "bake begins at frame 1"
    )
    first = frames_of(opened(out))
    assert cli.main([*given, "--frames", "1", "9"]) == 0
    assert "no cache" not in printed().err
    again = frames_of(opened(out))
    assert len(again) == 9 * 12 * 5
    assert again[: len(first)] == first


def test_a_frame_to_go_on_from_needs_a_cache(
    cli: ModuleType, blend: Path, printed: Printed
) -> None:
    given = ["bake", str(blend), "--output", str(blend), "--mode", "cache", "--resume"]
    assert cli.main([*given, "--from-frame", "4"]) == 3
    assert "There is no cache of Cloth, Rope alone to go on with" in printed().err
