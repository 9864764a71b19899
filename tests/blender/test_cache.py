"""A bake to a cache plays as shape keys do, goes on where it ended, and needs little memory."""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.command_line import ended, started
from tests.blender.scenes import (
    body,
    file_content,
    line,
    pin,
    select,
    sheet,
    shown,
    verlet,
)

Addon = Callable[[str], ModuleType]
HEADER = 32
FRAMES = 40


def saved(folder: Path, name: str = "shot.blend") -> Path:
    """Saves the open file, and goes on with it."""
    path = folder / name
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def range_to(end: int) -> Any:
    """The scene, with frames 1 to an end."""
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, end
    return scene


def moving(obj: Any, end: int = 20) -> None:
    """Has an object move along X."""
    obj.keyframe_insert("location", frame=1)
    obj.location.x += 1.0
    obj.keyframe_insert("location", frame=end)
    bpy.context.scene.frame_set(1)


def points_of(obj: Any) -> Path:
    """The point cache that an object shows."""
    return Path(os.path.normpath(bpy.path.abspath(obj.modifiers["Verlet Cache"].filepath)))


def frames_of(obj: Any) -> bytes:
    """The samples of the point cache that an object shows."""
    return points_of(obj).read_bytes()[HEADER:]


def cloth(height: float = 3.0, resolution: int = 8) -> Any:
    """A pinned cloth that moves."""
    obj = body(sheet("Cloth", resolution=resolution, height=height))
    pin(obj, range(resolution + 1))
    moving(obj)
    return obj


def rope(height: float = 3.0) -> Any:
    obj = body(line("Rope", segments=40, height=height))
    pin(obj, [0])
    return obj


def jelly() -> Any:
    bpy.ops.mesh.primitive_cube_add(size=0.5, location=(0.0, 0.0, 0.6))
    return body(bpy.context.object, body_type="SOFT", resolution=6)


def water() -> Any:
    obj = body(sheet("Water", resolution=30, size=2.0), body_type="WATER")
    pin(obj, [0, 1, 2])
    moving(obj)
    return obj


def balloon() -> Any:
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=12, radius=0.3, location=(0, 0, 1))
    return body(bpy.context.object, body_type="CLOTH", pressure=300.0)


KINDS = {"cloth": cloth, "rope": rope, "jelly": jelly, "water": water, "balloon": balloon}


# --- what is shown ------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_frame_of_a_cache_shows_what_shape_keys_show(tmp_path: Path) -> None:
    scene = range_to(20)
    objects = [cloth(), rope(), jelly()]
    objects[0].modifiers.new("Subdivision", "SUBSURF")
    saved(tmp_path)
    verlet.bake()
    keys = [[shown(obj, frame) for obj in objects] for frame in range(1, 21)]
    scene.frame_set(1)
    assert verlet.bake(mode="CACHE") == {"FINISHED"}
    assert all(obj.data.shape_keys is None for obj in objects)
    for frame, wanted in enumerate(keys, start=1):
        for obj, places in zip(objects, wanted, strict=True):
            assert np.abs(shown(obj, frame) - places).max() <= 1e-5
    scene.frame_set(1)
    verlet.bake()
    assert not any("Verlet Cache" in obj.modifiers for obj in objects)
    assert np.array_equal(shown(objects[0], 20), keys[19][0])


def test_carriers_and_other_frame_rates_show_the_same(tmp_path: Path) -> None:
    scene = range_to(12)
    obj = cloth()
    hook = bpy.data.objects.new("Hook", None)
    scene.collection.objects.link(hook)
    modifier = obj.modifiers.new("Hook", "HOOK")
    modifier.object, modifier.strength = hook, 0.5
    modifier.vertex_indices_set(list(range(20)))
    moving(hook, 12)
    scene.render.frame_map_new = 200
    saved(tmp_path)
    verlet.bake()
    keys = [shown(obj, frame) for frame in range(1, 13)]
    verlet.bake(mode="CACHE")
    found = [shown(obj, frame) for frame in range(1, 13)]
    assert np.abs(np.array(found) - keys).max() <= 1e-5


