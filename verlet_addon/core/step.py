"""One step of the simulation, readable from top to bottom."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Floats
from .contact.plane import PlaneContact, project_plane, rebound
from .contact.response import Motion
from .field import Field
from .forces.accelerations import accelerations
from .inflation import fill_with_gas, inflate, project_former_tensions
from .jelly import leap, relax_solid
from .meeting import Encounter, Meeting, meet, meet_more, part, stop_passing, touch
from .mesh import Plane
from .model import SoftBodyModel
from .momentum.kernels import conserve_momentum
from .overlap.easing import Burial, carried, raise_floors
from .rigid.motion import hand_on, hand_on_contacts, join, put_again, set_out_rigid
from .rippling import move_water
from .ropes.kernels import add_pulls_from_start
from .ropes.sweep import project_ropes
from .settings import SceneSettings
from .shell.motion import regain_shape, set_out as set_out_shell
from .solid.motion import Leap
from .state import Batches, ParticleState, ready_batches
from .stretch.kernels import strain_range
from .stretch.seams import project_seams
from .stretch.sweep import project_stretch
from .wearing import wear
from .weave.kernels import project_weave
from .within import finish_shape, project_angles, regain_speed

ROUNDS, HOLDS = 8, 4
"""How often contacts and lengths are solved in turn where bodies touch, and then contacts alone."""
CONTACT_ROUNDS, ROPE_ROUNDS = 16, 8
"""How often rigid pieces and the ground, or ropes that hang on them, are solved in turn."""
SEARCHES = 2
"""How often contacts are looked for in a step, at most, as pushes lead bodies elsewhere."""

Body = tuple[SoftBodyModel, ParticleState]


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What acts on all bodies during one step."""

    dt: float
    """[s], above 0."""
    gravity: Floats
    """(3,) [m/s²]"""
    targets: Sequence[Floats]
    """Per body (3, n): where pins are at the end of the step [m]."""
    fields: Sequence[Sequence[Field]]
    """Per body, the force fields that it feels at the beginning of the step."""
    ground: Plane | None
    """At the end of the step."""
    ground_shift: Floats
    """(3,) how far the ground moves during the step [m]."""
    collider_starts: Sequence[Floats] = ()
    """Per collider (v, 3): where its vertices are when the step begins [m]."""
    collider_ends: Sequence[Floats] = ()
    """And when it ends [m]."""
    pressures: Sequence[float] = ()
    """Per body, that of its gas at its rest volume [Pa]; left empty where none changes."""


@dataclass(eq=False)
class Stride:
    """One body on its way through one step."""

    model: SoftBodyModel
    state: ParticleState
    batches: Batches
    """Constraints that stay the same from step to step."""
    contacts: list[PlaneContact]
    """Constraints of this step alone."""
    targets: Floats
    """(3, n) [m]"""
    pressure: float
    """Of the gas within, at its rest volume [Pa]."""
    accelerations: Floats
    """(3, n) [m/s²]"""
    start: Floats
    """(3, n) where the step began [m]."""
    arrival: Floats
    """(3, n) where free motion led to [m]."""
    leap: Leap | None = None
    """Where free motion leads the nodes of a solid."""


def step(
    bodies: Sequence[Body],
    settings: SceneSettings,
    given: Surroundings,
    meeting: Meeting | None = None,
) -> None:
    """Moves all bodies on together by one time step."""
    pressures = given.pressures or [model.settings.pressure for model, _ in bodies]
    places = [state.positions for _, state in bodies] + [rows.T for rows in given.collider_ends]
    for (model, state), pressure in zip(bodies, pressures, strict=True):
        fill_with_gas(model, state, pressure)
    strides = [
        set_out(body, settings, given, targets, fields, pressure, places)
        for body, targets, fields, pressure in zip(
            bodies, given.targets, given.fields, pressures, strict=True
        )
    ]
    encounter = None
    for sweep in range(settings.iterations):
        for stride in strides:
            if sweep == 0 or not is_relaxed(stride, settings.tolerance):
                relax(stride, sweep, given.dt)
        for stride in strides:
            project_contacts(stride)
        if meeting is not None:
            encounter = encounter or meet_each_other(strides, meeting, given)
            settle(strides, encounter, given.dt)
    for stride in strides:
        finish(stride, given.dt)
    if encounter is not None:
        part_from_each_other(strides, encounter)
    for stride in strides:
        put_again(stride.state.rigid, stride.state.positions)
        wear(stride.model, stride.state, stride.batches, given.dt)
        stride.state.previous_dt = given.dt
        stride.state.steps += 1


