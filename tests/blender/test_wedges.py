"""Wedges: bakes with several values of settings, and the contact sheets that show them."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.blender.command_line import keys_in, run
from tests.blender.scenes import baked, body, line, pin, sheet
from tests.blender.test_batch import outputs

Printed = Callable[[], Any]
Addon = Callable[[str], ModuleType]


@pytest.fixture
def cloth(tmp_path: Path) -> Path:
    """A file with a cloth that hangs from one edge, without a camera."""
    pin(body(sheet("Cloth", height=3.0)), [0, 1, 2, 3, 4])
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 10
    scene.render.resolution_x, scene.render.resolution_y = 400, 200
    path = tmp_path / "cloth.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    return path


@pytest.mark.slow
def test_a_grid_is_baked_and_shown_on_a_sheet(
    cli: ModuleType, addon: Addon, cloth: Path, tmp_path: Path, printed: Printed
) -> None:
    """A row for each value of the first wedge, from the top on; an impossible one stays empty."""
    out = tmp_path / "out"
    wedges = ["--wedge", "gravity=1,-1,lots", "--wedge", "substeps=5,10"]
    options = ["--output-dir", str(out), "--jobs", "2", "--json"]
    assert cli.main(["bake", str(cloth), *wedges, *options]) == 1
    report = json.loads(printed().out)
    assert (report["done"], report["failed"]) == (4, 2)
    assert [row["settings"] for row in report["tasks"]] == [
        {"gravity": gravity, "substeps": substeps}
        for gravity in ("1", "-1", "lots")
        for substeps in ("5", "10")
    ]
    (shown,) = report["sheets"]
    assert (shown["output"], shown["pictures"], shown["error"]) == (
        str(out / "cloth_sheet.png"), 4, None,
    )  # fmt: skip
    assert outputs(out) == [
        "cloth_gravity=-1_substeps=10.blend",
        "cloth_gravity=-1_substeps=5.blend",
        "cloth_gravity=1_substeps=10.blend",
        "cloth_gravity=1_substeps=5.blend",
        "cloth_sheet.png",
    ]
    heights = []
    for gravity in ("1", "-1"):
        keys_in(out / f"cloth_gravity={gravity}_substeps=5.blend")
        last = [*baked(bpy.data.objects["Cloth"]).values()][-1]
        heights.append(np.asarray(last)[:, 2].min())
        assert bpy.context.scene.verlet.substeps == 5
    assert heights[0] < heights[1]
    cells = cells_of(addon, out / "cloth_sheet.png", rows=3, columns=2)
    pictures = [(cell[-160:, :, :3], cell[:-160, :, :3]) for cell in cells]
    assert all(text.max() > 0.9 for _, text in pictures)
    assert [bool(picture.max() > 0.1) for picture, _ in pictures] == [True] * 4 + [False] * 2
    assert not np.allclose(pictures[0][0], pictures[2][0], atol=0.05)
    assert np.allclose(pictures[0][0], pictures[1][0], atol=0.3)
    texts = [text for _, text in pictures]
    assert not any(np.array_equal(texts[0], other) for other in texts[1:])


def cells_of(addon: Addon, path: Path, *, rows: int, columns: int) -> list[NDArray[np.float32]]:
    """The cells of a sheet, row by row from the top on."""
    pixels = addon("blender.cli.pictures").load_pixels(path)
    found = [np.split(row, columns, axis=1) for row in np.split(pixels, rows)[::-1]]
    return [cell for row in found for cell in row]


@pytest.mark.slow
def test_chosen_frames_are_beside_each_other(
    cli: ModuleType, addon: Addon, cloth: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    frames = ["--sheet-frame", "1", "--sheet-frame", "10"]
    options = ["--wedge", "Cl*.stiffness=1,2", *frames, "--output-dir", str(out)]
    assert cli.main(["bake", str(cloth), *options]) == 0
    cells = cells_of(addon, out / "cloth_sheet.png", rows=1, columns=4)
    start, end, start_again, end_again = [cell[-160:] for cell in cells]
    assert np.allclose(start, start_again, atol=0.01)
    assert np.allclose(end, end_again, atol=0.01)
    assert not np.allclose(start, end, atol=0.05)


@pytest.mark.slow
def test_cycles_renders_where_the_first_renderer_cannot(
    cli: ModuleType,
    addon: Addon,
    cloth: Path,
    tmp_path: Path,
    printed: Printed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(addon("blender.cli.wedge_sheets"), "ENGINES", ["none", "cycles"])
    out = tmp_path / "out"
    options = ["--wedge", "gravity=1", "--output-dir", str(out), "--frames", "1", "3", "--json"]
    assert cli.main(["bake", str(cloth), *options]) == 0
    (shown,) = json.loads(printed().out)["sheets"]
    assert shown["engine"] == "cycles"
    (cell,) = cells_of(addon, out / "cloth_sheet.png", rows=1, columns=1)
    assert cell[-160:, :, :3].max() > 0.2


@pytest.mark.slow
def test_a_wedge_prevails_over_a_material_that_is_set(
    cli: ModuleType, cloth: Path, tmp_path: Path
) -> None:
    """A material brings a friction of its own."""
    out = tmp_path / "out"
    options = ["--wedge", "friction=0.125", "--set", "material=silk", "--frames", "1", "2"]
    assert cli.main(["bake", str(cloth), *options, "--output-dir", str(out)]) == 0
    keys_in(out / "cloth_friction=0.125.blend")
    obj: Any = bpy.data.objects["Cloth"]
    assert (obj.verlet.material, obj.verlet.friction) == ("SILK", 0.125)


@pytest.mark.slow
def test_a_sheet_that_cannot_be_written_is_told_and_the_bakes_stay(
    cli: ModuleType, cloth: Path, tmp_path: Path, printed: Printed
) -> None:
    out = tmp_path / "out"
    (out / "cloth_sheet.png").mkdir(parents=True)
    options = ["--wedge", "gravity=1", "--frames", "1", "2", "--output-dir", str(out)]
    assert cli.main(["bake", str(cloth), *options]) == 1
    text = printed()
    assert "verlet: cloth_sheet: Cannot write" in text.err
    assert "Baked 1 of 1" in text.out
    assert (out / "cloth_gravity=1.blend").exists()


def test_a_setting_without_a_body_s_name_is_set_on_all_chosen_bodies(
    cli: ModuleType, blend: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.blend"
    options = ["--object", "Ro*", "--set", "friction=0.25", "--frames", "1", "2"]
    assert cli.main(["bake", str(blend), "--output", str(out), *options]) == 0
    keys_in(out)
    rope, cloth = (bpy.data.objects[name] for name in ("Rope", "Cloth"))
    assert (rope.verlet.friction, cloth.verlet.friction) == (0.25, 1.0)  # type: ignore[attr-defined]


def test_settings_of_bodies_and_of_the_scene_have_different_names(addon: Addon) -> None:
    """Or a setting without a body's name would be ambiguous."""
    properties: Any = addon("blender.settings.properties")
    obj = body(line("Rope"))
    scene = properties.scene_properties(bpy.context.scene)
    own = {each.identifier for each in scene.bl_rna.properties if not each.is_hidden}
    bodies = {each.identifier for each in properties.body_properties(obj).bl_rna.properties}
    assert own & bodies <= {"name", "rna_type"}


