"""Skirts of bones: neighbouring chains joined as cloth."""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils.bvhtree import BVHTree

from .rigs import armature, chain, poses, select, swing, tips
from .scenes import verlet
from .test_soft_bones import at_first_frame, soft, vertices

CHAINS = 8


def skirt(*, arc: float = 2.0 * np.pi) -> Any:
    """Hips with chains of three bones on an arc around them, and a tail."""
    bones: list[Any] = [("hips", "", (0.0, 0.0, 1.0), (0.0, 0.0, 1.2))]
    for number in range(CHAINS):
        angle = number * arc / CHAINS
        along = np.array([np.cos(angle), np.sin(angle), 0.0])
        way = (0.1 * along - [0.0, 0.0, 0.4]).tolist()
        bones += chain(f"skirt{number}", "hips", [*0.12 * along[:2], 1.0], way, 3)
    return armature([*bones, *chain("tail", "hips", (0, 0.1, 1.1), (0, 0.3, 0), 4)])


def closed(obj: Any, **settings: Any) -> Any:
    """The body of all these chains, joined as a skirt."""
    body = soft(obj, *(f"skirt{n}.0" for n in range(CHAINS)), "tail.0", **settings)
    select(obj, *(f"skirt{n}.1" for n in range(CHAINS)))
    verlet.close_skirt()
    return body


def test_chains_in_a_skirt_are_a_ring_of_cloth_beside_a_tail() -> None:
    """Bones point at its joints to a millimetre, the tail to a micrometre."""
    obj = skirt()
    swing(obj, 1.0)
    keyed = tips(obj, poses(obj))
    body = closed(obj, frequency=0.7)
    assert len(body.data.polygons) == CHAINS * 3
    verlet.bake()
    places, shown = vertices(body), tips(obj, poses(obj))
    names = [bone.name for bone in obj.pose.bones]
    for group in body.vertex_groups:
        (vertex,) = (
            v.index for v in body.data.vertices if group.index in [g.group for g in v.groups]
        )
        error = np.linalg.norm(shown[:, names.index(group.name)] - places[:, vertex], axis=1).max()
        assert error < (2e-6 if group.name.startswith("tail") else 1e-3)
    away = np.linalg.norm(shown - keyed, axis=2).max(axis=0)
    assert away[names.index("skirt0.2")] > 0.02
    assert away[names.index("tail.3")] > 0.02


def test_a_still_skirt_keeps_its_pose() -> None:
    """As cloth too it was drawn with its weight."""
    obj = skirt()
    keyed = poses(obj)[:1]
    closed(obj)
    bpy.context.scene.frame_end = 24
    verlet.bake()
    assert np.abs(poses(obj) - keyed).max() < 1e-5


@pytest.mark.parametrize(("arc", "faces"), [(2.0 * np.pi, 24), (np.pi, 21)])
def test_a_skirt_with_a_wide_gap_stays_open_there(arc: float, faces: int) -> None:
    assert len(closed(skirt(arc=arc)).data.polygons) == faces


def test_cloth_stops_what_passes_between_chains() -> None:
    """A ball from within pushes the skirt outwards, and passes between its chains otherwise."""
    obj = skirt()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.06, location=(0.0, 0.0, 0.75))
    ball = bpy.context.object
    way = np.array([np.cos(np.pi / CHAINS), np.sin(np.pi / CHAINS), 0.0])  # between two chains
    for frame, share in ((1, 0.0), (16, 0.2)):
        ball.location = [*(share * way[:2]), 0.75]
        ball.keyframe_insert("location", frame=frame)
    verlet.make_collider()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 16
    gaps, away = [], 0.0
    for join in (False, True):
        if join:
            closed(obj, radius=0.01)
        else:
            soft(obj, *(f"skirt{n}.0" for n in range(CHAINS)), radius=0.01)
        verlet.bake()
        ends = tips(obj, poses(obj))
        names = [bone.name for bone in obj.pose.bones]
        lines = [[names.index(f"skirt{chain}.{row}") for row in (2, 1, 0)] for chain in (0, 1)]
        middle = ends[-1, lines].mean(axis=0)
        gaps.append(np.interp(0.75, middle[:, 2], middle @ way) - 0.2)
        # Where rows of faces meet: a line from row to row is not on faces that are not flat.
        away = np.linalg.norm(middle - [*(0.2 * way[:2]), 0.75], axis=1).min()
        verlet.clear_bake()
    assert gaps[0] < 0.0 < gaps[1]  # the ball is beyond the chains that it has passed between
    assert away > 0.06  # its radius


