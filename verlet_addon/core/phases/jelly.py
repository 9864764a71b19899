"""Bodies that are solids, on their way through the phases of a step."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..field import Field
from ..forces.accelerations import node_accelerations
from ..integrators import start_displacement
from ..mesh import MeshData
from ..model import SoftBodyModel
from ..solid.barriers import Barriers
from ..solid.body import linear_part, rest_nodes, start_solid
from ..solid.compiled_kernels import interpolate
from ..solid.joined import Meets
from ..solid.motion import Leap, arrive, foresee, hand_over, moved_by, set_off
from ..solid.together import Group, arrive_together
from ..state import ParticleState
from .step_data import Mover, Surroundings


def start_jelly(
    model: SoftBodyModel, mesh: MeshData, *, gravity: Floats, fields: Sequence[Field], dt: float
) -> ParticleState:
    """Positions and velocities of a solid's nodes and particles at the first frame.

    What of them is linear is carried over to its inside: a body that starts turned, stretched or
    flat against its shape at rest does so throughout.

    Parameters
    ----------
    gravity : (3,) [m/s²].
    fields : force fields that the body feels.
    dt : length of the first step [s].
    """
    solid = model.solid
    assert solid is not None
    rest, count = solid.points.T[: len(mesh.positions)], len(mesh.positions)
    nodes = rest_nodes(solid.lattice)
    places = nodes + linear_part(rest, mesh.positions - rest, nodes)
    points = interpolate(solid.embedding, places)
    points[:, :count] = mesh.positions.T
    velocities = linear_part(mesh.positions, mesh.velocities, places)
    pulls = node_accelerations(
        model.windage,
        model.inverse_masses,
        solid,
        places,
        points,
        lambda: (velocities, linear_part(mesh.positions, mesh.velocities, points)),
        gravity=gravity * model.settings.gravity,
        fields=fields,
        shares=model.settings.field_shares,
        dt=dt,
    )
    displacements = start_displacement(velocities, pulls, dt, model.settings.damping)
    state = start_solid(solid, places, displacements)
    before = interpolate(solid.embedding, state.previous_nodes)
    before[:, model.pinned] = points[:, model.pinned]
    state.shown, state.previously_shown = points.copy(), before.copy()
    return ParticleState(points, before, previous_dt=dt, solid=state)


def leap(mover: Mover, given: Surroundings, fields: Sequence[Field]) -> Leap:
    """Finds where inertia and forces lead a solid's nodes, and sets its points there."""
    model, state, batches = mover.model, mover.state, mover.batches
    solid, within, system = model.solid, state.solid, batches.solid
    assert solid is not None
    assert within is not None
    assert system is not None
    dt, previous_dt = batches.steps
    hand_over(solid, within, state.positions, state.previous_positions)
    displacement = within.nodes - within.previous_nodes
    pull = node_accelerations(
        model.windage,
        model.inverse_masses,
        solid,
        within.nodes,
        state.positions,
        lambda: (displacement / previous_dt, state.velocities()),
        gravity=given.gravity * model.settings.gravity,
        fields=fields,
        shares=model.settings.field_shares,
        dt=dt,
    )
    inertia = displacement * batches.velocity_gain
    free = inertia + pull * batches.h_squared
    state.previous_positions = state.positions.copy()
    state.positions = interpolate(solid.embedding, within.nodes + free)
    return Leap(
        solid,
        within,
        system,
        dt,
        batches.h_squared,
        inertia,
        free,
        given.ground_shift,
        far=moved_by(solid, free),
    )


def relax_solid(mover: Mover, leap: Leap) -> None:
    """Solves for the stress within a solid, and for what holds and stops it.

    What touched a collider a step ago does so again: where, is found before its stress. Contacts
    with the ground are solved for together with that.
    """
    model, positions = mover.model, mover.state.positions
    softness = np.concatenate([np.zeros(len(model.pinned)), model.goal_compliances])
    pins = mover.targets[:, leap.system.holds.points], softness
    set_off(leap, mover.contacts, pins, positions, positions - mover.arrival)
    mover.contacts = []
    if np.isnan(leap.state.grasped[0]).all() and not len(leap.state.clung.keys):
        stop_solid(mover, None)
    else:
        _show(mover, leap, foresee(leap))


def stop_solid(mover: Mover, barriers: Barriers | None) -> None:
    """Solves for it anew if more is in its way than before."""
    leap, count = mover.leap, 0 if barriers is None else len(barriers.levels)
    if leap is not None and count > leap.barriers:
        leap.barriers = count
        _show(mover, leap, arrive(leap, barriers if count else None))


def stop_together(movers: Sequence[Mover], barriers: Sequence[Barriers], meets: Meets) -> None:
    """The same of solids that meet each other."""
    leaps = [mover.leap for mover in movers if mover.leap is not None]
    counts = [len(each.levels) + len(meets.levels) for each in barriers]
    if any(count > leap.barriers for count, leap in zip(counts, leaps, strict=True)):
        points = arrive_together(Group(leaps, barriers, meets))
        for each in zip(movers, leaps, counts, points, strict=True):
            each[1].barriers = each[2]
            _show(each[0], each[1], each[3])


def _show(mover: Mover, leap: Leap, points: Floats) -> None:
    """Puts a body where its solid carries points (3, p) [m], and pins are."""
    state, pinned = mover.state, mover.model.pinned
    state.positions = points
    state.positions[:, pinned] = mover.targets[:, pinned]
    leap.state.shown = state.positions.copy()
    leap.state.previously_shown = state.previous_positions.copy()
