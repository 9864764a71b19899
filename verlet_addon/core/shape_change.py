"""Change of the shape of bodies in a running simulation; their velocities are kept."""

from collections.abc import Sequence

import numpy as np

from .arrays import Floats
from .bodies.step_data import Body
from .collision.collision_world import build_collision_world
from .errors import MeshError
from .mesh import MeshData
from .mirrors import complete_positions
from .model import SoftBodyModel, WaterModel
from .rigid.pieces import fit_poses
from .simulation import Simulation

ROUNDING = 1e-6
"""Rounding: shifts up to this share of a body's size move nothing."""


def change_shape(simulation: Simulation, shapes: Sequence[Floats | None]) -> None:
    """Moves bodies to other positions (n, 3) at the current sample [m]; None leaves one as it is.

    Pinned vertices go back to their targets in the next frame.

    Raises
    ------
    MeshError
        A body cannot be moved so: water, whose ripples are not in its shape alone, a body with
        another number of vertices, or one that has not been simulated yet.
    """
    mirrors = simulation.sample.every_mirror
    if not simulation.bodies:
        raise MeshError("No frame is simulated yet; change the mesh itself, and bake anew")
    meshes, reflections = simulation.meshes, simulation.reflections
    each = zip(simulation.bodies, meshes, reflections, mirrors, shapes, strict=True)
    for body, mesh, images, planes, shape in each:
        if shape is not None:
            _check(body[0], mesh, shape)
            _move(body, complete_positions(shape, images, planes).T)
    models = [model for model, _ in simulation.bodies]
    # Built anew, for it knows what touched, and leads out what is in something else at its start.
    simulation.world = build_collision_world(
        models, simulation.wholes, simulation.colliders, simulation.sample.colliders
    )


def _check(model: SoftBodyModel, mesh: MeshData, shape: Floats) -> None:
    """Raises MeshError where a body cannot be moved to a shape."""
    if isinstance(model, WaterModel):
        raise MeshError(
            f"{model.name} is water, which cannot go on from another shape; bake without resume"
        )
    if shape.shape != mesh.positions.shape:
        raise MeshError(
            f"{model.name} has {len(shape)} vertices now, and {len(mesh.positions)} in the "
            "simulation; bake without resume"
        )


def _move(body: Body, shape: Floats) -> None:
    """Moves the particles of a body to (3, n), the first of them."""
    model, state = body
    count = shape.shape[1]
    shift = shape - state.positions[:, :count]
    size = float(np.linalg.norm(np.ptp(shape, axis=1)))
    shift[:, np.linalg.norm(shift, axis=0) <= ROUNDING * size] = 0.0
    state.positions, state.previous_positions = (
        np.concatenate([rows[:, :count] + shift, rows[:, count:]], axis=1)
        for rows in (state.positions, state.previous_positions)
    )
    state.ground_depenetration, state.steps_in_contact = None, 0
    state.wake()
    if model.pieces is not None:
        state.rigid = fit_poses(model.pieces, state.positions)
