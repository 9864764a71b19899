"""The command line bakes to every form and in loops, and converts the bakes of a file."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

from tests.blender.scenes import body, line, pin, verlet
from tests.blender.test_cache import jelly, range_to
from tests.blender.test_forms import EXACT, halves, off

END = 30


@pytest.fixture
def jelly_file(tmp_path: Path) -> Path:
    """A file with a jelly that falls."""
    range_to(END)
    jelly()
    path = tmp_path / "jelly.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def opened(path: Path) -> Any:
    """The first body of a file."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene: Any = bpy.context.scene
    return next(obj for obj in scene.objects if obj.verlet.enabled)


def test_forms_are_baked_and_converted(
    jelly_file: Path, cli: ModuleType, printed: Callable[[], Any]
) -> None:
    opened(jelly_file)
    verlet.bake()
    wanted = halves(bpy.context.object, END)
    folder = jelly_file.parent
    baked, other = str(folder / "baked.blend"), str(folder / "other.blend")
    given = ["--mode", "compact", "--tolerance", "1e-3", "--json"]
    printed()
    assert cli.main(["bake", str(jelly_file), "--output", baked, *given]) == 0
    result = json.loads(printed().out)
    (bake,) = result["bakes"]
    assert (result["mode"], bake["mode"]) == ("compact", "compact")
    assert bake["worst"] <= 1e-3
    assert off(halves(opened(Path(baked)), END), wanted) <= 1e-3
    assert len(opened(Path(baked)).data.shape_keys.key_blocks) == 1 + bake["keys"]
    for mode in ("absolute", "cache", "relative"):
        assert cli.main(["convert", baked, "--output", other, "--mode", mode]) == 0
        assert "Converted Cube to " in printed().out
        assert off(halves(opened(Path(other)), END), wanted) <= 1e-3 + EXACT
    assert cli.main(["convert", other, "--output", other, "--mode", "relative", "--step", "5"]) == 0
    assert len(opened(Path(other)).data.shape_keys.key_blocks) == 1 + len({*range(1, END, 5), END})


def test_a_loop_is_baked(tmp_path: Path, cli: ModuleType, printed: Callable[[], Any]) -> None:
    range_to(END)
    pin(body(line("Rope", segments=6, height=3.0)), [0])
    path, output = tmp_path / "rope.blend", tmp_path / "loop.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    for mode in ("relative", "cache", "absolute"):
        given = ["--mode", mode, "--loop", "12", "--json"]
        printed()
        assert cli.main(["bake", str(path), "--output", str(output), *given]) == 0
        result = json.loads(printed().out)
        assert (result["loop"], result["bakes"][0]["loop"]) == (12, 12)
        rope = opened(output)
        places = halves(rope, END)
        start = 2 * (rope.verlet.baked_start - 1)
        assert abs(places[start : start + 24] - places[start - 24 : start][:24]).max() <= 1e-5


@pytest.mark.parametrize(
    ("given", "code", "sentence"),
    [
        (["--tolerance", "1e-3"], 2, "--tolerance needs --mode compact"),
        (["--mode", "compact", "--tolerance", "0"], 1, "set it to more than 0"),
        (["--loop", "100"], 1, "A loop of 100 frames needs 109 frames or more"),
        (["--loop", "12", "--mode", "cache", "--resume"], 2, "--loop cannot be resumed"),
    ],
)
def test_mistakes_are_told(
    jelly_file: Path,
    cli: ModuleType,
    printed: Callable[[], Any],
    given: list[str],
    code: int,
    sentence: str,
) -> None:
    output = jelly_file.with_name("out.blend")
    arguments = ["bake", str(jelly_file), "--output", str(output), *given]
    if code == 2:
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        assert ended.value.code == 2
    else:
        assert cli.main(arguments) == code
    assert sentence in printed().err
    assert not output.exists()


def test_what_cannot_be_converted_is_told(
    jelly_file: Path, cli: ModuleType, printed: Callable[[], Any]
) -> None:
    output = jelly_file.with_name("out.blend")
    arguments = ["convert", str(jelly_file), "--output", str(output), "--mode"]
    assert cli.main([*arguments, "absolute"]) == 1
    assert "has a bake in another form than absolute" in printed().err
    opened(jelly_file)
    verlet.bake()
    bpy.ops.wm.save_mainfile()
    assert cli.main([*arguments, "compact", "--tolerance", "1e-9"]) == 1
    assert "raise the Tolerance" in printed().err
    assert not output.exists()


def test_linked_bakes_are_no_hindrance(
    jelly_file: Path, cli: ModuleType, printed: Callable[[], Any]
) -> None:
    opened(jelly_file)
    verlet.bake()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    libraries: Any = bpy.data.libraries
    with libraries.load(str(jelly_file), link=True) as (_, wanted):
        wanted.objects = ["Cube"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Cube"])
    range_to(END)
    own = body(line("Own", height=3.0))
    pin(own, [0])
    verlet.bake()
    shot, output = jelly_file.with_name("shot.blend"), str(jelly_file.with_name("out.blend"))
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    arguments = ["convert", str(shot), "--output", output, "--mode", "absolute"]
    assert cli.main(arguments) == 0
    assert "Converted Own to absolute" in printed().out
    assert cli.main([*arguments, "--object", "Cube"]) == 1
    assert "Cube is linked from another file; make it an override" in printed().err
    assert cli.main([*arguments, "--object", "Own", "--object", "Owm"]) == 1
    assert "There is no object Owm in the scene Scene; did you mean Own?" in printed().err
    with pytest.raises(SystemExit):
        cli.main([*arguments, "--tolerance", "1e-3"])
    assert "--tolerance needs --mode compact" in printed().err
