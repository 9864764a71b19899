"""The way from one sample to the next, cut into steps."""

from collections.abc import Iterator, Sequence

import numpy as np

from .arrays import Floats
from .field import interpolate_fields
from .mirrors import Reflection, complete_positions
from .phases.step_data import Body, StepInputs
from .scene import Plane, Sample, same_plane


def cut_into_steps(
    bodies: Sequence[Body],
    reflections: Sequence[Sequence[Reflection]],
    before: Sample,
    after: Sample,
    substeps: int,
) -> Iterator[StepInputs]:
    """What acts on bodies in each of so many equal steps; mirrors show what reflections tell."""
    targets = (targets_of(sample, reflections) for sample in (before, after))
    target_paths = [_target_path(*body) for body in zip(bodies, *targets, strict=True)]
    fields = list(zip(before.every_field, after.every_field, strict=True))
    collider_paths = list(zip(before.colliders, after.colliders, strict=True))
    collider_ends = [start for start, _ in collider_paths]
    pressures = list(zip(before.pressures, after.pressures, strict=True))
    shift = np.zeros(3)
    if before.ground is not None and after.ground is not None:
        shift = (after.ground.point - before.ground.point) / substeps
    for number in range(1, substeps + 1):
        share = number / substeps
        collider_starts = collider_ends
        collider_ends = [
            # What stands still is the very same array, by which it is known.
            start if start is end else start + (end - start) * share
            for start, end in collider_paths
        ]
        yield StepInputs(
            dt=after.duration / substeps,
            gravity=after.gravity,
            targets=[
                (end if start is end or number == substeps else start + (end - start) * share).T
                for start, end in target_paths
            ],
            fields=[interpolate_fields(*felt, (number - 1) / substeps) for felt in fields],
            pressures=[start + (end - start) * share for start, end in pressures],
            ground=_interpolate_ground(before.ground, after.ground, share),
            ground_shift=shift,
            collider_starts=collider_starts,
            collider_ends=collider_ends,
        )


def targets_of(sample: Sample, reflections: Sequence[Sequence[Reflection]]) -> list[Floats]:
    """Per body (n, 3): where its mesh is animated to be, with what its mirrors show of it [m]."""
    wholes = zip(sample.targets, reflections, sample.every_mirror, strict=True)
    return [complete_positions(*whole) for whole in wholes]


def _target_path(body: Body, start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Where a body's targets set out and arrive; what is pinned sets out from where it is.

    For it may have been taken hold of just now, while it was elsewhere.
    """
    model, state = body
    start = start.copy()
    start[model.pinned] = state.positions[:, model.pinned].T
    return (end, end) if np.array_equal(start, end) else (start, end)


def _interpolate_ground(before: Plane | None, after: Plane | None, share: float) -> Plane | None:
    """The ground a share of the way from one sample to the next; the very same if it stands."""
    if before is None or after is None or same_plane(before, after):
        return after
    plane = before.towards(after, share)
    return Plane(plane.point, plane.normal / np.linalg.norm(plane.normal))
