"""Twists of quads are solved along face loops, each of them both ways."""

import numpy as np
import pytest

from tests.core.bodies import (
    block,
    built,
    flat_sheet,
    make_mesh,
    sheet,
    sphere,
    tube,
)
from verlet_addon.core.bending.bend_paths import BendPathBatch, face_loop_batches
from verlet_addon.core.bending.kernels import project_bend_paths
from verlet_addon.core.bending.stencil_batches import Springs
from verlet_addon.core.bending.stiff_bends import hinge_springs
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings


def ribbon() -> MeshData:
    """A row of quads that comes back, and crosses itself in its first quad."""
    inner, outer = [(1, 1), (2, 1), (2, 2), (1, 2)], [(1, 0), (3, 0), (3, 3), (0, 3), (0, 1)]
    points = [(x, y, 0.0) for x, y in [(0, 0), *inner, *outer]]
    faces = [(0, 5, 1, 9), (5, 6, 2, 1), (6, 7, 3, 2), (7, 8, 4, 3), (8, 9, 1, 4)]
    return make_mesh(points, faces=faces)


def fin() -> MeshData:
    """A sheet that another one stands on, where three quads meet at each edge."""
    flat = sheet(4)
    rows = [flat.positions, *(flat.positions[10:15] + np.array([0.0, 0.0, z]) for z in (0.25, 0.5))]
    faces = flat.face_vertices.reshape(-1, 4).tolist()
    faces += [(10 + k, 11 + k, 26 + k, 25 + k) for k in range(4)]
    faces += [(25 + k, 26 + k, 31 + k, 30 + k) for k in range(4)]
    return make_mesh(np.concatenate(rows), faces=faces)


MESHES = {
    "fin": fin(),
    "sheet": flat_sheet("quads", 5),
    "tube": tube(6, 3),
    "block": block((1.0, 1.0, 1.0), (3, 2, 4)),
    "sphere": sphere(8, 6),
    "ribbon": ribbon(),
    "triangles": sphere(3, 2),
}


def looped(mesh: MeshData) -> tuple[Springs, list[BendPathBatch]]:
    """Twists of a mesh, free and of different masses, and their batches."""
    twists = built((mesh, BodySettings())).bends.straight[-1]
    every = hinge_springs(twists)
    masses = 1.0 + np.arange(len(mesh.positions)) / 3.0
    return every, face_loop_batches(every, 1.0 / masses, 1e4)


@pytest.mark.parametrize("mesh", MESHES.values(), ids=MESHES)
def test_each_twist_is_in_two_loops(mesh: MeshData) -> None:
    """Between opposite edges of its quad, either way; no colour has a particle twice."""
    twists, batches = looped(mesh)
    ways = set()
    for batch in batches:
        particles = batch.rungs.ravel()
        assert len(np.unique(particles)) == len(particles)
        for k in np.flatnonzero(batch.slots < len(twists.members)):
            first, last = batch.rungs[:, k].tolist(), batch.rungs[:, k + 1].tolist()
            p, q, a, b = twists.members[batch.slots[k]].tolist()
            assert {*first, *last} == {p, q, a, b}
            assert set(first) not in ({p, q}, {a, b})
            ways.add((batch.slots[k], frozenset(first if p in first else last)))
    assert len(ways) == 2 * len(twists.members)


@pytest.mark.parametrize("mesh", MESHES.values(), ids=MESHES)
def test_twists_give_way_without_a_push_from_outside(mesh: MeshData) -> None:
    """What is shaken keeps its momentum; what is flat stays as it is."""
    twists, batches = looped(mesh)
    rest = mesh.positions.T.copy()
    shaken = rest + np.random.default_rng(5).normal(0.0, 0.01, rest.shape)
    for start, moves in ((rest, False), (shaken, True)):
        after = start.copy()
        for batch in batches:
            batch.multipliers.fill(0.0)
        project_bend_paths(after, batches)
        masses = 1.0 + np.arange(rest.shape[1]) / 3.0
        np.testing.assert_allclose((after - start) @ masses, 0.0, atol=1e-12)
        assert (np.abs(after - start).max() > 1e-4) == (moves and len(twists.members) > 0)
