"""Cloth between colliders that pass into each other, as the parts of an arm do that is bent.

There is no room for it. So what is pinched goes along with the skin that it lay on, touches
nothing, and keeps its lengths, until there is room again: then it comes out on that side.
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
"""Cosine of two pushes of which one takes back the other."""
ALIGNED_MEAN = 0.9
"""Of particles that are pushed all one way, the mean of the pushes is longer than this."""
PINCH_ROOM, RELEASE_ROOM = 1.5, 3.5
"""Times the distance from a skin: with so little room above it, what lies on it is pinched; with so
much it is led out."""
NEAR_SHARE = 0.8
"""Of two sides with so little room between, one is nearer than this share of its distance."""
DRAWN_STRAIN = 0.1
"""What colliders hold back from the pinched by this share of an edge is pinched, too."""


def move_pinched(bodies: Sequence[Body], world: CollisionWorld, inputs: StepInputs) -> None:
    """Lets what is pinched go as the skin does that it lies on, and come out where it has room."""
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
    """Finds what a step has left without room, and lets go of what is out again."""
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
        # What was hidden at the first frame mostly is.
        pressed = pressed.chosen(_has_room(world, pressed, world.surfaces.rest, PINCH_ROOM))
        penetration_states[pressed.particles] = PINCHED
        pinched = pinched.with_more(pressed)
    if len(pinched.particles):
        neighbours = _pinched_neighbours(contact_step, pinched)
        penetration_states[neighbours.particles] = PINCHED
        pinched = pinched.with_more(neighbours)
    world.pinched = pinched


def _restore_contacts(world: CollisionWorld, dt: float) -> None:
    """Lets what is out touch bodies again, once folds that met in there have parted."""
    particles = np.flatnonzero(world.recovery_times > 0.0)
    if len(particles):
        world.recovery_times[particles] -= dt
        state = np.where(world.recovery_times[particles] > 0.0, PINCHED, 0)
        bodies = np.flatnonzero(~world.surfaces.colliders)
        hard = particles[:, None], np.flatnonzero(world.surfaces.colliders)
        world.penetration_states[hard] = np.maximum(world.penetration_states[hard], EMERGING)
        world.penetration_states[particles[:, None], bodies] = state[:, None]


def _can_be_pinched(world: CollisionWorld, particles: Integers) -> Booleans:
    """(k,) whether particles may be pinched, and no collider has anything to do with them yet."""
    states = world.penetration_states[particles][:, world.surfaces.colliders]
    return np.asarray(world.pinchable[particles] & (states == 0).all(axis=1))


def _pinched_neighbours(contact_step: ContactStep, pinched: PinchedParticles) -> PinchedParticles:
    """What is inside of colliders beside what is pinched, or is held back from that by them."""
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
    drawn = (
        (now > (1.0 + DRAWN_STRAIN) * rest)[most]
        & touched[neighbours]
        & (pinched.ages[beside] == 0.0)
    )
    return found.chosen(
        drawn | (_count_colliders_around(world, found, positions[:, neighbours], positions) != 0)
    )


def _gaps(world: CollisionWorld, pinched: PinchedParticles) -> Floats:
    """(k,) how far from the skins they are to be [m]."""
    owners = world.surfaces.owners
    found = world.surfaces.gaps[owners[pinched.particles], owners[pinched.corners[0]]]
    return np.asarray(found)


def _has_room(
    world: CollisionWorld, pinched: PinchedParticles, positions: Floats, times: float
) -> Booleans:
    """(k,) whether there is so many times their distance of room over the skins, there and here."""
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
    """(k,) how many of the colliders that the pinched meet points (3, k) are within."""
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
    """What moving colliders press on something else, with the places on their skins."""
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
    """Such particles over the skins whose rows push them these ways (3, k), if from outside."""
    world, positions, rows = contact_step.world, contact_step.positions, contact_step.rows
    touched = rows.particles[:, row]
    share = np.abs(rows.weights[:, row]) * (touched >= world.first_collider_particle)
    corners = touched[share.argmax(axis=0), np.arange(len(row))]
    found = _nearest_triangles(world, particles, corners, positions)
    return found.chosen(dot(triangle_frames(positions, found.corners)[:, 2], directions) > 0.0)


def _nearest_triangles(
    world: CollisionWorld, particles: Integers, corners: Integers, positions: Floats
) -> PinchedParticles:
    """Particles over the nearest of the triangles around vertices of colliders (k,)."""
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
