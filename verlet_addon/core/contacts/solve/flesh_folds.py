"""Folds in the pose of flesh, which are exempt from its collision with itself."""

from collections.abc import Sequence

import numpy as np

from ...arrays import Booleans, Floats
from ...bodies.step_data import Body
from ...flesh.folds import find_folds
from ...mesh import MeshData
from ...model import FleshModel
from ...remark import Remark
from ...scene import Sample
from .collision_world import CollisionWorld


def exempt_folds(
    world: CollisionWorld | None,
    bodies: Sequence[Body],
    meshes: Sequence[MeshData],
    before: Sample,
    after: Sample,
) -> list[str]:
    """Exempts folds of flesh, at either of two samples, from its collision with itself.

    Returns one sentence for each body, once.
    """
    sentences: list[str] = []
    for number, (model, _) in enumerate(bodies):
        if world is None or not isinstance(model, FleshModel):
            continue
        if not world.surfaces.collides[number, number]:
            continue
        ends = (each.targets[number] for each in (before, after))
        folds = np.any([_folds(world, number, model, skin) for skin in ends], axis=0)
        own, count = world.body_slices[number], model.vertex_count
        exempt = meshes[number].exempt[1][:, None].astype(np.float64)
        wholly = model.solid.surface.interpolate(exempt)[: len(folds), 0] > 1.0 - 1e-9
        world.surfaces.exempt[1, own] = folds | wholly
        if folds.any() and not world.statistics.folds_reported[number]:
            folds &= ~_folds(world, number, model, meshes[number].at_rest)
        if folds[:count].any() and not world.statistics.folds_reported[number]:
            world.statistics.folds_reported[number] = True
            sentences.append(
                Remark(
                    f"{model.name} does not collide with itself where its pose folds it into "
                    f"itself, as at frame {after.frame}; add a corrective shape if that shows",
                    grade="INFO",
                    body=model.name,
                    vertices=np.flatnonzero(folds[:count]).tolist(),
                )
            )
    return sentences


def _folds(world: CollisionWorld, number: int, model: FleshModel, skin: Floats) -> Booleans:
    """(v,) bool, points of the collision surface of flesh in folds of a skin (n, 3) [m]."""
    surfaces, own = world.surfaces, world.body_slices[number]
    triangles = surfaces.triangles[:, surfaces.owners[surfaces.triangles[0]] == number] - own.start
    points = model.solid.surface.interpolate(skin)[: own.stop - own.start]
    return find_folds(model.solid, np.ascontiguousarray(points.T), triangles)