def test_a_cache_adds_a_modifier_and_files_and_clearing_removes_exactly_these(
    tmp_path: Path,
) -> None:
    range_to(8)
    obj = rope()
    obj.modifiers.new("Subdivision", "SUBSURF")
    obj.modifiers.active = obj.modifiers[0]
    saved(tmp_path)
    before = file_content()
    verlet.bake(mode="CACHE")
    assert [each.name for each in obj.modifiers] == ["Verlet Cache", "Subdivision"]
    assert obj.modifiers["Verlet Cache"].filepath.startswith("//shot_verlet_cache")
    verlet.clear_bake()
    assert file_content() == before
    assert [path.name for path in tmp_path.iterdir()] == ["shot.blend"]


def test_the_record_of_a_cache_says_what_changed(tmp_path: Path, addon: Addon) -> None:
    scene = range_to(6)
    obj = rope()
    saved(tmp_path)
    verlet.bake(mode="CACHE")
    record = addon("blender.bake.record")
    assert record.baked_range(scene) == (1, 6)
    assert record.changed_since_bake(scene, bpy.context.view_layer) == []
    obj.verlet.mass = 2.0
    assert record.changed_since_bake(scene, bpy.context.view_layer) == ["Rope"]


@pytest.mark.usefixtures("live")
def test_live_drape_and_apply_know_a_cache(tmp_path: Path) -> None:
    scene = range_to(10)
    obj = rope()
    saved(tmp_path)
    verlet.bake(mode="CACHE")
    with pytest.raises(RuntimeError, match="plays the cache of its bake"):
        verlet.drape()
    cached = shown(obj, 10)
    scene.frame_set(1)
    obj.verlet.gravity = 0.0
    scene.verlet.use_live = True
    assert all(np.isfinite(shown(obj, frame)).all() for frame in range(1, 11))
    assert np.abs(shown(obj, 10) - cached).max() > 0.1
    verlet.reset()
    assert np.array_equal(shown(obj, 10), cached)
    select(obj)
    verlet.apply_shape(mode="MESH")
    assert not len(obj.modifiers)
    assert np.abs(shown(obj, 3) - cached).max() < 1e-6


# --- going on -----------------------------------------------------------------------------------


def sample_count(path: Path) -> int:
    """Number of samples that a point cache counts; 0 while there is no file."""
    header = path.read_bytes()[:HEADER] if path.is_file() else b""
    return int.from_bytes(header[28:32], "little") if len(header) == HEADER else 0


def killed_at(blend: Path, out: Path, frames: int, name: str, **options: Any) -> None:
    """Kills a job of the command line once its cache has so many frames."""
    process = started("bake", blend, "--output", out, "--mode", "cache", **options)
    cache = out.with_name(f"{out.stem}_verlet_cache") / "bake_001" / f"{name}.pc2"
    limit = monotonic() + 120.0
    while sample_count(cache) < frames and process.poll() is None and monotonic() < limit:
        sleep(0.001)
    process.send_signal(signal.SIGKILL)
    ended(process)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 5))]
)
def test_a_bake_killed_at_a_random_frame_goes_on_to_the_same_bytes(
    kind: str, seed: int, tmp_path: Path, cli: ModuleType
) -> None:
    range_to(FRAMES)
    obj = KINDS[kind]()
    name, blend = obj.name, saved(tmp_path)
    verlet.bake(mode="CACHE")
    wanted = frames_of(obj)
    verlet.clear_bake()
    out = tmp_path / "out.blend"
    drawn = random.Random(f"{kind} {seed}").randrange(2, FRAMES)
    killed_at(blend, out, drawn, name)
    assert not out.exists()
    given = ["bake", str(blend), "--output", str(out), "--mode", "cache", "--resume"]
    assert cli.main(given) == 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    obj = bpy.data.objects[name]
    assert obj.modifiers["Verlet Cache"].filepath == f"//out_verlet_cache/bake_001/{name}.pc2"
    assert frames_of(obj) == wanted


