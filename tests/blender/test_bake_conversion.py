"""A bake changes its form without being simulated again, and shows the same."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import body, file_content, line, select, shown, verlet
from tests.blender.test_cache import cloth, frames_of, jelly, points_of, range_to, rope, saved

Addon = Callable[[str], ModuleType]
END = 12


def looks(objects: list[Any]) -> list[list[Any]]:
    """What objects show at each frame."""
    return [[shown(obj, frame) for obj in objects] for frame in range(1, END + 1)]


def off(first: list[list[Any]], second: list[list[Any]]) -> float:
    """The largest distance between two of these [m]."""
    return max(
        float(np.abs(a - b).max())
        for ones, others in zip(first, second, strict=True)
        for a, b in zip(ones, others, strict=True)
    )


@pytest.fixture
def unsimulated(addon: Addon, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Has simulations fail from then on."""

    def forbid() -> None:
        def fail(*_: Any) -> None:
            raise AssertionError("simulated")

        monkeypatch.setattr(addon("core.simulation").Simulation, "advance", fail)

    return forbid


def test_keys_become_a_cache_and_a_cache_keys(
    tmp_path: Path, unsimulated: Callable[[], None], addon: Addon
) -> None:
    scene = range_to(END)
    objects = [cloth(), rope(), jelly()]
    objects[0].modifiers.new("Subdivision", "SUBSURF")
    own = objects[1].shape_key_add(name="Basis")
    saved(tmp_path)
    verlet.bake()
    wanted = looks(objects)
    unsimulated()
    scene.frame_set(3)
    before = file_content()
    assert verlet.convert_bake(mode="CACHE") == {"FINISHED"}
    assert scene.frame_current == 3
    assert objects[0].data.shape_keys is None
    assert [block.name for block in objects[1].data.shape_keys.key_blocks] == [own.name]
    assert off(looks(objects), wanted) <= 1e-6
    record = addon("blender.bake.record")
    assert record.baked_range(scene) == (1, END)
    assert record.changed_since_bake(scene, bpy.context.view_layer) == []
    with pytest.raises(RuntimeError, match="no simulation is stored; bake again from the start"):
        verlet.bake(mode="CACHE", resume=True, frame_end=20)
    scene.frame_set(3)
    assert verlet.convert_bake(mode="RELATIVE") == {"FINISHED"}
    assert off(looks(objects), wanted) <= 1e-5
    assert record.changed_since_bake(scene, bpy.context.view_layer) == []
    scene.frame_set(3)
    after = file_content()
    assert after.keys() == before.keys()
    bpy.ops.wm.save_mainfile()
    assert [path.name for path in tmp_path.glob("*_cache")] == []


def test_a_baked_cache_becomes_the_keys_that_a_bake_makes(
    tmp_path: Path, unsimulated: Callable[[], None]
) -> None:
    scene = range_to(END)
    objects = [cloth(), jelly()]
    saved(tmp_path)
    verlet.bake()
    wanted = looks(objects)
    scene.frame_set(1)
    verlet.bake(mode="CACHE")
    unsimulated()
    verlet.convert_bake(mode="RELATIVE")
    assert all(len(obj.data.shape_keys.key_blocks) == END + 1 for obj in objects)
    assert off(looks(objects), wanted) <= 1e-5


def test_bodies_baked_apart_keep_their_frames(tmp_path: Path) -> None:
    range_to(END)
    first, second = rope(), body(line("Line", height=4.0))
    saved(tmp_path)
    select(first)
    verlet.bake(selected=True)
    select(second)
    verlet.bake(selected=True, frame_end=5)
    select(first)
    verlet.convert_bake(mode="CACHE", selected=True)
    assert "Verlet Cache" not in second.modifiers
    verlet.convert_bake(mode="CACHE")
    assert (first.verlet.baked_end, second.verlet.baked_end) == (END, 5)
    assert len(frames_of(second)) == 5 * 12 * 5
    assert points_of(first).parent != points_of(second).parent
    with pytest.raises(RuntimeError, match="No chosen bake has another form than Cache;"):
        verlet.convert_bake(mode="CACHE")


def test_what_cannot_be_converted_stays(tmp_path: Path) -> None:
    range_to(END)
    obj = rope()
    verlet.bake()
    before = file_content()
    with pytest.raises(RuntimeError, match="was never saved"):
        verlet.convert_bake(mode="CACHE")
    assert file_content() == before
    saved(tmp_path)
    verlet.convert_bake(mode="CACHE")
    data = points_of(obj).read_bytes()
    points_of(obj).write_bytes(data[:-100])
    before = file_content()
    with pytest.raises(RuntimeError, match="is damaged: its end is missing"):
        verlet.convert_bake(mode="RELATIVE")
    assert file_content() == before
