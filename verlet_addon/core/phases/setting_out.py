"""Where inertia and forces lead a body in a step, and what it meets on the ground there."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..contact.plane import PlaneContact
from ..field import Field
from ..forces.accelerations import accelerations
from ..model import SoftBodyModel
from ..overlap.burial import Burial, carried, raise_floors
from ..rigid.motion import set_out_rigid
from ..ropes.compiled_kernels import add_pulls_from_start
from ..settings import SceneSettings
from ..state import ParticleState, ready_batches
from .jelly import leap
from .rippling import move_water
from .step_data import Body, Mover, Surroundings


def set_out(
    body: Body,
    settings: SceneSettings,
    given: Surroundings,
    targets: Floats,
    fields: Sequence[Field],
    pressure: float,
    places: Sequence[Floats],
) -> Mover:
    """Lets a body go where inertia and forces lead it, and finds what it meets at such places."""
    model, state = body
    mover = Mover(
        model=model,
        state=state,
        batches=ready_batches(model, state, settings.integrator, given.dt),
        contacts=[],
        targets=targets,
        pressure=pressure,
        accelerations=accelerations(
            model.windage,
            model.inverse_masses,
            state.positions,
            state.velocities,
            gravity=given.gravity * model.settings.gravity,
            fields=fields if model.solid is None else (),
            shares=model.settings.field_shares,
            dt=given.dt,
        ),
        start=state.positions,
        arrival=state.positions,
    )
    if model.water is not None:
        move_water(mover, settings.integrator, places, given.dt)
        return mover
    if model.solid is None:
        integrate(mover)
    else:
        mover.leap = leap(mover, given, fields)
    mover.arrival = state.positions.copy()
    find_contacts(mover, settings, given)
    return mover


def integrate(mover: Mover) -> None:
    """Moves particles by inertia, forces and springs, and puts pinned ones on their targets."""
    model, state, batches = mover.model, mover.state, mover.batches
    moved = state.positions - state.previous_positions
    moved *= batches.velocity_gain
    moved += mover.accelerations * batches.h_squared
    moved += state.positions
    add_pulls_from_start(moved, state.positions, batches.ropes.strips)
    state.previous_positions, state.positions = state.positions.copy(), moved
    state.positions[:, model.pinned] = mover.targets[:, model.pinned]
    if model.pieces is not None and state.rigid is not None:
        state.rigid = set_out_rigid(state.rigid, model.pieces, mover.start, state.positions)


def find_contacts(mover: Mover, settings: SceneSettings, given: Surroundings) -> None:
    """Sets up the contact with the ground; what starts in it is carried up without speed."""
    model, state, ground = mover.model, mover.state, given.ground
    if ground is None:
        state.burial = None
        return
    body, n = model.settings, state.positions.shape[1]
    contact = PlaneContact(
        plane=ground,
        start=_carried_along(mover.start, given.ground_shift),
        climb=float((ground.normal * given.ground_shift).sum()),
        floors=np.broadcast_to(model.thicknesses, (2, n)),
        friction=min(body.friction, settings.ground_friction),
        restitution=max(body.restitution, settings.ground_restitution),
        pushed=np.zeros(n),
        rubbed=np.zeros((3, n)),
        arrival=mover.arrival,
        accelerations=mover.accelerations,
        dt=given.dt,
        start_gains=mover.batches.start_gains,
    )
    mover.contacts.append(contact)
    if state.burial is None:
        depths = model.thicknesses - contact.plane.heights(contact.start)
        state.burial = Burial(np.maximum(depths, 0.0))
    if state.burial.depths.max(initial=0.0) > 0.0:
        _ease_out_of_ground(model, state, state.burial, contact)


def _carried_along(start: Floats, shift: Floats) -> Floats:
    """(3, n) where particles began the step, moved on as the ground does."""
    return start + shift[:, None] if shift.any() else start


def _ease_out_of_ground(
    model: SoftBodyModel, state: ParticleState, burial: Burial, contact: PlaneContact
) -> None:
    """Raises the floors of what has started in the ground, and carries up what lies on them."""
    above = contact.plane.heights(contact.start)
    contact.floors = raise_floors(burial, above, model.thicknesses, contact.dt)
    lifts = contact.floors[1] - contact.floors[0]
    heights = contact.plane.heights(state.positions) - contact.floors[1]
    shift = contact.plane.normal[:, None] * carried(heights, lifts, model.free_components)
    state.positions += shift
    state.previous_positions += shift
