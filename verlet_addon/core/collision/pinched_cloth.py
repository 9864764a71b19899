"""Cloth pinched between colliders that overlap, as the parts of a bent arm do.

Pinched particles have no room. They move with the collider surface that they lay on, touch nothing,
and keep their lengths, until there is room again: then they move out on that side.
"""

from collections.abc import Sequence

import numpy as np

from ..arrays import Booleans, Floats, Integers, dot, magnitudes, ranges, sum_by, sum_rows
from ..contact.contact_rows import PUSH_OUT_TIME
from ..depenetration.closed_surfaces import triangle_frames, winding_numbers
from ..depenetration.ground_depenetration import DEPENETRATION_TIME
from ..depenetration.penetration_states import EMERGING, PINCHED
from ..detection.proximity import nearest_on_triangle
from ..phases.step_data import Body, StepInputs
from .collision_world import CollisionWorld
from .contact_step import ContactStep
from .pinched_particles import NO_PINCHED, PinchedParticles

OPPOSED_COSINE = -0.3
"""Two contact normals with a smaller cosine than this oppose each other."""
ALIGNED_MEAN = 0.9
"""Particles whose mean contact normal is longer than this are pushed from one side only."""
PINCH_ROOM, RELEASE_ROOM = 1.5, 3.5
"""Room above a collider surface, in gaps, below which a particle is pinched, and above which it is
moved out."""
NEAR_SHARE = 0.8
"""Contacts nearer than this share of their gap are considered for pinching."""
PINCHING_STRAIN = 0.1
"""A particle in contact with a collider is pinched too if an edge to a pinched particle is
stretched by more than this share."""


def move_pinched(bodies: Sequence[Body], world: CollisionWorld, inputs: StepInputs) -> None:
    """Moves pinched particles with their collider surface, and out of it where there is room."""
    pinched = world.pinched
    if not len(pinched.particles):
        return
    states = [state.positions for _, state in bodies]
    start = world.gather_positions(states, inputs.collider_starts)
    end = world.gather_positions(states, inputs.collider_ends)
    place, out = pinched.surface_points(end), triangle_frames(end, pinched.corners)[:, 2]
    displacements = place - pinched.surface_points(start)
    heights = dot(out, end[:, pinched.particles] + displacements - place)
    share = min(inputs.dt / PUSH_OUT_TIME, 1.0) * (pinched.ages > 0.0)
    displacements += out * (share * np.maximum(_gaps(world, pinched) - heights, 0.0))
    owners = world.surfaces.owners[pinched.particles]
    for body in np.unique(owners).tolist():
        own, (model, state) = owners == body, bodies[body]
        particles = pinched.particles[own] - world.body_slices[body].start
        fall = inputs.gravity[:, None] * (model.settings.gravity * inputs.dt**2)
        previous = state.positions[:, particles] - displacements[:, own] + fall
        state.previous_positions[:, particles] = previous


def update_pinched(contact_step: ContactStep) -> None:
    """Finds particles that a step has left without room, and releases those that are out."""
    world, positions = contact_step.world, contact_step.positions
    pinched, pressed, penetration_states = (
        world.pinched,
        _pressed_from_both_sides(contact_step),
        world.penetration_states,
    )
    if len(pinched.particles):
        pinched.ages[:] += contact_step.motion.dt
        pinched.ages[~_has_room(world, pinched, positions, RELEASE_ROOM)] = 0.0
        within = (
            _count_colliders_around(world, pinched, positions[:, pinched.particles], positions) != 0
        )
        kept = within | (pinched.ages == 0.0)
        let_go, pinched = pinched.particles[~kept], pinched.chosen(kept)
        penetration_states[let_go] = np.where(world.surfaces.colliders, EMERGING, PINCHED)
        world.recovery_times[let_go] = DEPENETRATION_TIME
    _restore_contacts(world, contact_step.motion.dt)
    if len(pressed.particles):
        pressed = pressed.chosen(~_has_room(world, pressed, positions, PINCH_ROOM))
        # Particles without room at rest are usually hidden ones.
        pressed = pressed.chosen(_has_room(world, pressed, world.surfaces.rest, PINCH_ROOM))
        penetration_states[pressed.particles] = PINCHED
        pinched = pinched.with_more(pressed)
    if len(pinched.particles):
        neighbours = _pinched_neighbours(contact_step, pinched)
        penetration_states[neighbours.particles] = PINCHED
        pinched = pinched.with_more(neighbours)
    world.pinched = pinched


