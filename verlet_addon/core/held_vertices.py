"""Goal springs on the way from one sample to the next: models that they hold, and their targets."""

from collections.abc import Sequence

import numpy as np

from .arrays import Floats
from .bodies.goal_springs import hold_vertices
from .bodies.step_data import NO_TARGETS, Body
from .bodies.symmetry import Reflection
from .integrators import step_gains
from .mirrors import complete_springs
from .model import HeldVertices, SoftBodyModel
from .scene import GoalSprings, Sample
from .settings import SceneSettings
from .state import invalidate_batches

Springs = GoalSprings | None
Path = tuple[Floats, Floats]
"""Targets (3, g) of goal springs, when steps begin and end [m]."""


def acting_springs(
    bodies: Sequence[Body], reflections: Sequence[Sequence[Reflection]], sample: Sample
) -> list[Springs]:
    """Per body, with its mirror images, the springs that draw vertices on the way to a sample."""
    if not any(sample.goal_springs):
        return [None] * len(bodies)
    counts = map(len, sample.targets)
    mirrored = zip(counts, reflections, sample.every_mirror, strict=True)
    return [
        None if springs is None else _acting(model, complete_springs(springs, *mirrors))
        for (model, _), springs, mirrors in zip(bodies, sample.goal_springs, mirrored, strict=True)
    ]


def _acting(model: SoftBodyModel, springs: GoalSprings) -> Springs:
    """The springs that act on any vertex; None for bodies without such springs."""
    free = model.inverse_masses[springs.vertices] > 0.0
    acting = np.flatnonzero(free & (springs.stiffnesses > 0.0))
    return GoalSprings(*(rows[acting] for rows in vars(springs).values())) if len(acting) else None


def hold_bodies(
    bodies: Sequence[Body], every: Sequence[Springs], settings: SceneSettings, duration: float
) -> list[Body]:
    """The bodies with the springs that act on them on a way of such a duration [s].

    Their constraints are made ready anew where springs hold other vertices than before, or
    otherwise.
    """
    dt = duration / settings.substeps
    return [_hold(body, springs, settings, dt) for body, springs in zip(bodies, every, strict=True)]


def _hold(body: Body, springs: Springs, settings: SceneSettings, dt: float) -> Body:
    """One body with its springs."""
    model, state = body
    if springs is not None:
        # Of steps as long as the one before, for masses stay the same from the second step on.
        h_squared = step_gains(settings.integrator, dt, dt, model.settings.damping)[1]
        model = hold_vertices(model, springs, dt, float(h_squared))
    if not _hold_alike(state.held, model.held):
        invalidate_batches(state)
    state.held = model.held
    return model, state


def _hold_alike(former: HeldVertices | None, now: HeldVertices | None) -> bool:
    """Whether springs make the same vertices as heavy as former ones do."""
    if former is None or now is None:
        return former is now
    return np.array_equal(former.vertices, now.vertices) and np.array_equal(
        former.spring_masses, now.spring_masses
    )


def spring_paths(
    bodies: Sequence[Body], before: Sequence[Springs], after: Sequence[Springs]
) -> list[Path]:
    """Per body, where springs draw to at both ends of the way; empty where none acts on any."""
    if not any(after):
        return []
    return [
        (NO_TARGETS, NO_TARGETS) if springs is None else _path(state.positions, former, springs)
        for (_, state), former, springs in zip(bodies, before, after, strict=True)
    ]


def _path(positions: Floats, before: Springs, after: GoalSprings) -> Path:
    """Targets of springs: from former ones on, or from where vertices (3, n) are."""
    start = positions[:, after.vertices]
    if before is not None:
        _, here, there = np.intersect1d(after.vertices, before.vertices, return_indices=True)
        start[:, here] = before.targets[there].T
    return start, after.targets.T
