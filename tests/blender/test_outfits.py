"""The samples of clothed people: whole, apart at first, and still outside after some frames."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import verlet
from tests.blender.worn import inside, passing

FOLDER = Path(__file__).parents[2] / "sample_blends"
GARMENTS = ("Shirt", "Skirt", "Cape")


@pytest.fixture(name="person", params=["Dancer", "Sitter"])
def _person(request: pytest.FixtureRequest) -> Any:
    """The person of a sample, which is opened."""
    path = FOLDER / f"{request.param.lower()}.blend"
    assert path.stat().st_size < 2e6
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects[request.param]


@pytest.mark.slow
def test_the_body_is_closed_and_each_garment_starts_apart(person: Any) -> None:
    sides = np.sort([edge for face in person.data.polygons for edge in face.edge_keys], axis=1)
    _, faces = np.unique(sides, axis=0, return_counts=True)
    assert (faces == 2).all()
    for name in GARMENTS:
        garment = bpy.data.objects[name]
        assert inside(garment, person) == 0
        for other in (person, *(bpy.data.objects[each] for each in GARMENTS)):
            assert passing(garment, other) == 0


@pytest.mark.parametrize("name", ["dancer", "sitter", "jumper"])
def test_a_shirt_has_no_long_edges(name: str) -> None:
    """As where its sleeves are cut across the hips of a heavy person."""
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / f"{name}.blend"))
    shirt: Any = bpy.data.objects["Shirt"]
    places = np.array([vertex.co for vertex in shirt.data.vertices])
    ends = places[[edge.vertices[:] for edge in shirt.data.edges]]
    assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max() < 0.04


@pytest.mark.slow
def test_no_vertex_is_inside_after_some_frames(person: Any) -> None:
    verlet.bake(frame_start=1, frame_end=8)
    scene: Any = bpy.context.scene
    scene.frame_set(8)
    assert [inside(bpy.data.objects[name], person) for name in GARMENTS] == [0, 0, 0]


@pytest.mark.slow
def test_a_shirt_that_starts_partly_inside_is_eased_out_and_told(person: Any) -> None:
    """It is drawn in by two centimetres, so that parts of it are beneath the skin."""
    shirt: Any = bpy.data.objects["Shirt"]
    for name in ("Skirt", "Cape"):
        other: Any = bpy.data.objects[name]
        other.verlet.enabled = False
    for vertex in shirt.data.vertices:
        vertex.co -= 0.022 * vertex.normal
    before = inside(shirt, person)
    assert before > 20
    verlet.bake(frame_start=1, frame_end=12)
    scene: Any = bpy.context.scene
    scene.frame_set(12)
    assert inside(shirt, person) == 0
    assert "Shirt" in scene.verlet.baked_remarks
