"""Bodies and samples in, frames out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from .agreement import why_numpy_serves
from .arrays import Floats
from .build import build
from .changes.changing import change
from .changes.holding import hold
from .changes.overlong import Drawn, can_be_drawn, find_ways, is_known, lengthen, lies_as_at_rest
from .meeting.easing_out import ease_out
from .meeting.pairings import laws
from .meeting.remarks import what_a_frame_tells, what_a_start_tells
from .meeting.world import Meeting, prepare
from .mesh import MeshData, check_mesh
from .mirrors import Reflection, between, complete_all, complete_weights, keep_symmetric
from .phases.plain_group import make_group
from .phases.rippling import fill_with_water
from .phases.step_data import Body
from .sanity import check_fields, check_pressures, check_sample, check_sane, check_still
from .scene import Collider, Frame, Sample
from .settings import BodySettings, SceneSettings
from .shortcuts.stillness import stands_still
from .shortcuts.swinging import find_plain, swing_all
from .shortcuts.wobbling import wobble
from .step import step
from .stretch.seams import sewn
from .substeps import cut_into_steps, targets_of


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
    check_sample(before)
    yield Frame(before.frame, [mesh.positions for mesh in meshes])
    wholes, reflections = complete_all(meshes)
    wholes = list(map(_with_seams, wholes, body_settings))
    bodies: list[Body] = []
    meeting: Meeting | None = None
    remarks: list[str] = []
    looked_at, drawn = dict[int, Floats | None](), dict[int, Drawn]()
    for sample in incoming:
        check_sample(sample)
        check_pressures(wholes, sample)
        if sample.duration > 0.0:
            formerly, wholes = wholes, _held(wholes, reflections, before)
            if bodies:
                bodies = _hold_each(bodies, formerly, wholes, before, sample.gravity)
            else:
                bodies = _build_each(wholes, body_settings, scene_settings, before, sample)
                meeting = _bring_together(bodies, wholes, colliders, before)
                remarks = what_a_start_tells(bodies, meeting, colliders, before, sample.gravity)
            bodies = _change_each(bodies, wholes, sample.settings, meeting)
            bodies = _lengthen_each(bodies, wholes, reflections, drawn, before, sample)
            _advance(bodies, reflections, scene_settings, before, sample, meeting)
            remarks += what_a_frame_tells(meshes, bodies, meeting, colliders, looked_at, sample)
            stopped = sample
        else:
            check_still(meshes, stopped, sample)
        yield Frame(sample.frame, _vertices(meshes, bodies), _deepest(meeting, meshes), remarks)
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


def _deepest(meeting: Meeting | None, meshes: Sequence[MeshData]) -> list[float]:
    """Per body, how much nearer than its distance it came to anything since this was last asked."""
    if meeting is None:
        return []
    deepest: list[float] = meeting.tally.deepest[: len(meshes)].tolist()
    meeting.tally.deepest.fill(0.0)
    return deepest


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
    dt, given = sample.duration / scene_settings.substeps, before.settings or body_settings
    return [
        build(mesh, settings, gravity=sample.gravity, dt=dt, fields=fields)
        for mesh, settings, fields in zip(meshes, given, before.every_field, strict=True)
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
            bodies, formerly, wholes, sample.every_field, strict=True
        )
    ]


def _change_each(
    bodies: Sequence[Body],
    wholes: Sequence[MeshData],
    settings: Sequence[BodySettings],
    meeting: Meeting | None,
) -> list[Body]:
    """The bodies with the settings that they have on the way to a sample."""
    if not settings:
        return list(bodies)
    if meeting is not None and any(
        own != model.settings for own, (model, _) in zip(settings, bodies, strict=True)
    ):
        meeting.pairs = laws(settings, meeting.colliders)
    return [change(*each) for each in zip(bodies, wholes, settings, strict=True)]


def _lengthen_each(
    bodies: Sequence[Body],
    wholes: Sequence[MeshData],
    reflections: Sequence[Sequence[Reflection]],
    drawn: dict[int, Drawn],
    before: Sample,
    after: Sample,
) -> list[Body]:
    """The bodies as long as they have to be for their pins on the way to a sample."""
    longer = list(bodies)
    targets = (targets_of(sample, reflections) for sample in (before, after))
    for number, (mesh, *places) in enumerate(zip(wholes, *targets, strict=True)):
        model = bodies[number][0]
        if not can_be_drawn(model):
            continue
        if number not in drawn and lies_as_at_rest(mesh, model.settings, *places):
            continue  # as most bodies do all the time, whose ways need not be found
        if not is_known(drawn.get(number), mesh, model.settings):
            drawn[number] = find_ways(mesh, model.settings)
        longer[number] = lengthen(bodies[number], drawn[number], mesh, *places)
    return longer


def _advance(
    bodies: Sequence[Body],
    reflections: Sequence[Sequence[Reflection]],
    settings: SceneSettings,
    before: Sample,
    after: Sample,
    meeting: Meeting | None,
) -> None:
    """Steps all bodies together from one sample to the next, and keeps mirrored ones symmetric."""
    if stands_still(bodies, before, after):
        return
    for (model, state), fields in zip(bodies, after.every_field, strict=True):
        check_fields(model, state, fields, after.frame, after.duration / settings.substeps)
    plain = find_plain(bodies, settings, before, after)
    if _take_one_call(bodies, plain, settings, before, after, meeting):
        for body in bodies:
            check_sane(*body, after.frame)
        return
    if meeting is not None:
        places = [state.positions for _, state in bodies]
        meeting.look_at_colliders(places, before.colliders, after.colliders)
    group = make_group(bodies, plain, settings, after)
    group.begin(settings, after)
    steps = cut_into_steps(bodies, reflections, before, after, settings.substeps)
    for number, given in enumerate(steps):
        if meeting is not None:
            ease_out(bodies, meeting, given)
        step(bodies, settings, given, meeting, group)
        shares = (number / settings.substeps, (number + 1) / settings.substeps)
        _keep_all_symmetric(bodies, reflections, before, after, shares)
    for model, state in bodies:
        check_sane(model, state, after.frame)


def _keep_all_symmetric(
    bodies: Sequence[Body],
    reflections: Sequence[Sequence[Reflection]],
    before: Sample,
    after: Sample,
    shares: tuple[float, float],
) -> None:
    """Makes bodies symmetric again at the end of a step between such shares of the way."""
    starts, ends = before.every_mirror, after.every_mirror
    for (_, state), images, start, end in zip(bodies, reflections, starts, ends, strict=True):
        if images:
            keep_symmetric(state, images, *(between(start, end, share) for share in shares))


def _take_one_call(
    bodies: Sequence[Body],
    plain: Sequence[int],
    settings: SceneSettings,
    before: Sample,
    after: Sample,
    meeting: Meeting | None,
) -> bool:
    """Moves bodies through a whole frame by one call, if they come near nothing; whether it did."""
    if len(plain) == len(bodies):
        return swing_all(bodies, settings, before, after, meeting)
    alone = len(bodies) == 1 and meeting is None
    return alone and wobble(bodies[0], settings, before, after)