def test_an_open_skirt_is_chains_again() -> None:
    """And the file is as it was before it was closed."""
    obj = skirt()
    soft(obj, *(f"skirt{n}.0" for n in range(CHAINS)), "tail.0")
    select(obj, *(f"skirt{n}.1" for n in range(CHAINS)))
    before = at_first_frame()
    verlet.close_skirt()
    verlet.close_skirt(open_again=True)
    assert at_first_frame() == before
    with pytest.raises(RuntimeError, match="No skirt of Fox is selected; select a bone of one"):
        verlet.close_skirt(open_again=True)
    select(obj, "tail.1")
    with pytest.raises(RuntimeError, match="needs two chains of soft bones or more; select a bone"):
        verlet.close_skirt()


def step(stride: float, *, depth: float) -> list[Any]:
    """Two legs that step to and fro within a skirt, by so much, in 24 frames."""
    bpy.ops.object.mode_set(mode="OBJECT")
    legs = []
    for side in (-1.0, 1.0):
        bpy.ops.mesh.primitive_cylinder_add(radius=0.05, depth=depth)
        leg = bpy.context.object
        for frame, share in ((1, 0.0), (8, 1.0), (16, -1.0), (24, 0.0)):
            leg.location = 0.05 * side, stride * side * share, 0.55
            leg.keyframe_insert("location", frame=frame)
        verlet.make_collider()
        legs.append(leg)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 24
    return legs


def test_bones_of_a_skirt_end_at_their_joints_where_legs_push_it() -> None:
    """Cloth may fold there, bones cannot: each ends within 3 mm of its joint, of chains of 412 mm.

    Lengths of cloth end within 0.4 %, or 1.6 mm of a chain, and contacts, which come last in a
    step, may take as much again. Bones of cloth that may fold are 12 mm away.
    """
    obj = skirt()
    step(0.2, depth=0.3)
    body = closed(obj, radius=0.01)
    verlet.bake()
    places, shown = vertices(body), tips(obj, poses(obj))
    names = [bone.name for bone in obj.pose.bones]
    joints = {
        body.vertex_groups[v.groups[0].group].name: v.index for v in body.data.vertices if v.groups
    }
    tails = shown[:, [names.index(name) for name in joints]]
    assert np.linalg.norm(tails - places[:, list(joints.values())], axis=2).max() < 3e-3


def test_cloth_of_a_skirt_crosses_no_legs() -> None:
    """Two legs that step within it, through its keyed pose: no triangle crosses one."""
    obj = skirt()
    legs = step(0.14, depth=0.5)
    body = closed(obj, radius=0.01)
    free = {v.index for v in body.data.vertices if v.groups}
    corners = [tuple(face.vertices) for face in body.data.polygons]
    triangles = [t for a, b, c, d in corners for t in ((a, b, c), (a, c, d)) if free >= set(t)]
    keyed = [
        frame
        for frame, places in enumerate(vertices(body), start=1)
        if crossings(places, triangles, legs, frame)
    ]
    verlet.bake()
    shown = [
        frame
        for frame, places in enumerate(vertices(body), start=1)
        if crossings(places, triangles, legs, frame)
    ]
    assert len(keyed) > 4
    assert shown == []


def crossings(places: Any, triangles: list[Any], objects: list[Any], frame: int) -> int:
    """Number of triangles of a surface that cross others at a frame."""
    bpy.context.scene.frame_set(frame)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    surface: Any = BVHTree.FromPolygons(places.tolist(), triangles)
    count = 0
    for obj in objects:
        found: Any = obj.evaluated_get(depsgraph)
        points: Any = [found.matrix_world @ vertex.co for vertex in found.data.vertices]
        faces = [tuple(face.vertices) for face in found.data.polygons]
        leg: Any = BVHTree.FromPolygons(points, faces)
        count += len(leg.overlap(surface))
    return count
