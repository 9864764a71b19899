"""Features that meet: curves, cages, edited frames and loops in every form of bake and export."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.blender.scenes import body, file_content, pin, sheet, shown, verlet
from tests.blender.test_cache import range_to, saved
from tests.blender.test_curves import curve

END = 8


def cape() -> Any:
    """A sheet that swings, and frames to bake."""
    range_to(END)
    obj = body(sheet("Cape", resolution=6, height=3.0))
    pin(obj, [0, 6])
    return obj


def motion(obj: Any, end: int = END) -> Any:
    """(end, n, 3) what an object shows at each frame."""
    return np.array([shown(obj, frame) for frame in range(1, end + 1)])


@pytest.mark.parametrize("mode", ["ABSOLUTE", "COMPACT", "CACHE"])
def test_a_curve_has_a_key_per_frame_alone(mode: str, tmp_path: Path) -> None:
    range_to(END)
    body(curve())
    saved(tmp_path)
    before = file_content()
    with pytest.raises(RuntimeError, match=r"Rope is a curve, .*bake (it to a )?shape key"):
        verlet.bake(mode=mode)
    assert file_content() == before
    verlet.bake()
    before = file_content()
    for options in ({"mode": mode}, {"mode": "RELATIVE", "step": 2}):
        with pytest.raises(RuntimeError, match=r"Rope is a curve, .*Rope Mesh from Curve"):
            verlet.convert_bake(**options)
    assert file_content() == before


@pytest.mark.parametrize("mode", ["RELATIVE", "ABSOLUTE", "COMPACT", "CACHE"])
def test_a_curve_does_not_loop(mode: str, tmp_path: Path) -> None:
    range_to(40)
    body(curve())
    saved(tmp_path)
    before = file_content()
    with pytest.raises(RuntimeError, match="a loop cannot be shown; bake it without, or make it"):
        verlet.bake(mode=mode, loop=12)
    assert file_content() == before


@pytest.mark.parametrize("former", ["RELATIVE", "ABSOLUTE"])
@pytest.mark.parametrize("mode", ["RELATIVE", "CACHE", "ABSOLUTE", "COMPACT"])
def test_a_single_key_shown_is_not_taken_for_the_bake(
    former: str, mode: str, tmp_path: Path
) -> None:
    obj = cape()
    saved(tmp_path)
    verlet.bake(mode=former)
    wanted = motion(obj)
    obj.show_only_shape_key = True
    verlet.convert_bake(mode=mode, tolerance=0.02, **({"step": 1} if mode == former else {}))
    assert obj.show_only_shape_key
    obj.show_only_shape_key = False
    assert np.abs(motion(obj) - wanted).max() <= (0.02 if mode == "COMPACT" else 1e-5)
