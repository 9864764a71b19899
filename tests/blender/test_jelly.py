"""Jelly in Blender: added, dropped and baked; what is open says so and shows where."""

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import baked, blender, mesh_object, select, verlet
from tests.core.bodies import off_shape

OPEN_CUBE: Any = (
    [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)],
    [(0, 1, 3, 2), (2, 3, 7, 6), (6, 7, 5, 4), (4, 5, 1, 0), (2, 6, 4, 0)],
)


def test_an_added_jelly_drops_and_keeps_its_shape() -> None:
    """Ready to bake, above the ground; two seconds later it lies there, bulging a little."""
    verlet.add_jelly(size=1.0, resolution=4)
    obj: Any = bpy.context.object
    assert (obj.verlet.body_type, obj.verlet.pin_group) == ("SOFT", "")
    obj.verlet.resolution = 4
    verlet.bake(frame_start=1, frame_end=48)
    keys = list(baked(obj).values())
    assert keys[-1][:, 2].min() + obj.location.z == pytest.approx(0.005, abs=1e-4)
    assert np.ptp(keys[-1], axis=0) == pytest.approx([1.0, 1.0, 1.0], abs=0.06)
    assert np.abs(keys[-1] - keys[-2]).max() < 0.01


def test_an_added_jelly_wobbles_five_times() -> None:
    """Its top swings down four to six times by a twentieth of the first time, or more."""
    verlet.add_jelly(size=1.0, resolution=2)
    obj: Any = bpy.context.object
    obj.verlet.resolution = 4
    verlet.bake(frame_start=1, frame_end=96)
    heights = np.array([key[:, 2].max() for key in baked(obj).values()])
    turns = np.flatnonzero(np.diff(np.sign(np.diff(heights))) > 0) + 1
    depths = heights[-1] - heights[turns]
    assert 4 <= (depths > 0.05 * depths.max()).sum() <= 6


@pytest.mark.slow
def test_a_head_that_topples_lies_still_once_it_lies() -> None:
    """Suzanne, remeshed, from a metre: she lands on her chin, topples, and lies still in her shape.

    Within 3 % of her size, and moving by less than 5 mm/s. On her ear she lies for two seconds as
    if for good, and topples once more after six.
    """
    bpy.ops.mesh.primitive_monkey_add()
    obj: Any = bpy.context.object
    obj.data.remesh_voxel_size = 0.1
    bpy.ops.object.voxel_remesh()
    rest = np.array([vertex.co[:] for vertex in obj.data.vertices])
    obj.location.z = 1.0 - rest[:, 2].min()
    select(obj)
    verlet.convert(body_type="SOFT", use_material=False)
    verlet.bake(frame_start=1, frame_end=228)
    keys = list(baked(obj).values())
    assert np.linalg.norm(keys[-1] - keys[-2], axis=1).max() * 24 < 0.005
    assert off_shape(rest, keys[-1]) < 0.03 * np.ptp(rest, axis=0).max()


def test_an_open_mesh_is_closed_for_the_bake_alone(capfd: pytest.CaptureFixture[str]) -> None:
    """One sentence says so; the mesh keeps its faces, and the operator selects its open edges."""
    obj = mesh_object("Open", OPEN_CUBE[0], [], OPEN_CUBE[1])
    select(obj)
    verlet.convert(body_type="SOFT", use_material=False)
    obj.location.z = 3.0
    before = len(obj.data.polygons)
    verlet.bake(frame_start=1, frame_end=3)
    assert "Open is open at 4 edges, and flat lids close its holes" in capfd.readouterr().out
    assert len(obj.data.polygons) == before
    open_keys = baked(obj)
    verlet.clear_bake()
    assert verlet.select_open_edges() == {"FINISHED"}
    assert obj.mode == "EDIT"
    blender.ops.object.mode_set(mode="OBJECT")
    chosen = [edge for edge in obj.data.edges if edge.select]
    assert sorted({vertex for edge in chosen for vertex in edge.vertices}) == [1, 3, 5, 7]
    assert len(chosen) == 4
    blender.ops.object.mode_set(mode="EDIT")
    blender.ops.mesh.fill_holes(sides=0)
    blender.ops.object.mode_set(mode="OBJECT")
    verlet.bake(frame_start=1, frame_end=3)
    assert "holes" not in capfd.readouterr().out
    for name, points in baked(obj).items():
        np.testing.assert_allclose(points, open_keys[name], atol=1e-6)


def test_suzanne_is_filled_as_she_is() -> None:
    """The first thing that everyone tries: a head with 42 open edges around its eyes."""
    bpy.ops.mesh.primitive_monkey_add(location=(0.0, 0.0, 2.0))
    obj: Any = bpy.context.object
    verlet.convert(body_type="SOFT", use_material=False)
    assert verlet.bake(frame_start=1, frame_end=3) == {"FINISHED"}
    assert len(obj.data.polygons) == 500
