"""Garments fitted to the morphs of a body: where they rest, their keys, and what stays."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.command_line import run
from tests.blender.scenes import coordinates, file_content, mesh_object, select, verlet
from tests.blender.worn import inside, passing, places

PROFILE = (
    *((0.0, 0.60), (0.17, 0.62), (0.18, 0.80), (0.15, 0.98), (0.14, 1.08), (0.165, 1.25)),
    *((0.185, 1.34), (0.175, 1.39), (0.060, 1.44), (0.055, 1.50), (0.0, 1.56)),
)
"""Half widths of a torso at their heights [m]."""
MORPHS = ("Belly", "Broad")


def lathe(low: float, high: float, *, out: float, rows: int, around: int) -> tuple[Any, Any]:
    """Vertices and faces of a surface around Z, so far out from the torso [m]."""
    heights = np.array(PROFILE)
    z = np.linspace(low, high, rows)
    half = np.interp(z, heights[:, 1], heights[:, 0]) + out
    angle = np.arange(around) * 2 * np.pi / around
    points = np.stack(
        [
            np.outer(half, np.cos(angle)).ravel(),
            0.7 * np.outer(half, np.sin(angle)).ravel(),
            np.repeat(z, around),
        ],
        axis=1,
    )
    row, column = np.divmod(np.arange((rows - 1) * around), around)
    here, onward = row * around + column, row * around + (column + 1) % around
    return points, np.stack([here, onward, onward + around, here + around], axis=1)


def torso(*, rows: int = 60) -> Any:
    """A collider with two morphs, one of which is a third up already."""
    points, faces = lathe(0.601, 1.559, out=0.0, rows=rows, around=2 * rows // 3)
    obj = mesh_object("Torso", points.tolist(), [], faces.tolist())
    verlet.make_collider()
    obj.shape_key_add(name="Basis")
    belly = obj.shape_key_add(name="Belly").data
    broad = obj.shape_key_add(name="Broad").data
    for number, (x, y, z) in enumerate(points.tolist()):
        bulge = 0.05 * np.exp(-(((z - 1.05) / 0.12) ** 2)) * max(0.0, -y / np.hypot(x, y + 1e-9))
        belly[number].co = x, y - bulge, z
        broad[number].co = 1.08 * x, 1.08 * y, z
    obj.data.shape_keys.key_blocks["Broad"].value = 1 / 3
    obj.data.shape_keys.key_blocks["Belly"].value = 0.0
    return obj


def shirt(*, rows: int = 24) -> Any:
    """A loose shirt without sleeves, turned and scaled as an object."""
    points, faces = lathe(0.72, 1.425, out=0.035, rows=rows, around=5 * rows // 3)
    obj = mesh_object("Shirt", (points / 0.8).tolist(), [], faces.tolist())
    obj.scale = (0.8, 0.8, 0.8)
    select(obj)
    verlet.convert()
    verlet.set_material(material="COTTON")
    bpy.context.view_layer.update()
    return obj


def wear(morph: str, value: float = 1.0) -> None:
    """Sets a morph of the body and the key of the same name of the garment to one value."""
    for obj in (bpy.data.objects["Torso"], bpy.data.objects["Shirt"]):
        data: Any = obj.data
        for name in MORPHS:
            data.shape_keys.key_blocks[name].value = value if name == morph else 0.0


def stretch(obj: Any) -> float:
    """The largest strain of an edge against the Basis."""
    edges = np.array([tuple(edge.vertices) for edge in obj.data.edges])
    matrix = np.array(obj.matrix_world)[:3, :3]

    def lengths(points: Any) -> Any:
        return np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)

    rest = coordinates(obj.data.shape_keys.reference_key.points) @ matrix.T
    return float((lengths(places(obj)) / lengths(rest)).max() - 1)


@pytest.fixture(scope="module", name="fitted")
def _fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file in which a shirt is fitted to two morphs, by the command line."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    torso()
    shirt()
    folder = tmp_path_factory.mktemp("fit")
    source, output = folder / "dressed.blend", folder / "fitted.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    done = run("fit", source, "--garment", "Shirt", "--on", "Torso", "--output", output, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["garments"], result["body"], result["shapes"]) == (["Shirt"], "Torso", 3)
    assert result["worst_stretch"] < 0.05
    return output


@pytest.mark.slow
@pytest.mark.parametrize("morph", ["", *MORPHS])
def test_a_shirt_fits_each_morph(fitted: Path, morph: str) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(fitted))
    garment, body = bpy.data.objects["Shirt"], bpy.data.objects["Torso"]
    wear(morph)
    assert inside(garment, body) == 0
    assert passing(garment, body) == 0
    assert stretch(garment) < 0.05


@pytest.mark.slow
def test_keys_are_displacements_of_where_it_rests(fitted: Path) -> None:
    """The morph that bulges moves the shirt there, and hardly elsewhere; values are the user's."""
    bpy.ops.wm.open_mainfile(filepath=str(fitted))
    shirt_key: Any = bpy.data.objects["Shirt"].data
    blocks = shirt_key.shape_keys.key_blocks
    assert [block.name for block in blocks] == ["Basis", "Draped", "Belly", "Broad"]
    assert [block.value for block in blocks[1:]] == [1.0, 0.0, 0.0]
    body: Any = bpy.data.objects["Torso"].data
    assert body.shape_keys.key_blocks["Broad"].value == pytest.approx(1 / 3)
    moves = 0.8 * (coordinates(blocks["Belly"].points) - coordinates(blocks["Basis"].points))
    rest = 0.8 * coordinates(blocks["Draped"].points)
    front = (np.abs(rest[:, 2] - 1.05) < 0.08) & (rest[:, 1] < -0.08)
    assert moves[front, 1].min() < -0.02
    assert np.abs(moves[rest[:, 2] > 1.36]).max() < 0.02


