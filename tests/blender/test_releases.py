"""Files that each release has written open, play and go on in this one, or say why they do not."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import shown, verlet
from tests.release.files import BODIES, FOLDER, FORMS, FRAMES, motion

RELEASES = sorted(path.name for path in FOLDER.glob("*.zip"))
LONGER = 12


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The files of a release."""
    shutil.unpack_archive(FOLDER / request.param, tmp_path)
    return tmp_path


def opened(release: Path, name: str) -> Any:
    """The scene of a file."""
    bpy.ops.wm.open_mainfile(filepath=str(release / f"{name}.blend"))
    return bpy.context.scene


@pytest.mark.parametrize("name", FORMS)
def test_files_of_a_release_play_as_they_did(release: Path, name: str) -> None:
    """To a micrometre, which is what their record is rounded to."""
    opened(release, name)
    recorded = json.loads((release / "motion.json").read_text("utf-8"))[name]
    played = motion()
    assert played.keys() == recorded.keys() == set(BODIES)
    for body, frames in recorded.items():
        assert np.abs(np.array(played[body]) - frames).max() <= 1.0


def test_a_cache_of_a_release_goes_on_or_says_why_not(
    release: Path, addon: Callable[[str], ModuleType]
) -> None:
    """It goes on to what a whole bake would be, where its results have the number of now."""
    opened(release, "cache")
    (record,) = release.rglob("bake.json")
    if json.loads(record.read_text("utf-8"))["kernels"] != addon("core.self_test").kernels():
        with pytest.raises(RuntimeError, match=r"whose results differ.*bake again from the start"):
            verlet.bake(mode="CACHE", frame_start=1, frame_end=LONGER, resume=True)
        return
    verlet.bake(mode="CACHE", frame_start=1, frame_end=LONGER, resume=True)
    resumed = [shown(bpy.data.objects[name], LONGER) for name in BODIES]
    verlet.bake(mode="CACHE", frame_start=1, frame_end=LONGER)
    for name, places in zip(BODIES, resumed, strict=True):
        assert np.array_equal(shown(bpy.data.objects[name], LONGER), places)


def test_a_file_of_a_release_bakes_anew(release: Path) -> None:
    """Its settings mean what they did: frames are baked as many, and none is far off."""
    opened(release, "keys")
    assert verlet.bake(mode="RELATIVE", frame_start=1, frame_end=FRAMES) == {"FINISHED"}
    recorded = json.loads((release / "motion.json").read_text("utf-8"))["keys"]
    for body, frames in motion().items():
        assert np.abs(np.array(frames) - recorded[body]).max() <= 1e3  # a millimetre
