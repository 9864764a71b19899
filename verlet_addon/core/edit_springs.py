"""Goal springs that draw bodies to shapes edited by hand, over the samples before these."""

from collections.abc import Sequence

import numpy as np

from .arrays import Floats, Integers
from .errors import MeshError
from .model import SoftBodyModel, WaterModel
from .scene import GoalSprings

RATE = 40.0
"""Angular frequency of the springs, critically damped, as of a drag by the mouse [rad/s]."""
ROUNDING = 1e-6
"""Rounding: shifts up to this share of a body's size move nothing."""


def edit_springs(
    model: SoftBodyModel,
    track: Sequence[Floats],
    durations: Sequence[float],
    shape: Floats | None,
) -> list[GoalSprings | None]:
    """Springs that draw a body from a track to a shape, which was edited at the end of the track.

    Their targets leave the track smoothly. The springs weigh most what is moved farthest, and pull
    with the mass of the whole body: one vertex so takes with it what its edges cannot leave behind.

    Parameters
    ----------
    track : (n, 3) positions at successive samples [m].
    durations : simulated time from each of these to the next [s].
    shape : (n, 3) positions at the last one as they were edited [m]; None = no springs.

    Raises
    ------
    MeshError
        The body is water, whose ripples are not in its shape alone, or has another number of
        vertices.
    """
    if shape is None:
        return [None] * len(durations)
    _check(model, track[-1], shape)
    moved = _moved(model, track[-1], shape)
    if not len(moved):
        return [None] * len(durations)
    shift = (shape - track[-1])[moved]
    lengths = np.linalg.norm(shift, axis=1)
    stiffnesses = _movable_mass(model) * RATE**2 * lengths / lengths.sum()
    shares = np.linspace(0.0, 1.0, len(track))
    targets = [
        places[moved] + shift * (share**2 * (3.0 - 2.0 * share))
        for places, share in zip(track, shares, strict=True)
    ]
    steps = zip(targets, targets[1:], durations, strict=False)
    return [
        # Ahead of the target by as much as a critically damped spring is behind a steady motion.
        GoalSprings(
            moved, end + (end - start) * (2.0 / (RATE * dt)), stiffnesses, 2.0 * stiffnesses / RATE
        )
        for start, end, dt in steps
    ]


def _check(model: SoftBodyModel, places: Floats, shape: Floats) -> None:
    """Raises MeshError where a body at places (n, 3) cannot be drawn to a shape."""
    if isinstance(model, WaterModel):
        raise MeshError(
            f"{model.name} is water, which cannot go on from another shape; bake again from the "
            "start"
        )
    if shape.shape != places.shape:
        raise MeshError(
            f"{model.name} has {len(shape)} vertices now, and {len(places)} in the simulation; "
            "bake again from the start"
        )


def _moved(model: SoftBodyModel, before: Floats, after: Floats) -> Integers:
    """(m,) particles that are not pinned and moved from one place (n, 3) to another [m]."""
    least = ROUNDING * np.linalg.norm(np.ptp(after, axis=0))
    return np.flatnonzero(
        (np.linalg.norm(after - before, axis=1) > least)
        & (model.inverse_masses[: len(after)] > 0.0)
    )


def _movable_mass(model: SoftBodyModel) -> float:
    """Mass of all particles that are not pinned [kg]."""
    return float((1.0 / model.inverse_masses[model.inverse_masses > 0.0]).sum())
