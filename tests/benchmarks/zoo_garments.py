"""A shirt and a skirt for the person of `zoo_person`, fitted to it and to each other."""

from typing import Any

import bpy as blender
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from tests.benchmarks import meshes, zoo_person
from tests.benchmarks.zoo_ingredients import unpack_shirt
from tests.blender.scenes import mesh_object
from verlet_addon.core.arrays import Floats, Integers

bpy: Any = blender

FROM_BODY, FROM_SKIRT = 0.027, 0.008
"""Distances that are fitted: stock colliders keep cloth 20 mm off, and it is 5 mm thick [m]."""
ROUNDS, SMOOTHED = 60, 8
"""Of fitting; and after each, rounds of smoothing what it moved."""
SHIRT_SIZE, SHIRT_SHIFT = 1.18, (0.0, -0.08, -0.055)
"""The shirt is made larger about its middle, and moved to the person's shoulders [m]."""
HEM = 0.5
"""Height at which the skirt ends [m]."""


def make_skirt(_count: int, _random: Any) -> None:
    """MakeHuman's shell around the legs, to the knees, finer, and pinned to the waist."""
    places = zoo_person.places()
    shell = [face for face in zoo_person.faces("helper-skirt") if places[face, 2].min() > HEM]
    used = sorted({vertex for face in shell for vertex in face})
    number = {vertex: k for k, vertex in enumerate(used)}
    own = [[number[vertex] for vertex in face] for face in shell]
    mesh_object("short skirt", places[used].tolist(), [], own)
    meshes.apply("SUBSURF", levels=1)
    skirt = bpy.context.object
    _fit(skirt, [(_body_tree(), FROM_BODY)])
    points = meshes.coordinates()
    waist = np.flatnonzero(points[:, 2] > points[:, 2].max() - 0.01).tolist()
    _follow(skirt, points, waist)


def make_shirt(_count: int, _random: Any) -> None:
    """A shirt with short sleeves, over the skirt if there is one."""
    bpy.ops.wm.usd_import(filepath=str(unpack_shirt()))
    shirt = bpy.context.object
    points = meshes.coordinates() @ np.array(shirt.matrix_world)[:3, :3].T
    middle = points.mean(axis=0)
    meshes.move((points - middle) * SHIRT_SIZE + middle + SHIRT_SHIFT)
    shirt.matrix_world.identity()
    around = [(_body_tree(), FROM_BODY)]
    skirt = bpy.data.objects.get("short skirt")
    if skirt is not None:
        around.append((_tree(meshes.coordinates(skirt.data), skirt.data.polygons), FROM_SKIRT))
    _fit(shirt, around)


def _body_tree() -> Any:
    """The person as modelled."""
    corners = zoo_person.faces("body")
    return BVHTree.FromPolygons(zoo_person.places()[: zoo_person.BODY].tolist(), corners)


def _tree(points: Floats, polygons: Any) -> Any:
    """A tree of a mesh's faces."""
    return BVHTree.FromPolygons(points.tolist(), [face.vertices[:] for face in polygons])


def _fit(obj: Any, around: list[tuple[Any, float]]) -> None:
    """Moves a garment off what it is worn on by a distance each, and as smoothly as that can be."""
    edges = np.array([edge.vertices[:] for edge in obj.data.edges])
    points = meshes.coordinates(obj.data)
    for _ in range(ROUNDS):
        moved = np.sum([_ways_out(points, *obstacle) for obstacle in around], axis=0)
        if np.abs(moved).max() < 1e-4:
            break
        for _ in range(SMOOTHED):
            moved = _smoothed(moved, edges)
        points = points + moved
    for tree, distance in around:
        points = points + _ways_out(points, tree, distance)
    bpy.context.view_layer.objects.active = obj
    meshes.move(points)


def _ways_out(points: Floats, tree: Any, distance: float) -> Floats:
    """(n, 3) from points to where they are so far outside of a closed surface [m]."""
    found = np.zeros_like(points)
    for number, point in enumerate(points.tolist()):
        place, normal, _, _ = tree.find_nearest(Vector(point), 0.3)
        if place is not None:
            apart = Vector(point) - place
            height = apart.dot(normal)
            # Beside a border of an open surface there is no inside.
            if apart.length < distance or height < -0.8 * apart.length:
                out = apart.normalized() if height > 1e-4 else normal
                found[number] = (place + out * distance) - Vector(point)
    return found


def _smoothed(moved: Floats, edges: Integers) -> Floats:
    """(n, 3) the mean of each vertex' own move and that of its neighbours."""
    total, count = moved.copy(), np.ones((len(moved), 1))
    for a, b in (edges.T, edges.T[::-1]):
        np.add.at(total, a, moved[b])
        np.add.at(count, a, 1.0)
    found: Floats = total / count
    return found


def _follow(obj: Any, points: Floats, pinned: list[int]) -> None:
    """Pins vertices in the group "Pin", and has them follow the person's bones."""
    tree = zoo_person.places()[: zoo_person.BODY]
    for vertex in pinned:
        nearest = int(np.argmin(((tree - points[vertex]) ** 2).sum(axis=1)))
        for bone, pairs in zoo_person.weights().items():
            for _, weight in (pair for pair in pairs if pair[0] == nearest):
                group = obj.vertex_groups.get(bone) or obj.vertex_groups.new(name=bone)
                group.add([vertex], weight, "REPLACE")
    obj.vertex_groups.new(name="Pin").add(pinned, 1.0, "REPLACE")
    person = bpy.data.objects["Person"]
    obj.modifiers.new("Armature", "ARMATURE").object = person.modifiers["Armature"].object
