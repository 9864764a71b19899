"""The contact solver of a step: contacts between bodies, and between bodies and colliders."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..contact.contact_rows import ContactRows, PredictedMotion
from ..contact.warm_start import cache_rows, row_displacements, warm_start_rows
from ..phases.body_step import BodyStep
from ..phases.solid_bodies import SolidBodyStep, solve_coupled_solids
from ..phases.step_data import StepInputs
from ..ropes.rope_trees import TreeBatches
from ..solid.collider_contacts import find_collider_contacts
from ..solid.coupled_system import find_solid_contacts
from ..stretch.kernels import strain_range
from ..stretch.strain_limiting import find_stretched_particles
from ..stretch.sweep import limit_peak_strain
from .alternating_projection import project_alternately, project_rigid_pieces
from .collision_world import CollisionWorld
from .contact_step import (
    ContactStep,
    apply_tunnelling_guard,
    bodies_in,
    detect_contacts,
    detect_new_contacts,
    update_contact_velocities,
)
from .islands import bodies_of_rows, coupled_groups, islands
from .pinched_cloth import update_pinched
from .post_stabilization import post_stabilize

MAX_ALTERNATIONS = 8
"""Maximum rounds in which contacts and lengths are solved alternately. Lengths come last: a contact
error of a millimetre is hardly visible, but an edge of two centimetres that it stretches is. Each
round before makes one sweep over lengths, forwards and backwards alternately: a full solution would
respond to contact corrections that the next round reverses."""
MAX_DETECTIONS = 2
"""Maximum detections of contacts in a step; corrections of the first cause further contacts. Pairs
that come near after the last are left to the tunnelling guard."""
ENTANGLED_STRAIN = 0.05
"""A body is entangled if an edge is stretched by more than this share. Entangled bodies, and bodies
with gas, keep the strip multipliers that respond to contacts for the next step's warm start: else
cloth that a fast ball has wound around itself does not come off. Other bodies discard them: taut
cloth would throw up a body that lies on it, higher than it fell from."""
SLIP_STRAIN = 0.02
"""Friction is released for particles of entangled bodies at edges that are stretched by more than
this share: with 5 % some edges are stretched three times as much."""


def start_contact_step(
    body_steps: Sequence[BodyStep], world: CollisionWorld, inputs: StepInputs
) -> ContactStep:
    """Detects contacts along the motion from each body's start to its positions so far."""
    gather_positions = world.gather_positions
    masses = [body_step.contact_inverse_masses for body_step in body_steps]
    still = [np.zeros_like(rows) for rows in inputs.collider_ends]
    motion = PredictedMotion(
        inverse_masses=np.concatenate([*masses, *(rows[:, 0] for rows in still)]),
        start=gather_positions(
            [body_step.start for body_step in body_steps], inputs.collider_starts
        ),
        predicted=gather_positions(
            [body_step.predicted for body_step in body_steps], inputs.collider_ends
        ),
        accelerations=gather_positions(
            [body_step.accelerations for body_step in body_steps], still
        ),
        on_ropes=world.on_ropes,
        dt=inputs.dt,
    )
    ends = gather_positions(
        [body_step.state.positions for body_step in body_steps], inputs.collider_ends
    )
    for body_step in body_steps:
        body_step.tension_before_contacts = (
            body_step.batches.lengths.strip_system.multipliers.copy()
        )
    contact_step = detect_contacts(world, motion, ends)
    if world.cache is not None:
        warm_start_rows(contact_step.rows, world.cache)
        now = row_displacements(contact_step.rows, world.cache.count)
        both = contact_step.rows, world.cache.rows
        _displace_bodies(body_steps, world, now - world.cache.displacements, *both)
    return contact_step


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
    world, rows = contact_step.world, contact_step.rows
    surfaces = world.surfaces
    cacheable = np.ones(len(surfaces.collides), dtype=bool)
    for body in contact_step.touching_bodies:
        coupled = body_steps[body].model.has_coupled_particles
        cacheable[body] = not (coupled or body_steps[body].entangled)
    cacheable[surfaces.owners[world.depenetrating]] = False
    owners = surfaces.owners[rows.particles[[0, 3]]]
    both = cacheable[owners].all(axis=0) & (owners >= world.bodies).any(axis=0) & ~rows.on_ropes
    world.cache = cache_rows(rows, both, len(surfaces.owners), world.cache)


def collide(body_steps: Sequence[BodyStep], contact_step: ContactStep, dt: float) -> None:
    """Solves contacts and lengths alternately, with further detections, until both hold."""
    if not len(contact_step.rows.gaps) and not any(
        isinstance(body_step, SolidBodyStep) for body_step in body_steps
    ):
        return
    trees = [body_step.batches.ropes.trees for body_step in body_steps]
    affected = set(range(len(body_steps)))
    for search in range(MAX_DETECTIONS):
        solve_solids(body_steps, affected, contact_step, dt)
        positions = [body_step.state.positions for body_step in body_steps]
        for island in islands(contact_step, affected):
            solve_island(body_steps, island, positions, trees)
            if release_friction(body_steps, island):
                solve_island(body_steps, island, positions, trees)
        known = len(contact_step.rows.gaps)
        if search + 1 == MAX_DETECTIONS or not detect_new_contacts(contact_step, positions):
            break
        affected = bodies_of_rows(contact_step, known)