def test_a_bake_of_an_attached_body_goes_on(tmp_path: Path) -> None:
    """By several vertices, as a garment is held by a bone."""
    flag = body(sheet("Flag", height=2.0))
    pole = bpy.data.objects.new("Pole", None)
    scene = range_to(5)
    scene.collection.objects.link(pole)
    moving(pole)
    flag.vertex_groups.new(name="Held").add([0, 1, 2], 1.0, "REPLACE")
    item = flag.verlet.attachments.add()
    item.target, item.vertex_group = pole, "Held"
    saved(tmp_path)
    verlet.bake(mode="CACHE")
    scene.frame_end = 10
    verlet.bake(mode="CACHE", resume=True)
    resumed = points_of(flag).read_bytes()
    verlet.bake(mode="CACHE")
    assert points_of(flag).read_bytes() == resumed


def bodies_together() -> list[Any]:
    """Cloth that falls onto jelly, and a rope beside them."""
    obj = body(sheet("Cloth", resolution=6, size=0.8, height=0.95))
    obj.location.x = obj.location.y = -0.4
    return [obj, jelly(), rope()]


@pytest.mark.parametrize(
    "ends", [(1,), *(pytest.param(ends, marks=pytest.mark.slow) for ends in ((2, 3), (7, 13, 19)))]
)
def test_a_range_that_grew_at_its_end_is_baked_on(ends: tuple[int, ...], tmp_path: Path) -> None:
    scene = range_to(24)
    objects = bodies_together()
    moving(objects[2])
    scene.verlet.settle_frames = 3
    saved(tmp_path)
    verlet.bake(mode="CACHE")
    wanted = [frames_of(obj) for obj in objects]
    for number, end in enumerate((*ends, 24)):
        scene.frame_end = end
        verlet.bake(mode="CACHE", resume=number > 0)
        assert {obj.verlet.baked_end for obj in objects} == {end}
    assert [frames_of(obj) for obj in objects] == wanted
    verlet.bake(mode="CACHE", resume=True)
    assert [frames_of(obj) for obj in objects] == wanted


@pytest.mark.slow
@pytest.mark.parametrize("again", [2, 9, 15, 20])
def test_frames_before_the_one_simulated_again_stay_and_nothing_jumps(
    again: int, tmp_path: Path
) -> None:
    """Gravity is other from there on; positions and speeds are those of the frame before."""
    scene = range_to(20)
    objects = bodies_together()
    saved(tmp_path)
    verlet.bake(mode="CACHE")
    before = [frames_of(obj) for obj in objects]
    scene.gravity = (0.0, 0.0, -4.9)
    scene.verlet.substeps = 12
    scene.frame_set(again)
    verlet.bake(mode="CACHE", resume=True, from_frame=scene.frame_current)
    for obj, old in zip(objects, before, strict=True):
        new, size = frames_of(obj), 12 * len(obj.data.vertices)
        assert len(new) == len(old)
        assert new[: size * (again - 1)] == old[: size * (again - 1)]
        assert new[size * (again - 1) :] != old[size * (again - 1) :]
        samples, former = (
            np.frombuffer(data, "<f4").reshape(20, -1, 3)[again - 1] for data in (new, old)
        )
        # A frame of half a gravity less moves by 4.9 m/s² / 2 / (24 Hz)².
        assert np.abs(samples - former).max() < 0.02
    middle = [frames_of(obj) for obj in objects]
    scene.frame_end = 26
    verlet.bake(mode="CACHE", resume=True)
    for obj, old in zip(objects, middle, strict=True):
        assert frames_of(obj)[: len(old)] == old


@pytest.mark.slow
def test_simulated_again_without_a_change_it_is_the_same_bytes(tmp_path: Path) -> None:
    range_to(20)
    objects = bodies_together()
    moving(objects[0])
    saved(tmp_path)
    verlet.bake(mode="CACHE")
    before = [frames_of(obj) for obj in objects]
    for again in (12, 5, 18, 2):
        verlet.bake(mode="CACHE", resume=True, from_frame=again)
        assert [frames_of(obj) for obj in objects] == before


