"""The contact solver of a step: depenetration, and contacts of bodies with others and colliders."""

from collections.abc import Sequence

import numpy as np

from ...arrays import Floats
from ...bodies.body_step import BodyStep
from ...bodies.solid_bodies import SolidBodyStep, solve_coupled_solids, solve_uncoupled_solids
from ...bodies.step_data import Body, StepInputs
from ...model import SolidModel
from ...solid.collider_contacts import ColliderContacts, find_collider_contacts
from ...solid.coupled_system import find_solid_contacts
from ...solid.external_moves import point_components, shift_components
from ...state import SolidBodyState
from ...stretch.sweep import limit_peak_strain
from ..manifold.contact_rows import ContactRows
from ..manifold.row_setup import PredictedMotion, cache_rows, row_displacements, warm_start_rows
from ..sides.pinched_cloth import SolvedContacts
from ..sides.sides import solid_shifts, update_sides
from .clearance import needs_no_search
from .collision_world import CollisionWorld
from .contact_step import (
    CONVERGED_SHARE,
    ContactStep,
    apply_tunnelling_guard,
    bodies_in,
    detect_contacts,
    detect_new_contacts,
    update_contact_velocities,
)
from .islands import (
    bodies_of_rows,
    coupled_groups,
    islands,
    release_friction,
    solve_island,
    stretched_particles,
)

MAX_DETECTIONS = 2
"""Maximum detections of contacts in a step, since corrections of the first cause further contacts;
pairs that come near later are left to the tunnelling guard. With half, cloth at 20 m/s comes 4 mm
too near to a ball in place of 1.6 mm; with twice, cloth that is knocked over stretches by 9 % in
place of 10 %."""


def depenetrate(bodies: Sequence[Body], world: CollisionWorld, inputs: StepInputs) -> None:
    """Releases particles that are out, and shifts solids, which depenetrate as rigid pieces."""
    if not world.surfaces.any_penetrating:
        return
    places = world.gather_positions(
        [state.positions for _, state in bodies], inputs.collider_starts
    )
    pinned = np.ones(places.shape[1], dtype=bool)
    pieces, counts = np.full(places.shape[1], -1), [0]
    for number, (model, _) in enumerate(bodies):
        part = world.body_slices[number]
        pinned[part] = model.contact_inverse_masses == 0.0
        own = point_components(model.solid) if isinstance(model, SolidModel) else np.full(1, -1)
        pieces[part] = np.where(own < 0, -1, own + counts[-1])[: part.stop - part.start]
        counts.append(counts[-1] + int(own.max(initial=-1)) + 1)
    update_sides(world.sides, places, pinned, inputs.dt)
    shifts = solid_shifts(world.sides, places, pieces, inputs.dt)
    for number, (model, state) in enumerate(bodies):
        if isinstance(model, SolidModel) and isinstance(state, SolidBodyState):
            own = shifts[:, [*range(*counts[number : number + 2]), -1]]
            moved = shift_components(model.solid, state.solid, own)
            state.positions = state.positions + moved
            state.previous_positions = state.previous_positions + moved


def start_contact_step(
    body_steps: Sequence[BodyStep], world: CollisionWorld | None, inputs: StepInputs
) -> ContactStep | None:
    """Detects contacts along the motion from each body's start to its positions so far.

    None where all are so far apart that nothing can touch, or nothing collides.
    """
    if world is None or needs_no_search(body_steps, world, inputs):
        return None
    gather, starts, ends = world.gather_positions, inputs.collider_starts, inputs.collider_ends
    masses = [each.contact_inverse_masses for each in body_steps]
    still = [np.zeros_like(rows) for rows in ends]
    motion = PredictedMotion(
        inverse_masses=np.concatenate([*masses, *(rows[:, 0] for rows in still)]),
        start=gather([each.start for each in body_steps], starts),
        predicted=gather([each.predicted for each in body_steps], ends),
        accelerations=gather([each.accelerations for each in body_steps], still),
        on_ropes=world.on_ropes,
        dt=inputs.dt,
    )
    for each in body_steps:
        each.tension_before_contacts = each.batches.lengths.strip_system.multipliers.copy()
    end = gather([each.state.positions for each in body_steps], ends)
    contact_step = detect_contacts(world, motion, end)
    if world.cache is not None:
        warm_start_rows(contact_step.rows, world.cache)
        now = row_displacements(contact_step.rows, world.cache.count)
        both, change = (contact_step.rows, world.cache.rows), now - world.cache.displacements
        _displace_bodies(body_steps, world, change, *both)
        contact_step.disturbed = _disturbed_bodies(world, change)
        # No island solves the lengths of those that touch nothing any more.
        for body in contact_step.disturbed - contact_step.touching_bodies.keys():
            body_steps[body].project_lengths()
            body_steps[body].project_ground_contacts()
    return contact_step


def _disturbed_bodies(world: CollisionWorld, displacements: Floats) -> set[int]:
    """The bodies that displacements (3, N) of the world's particles move by more than converges."""
    tolerance = CONVERGED_SHARE * world.skins
    slices = world.body_slices.items()
    return {k for k, own in slices if np.abs(displacements[:, own]).max() > tolerance[k]}


def warm_start_contacts(body_steps: Sequence[BodyStep], world: CollisionWorld | None) -> None:
    """Applies the cached contact multipliers to positions, before lengths are solved.

    Without this, lengths, solved before the first detection, would pull cloth into the surface that
    it lies on.
    """
    if world is not None and world.cache is not None:
        _displace_bodies(body_steps, world, world.cache.displacements, world.cache.rows)