def _restore_contacts(world: CollisionWorld, dt: float) -> None:
    """Restores contacts with bodies after the recovery time, in which folds have parted."""
    particles = np.flatnonzero(world.recovery_times > 0.0)
    if len(particles):
        world.recovery_times[particles] -= dt
        state = np.where(world.recovery_times[particles] > 0.0, PINCHED, 0)
        bodies = np.flatnonzero(~world.surfaces.colliders)
        hard = particles[:, None], np.flatnonzero(world.surfaces.colliders)
        world.penetration_states[hard] = np.maximum(world.penetration_states[hard], EMERGING)
        world.penetration_states[particles[:, None], bodies] = state[:, None]


def _can_be_pinched(world: CollisionWorld, particles: Integers) -> Booleans:
    """(k,) whether particles are pinchable, and in no penetration state of a collider."""
    states = world.penetration_states[particles][:, world.surfaces.colliders]
    return np.asarray(world.pinchable[particles] & (states == 0).all(axis=1))


def _pinched_neighbours(contact_step: ContactStep, pinched: PinchedParticles) -> PinchedParticles:
    """Neighbours of pinched particles inside of colliders, or stretched away by contacts."""
    world, positions = contact_step.world, contact_step.positions
    surfaces = world.surfaces
    number = np.full(positions.shape[1], -1)
    number[pinched.particles] = np.arange(len(pinched.particles))
    edges = np.concatenate([surfaces.edges, surfaces.edges[::-1]], axis=1)
    edges = edges[:, (number[edges[0]] >= 0) & (number[edges[1]] < 0)]
    edges = edges[:, _can_be_pinched(world, edges[1])]
    rest, now = (magnitudes(x[:, edges[1]] - x[:, edges[0]]) for x in (surfaces.rest, positions))
    order = np.argsort(rest - now, kind="stable")
    neighbours, first = np.unique(edges[1, order], return_index=True)
    most = order[first]
    beside = number[edges[0, most]]
    found = PinchedParticles(
        neighbours,
        pinched.corners[:, beside],
        pinched.weights[:, beside],
        np.zeros(len(neighbours)),
    )
    touched = np.zeros(len(number), dtype=bool)
    rows = contact_step.rows.particles
    touched[rows[:, (rows >= world.first_collider_particle).any(axis=0)]] = True
    stretched = (
        (now > (1.0 + PINCHING_STRAIN) * rest)[most]
        & touched[neighbours]
        & (pinched.ages[beside] == 0.0)
    )
    return found.chosen(
        stretched
        | (_count_colliders_around(world, found, positions[:, neighbours], positions) != 0)
    )


def _gaps(world: CollisionWorld, pinched: PinchedParticles) -> Floats:
    """(k,) gaps of pinched particles to their collider surfaces [m]."""
    owners = world.surfaces.owners
    found = world.surfaces.gaps[owners[pinched.particles], owners[pinched.corners[0]]]
    return np.asarray(found)


def _has_room(
    world: CollisionWorld, pinched: PinchedParticles, positions: Floats, times: float
) -> Booleans:
    """(k,) whether there is room of so many gaps above surface points and particles."""
    out, here = triangle_frames(positions, pinched.corners)[:, 2], positions[:, pinched.particles]
    place, far = pinched.surface_points(positions), times * _gaps(world, pinched)
    above = np.maximum(far - dot(out, here - place), 0.0)
    found = [
        _count_colliders_around(world, pinched, x, positions)
        for x in (place + out * far, here + out * above)
    ]
    return np.asarray((found[0] == 0) & (found[1] == 0))