def test_an_animation_changed_at_a_frame_is_simulated_from_there(tmp_path: Path) -> None:
    """As if it had been so all the time."""
    range_to(20)
    obj = cloth()
    curve = obj.animation_data.action
    saved(tmp_path)
    verlet.bake(mode="CACHE")
    obj.location = (0.0, 2.0, 3.0)
    obj.keyframe_insert("location", frame=20)
    obj.location = (0.0, 0.0, 3.0)
    assert curve is not None
    bpy.context.scene.frame_set(10)
    verlet.bake(mode="CACHE", resume=True, from_frame=10)
    assert shown(obj, 20)[0, 1] == pytest.approx(2.0, abs=1e-5)


def test_what_cannot_change_in_a_simulation_is_refused_by_name(tmp_path: Path) -> None:
    range_to(10)
    obj = rope()
    saved(tmp_path)
    verlet.bake(mode="CACHE")
    before = frames_of(obj)
    with pytest.raises(RuntimeError, match=r"From Frame is 12, and the cache .* up to 10"):
        verlet.bake(mode="CACHE", resume=True, from_frame=12)
    with pytest.raises(RuntimeError, match="where the range begins"):
        verlet.bake(mode="CACHE", resume=True, from_frame=1)
    with pytest.raises(RuntimeError, match="Resume is off; turn on Resume too"):
        verlet.bake(mode="CACHE", from_frame=5)
    with pytest.raises(RuntimeError, match="mode to CACHE"):
        verlet.bake(resume=True)
    with pytest.raises(RuntimeError, match="a cache has every frame"):
        verlet.bake(mode="CACHE", step=2)
    obj.verlet.mass = 3.0
    with pytest.raises(RuntimeError, match="Rope changed since the cache was baked"):
        verlet.bake(mode="CACHE", resume=True)
    obj.verlet.thickness = 0.1
    with pytest.raises(RuntimeError, match="Thickness of Rope changed"):
        verlet.bake(mode="CACHE", resume=True, from_frame=5)
    obj.verlet.thickness, obj.verlet.mass = 0.005, 0.5
    obj.vertex_groups["Pin"].add([3], 1.0, "REPLACE")
    with pytest.raises(RuntimeError, match="Rope changed since"):
        verlet.bake(mode="CACHE", resume=True)
    with pytest.raises(RuntimeError, match="the weights of Rope changed"):
        verlet.bake(mode="CACHE", resume=True, from_frame=5)
    obj.vertex_groups["Pin"].remove([3])
    sheet("Table", height=-1.0)
    verlet.make_collider()
    with pytest.raises(RuntimeError, match="Colliders were added"):
        verlet.bake(mode="CACHE", resume=True, from_frame=5)
    assert frames_of(obj) == before


# --- size and speed -----------------------------------------------------------------------------

MEASURE = """
import sys, resource, time
from pathlib import Path
import bpy
from importlib import import_module
from tests.blender.scenes import body, pin, sheet, verlet
package = import_module("verlet_addon")
package.register()
bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
resolution, frames = int(sys.argv[1]), int(sys.argv[2])
obj = body(sheet("Cloth", resolution=resolution, height=3.0))
obj.verlet.body_type = sys.argv[4]
pin(obj, range(resolution + 1))
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, frames
scene.verlet.substeps = 1
if len(sys.argv) > 5:
    obj.keyframe_insert("location", frame=1)
    obj.location.x = 1.0
    obj.keyframe_insert("location", frame=frames)
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[3])
verlet.bake(mode="CACHE")
package.unregister()
print("PEAK", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(folder: Path, resolution: int, frames: int, kind: str, *moves: str) -> float:
    """Peak memory of a process that bakes to a cache [MB]."""
    blend = folder / f"{frames}.blend"
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(resolution), str(frames), str(blend), kind, *moves],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    shutil.rmtree(folder / f"{frames}_verlet_cache")
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return int(done.stdout.rpartition("PEAK ")[2]) / unit


@pytest.mark.slow
@pytest.mark.skipif(bool(bpy.app.binary_path), reason="the process runs Python")
@pytest.mark.parametrize("moves", [(), ("moves",)])
def test_memory_does_not_grow_with_frames(moves: tuple[str, ...], tmp_path: Path) -> None:
    """40,000 vertices: 150 frames of shape keys would take 150 MB more than 10."""
    few, many = (peak(tmp_path, 199, frames, "WATER", *moves) for frames in (10, 150))
    assert many - few < 60.0
