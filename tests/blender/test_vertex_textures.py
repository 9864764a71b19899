"""Vertex animation textures, decoded as a shader does, give what the bake shows."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import file_content, line, select, shown, verlet
from tests.blender.test_cache_exchange import END, baked, looks, moved, uneven
from tests.blender.vat_files import decode, read_glb, read_image, sample, vertex_of

# Blender 4.2 as a Python module crashes at its end once it has written glTF.
writes_gltf = pytest.mark.skipif(
    not bpy.app.binary_path and bpy.app.version < (4, 3, 0), reason="glTF would crash this Python"
)
Addon = Callable[[str], ModuleType]
FORMS = {"PNG16": ("png", 2e-5), "EXR16": ("exr", 1e-3), "EXR32": ("exr", 2e-6)}
"""Suffix, and what a texture may be off, as a share of the range of the motion."""


def written(obj: Any, folder: Path, form: str = "PNG16", **options: Any) -> Any:
    """Writes the textures of an object; returns the model, the colors and the ranges."""
    suffix = FORMS[form][0]
    select(obj)
    assert verlet.export_vat(filepath=str(folder / f"Cape.{suffix}"), format=form, **options) == {
        "FINISHED"
    }
    remap = json.loads((folder / "Cape-remap_info.json").read_text(encoding="utf-8"))
    return read_glb(folder / "Cape.glb"), read_image(folder / f"Cape.{suffix}"), remap


def y_up(points: Any) -> Any:
    """The same points with Y upwards."""
    return np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1)


@writes_gltf
@pytest.mark.parametrize("form", FORMS)
@writes_gltf
def test_decoded_positions_are_those_of_the_bake(tmp_path: Path, form: str) -> None:
    obj = moved(uneven())
    obj.modifiers.new("Subdivision", "SUBSURF")
    baked(obj)
    wanted = looks(obj)
    bpy.context.scene.frame_set(3)
    select(obj)
    before = file_content()
    model, colors, remap = written(obj, tmp_path, form)
    assert file_content() == before
    assert bpy.context.selected_objects == [obj]
    assert list(remap) == ["os-remap"]
    assert remap["os-remap"]["Frames"] == END
    size = np.subtract(remap["os-remap"]["Max"], remap["os-remap"]["Min"]).max()
    vertices = vertex_of(model, colors, END, len(wanted[0]))
    joined = {corner for face in shown_faces(obj) for corner in face}
    assert set(vertices.tolist()) == joined
    for frame in range(END):
        off = decode(model, colors, remap, frame) - y_up(wanted[frame])[vertices]
        assert np.linalg.norm(off, axis=1).max() <= FORMS[form][1] * size + 2e-6


def shown_faces(obj: Any) -> list[tuple[int, ...]]:
    """Faces of the evaluated mesh."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return [tuple(face.vertices) for face in mesh.polygons]


@writes_gltf
def test_normals_are_those_of_the_bake(tmp_path: Path) -> None:
    obj = baked(moved(uneven()))
    model, colors, _ = written(obj, tmp_path)
    normals = read_image(tmp_path / "Cape-vnrm.png")
    vertices = vertex_of(model, colors, END, len(obj.data.vertices))
    for frame in (1, END):
        shown(obj, frame)
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        turn = np.linalg.inv(np.array(evaluated.matrix_world)[:3, :3])
        given = [tuple(item.vector) for item in evaluated.data.vertex_normals]
        wanted: Any = np.array(given, np.float64) @ turn
        wanted = wanted / np.linalg.norm(wanted, axis=1, keepdims=True)
        found = y_up(2 * sample(model, normals, frame - 1) - 1) @ model.matrix[:3, :3].T
        np.testing.assert_allclose(found, y_up(wanted)[vertices], atol=1e-4)
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "Cape-remap_info.json",
        "Cape-vnrm.png",
        "Cape.glb",
        "Cape.png",
    ]


@writes_gltf
def test_no_file_that_the_dialog_did_not_name_is_replaced(tmp_path: Path, addon: Addon) -> None:
    """As the mesh that glTF export has just written under the same name."""
    obj = baked(uneven())
    select(obj)
    named = tmp_path / "flag.png"
    beside = [tmp_path / f"flag{end}" for end in (".glb", "-remap_info.json", "-vnrm.png")]
    for path in beside:
        path.write_bytes(b"of the user")
        with pytest.raises(RuntimeError, match=f"{path.name} .*would be replaced; choose another"):
            verlet.export_vat(filepath=str(named))
        assert path.read_bytes() == b"of the user"
        assert not named.exists()
        path.unlink()
    for number in range(2):
        verlet.export_vat(filepath=str(named), replace=bool(number))
    assert {*tmp_path.iterdir()} == {named, *beside}
    proposed = addon("blender.ui.texture_operator").default_name(".png")
    assert proposed.endswith("_vat.png")


@writes_gltf
def test_without_normals_there_is_no_texture_of_them(tmp_path: Path) -> None:
    written(baked(uneven()), tmp_path, use_normals=False)
    assert not (tmp_path / "Cape-vnrm.png").exists()


@writes_gltf
def test_what_cannot_be_a_texture_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    baked(line("Rope", height=3.0))
    before = file_content()
    with pytest.raises(RuntimeError, match="Rope has no faces, and so no UV map for a texture; sh"):
        verlet.export_vat(filepath=str(tmp_path / "rope.png"))
    assert file_content() == before
    obj = uneven()
    baked(obj)
    build = obj.modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = -END, 3 * END
    select(obj)
    with pytest.raises(RuntimeError, match=r"other vertices at frame .* turn the modifier off"):
        verlet.export_vat(filepath=str(tmp_path / "cape.png"))
    assert list(tmp_path.iterdir()) == []
    assert len(bpy.data.meshes) == 2


@pytest.mark.parametrize(("form", "kind"), [("PNG16", "u2"), ("EXR16", "f2"), ("EXR32", "f4")])
def test_files_have_every_bit(addon: Addon, tmp_path: Path, form: str, kind: str) -> None:
    """No color management, no dithering: an engine reads the numbers that were written."""
    path = tmp_path / f"a.{FORMS[form][0]}"
    if kind == "u2":
        wanted: Any = np.random.default_rng(1).integers(0, 65536, (9, 64, 3))
        wanted[0, 0], wanted[0, 1] = 0, 65535
        colors = wanted / 65535
    else:
        colors = np.random.default_rng(1).normal(size=(9, 64, 3)) * 10
        wanted = colors.astype("f4").astype(kind)
    before = file_content()
    addon("blender.export.vertex_textures").write_image(path, colors, form)
    assert file_content() == before
    found = read_image(path)
    assert ((np.rint(found * 65535) if kind == "u2" else found) == wanted).all()


def test_a_full_disk_is_told(addon: Addon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blender itself tells nothing of a PNG whose end is not written."""
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"\x89PNG")
    with pytest.raises(OSError, match="the disk is full"):
        addon("blender.export.vertex_textures").write_image(
            tmp_path / "a.png", np.zeros((4, 4, 3)), "PNG16"
        )
    assert not [image for image in bpy.data.images if image.name == "a"]
