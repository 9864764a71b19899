"""Substeps: the inputs of each step between two samples, interpolated."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from .arrays import Floats
from .bodies.step_data import NO_MIRRORS, NO_TARGETS, Body, StepInputs, Way
from .bodies.symmetry import Reflection
from .field import interpolate_fields
from .held_vertices import Path
from .mirrors import complete_positions, plane_rows
from .reference_frames import reference_motion
from .scene import Sample, plane_between, plane_shift
from .target_curves import TargetCurve, TargetMotion, bent_curve, pull_way

Value = TypeVar("Value", Floats, float)


def find_ways(
    bodies: Sequence[Body],
    reflections: Sequence[Sequence[Reflection]],
    before: Sample,
    after: Sample,
    substeps: int,
    spring_paths: Sequence[Path] = (),
    curves: Mapping[int, TargetCurve] = MappingProxyType({}),
) -> list[Way]:
    """What leads each body from one sample to the next in equal steps.

    Parameters
    ----------
    spring_paths : per body, targets of goal springs at both samples; empty if there are none.
    curves : ways of animated meshes that ropes follow, by number of the body.
    """
    ends = [targets_of(sample, reflections) for sample in (before, after)]
    constant = [model.settings.pressure for model, _ in bodies]
    pressures = before.pressures or constant, after.pressures or constant
    pulls = map(pull_way, before.every_pull, after.every_pull)
    fields = zip(before.every_field, after.every_field, strict=True)
    mirrors = zip(before.every_mirror, after.every_mirror, strict=True)
    springs = spring_paths or [(NO_TARGETS, NO_TARGETS)] * len(bodies)
    ways = []
    for number, (start, end, pull, felt, drawn, planes, *gas) in enumerate(
        zip(*ends, pulls, fields, springs, mirrors, *pressures, strict=True)
    ):
        body, images = bodies[number], reflections[number]
        curve = curves.get(number) or target_curve(body, start, end)
        motion = reference_motion(body[0], start, end, curve, substeps)
        places = np.stack([*map(plane_rows, planes)]) if images else NO_MIRRORS
        ways.append(Way(curve, pull, felt, drawn, motion, (gas[0], gas[1]), images, places))
    return ways


def cut_into_steps(
    ways: Sequence[Way], before: Sample, after: Sample, substeps: int
) -> Iterator[StepInputs]:
    """Yields the inputs of each of `substeps` equal steps; targets include mirror images."""
    collider_ends = list(before.colliders)
    for number in range(1, substeps + 1):
        share = number / substeps
        collider_starts = collider_ends
        # A collider at rest keeps the same array, by which later code recognizes it.
        collider_ends = _between(before.colliders, after.colliders, share)
        yield StepInputs(
            dt=after.duration / substeps,
            gravity=after.gravity,
            targets=[way.targets.at(share).T for way in ways],
            fields=[interpolate_fields(*way.fields, (number - 1) / substeps) for way in ways],
            pressures=[start + (end - start) * share for start, end in (w.pressures for w in ways)],
            ground=plane_between(before.ground, after.ground, share),
            ground_shift=plane_shift(before.ground, after.ground, substeps),
            reference_motions=[
                None if way.motion is None else way.motion.at(number - 1) for way in ways
            ],
            pulls=[way.pull if way.pull is None else way.pull.at(share).T for way in ways],
            spring_targets=[
                start + (end - start) * share for start, end in (way.springs for way in ways)
            ],
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
