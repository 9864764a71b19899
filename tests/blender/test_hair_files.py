"""Baked hair in files of other programs, and by the command line."""

from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.hair import hair, shown
from tests.blender.scenes import select, verlet

LAST = 4
FORMATS = {"ALEMBIC": "abc", "USD": "usdc"}
"""Endings of files by formats."""


@pytest.fixture(autouse=True)
def _saved(tmp_path: Path) -> None:
    """A saved file of a few frames."""
    bpy.context.scene.frame_end = LAST
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))


@pytest.mark.parametrize("form", FORMATS)
def test_curves_come_back_from_a_scene_cache(form: str, tmp_path: Path) -> None:
    """As curves, at each frame where the bake has them; builds without the format refuse it."""
    lacking = not getattr(bpy.app.build_options, form.lower())
    obj, path = hair(), str(tmp_path / f"hair.{FORMATS[form]}")
    verlet.bake()
    baked = {frame: shown(obj, frame) for frame in (1, LAST)}
    if lacking:
        with pytest.raises(RuntimeError, match="build of Blender"):
            verlet.export_cache(filepath=path, format=form)
        return
    verlet.export_cache(filepath=path, format=form)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    operators: Any = bpy.ops.wm
    getattr(operators, f"{form.lower()}_import")(filepath=path)
    found: Any = next(each for each in bpy.data.objects if each.type == "CURVES")
    for frame, places in baked.items():
        assert shown(found, frame) == pytest.approx(places, abs=1e-5)


def test_bones_and_textures_of_hair_are_refused() -> None:
    """They move meshes; the sentence says what writes hair."""
    select(hair())
    verlet.bake()
    with pytest.raises(RuntimeError, match="Hair is hair, on which bones cannot be shown"):
        verlet.bake_bones()


def test_the_command_line_bakes_hair_to_a_cache(cli: ModuleType, tmp_path: Path) -> None:
    """By name; shape keys are refused with the form to choose."""
    obj = hair()
    groom = shown(obj, LAST)
    source, target = tmp_path / "in.blend", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    arguments = ["bake", str(source), "--output", str(target), "--object", "Hair"]
    assert cli.main([*arguments, "--mode", "relative"]) == 1
    assert cli.main([*arguments, "--mode", "cache"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(target))
    assert np.abs(shown(bpy.data.objects["Hair"], LAST) - groom).max() > 0.005