def set_out(
    body: Body,
    settings: SceneSettings,
    given: Surroundings,
    targets: Floats,
    fields: Sequence[Field],
    pressure: float,
    places: Sequence[Floats],
) -> Stride:
    """Lets a body go where inertia and forces lead it, and finds what it meets at such places."""
    model, state = body
    stride = Stride(
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
            state.velocities(),
            gravity=given.gravity,
            fields=fields if model.solid is None else (),
            share=model.settings.wind,
            dt=given.dt,
        ),
        start=state.positions,
        arrival=state.positions,
    )
    if model.water is not None:
        move_water(model, state, settings.integrator, targets, places, given.dt)
        return stride
    if model.solid is None:
        integrate(stride)
    else:
        stride.leap = leap(model, state, stride.batches, given.gravity, fields, given.ground_shift)
    stride.arrival = state.positions.copy()
    find_contacts(stride, settings, given)
    return stride


def integrate(stride: Stride) -> None:
    """Moves particles by inertia, forces and springs, and puts pinned ones on their targets."""
    model, state, batches = stride.model, stride.state, stride.batches
    moved = state.positions - state.previous_positions
    moved *= batches.velocity_gain
    moved += stride.accelerations * batches.h_squared
    add_pulls_from_start(moved, state.positions, batches.ropes.strips)
    moved += state.positions
    state.previous_positions, state.positions = state.positions.copy(), moved
    state.positions[:, model.pinned] = stride.targets[:, model.pinned]
    if model.pieces is not None and state.rigid is not None:
        state.rigid = set_out_rigid(state.rigid, model.pieces, stride.start, state.positions)


def find_contacts(stride: Stride, settings: SceneSettings, given: Surroundings) -> None:
    """Sets up the contact with the ground; what starts in it is carried up without speed."""
    model, state, ground = stride.model, stride.state, given.ground
    if ground is None:
        state.burial = None
        return
    body, n = model.settings, state.positions.shape[1]
    contact = PlaneContact(
        plane=ground,
        start=stride.start + given.ground_shift[:, None],
        climb=float((ground.normal * given.ground_shift).sum()),
        floors=np.empty((2, n)),
        friction=min(body.friction, settings.ground_friction),
        restitution=max(body.restitution, settings.ground_restitution),
        pushed=np.zeros(n),
        rubbed=np.zeros((3, n)),
    )
    stride.contacts.append(contact)
    above = contact.heights(contact.start)
    state.burial = state.burial or Burial(model.thicknesses - above)
    contact.floors = raise_floors(state.burial, above, model.thicknesses, given.dt)
    lifts = contact.floors[1] - contact.floors[0]
    if lifts.any():
        heights = contact.heights(state.positions) - contact.floors[1]
        shift = ground.normal[:, None] * carried(heights, lifts, model.free_components)
        state.positions += shift
        state.previous_positions += shift


def relax(stride: Stride, sweep: int, dt: float) -> None:
    """Sweeps once over all that acts within a body, which leaves its momentum as it was."""
    model, state, batches = stride.model, stride.state, stride.batches
    if stride.leap is not None:
        if sweep == 0:
            relax_solid(model, state, stride.leap, stride.targets, stride.contacts, stride.arrival)
            stride.contacts = []  # they are solved for, together with the stress
        return
    if sweep == 0:
        set_out_shell(batches.shell, state.positions, stride.targets)
    if batches.shell is not None or model.water is not None:
        return
    positions, before = state.positions, state.positions.copy()
    # Between contacts, which hold it, cloth would rock to and fro with the order.
    backwards = (state.steps + sweep) % 2 == 1 and not state.touches
    if sweep == 0:
        inflate(model, state, stride.batches, start=stride.start, pressure=stride.pressure)
        project_former_tensions(state, batches)
    project_angles(model, positions, batches, stride.targets, backwards=backwards)
    keep_lengths(stride, dt, backwards=backwards)
    state.positions = conserve_momentum(
        model.free_components, model.inverse_masses, before, positions, about=stride.start
    )
    put_again(state.rigid, state.positions)