def solve_island(
    body_steps: Sequence[BodyStep],
    island: ContactStep,
    positions: Sequence[Floats],
    trees: Sequence[TreeBatches],
) -> None:
    """Solves contacts and lengths of one island alternately; `positions` (3, n) of all bodies."""
    touching_bodies = {body: body_steps[body] for body in island.touching_bodies}
    rounds = project_alternately(
        island, positions, trees, max_rounds=MAX_ALTERNATIONS, body_steps=touching_bodies
    )
    for body_step in touching_bodies.values() if rounds else ():
        body_step.project_lengths(backwards=min(rounds, MAX_ALTERNATIONS - 1) % 2 == 1)
        body_step.project_ground_contacts()
    if all(body_step.state.rigid is None for body_step in touching_bodies.values()):
        post_stabilize(island, positions, trees)
    elif rounds:
        project_rigid_pieces(island, positions, trees, touching_bodies)
    for body_step in touching_bodies.values():
        body_step.entangled = _is_entangled(body_step)


def release_friction(body_steps: Sequence[BodyStep], island: ContactStep) -> bool:
    """Sets friction to 0 at overstretched edges of entangled bodies; returns whether any was.

    An arm that moves through a cape would stretch some of its edges to ten times their length.
    """
    entangled = [body for body in island.touching_bodies if body_steps[body].entangled]
    if not entangled:  # the usual case
        return False
    rows, stretched = island.rows, np.zeros(island.end.shape[1], dtype=bool)
    for body in entangled:
        positions, links = body_steps[body].state.positions, body_steps[body].batches.lengths.links
        stretched[
            island.touching_bodies[body].start
            + find_stretched_particles(positions, links, SLIP_STRAIN)
        ] = True
    slips = (stretched[rows.particles] & (rows.impulse_responses != 0.0)).any(axis=0)
    slips &= (rows.normal_multipliers > 0.0) & (rows.friction > 0.0)
    rows.friction[slips] = 0.0
    return bool(slips.any())


def _is_entangled(body_step: BodyStep) -> bool:
    """Whether any edge of the body's surface is stretched by more than ENTANGLED_STRAIN."""
    _, highest = strain_range(body_step.state.positions, body_step.batches.lengths.edges)
    return bool(highest > ENTANGLED_STRAIN)


def solve_solids(
    body_steps: Sequence[BodyStep], affected: set[int], contact_step: ContactStep, dt: float
) -> None:
    """Solves the stress of solids together with their collider contacts.

    Solids that touch each other are one coupled system, except solids that had to depenetrate:
    their corners may still cross, and would stay crossed.
    """
    world, motion, rows = contact_step.world, contact_step.motion, contact_step.rows
    surfaces, fixed = world.surfaces, world.first_collider_particle
    solids = {
        body: body_step
        for body in sorted(affected)
        if isinstance(body_step := body_steps[body], SolidBodyStep)
    }
    if not solids:
        return
    # Depenetrating solids have rows of their own.
    penetrating = {
        body
        for body in solids
        if surfaces.penetration_states[world.body_slices[body]].any()
        or surfaces.penetration_states[:, body].any()
    }
    for body in penetrating:
        solids[body].solve_contacts(None)
        solids[body].state.solid.depenetrated = True
    depenetrated = [body for body, each in solids.items() if each.state.solid.depenetrated]
    together = [body for body in solids if body not in depenetrated]
    alone = [[body] for body in depenetrated if body not in penetrating]
    for group in coupled_groups(contact_step, together) + alone:
        own = [world.body_slices[body] for body in group]
        members = [solids[body] for body in group]
        path = motion.start, motion.predicted
        collider_contacts = [find_collider_contacts(rows, each, fixed, *path, dt) for each in own]
        solid_contacts = find_solid_contacts(rows, own, dt)
        if len(solid_contacts.levels):
            solve_coupled_solids(members, collider_contacts, solid_contacts)
        else:
            members[0].solve_contacts(collider_contacts[0])


def finish_contact_step(body_steps: Sequence[BodyStep], contact_step: ContactStep) -> None:
    """Applies the tunnelling guard and velocity updates, and caches contacts for the next step."""
    states = [body_step.state for body_step in body_steps]
    positions = [state.positions for state in states]

    def restore(changed: Sequence[int]) -> None:
        for body_step in (body_steps[body] for body in changed):
            if not body_step.entangled:
                limit_peak_strain(body_step.state.positions, body_step.batches.lengths.links)
            body_step.project_ground_contacts()

    apply_tunnelling_guard(contact_step, positions, restore)
    for body_step in (body_steps[body] for body in contact_step.touching_bodies):
        if not body_step.entangled and body_step.state.gas is None:
            body_step.batches.lengths.strip_system.multipliers[...] = (
                body_step.tension_before_contacts
            )
    update_contact_velocities(
        contact_step, [state.previous_positions for state in states], positions
    )
    update_pinched(contact_step)
    _cache_contacts(body_steps, contact_step)
    for body, state in enumerate(states):
        state.steps_in_contact = (
            state.steps_in_contact + 1 if body in contact_step.touching_bodies else 0
        )
