"""Bakes for which there is too little memory end in one sentence, and lose nothing."""

import json
import resource
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import baked, body, file_content, line, sheet, verlet

Addon = Callable[[str], ModuleType]
Printed = Callable[[], Any]


@pytest.fixture
def memory(addon: Addon) -> ModuleType:
    return addon("blender.bake.memory")


def test_a_bake_that_cannot_fit_is_refused_before_any_work(
    cli: ModuleType,
    blend: Path,
    printed: Printed,
    memory: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2**30)
    out = blend.parent / "out.blend"
    given = ["bake", str(blend), "--output", str(out), "--frames", "1", "1000000", "--json"]
    assert cli.main(given) == 5
    text = printed()
    error = json.loads(text.out)["error"]
    assert (error["kind"], error["code"]) == ("memory", 5)
    assert error["sentence"] == (
        "The bake of Cloth, Rope over frames 1 to 1000000 needs 10.0 GiB of memory, and 1.0 GiB "
        "are left; bake fewer frames or bodies, or raise Step"
    )
    first, _ = text.err.splitlines()
    assert first.startswith("verlet: This bake takes about 10.0 GiB of memory; ")
    # As the remedy says, or where nobody knows how much there is.
    assert cli.main([*given[:-1], "--step", "20000", "--check"]) == 0
    monkeypatch.setattr(memory, "available", lambda: None)
    assert cli.main([*given[:-1], "--check"]) == 0


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs what Linux tells")
def test_keys_take_what_is_said(addon: Addon, memory: ModuleType) -> None:
    """Blender's own two copies of each key, as the process grows by them.

    In a process of its own 5.2 takes 1.01 times that, and 4.3 1.13 times.
    """
    count, keys = 100_000, 300  # so many that memory which former tests have freed hardly counts
    mesh = bpy.data.meshes.new("Points")
    mesh.vertices.add(count)
    obj = bpy.data.objects.new("Points", mesh)
    bpy.context.scene.collection.objects.link(obj)
    coordinates = np.random.default_rng(0).random((1, count, 3), np.float32)

    def taken() -> int:
        return resource.getpagesize() * int(Path("/proc/self/statm").read_text("ascii").split()[1])

    before = taken()
    same = np.broadcast_to(coordinates, (keys, count, 3))
    addon("blender.bake.shape_keys").write_bake(obj, range(1, keys + 1), same)
    bpy.context.view_layer.update()
    said = memory.needed([obj], keys) - memory.needed([obj], 0)
    assert 0.8 * said < taken() - before < 1.2 * said


@pytest.mark.parametrize("place", ["start_simulation", "read_meshes"])
def test_memory_that_runs_out_is_one_sentence_and_the_file_is_as_before(
    cli: ModuleType,
    blend: Path,
    printed: Printed,
    addon: Addon,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
) -> None:
    bpy.context.scene.frame_set(2)
    verlet.bake(frame_start=1, frame_end=3)
    before = file_content()

    def fail(*_: Any, **__: Any) -> Any:
        raise MemoryError("Unable to allocate 18.8 GiB")

    monkeypatch.setattr(addon("blender.bake.bake"), place, fail)
    with pytest.raises(RuntimeError, match="too little memory for the bake of Cloth, Rope over"):
        verlet.bake(frame_start=1, frame_end=5)
    assert file_content() == before
    out = blend.parent / "out.blend"
    assert cli.main(["bake", str(blend), "--output", str(out)]) == 5
    (told,) = printed().err.splitlines()[-1:]
    assert told.startswith("verlet: There was too little memory for the bake of Cloth, Rope over ")
    assert not out.exists()


def test_a_former_bake_stays_where_blender_has_no_room_for_the_next(
    memory: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blender does not survive it."""
    obj = body(line("Rope"))
    verlet.bake(frame_start=1, frame_end=3)
    former = [*baked(obj)]
    left = iter([2**30, 10])
    monkeypatch.setattr(memory, "available", lambda: next(left))
    with pytest.raises(RuntimeError, match="of Rope over frames 1 to 5 needs another"):
        verlet.bake(frame_start=1, frame_end=5)
    assert [*baked(obj)] == former


def test_other_operators_tell_of_memory_too(addon: Addon, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise MemoryError

    sheet()
    monkeypatch.setattr(addon("blender.ui.operators"), "make_bodies", fail)
    with pytest.raises(RuntimeError, match="too little memory for Make Soft Body"):
        verlet.convert()


FILES = {
    "v2": {
        "/proc/self/cgroup": "0::/farm/job\n",
        "/sys/fs/cgroup/farm/job/memory.max": "max\n",
        "/sys/fs/cgroup/farm/job/memory.current": "500\n",
        "/sys/fs/cgroup/farm/memory.max": "9000\n",
        "/sys/fs/cgroup/farm/memory.current": "6000\n",
        "/sys/fs/cgroup/farm/memory.stat": "anon 5000\ninactive_file 1000\n",
    },
    "v1": {
        "/proc/self/cgroup": "9:cpu:/\n8:memory:/docker/abc\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9000\n",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes": "6000\n",
        "/sys/fs/cgroup/memory/memory.stat": "total_inactive_file 1000\n",
    },
    "none": {"/proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 3 kB\nSwapFree: 1 kB\n"},
}


@pytest.mark.parametrize(("kind", "left"), [("v2", 4000), ("v1", 4000), ("none", 4096)])
def test_what_is_left_is_the_machine_s_or_the_container_s(
    memory: ModuleType, monkeypatch: pytest.MonkeyPatch, kind: str, left: int
) -> None:
    files = {"/proc/meminfo": "MemAvailable: 100 kB\n", **FILES[kind]}
    monkeypatch.setattr(memory, "_text", lambda path: files.get(str(path), ""))
    assert memory.available() == left


def test_what_is_left_is_the_process_s_where_that_is_limited(
    memory: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"/proc/self/status": "VmSize:\t 3 kB\n", "/proc/meminfo": "MemAvailable: 100 kB\n"}
    monkeypatch.setattr(memory, "_text", lambda path: files.get(str(path), ""))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (5 * 1024, 9 * 1024))
    assert memory.available() == 2 * 1024
