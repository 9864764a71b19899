"""Bodies and samples in, frames out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from .agreement import why_numpy_serves
from .arrays import Floats
from .build import build
from .easing_out import ease_out
from .errors import DivergenceError, SettingsError
from .field import Field, between as fields_between, without_meaning
from .holding import hold
from .meeting import Meeting, prepare
from .mesh import Collider, Frame, MeshData, Plane, Sample, check_mesh, sewn
from .mirrors import (
    Reflection,
    between,
    complete_all,
    complete_positions,
    complete_weights,
    keep_symmetric,
)
from .model import SoftBodyModel
from .remarks import what_a_frame_tells, what_starts_inside
from .rippling import fill_with_water
from .settings import BodySettings, SceneSettings
from .shrinking import shrink
from .state import ParticleState
from .step import step
from .stride import Body, Surroundings

FASTEST = 1e4
"""Nothing that is simulated well moves faster than this [m/s]."""
STILL = 0.01
"""Pins that move less than this share of an edge may do so while time stands still."""


def simulate(
    meshes: Sequence[MeshData],
    body_settings: Sequence[BodySettings],
    scene_settings: SceneSettings,
    samples: Iterable[Sample],
    colliders: Sequence[Collider] = (),
) -> Iterator[Frame]:
    """Yields one Frame per Sample, the first being the start as it is; stop iterating to cancel.

    Parameters
    ----------
    meshes, body_settings : one of each per body.
    scene_settings : substeps, iterations, integrator, and how rough and bouncy the ground is.
    samples : the scene frame by frame; the first tells where everything starts.
    colliders : the surfaces that bodies meet; samples tell where they are.

    Raises
    ------
    MeshError
        If a mesh cannot be simulated as it is.
    SettingsError
        If gravity or a field is not finite, or pins move while time stands still.
    DivergenceError
        If positions or speeds leave any sane range.
    KernelError
        If VERLET_KERNELS asks for kernels that there are not.
    """
    why_numpy_serves()  # once, before anything moves
    for mesh, settings in zip(meshes, body_settings, strict=True):
        check_mesh(_with_seams(mesh, settings))
    incoming = iter(samples)
    before = stopped = next(incoming)
    _check_fields(before)
    yield Frame(before.frame, [mesh.positions for mesh in meshes])
    wholes, reflections = complete_all(meshes)
    wholes = list(map(_with_seams, wholes, body_settings))
    bodies: list[Body] = []
    meeting: Meeting | None = None
    remarks: list[str] = []
    for sample in incoming:
        _check_sample(sample)
        _check_pressures(wholes, sample)
        if sample.duration > 0.0:
            formerly, wholes = wholes, _held(wholes, reflections, before)
            if bodies:
                bodies = _hold_each(bodies, formerly, wholes, before, sample.gravity)
            else:
                bodies = _build_each(wholes, body_settings, scene_settings, before, sample)
                meeting = _bring_together(bodies, wholes, colliders, before)
                remarks = what_starts_inside(bodies, meeting, colliders, before.ground)
            bodies = _shrink_each(bodies, wholes, sample.shrinking)
            _advance(bodies, reflections, scene_settings, before, sample, meeting)
            remarks += what_a_frame_tells(bodies, meeting, colliders, sample.frame)
            stopped = sample
        _check_still(meshes, stopped, sample)
        yield Frame(
            sample.frame, _vertices(meshes, bodies), _deepest(meeting, len(meshes)), remarks
        )
        before, remarks = sample, []


def _bring_together(
    bodies: Sequence[Body],
    meshes: Sequence[MeshData],
    colliders: Sequence[Collider],
    start: Sample,
) -> Meeting | None:
    """Tells bodies what they may meet, or dip into."""
    models = [model for model, _ in bodies]
    fill_with_water(models, [state for _, state in bodies], meshes, colliders)
    return prepare(models, meshes, colliders, start.colliders)


def _vertices(meshes: Sequence[MeshData], bodies: Sequence[Body]) -> list[Floats]:
    """Per body (n, 3) where its vertices are [m]; at the start as long as time stands still."""
    return [
        np.ascontiguousarray(state.positions[:, : len(mesh.positions)].T)
        for mesh, (_, state) in zip(meshes, bodies, strict=False)
    ] or [mesh.positions for mesh in meshes]


def _deepest(meeting: Meeting | None, bodies: int) -> list[float]:
    """Per body, how much nearer than its distance it came to anything since this was last asked."""
    if meeting is None:
        return []
    deepest: list[float] = meeting.tally.deepest[:bodies].tolist()
    meeting.tally.deepest.fill(0.0)
    return deepest


def _check_sample(sample: Sample) -> None:
    """Raises SettingsError where the scene itself makes no sense."""
    if not np.isfinite(sample.gravity).all():
        raise SettingsError(
            f"gravity is {sample.gravity.tolist()} at frame {sample.frame}; "
            "set it to finite numbers"
        )
    _check_fields(sample)


def _check_pressures(meshes: Sequence[MeshData], sample: Sample) -> None:
    """Raises SettingsError where gas would draw its walls inwards, or press without measure."""
    for mesh, pressure in zip(meshes, sample.pressures, strict=False):
        if not 0.0 <= pressure < np.inf:
            raise SettingsError(
                f"the pressure of '{mesh.name}' is {pressure:g} at frame {sample.frame}; "
                "set it to 0 or more"
            )


def _check_fields(sample: Sample) -> None:
    """Raises SettingsError where a force field is not finite."""
    for field in (field for felt in _fields(sample) for field in felt):
        if name := without_meaning(field):
            raise SettingsError(
                f"the {name} of the force field {field.name} is {getattr(field, name)} at frame "
                f"{sample.frame}; make it finite"
            )


def _check_still(meshes: Sequence[MeshData], stopped: Sample, now: Sample) -> None:
    """Raises SettingsError where pins moved since time stopped: they would tear at their body."""
    pin_weights = stopped.pin_weights or [mesh.pin_weights for mesh in meshes]
    targets = (stopped.targets, now.targets)
    for mesh, weights, start, end in zip(meshes, pin_weights, *targets, strict=True):
        pinned = weights > 0.0
        moved = np.abs(end[pinned] - start[pinned]).max(initial=0.0)
        if moved > 0.0 and moved > STILL * _mean_span(mesh):
            raise SettingsError(
                f"The pins of '{mesh.name}' move while time stands still at frame {now.frame}; "
                "keep them still there, or raise the time scale above 0"
            )


def _mean_span(mesh: MeshData) -> float:
    """How far an edge reaches along each axis, on average [m]."""
    spans = mesh.positions[mesh.edges[:, 1]] - mesh.positions[mesh.edges[:, 0]]
    return float(np.abs(spans).mean())


def _with_seams(mesh: MeshData, settings: BodySettings) -> MeshData:
    """The mesh with seams, where it is split or the settings have it sewn; only cloth is."""
    return sewn(mesh, every=settings.use_sewing) if settings.body_type == "CLOTH" else mesh


def _build_each(
    meshes: Sequence[MeshData],
    body_settings: Sequence[BodySettings],
    scene_settings: SceneSettings,
    before: Sample,
    sample: Sample,
) -> list[Body]:
    """A model for each body: while bodies do not touch, each bakes alike alone and in company."""
    dt = sample.duration / scene_settings.substeps
    return [
        build(mesh, settings, gravity=sample.gravity, dt=dt, fields=fields)
        for mesh, settings, fields in zip(meshes, body_settings, _fields(before), strict=True)
    ]


def _held(
    meshes: Sequence[MeshData], reflections: Sequence[Sequence[Reflection]], sample: Sample
) -> list[MeshData]:
    """The whole meshes with the pin weights that hold them from a sample on."""
    if not sample.pin_weights:
        return list(meshes)
    weights = map(complete_weights, sample.pin_weights, reflections)
    return [replace(mesh, pin_weights=each) for mesh, each in zip(meshes, weights, strict=True)]


def _hold_each(
    bodies: Sequence[Body],
    formerly: Sequence[MeshData],
    wholes: Sequence[MeshData],
    sample: Sample,
    gravity: Floats,
) -> list[Body]:
    """The bodies as they are held from a sample on."""
    return [
        hold(body, former, mesh, gravity=gravity, fields=fields)
        for body, former, mesh, fields in zip(
            bodies, formerly, wholes, _fields(sample), strict=True
        )
    ]


def _shrink_each(
    bodies: Sequence[Body], wholes: Sequence[MeshData], shrinking: Sequence[float]
) -> list[Body]:
    """The bodies as short as they are on the way to a sample."""
    if not shrinking:
        return list(bodies)
    return [shrink(*each) for each in zip(bodies, wholes, shrinking, strict=True)]


def _advance(
    bodies: Sequence[Body],
    reflections: Sequence[Sequence[Reflection]],
    settings: SceneSettings,
    before: Sample,
    after: Sample,
    meeting: Meeting | None,
) -> None:
    """Steps all bodies together from one sample to the next, and keeps mirrored ones symmetric."""
    starts, ends = (_mirrors(sample) for sample in (before, after))
    ways = [
        _way(body, start, end)
        for body, start, end in zip(
            bodies, *(_targets(sample, reflections) for sample in (before, after)), strict=True
        )
    ]
    for number, given in enumerate(_substeps(ways, before, after, settings.substeps)):
        if meeting is not None:
            ease_out(bodies, meeting, given)
        step(bodies, settings, given, meeting)
        shares = (number / settings.substeps, (number + 1) / settings.substeps)
        for (_, state), images, start, end in zip(bodies, reflections, starts, ends, strict=True):
            keep_symmetric(state, images, *(between(start, end, share) for share in shares))
    for model, state in bodies:
        _check_sane(model, state, after.frame)


def _mirrors(sample: Sample) -> Sequence[Sequence[Plane]]:
    """The planes of each body's mirrors."""
    return sample.mirrors or [()] * len(sample.targets)