def _displace_bodies(
    body_steps: Sequence[BodyStep], world: CollisionWorld, displacements: Floats, *rows: ContactRows
) -> None:
    """Adds displacements (3, N) of the world's particles to bodies in these rows [m]."""
    for body, own in {k: v for its in rows for k, v in bodies_in(its, world).items()}.items():
        body_steps[body].state.positions[:, : own.stop - own.start] += displacements[:, own]


def _cache_contacts(body_steps: Sequence[BodyStep], contact_step: ContactStep) -> None:
    """Caches contact multipliers for the next step's warm start.

    Only contacts with colliders are cached: between bodies, taut cloth would throw up a heavy sheet
    that lies on it. Solids, shells and rigid pieces have solvers of their own, and rows on ropes
    are solved exactly. Entangled bodies would not come off, and depenetrating bodies are pushed by
    their remaining depth anyway.
    """
    world, rows, owners = contact_step.world, contact_step.rows, contact_step.rows.owners
    cacheable = np.ones(len(world.skins), dtype=bool)
    for body in contact_step.touching_bodies:
        coupled = body_steps[body].model.has_coupled_particles
        cacheable[body] = not (coupled or body_steps[body].entangled)
    cacheable[world.surfaces.owners[world.sides.depenetrating]] = False
    both = cacheable[owners].all(axis=0) & (owners >= world.bodies).any(axis=0) & ~rows.on_ropes
    stretched = stretched_particles(contact_step, body_steps, contact_step.touching_bodies)
    world.cache = cache_rows(rows, both, stretched, world.cache)


def collide(body_steps: Sequence[BodyStep], contact_step: ContactStep, dt: float) -> None:
    """Solves contacts and lengths alternately, with further detections, until both hold."""
    any_solid = any(isinstance(each, SolidBodyStep) for each in body_steps)
    if not (len(contact_step.rows.gaps) or any_solid):
        return
    affected = set(range(len(body_steps)))
    for search in range(MAX_DETECTIONS):
        solve_solids(body_steps, affected, contact_step, dt)
        positions = [body_step.state.positions for body_step in body_steps]
        for island in islands(contact_step, affected):
            solve_island(body_steps, island)
            if release_friction(body_steps, island):
                solve_island(body_steps, island)
        known = len(contact_step.rows.gaps)
        if search + 1 == MAX_DETECTIONS or not detect_new_contacts(contact_step, positions):
            break
        affected = bodies_of_rows(contact_step, known)


def solve_solids(
    body_steps: Sequence[BodyStep], affected: set[int], contact_step: ContactStep, dt: float
) -> None:
    """Solves the stress of solids together with their collider contacts.

    Solids that touch each other are one coupled system, except solids that had to depenetrate:
    their corners may still cross, and would stay crossed.
    """
    world, motion, rows = contact_step.world, contact_step.motion, contact_step.rows
    surfaces, fixed = world.surfaces, world.first_collider_particle
    some = ((body, body_steps[body]) for body in sorted(affected))
    solids = {body: each for body, each in some if isinstance(each, SolidBodyStep)}
    if not solids:
        return
    # Depenetrating solids have rows of their own.
    penetrating = {
        body
        for body in solids
        if surfaces.penetration_states[world.body_slices[body]].any()
        or surfaces.penetration_states[:, body].any()
    }
    solve_uncoupled_solids([solids[body] for body in penetrating], [None] * len(penetrating))
    for body in penetrating:
        solids[body].state.solid.depenetrated = True
    depenetrated = [body for body, each in solids.items() if each.state.solid.depenetrated]
    together = [body for body in solids if body not in depenetrated]
    alone = [[body] for body in depenetrated if body not in penetrating]
    uncoupled = list[tuple[SolidBodyStep, ColliderContacts]]()
    for group in coupled_groups(contact_step, together) + alone:
        own = [world.body_slices[body] for body in group]
        members = [solids[body] for body in group]
        path = motion.start, motion.predicted
        collider_contacts = [find_collider_contacts(rows, each, fixed, *path, dt) for each in own]
        solid_contacts = find_solid_contacts(rows, own, dt)
        if len(solid_contacts.levels):
            solve_coupled_solids(members, collider_contacts, solid_contacts)
        else:
            uncoupled.append((members[0], collider_contacts[0]))
    solve_uncoupled_solids([each for each, _ in uncoupled], [contacts for _, contacts in uncoupled])


def finish_contact_step(
    body_steps: Sequence[BodyStep], world: CollisionWorld | None, contact_step: ContactStep | None
) -> None:
    """Applies the tunnelling guard and velocity updates, and caches contacts for the next step."""
    if world is None or contact_step is None:
        if world is not None:
            world.finish_step_apart()
        return
    states = [body_step.state for body_step in body_steps]
    positions = [state.positions for state in states]

    def restore(changed: Sequence[int]) -> None:
        for body_step in (body_steps[body] for body in changed):
            if not body_step.entangled:
                limit_peak_strain(body_step.state.positions, body_step.batches.lengths)
            body_step.project_ground_contacts()

    apply_tunnelling_guard(contact_step, positions, restore)
    for each in (body_steps[body] for body in contact_step.touching_bodies):
        if not each.entangled and each.state.gas is None:
            each.batches.lengths.strip_system.multipliers[...] = each.tension_before_contacts
    previous_positions = [state.previous_positions for state in states]
    update_contact_velocities(contact_step, previous_positions, positions)
    solved = SolvedContacts(contact_step.rows, contact_step.motion, contact_step.positions)
    world.sides.finish_step(solved)
    _cache_contacts(body_steps, contact_step)
    for body, state in enumerate(states):
        touches = body in contact_step.touching_bodies
        state.steps_in_contact = state.steps_in_contact + 1 if touches else 0