def test_fitting_again_replaces_the_keys_and_leaves_those_of_the_user() -> None:
    torso(rows=15)
    garment = shirt(rows=9)
    garment.shape_key_add(name="Basis")
    garment.shape_key_add(name="Own").value = 0.5
    for _ in range(2):
        verlet.fit(garment="Shirt", on="Torso", morphs="Belly", frames=6, seconds=1.0)
        names = [block.name for block in garment.data.shape_keys.key_blocks]
        assert names == ["Basis", "Own", "Draped", "Belly"]
    assert garment.data.shape_keys.key_blocks["Own"].value == 0.5
    assert garment.verlet.rest_key == "Basis"


def test_one_sentence_and_an_unchanged_file() -> None:
    body, garment = torso(rows=15), shirt(rows=9)
    other = mesh_object("Other", [(0, 0, 0)], [], [])
    select(garment)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"on": "Nobody"}, "There is no object Nobody in Scene"),
        ({"garment": "Other"}, "Other is no soft body that is switched on"),
        ({"morphs": "Belly, Thin"}, "Torso has no shape key Thin that is on; choose among its own"),
        ({"on": "Other"}, "Other has no shape keys beside its Basis"),
        ({"on": "Shirt", "garment": "Shirt"}, "Shirt has no shape keys beside its Basis"),
    ]
    for options, sentence in refused:
        before = repr(file_content())
        with pytest.raises(RuntimeError, match=sentence):
            verlet.fit(**{"garment": "Shirt", "on": "Torso", **options})
        assert repr(file_content()) == before
    select(other)
    with pytest.raises(RuntimeError, match="is selected; select one, or name one\n"):
        verlet.fit(on="Torso")
    garment.shape_key_add(name="Basis")
    garment.shape_key_add(name="Belly")
    with pytest.raises(RuntimeError, match="Shirt has a shape key Belly of its own; rename"):
        verlet.fit(garment="Shirt", on="Torso")
    garment.shape_key_clear()
    body.collision.use = False
    with pytest.raises(RuntimeError, match="Shirt does not collide with Torso"):
        verlet.fit(garment="Shirt", on="Torso")
    assert other is not None


def test_a_driven_morph_is_told_and_everything_stays() -> None:
    body, garment = torso(rows=15), shirt(rows=9)
    driver = body.data.shape_keys.key_blocks["Belly"].driver_add("value").driver
    driver.type, driver.expression = "SCRIPTED", "0.25"
    bpy.context.view_layer.update()
    before = repr(file_content())
    with pytest.raises(RuntimeError, match="The shape key Belly of Torso cannot be set to"):
        verlet.fit(garment="Shirt", on="Torso", morphs="Belly", frames=4, seconds=0.5)
    assert repr(file_content()) == before
    assert garment.data.shape_keys is None


def test_a_baked_garment_is_told() -> None:
    torso(rows=15)
    shirt(rows=9)
    verlet.bake(frame_start=1, frame_end=2)
    with pytest.raises(RuntimeError, match="Shirt has a bake, which would move a fit"):
        verlet.fit(garment="Shirt", on="Torso")


def test_undo_takes_the_keys_back() -> None:
    torso(rows=15)
    shirt(rows=9)
    bpy.ops.ed.undo_push(message="Before")
    verlet.fit(garment="Shirt", on="Torso", morphs="Broad", frames=4, seconds=0.5)
    bpy.ops.ed.undo_push(message="Fit")
    bpy.ops.ed.undo()
    data: Any = bpy.data.objects["Shirt"].data
    assert data.shape_keys is None


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["garment", "morph", "file", "usage", "seconds"])
def test_the_command_line_tells_mistakes(tmp_path: Path, fault: str) -> None:
    torso(rows=15)
    shirt(rows=9)
    source, output = tmp_path / "dressed.blend", tmp_path / "fitted.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    options: list[str | Path] = [
        "--garment",
        "Skirt" if fault == "garment" else "Shirt",
        "--on",
        "Torso",
    ]
    options += ["--morphs", "Thin"] if fault == "morph" else []
    options += ["--seconds", "0"] if fault == "seconds" else []
    file = tmp_path / "missing.blend" if fault == "file" else source
    options += [] if fault == "usage" else ["--output", output]
    done = run("fit", file, *options)
    codes = {"garment": 1, "morph": 1, "file": 3, "usage": 2, "seconds": 1}
    assert done.returncode == codes[fault]
    assert not output.exists()
    if fault == "garment":
        assert "There is no object Skirt in the scene Scene" in done.stderr
    if fault == "seconds":
        assert "The longest time of a fit is 0 s; set it to more than 0" in done.stderr
