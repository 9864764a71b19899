"""Substeps: the inputs of each step between two samples, interpolated."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from .arrays import Floats
from .bodies.step_data import Body, StepInputs
from .field import interpolate_fields
from .held_vertices import Path
from .mirrors import Reflection, complete_positions
from .reference_frames import reference_motions
from .scene import Plane, Sample, same_plane
from .target_curves import TargetCurve, TargetMotion, bent_curve, pull_way

Value = TypeVar("Value", Floats, float)


def cut_into_steps(
    bodies: Sequence[Body],
    reflections: Sequence[Sequence[Reflection]],
    before: Sample,
    after: Sample,
    substeps: int,
    spring_paths: Sequence[Path] = (),
    curves: Mapping[int, TargetCurve] = MappingProxyType({}),
) -> Iterator[StepInputs]:
    """Yields the inputs of each of `substeps` equal steps; targets include mirror images.

    Parameters
    ----------
    spring_paths : per body, targets of goal springs at both samples; empty if there are none.
    curves : ways of animated meshes that ropes follow, by number of the body.
    """
    ends = [targets_of(sample, reflections) for sample in (before, after)]
    targets = [
        curves.get(number) or target_curve(body, start, end)
        for number, (body, start, end) in enumerate(zip(bodies, *ends, strict=True))
    ]
    frames = reference_motions(bodies, ends[0], ends[1], targets, substeps)
    pulls = list(map(pull_way, before.every_pull, after.every_pull))
    fields = list(zip(before.every_field, after.every_field, strict=True))
    collider_ends = list(before.colliders)
    for number in range(1, substeps + 1):
        share = number / substeps
        collider_starts = collider_ends
        # A collider at rest keeps the same array, by which later code recognizes it.
        collider_ends = _between(before.colliders, after.colliders, share)
        yield StepInputs(
            dt=after.duration / substeps,
            gravity=after.gravity,
            targets=[curve.at(share).T for curve in targets],
            fields=[interpolate_fields(*felt, (number - 1) / substeps) for felt in fields],
            pressures=_between(before.pressures, after.pressures, share),
            ground=_interpolate_ground(before.ground, after.ground, share),
            ground_shift=_ground_shift(before.ground, after.ground, substeps),
            reference_motions=frames[number - 1],
            pulls=[way if way is None else way.at(share).T for way in pulls],
            spring_targets=[start + (end - start) * share for start, end in spring_paths],
            collider_starts=collider_starts,
            collider_ends=collider_ends,
        )


def _between(before: Sequence[Value], after: Sequence[Value], share: float) -> list[Value]:
    """Values at a share of the way; the identical ones where they do not change."""
    return [
        start if start is end else start + (end - start) * share
        for start, end in zip(before, after, strict=True)
    ]


def targets_of(sample: Sample, reflections: Sequence[Sequence[Reflection]]) -> list[Floats]:
    """Per body (n, 3): positions of its animated mesh with mirror images [m]."""
    wholes = zip(sample.targets, reflections, sample.every_mirror, strict=True)
    return [complete_positions(*whole) for whole in wholes]


def target_curve(
    body: Body,
    start: Floats,
    end: Floats,
    motions: Sequence[TargetMotion] = (),
    duration: float = 0.0,
) -> TargetCurve:
    """The way of targets (n, 3) from one sample to the next [m], straight without their motions.

    Pinned particles start from their positions, for they may just have been pinned elsewhere.
    """
    model, state = body
    start = start.copy()
    start[model.pinned] = state.positions[:, model.pinned].T
    start = end if np.array_equal(start, end) else start
    return bent_curve(start, end, motions, duration) if motions else TargetCurve(start, end)


def _ground_shift(before: Plane | None, after: Plane | None, substeps: int) -> Floats:
    """(3,) displacement of the ground in each step [m]."""
    if before is None or after is None:
        return np.zeros(3)
    return np.asarray((after.point - before.point) / substeps)


def _interpolate_ground(before: Plane | None, after: Plane | None, share: float) -> Plane | None:
    """The ground interpolated by `share`, 0 … 1; the same object if it is at rest."""
    if before is None or after is None or same_plane(before, after):
        return after
    plane = before.towards(after, share)
    return Plane(plane.point, plane.normal / np.linalg.norm(plane.normal))