def _fields(sample: Sample) -> Sequence[Sequence[Field]]:
    """The force fields that each body feels."""
    return sample.fields or [()] * len(sample.targets)


def _targets(sample: Sample, reflections: Sequence[Sequence[Reflection]]) -> list[Floats]:
    """Per body (n, 3): where its mesh is animated to be, with what its mirrors show of it [m]."""
    wholes = zip(sample.targets, reflections, _mirrors(sample), strict=True)
    return [complete_positions(*whole) for whole in wholes]


def _way(body: Body, start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Where a body's targets set out and arrive; what is pinned sets out from where it is.

    For it may have been taken hold of just now, while it was elsewhere.
    """
    model, state = body
    start = start.copy()
    start[model.pinned] = state.positions[:, model.pinned].T
    return (end, end) if np.array_equal(start, end) else (start, end)


def _substeps(
    ways: Sequence[tuple[Floats, Floats]], before: Sample, after: Sample, substeps: int
) -> Iterator[Surroundings]:
    """Cuts the way of the surroundings from one sample to the next into equal steps."""
    fields = list(zip(_fields(before), _fields(after), strict=True))
    collider_ways = list(zip(before.colliders, after.colliders, strict=True))
    collider_ends = [start for start, _ in collider_ways]
    pressures = list(zip(before.pressures, after.pressures, strict=True))
    shift, ground_way = np.zeros(3), None
    if before.ground is not None and after.ground is not None:
        shift = (after.ground.point - before.ground.point) / substeps
        if shift.any() or (before.ground.normal != after.ground.normal).any():
            ground_way = before.ground, after.ground
    for number in range(1, substeps + 1):
        share = number / substeps
        collider_starts = collider_ends
        collider_ends = [
            # What stands still is the very same array, by which it is known.
            start if start is end else start + (end - start) * share
            for start, end in collider_ways
        ]
        yield Surroundings(
            dt=after.duration / substeps,
            gravity=after.gravity,
            targets=[
                (end if start is end or number == substeps else start + (end - start) * share).T
                for start, end in ways
            ],
            fields=[fields_between(*felt, (number - 1) / substeps) for felt in fields],
            pressures=[start + (end - start) * share for start, end in pressures],
            ground=_between(*ground_way, share) if ground_way else after.ground,
            ground_shift=shift,
            collider_starts=collider_starts,
            collider_ends=collider_ends,
        )


def _between(before: Plane, after: Plane, share: float) -> Plane:
    """Ground that moves, a share of the way from one sample to the next."""
    plane = before.towards(after, share)
    return Plane(plane.point, plane.normal / np.linalg.norm(plane.normal))


def _check_sane(model: SoftBodyModel, state: ParticleState, frame: int) -> None:
    """Raises DivergenceError naming the first body that is not finite or far too fast."""
    speeds = np.sqrt((state.velocities() ** 2).sum(axis=0))
    wrong = np.flatnonzero(~(speeds < FASTEST))
    if len(wrong):
        raise DivergenceError(
            f"'{model.name}' became unstable at frame {frame}, moving at "
            f"{speeds[wrong[0]]:.3g} m/s; raise the substeps, or look for a pin, the ground "
            "or a force field that jumps or is too strong"
        )