@pytest.mark.parametrize(
    "given", ["gravity", "gravity=", "=1,2", "gravity=1,,2"], ids=lambda text: text
)
def test_a_wedge_without_values_is_wrong_usage(
    cli: ModuleType, given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["bake", "a.blend", "--output-dir", "out", "--wedge", given])
    assert caught.value.code == 2
    assert f"{given} has to be SETTING=VALUE" in capsys.readouterr().err


def test_the_same_value_twice_is_wrong_usage(
    cli: ModuleType, cloth: Path, tmp_path: Path, printed: Printed
) -> None:
    options = ["--output-dir", str(tmp_path / "out"), "--wedge", "gravity=1,1"]
    assert cli.main(["bake", str(cloth), *options]) == 2
    assert "would both be written to" in printed().err


@pytest.mark.slow
def test_the_program_renders_a_sheet_of_any_files(cloth: Path, tmp_path: Path) -> None:
    out = tmp_path / "sheet.png"
    options = ["--output", str(out), "--width=100", "--frame=1", "--frame=2", "--json"]
    done = run("sheet", cloth, cloth, "--label", "first", "--label", "second", *options)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pictures"] == 4
    assert (
        run("sheet", cloth, "--label", "one", "--label", "two", "--output", str(out)).returncode
        == 2
    )
    for wrong in (["--label=one", "--label=two", f"--output={out}"], ["--output=sheet.blend"]):
        assert run("sheet", cloth, *wrong).returncode == 2
    image = bpy.data.images.load(str(out))
    assert image.size[0] == 400
