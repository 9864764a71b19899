"""A rope that meets nothing but the ground, moved through all steps of a frame by one call."""

import numpy as np

from ..arrays import Floats
from ..bending.compiled_kernels import pack_stencils, pack_stiff
from ..compiled import Packed, declare, once, pack, service
from ..meeting.world import Meeting
from ..model import SoftBodyModel
from ..phases.step_data import Body
from ..ropes.compiled_kernels import pack_trees
from ..ropes.constraints import draw_out
from ..ropes.numpy_kernels import RESOLVED
from ..ropes.sweep import MOST_ROUNDS, STRAIN_LEFT
from ..scene import Sample
from ..settings import SceneSettings
from ..state import Batches, ParticleState, pack_fresh, ready_batches
from ..stretch.compiled_kernels import pack_strips
from ..stretch.compiled_warm_start import pack_net
from .stillness import acts_evenly

_swing = declare("swing", "ppppp")


def swing(
    body: Body,
    settings: SceneSettings,
    before: Sample,
    after: Sample,
    meeting: Meeting | None = None,
) -> bool:
    """Moves a rope on from one sample to the next as `step` would, to the bit; whether it could.

    Telling each step of a short rope what to do takes ten times as long as doing it. What is more
    than a rope without rings that gravity, pins and a ground at rest act on, is left to `step`. So
    is one that has come near a collider on its way, whose frame begins anew.
    """
    model, state = body
    dt = after.duration / settings.substeps
    if len(after.targets[0]) != model.vertex_count:
        return False  # a mirror has made another half of it
    pins = state.positions[:, model.pinned], after.targets[0].T[:, model.pinned]
    if not (
        service().library is not None
        and settings.iterations == 1
        and state.previous_dt == dt
        and _is_rope_alone(model, state)
        and acts_evenly(body, before, after)
        and not _may_be_drawn_out(model, *pins)
        and (meeting is None or _touches_nothing(state, meeting))
    ):
        return False
    batches = ready_batches(model, state, settings.integrator, dt)
    positions, previous = state.positions.copy(), state.previous_positions.copy()
    draw_out(positions, batches.ropes)
    if after.ground is None:
        state.burial = None
    around = _surroundings(body, settings, after, pins)
    net = batches.ropes.net
    tension, displacement = net.multipliers.copy(), net.displacement.copy()
    box = np.empty((2, 3))
    _swing(positions, previous, _rope_struct(batches), around.address, box)
    if meeting is not None and not _is_far(box, meeting, before, after):
        net.multipliers[:], net.displacement[:] = tension, displacement
        return False
    state.positions, state.previous_positions = positions, previous
    state.steps += settings.substeps
    return True


def _touches_nothing(state: ParticleState, meeting: Meeting) -> bool:
    """Whether a rope alone does not meet itself, touched nothing, and starts inside of nothing."""
    surfaces = meeting.surfaces
    return state.touched == 0 and not surfaces.meets[0, 0] and not surfaces.leaving.any()


def _is_far(box: Floats, meeting: Meeting, before: Sample, after: Sample) -> bool:
    """Whether a body within a box (2, 3) comes near no box round a collider's way."""
    margin = meeting.surfaces.gaps.max() + meeting.reaches.max()
    for ways in zip(before.colliders, after.colliders, strict=True):
        lowest = np.min([points.min(axis=0) for points in ways], axis=0)
        highest = np.max([points.max(axis=0) for points in ways], axis=0)
        if (box[0] - margin <= highest).all() and (box[1] + margin >= lowest).all():
            return False
    return True


def _may_be_drawn_out(model: SoftBodyModel, start: Floats, end: Floats) -> bool:
    """Whether pins (3, p) that move, or junctions between pins, may change lengths in a step."""
    spans = model.ropes.spans
    return len(spans.starts) > 0 and not (spans.pinned.all() and np.array_equal(start, end))


def _is_rope_alone(model: SoftBodyModel, state: ParticleState) -> bool:
    """Whether a body is a rope without rings, and nothing else."""
    others = model.pieces, model.water, model.solid, state.plastic, state.gas
    parts = model.triangles, model.goals, model.seams.pairs, model.ropes.rings.path
    return (
        model.settings.body_type == "ROPE"
        and all(each is None for each in others)
        and not any(each.size for each in parts)
    )


def _surroundings(
    body: Body, settings: SceneSettings, after: Sample, pins: tuple[Floats, Floats]
) -> Packed:
    """What acts on a rope on its way to a sample, from where its pins are to where they go."""
    model, state = body
    ground = after.ground
    level = 0.0 if ground is None else ground.level
    return pack(
        settings.substeps,
        state.steps,
        after.gravity * model.settings.gravity,
        *pins,
        None if ground is None else ground.normal,
        level,
        min(model.settings.friction, settings.ground_friction),
        max(model.settings.restitution, settings.ground_restitution),
    )


@once
def _rope_struct(batches: Batches) -> Packed:
    """The hanging of swinging.c."""
    model, ropes, bends = batches.model, batches.ropes, batches.bends
    n, free = model.vertex_count, int(model.free_components.max(initial=-1)) + 1
    drift, bend = batches.start_gains
    return pack(
        n,
        len(model.pinned),
        model.pinned,
        model.inverse_masses,
        pack_trees(ropes.trees),
        len(ropes.strips),
        pack(*map(pack_strips, ropes.strips)),
        pack_net(ropes.net),
        len(bends.ropes),
        len(bends.stiff),
        pack(*map(pack_stencils, bends.ropes)),
        pack(*map(pack_stiff, bends.stiff)),
        pack_fresh(batches),
        free,
        model.free_components,
        model.thicknesses,
        ropes.directions,
        MOST_ROUNDS,
        STRAIN_LEFT,
        RESOLVED,
        batches.velocity_gain,
        batches.h_squared,
        batches.steps[0],
        drift,
        bend,
        *(np.empty((3, n)) for _ in range(5)),
        np.empty(n),
        np.empty((free, 16)),
    )