def _count_colliders_around(
    world: CollisionWorld, pinched: PinchedParticles, points: Floats, positions: Floats
) -> Integers:
    """(k,) number of colliders, of those each particle collides with, around points (3, k)."""
    found, closed_surfaces = (
        np.zeros(points.shape[1], dtype=np.int64),
        world.depenetration.closed_surfaces,
    )
    owners = world.surfaces.owners[pinched.particles]
    for body in np.unique(owners).tolist():
        own = np.flatnonzero(owners == body)
        for other in closed_surfaces.obstacles_of(body):
            if other >= closed_surfaces.bodies:
                found[own] += (
                    winding_numbers(points[:, own], positions, closed_surfaces.triangles[other])
                    != 0
                )
    return found


def _pressed_from_both_sides(contact_step: ContactStep) -> PinchedParticles:
    """Particles that moving colliders push from opposite sides, with their surface points."""
    world, rows, motion = contact_step.world, contact_step.rows, contact_step.motion
    fixed = slice(world.first_collider_particle, None)
    if np.array_equal(motion.start[:, fixed], motion.predicted[:, fixed], equal_nan=True):
        return NO_PINCHED
    hard = (rows.particles >= fixed.start).any(axis=0)
    apart, count = rows.heights(contact_step.positions), len(world.penetration_states)
    near = np.zeros(count, dtype=bool)
    near[rows.particles[:, apart < NEAR_SHARE * rows.gaps]] = True
    slot, row = np.nonzero((rows.impulse_responses != 0.0) & near[rows.particles])
    particle = rows.particles[slot, row]
    directions = rows.normals[:, row] * np.sign(rows.weights[slot, row])
    pushes = np.bincount(particle, minlength=count)
    perhaps = magnitudes(sum_rows(particle, directions, count)) < ALIGNED_MEAN * pushes
    perhaps &= sum_by(particle, hard[row].astype(float), count) > 0.0
    chosen = np.flatnonzero(perhaps[particle])
    chosen = chosen[_can_be_pinched(world, particle[chosen])]
    chosen = chosen[np.lexsort((apart[row[chosen]], ~hard[row[chosen]], particle[chosen]))]
    particle, row, directions = particle[chosen], row[chosen], directions[:, chosen]
    particles, first, number = np.unique(particle, return_index=True, return_inverse=True)
    against = dot(directions, directions[:, first[number.reshape(-1)]]) < OPPOSED_COSINE
    both = first[np.bincount(number.reshape(-1), against, len(particles)) > 0]
    return _over_colliders(contact_step, particle[both], row[both], directions[:, both])


def _over_colliders(
    contact_step: ContactStep, particles: Integers, row: Integers, directions: Floats
) -> PinchedParticles:
    """Particles with surface points on the colliders of their rows, on the side of directions."""
    world, positions, rows = contact_step.world, contact_step.positions, contact_step.rows
    touched = rows.particles[:, row]
    share = np.abs(rows.weights[:, row]) * (touched >= world.first_collider_particle)
    corners = touched[share.argmax(axis=0), np.arange(len(row))]
    found = _nearest_triangles(world, particles, corners, positions)
    return found.chosen(dot(triangle_frames(positions, found.corners)[:, 2], directions) > 0.0)


def _nearest_triangles(
    world: CollisionWorld, particles: Integers, corners: Integers, positions: Floats
) -> PinchedParticles:
    """Particles with their nearest points on the triangles around colliders' vertices (k,)."""
    surfaces, starts = world.surfaces, world.surfaces.fan_starts[corners]
    counts = surfaces.fan_starts[corners + 1] - starts
    number = np.repeat(np.arange(len(particles)), counts)
    triangles = surfaces.triangles[:, surfaces.fans[ranges(starts, counts)]]
    points = np.concatenate([particles[None, number], triangles])
    weights, _, apart = nearest_on_triangle(positions[:, points])
    order = np.lexsort((apart, number))
    nearest = order[np.unique(number[order], return_index=True)[1]]
    return PinchedParticles(
        particles, triangles[:, nearest], -weights[1:, nearest], np.zeros(len(nearest))
    )