def is_relaxed(stride: Stride, tolerance: float) -> bool:
    """Whether no edge is longer than its tension warrants by this share; never for 0."""
    strips = [*stride.batches.lengths.edges, *stride.batches.ropes.strips]
    return tolerance > 0.0 and strain_range(stride.state.positions, strips)[1] < tolerance


def project_contacts(stride: Stride) -> None:
    """Pushes a body out of what it touches, and rubs; this does change its momentum."""
    rigid, positions = stride.state.rigid, stride.state.positions
    for _ in range(1 if rigid is None else CONTACT_ROUNDS):
        for contact in stride.contacts:
            project_plane(positions, contact, stride.model.inverse_masses)
        if not hand_on_contacts(rigid, positions):
            break
        join(rigid, positions)
    while regain_shape(stride.batches.shell, positions):
        for contact in stride.contacts:
            project_plane(positions, contact, stride.model.inverse_masses)


def finish(stride: Stride, dt: float) -> None:
    """Solves for a shell that nothing has touched, and sets speeds."""
    if finish_shape(stride.model, stride.state, stride.batches.shell):
        project_contacts(stride)
    regain_speed(stride.model, stride.state, stride.batches, stride.start)
    bounce(stride, dt)


def bounce(stride: Stride, dt: float) -> None:
    """Sets the speed of what has been pushed out: it stops there, or rebounds."""
    state, damping = stride.state, stride.model.settings.damping
    moved, pull = (state.positions, state.previous_positions), stride.accelerations
    for contact in stride.contacts:
        rebound(*moved, contact, stride.arrival, pull, dt=dt, damping=damping)


def meet_each_other(strides: Sequence[Stride], meeting: Meeting, given: Surroundings) -> Encounter:
    """Finds what bodies touch on the way to where they would be by themselves."""
    world = meeting.gathered
    masses = [stride.model.touching for stride in strides]
    still = [np.zeros_like(rows) for rows in given.collider_ends]
    motion = Motion(
        inverse_masses=np.concatenate([*masses, *(rows[:, 0] for rows in still)]),
        start=world([stride.start for stride in strides], given.collider_starts),
        arrival=world([stride.arrival for stride in strides], given.collider_ends),
        accelerations=world([stride.accelerations for stride in strides], still),
        strung=meeting.strung,
        dt=given.dt,
    )
    ends = world([stride.state.positions for stride in strides], given.collider_ends)
    return meet(meeting, motion, ends)


def settle(strides: Sequence[Stride], encounter: Encounter, dt: float) -> None:
    """Solves contacts and lengths in turn, until both hold and nothing else is touched."""
    positions = [stride.state.positions for stride in strides]
    trees = [stride.batches.ropes.trees for stride in strides]
    for _ in range(SEARCHES):
        touched = [strides[body] for body in encounter.touched]
        rigid = any(stride.state.rigid is not None for stride in touched)
        for number in range(ROUNDS + (CONTACT_ROUNDS if rigid else HOLDS) if touched else 0):
            if not touch(encounter, positions, trees):
                break
            for stride in touched:
                hand_on_contacts(stride.state.rigid, stride.state.positions)
                if number < ROUNDS:
                    keep_lengths(stride, dt)
                project_contacts(stride)
        if not meet_more(encounter, positions):
            break


def keep_lengths(stride: Stride, dt: float, *, backwards: bool = False) -> None:
    """Draws edges back to their lengths."""
    positions, batches, rigid = stride.state.positions, stride.batches, stride.state.rigid
    lengths = stride.model.lengths
    if batches.shell is not None:
        return  # it keeps them whenever it is pushed
    project_weave(positions, batches.weave)
    project_stretch(positions, lengths, batches.lengths, dt=dt, backwards=backwards, rigid=rigid)
    for _ in range(1 if rigid is None else ROPE_ROUNDS):
        project_ropes(positions, batches.ropes)
        project_seams(positions, batches.seams)
        hand_on(rigid, positions)
    join(rigid, positions)


def part_from_each_other(strides: Sequence[Stride], encounter: Encounter) -> None:
    """Sets the speed of what has been pushed apart."""
    states = [stride.state for stride in strides]
    positions = [state.positions for state in states]

    def keep() -> None:
        for stride in strides:
            project_contacts(stride)

    stop_passing(encounter, positions, keep)
    part(encounter, [state.previous_positions for state in states], positions)
    for body, state in enumerate(states):
        state.touches = body in encounter.touched
