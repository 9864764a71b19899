"""Cloth between colliders that pass into each other, as the parts of an arm do that is bent.

There is no room for it. So what is pinched goes along with the skin that it lay on, touches
nothing, and keeps its lengths, until there is room again: then it comes out on that side.
"""

from collections.abc import Sequence

import numpy as np

from ..arrays import Booleans, Floats, Integers, dot, magnitudes, ranges, sum_by, sum_rows
from ..contact.response import EASING
from ..detection.proximity import nearest_on_triangle
from ..overlap.burial import OUT_AFTER
from ..overlap.overlaps import EMERGING, PINCHED
from ..overlap.skins import NONE, Pinched
from ..overlap.solids import frames_of, inside
from ..phases.step_data import Body, Surroundings
from .encounter import Encounter
from .world import Meeting

OPPOSED = -0.3
"""Cosine of two pushes of which one takes back the other."""
ALIKE = 0.9
"""Of particles that are pushed all one way, the mean of the pushes is longer than this."""
NO_ROOM, ROOM = 1.5, 3.5
"""Times the distance from a skin: with so little room above it, what lies on it is pinched; with so
much it is led out."""
NEAR = 0.8
"""Of two sides with so little room between, one is nearer than this share of its distance."""
DRAWN = 0.1
"""What colliders hold back from the pinched by this share of an edge is pinched, too."""


def go_with_skin(bodies: Sequence[Body], meeting: Meeting, given: Surroundings) -> None:
    """Lets what is pinched go as the skin does that it lies on, and come out where it has room."""
    pinched = meeting.pinched
    if not len(pinched.particles):
        return
    states = [state.positions for _, state in bodies]
    start = meeting.gathered(states, given.collider_starts)
    end = meeting.gathered(states, given.collider_ends)
    place, out = pinched.places(end), frames_of(end, pinched.corners)[:, 2]
    ways = place - pinched.places(start)
    heights = dot(out, end[:, pinched.particles] + ways - place)
    share = min(given.dt / EASING, 1.0) * (pinched.ages > 0.0)
    ways += out * (share * np.maximum(_gaps(meeting, pinched) - heights, 0.0))
    owners = meeting.surfaces.owners[pinched.particles]
    for body in np.unique(owners).tolist():
        its, (model, state) = owners == body, bodies[body]
        particles = pinched.particles[its] - meeting.own[body].start
        fall = given.gravity[:, None] * (model.settings.gravity * given.dt**2)
        former = state.positions[:, particles] - ways[:, its] + fall
        state.previous_positions[:, particles] = former


def find_pinched(encounter: Encounter) -> None:
    """Finds what a step has left without room, and lets go of what is out again."""
    meeting, places = encounter.meeting, encounter.positions
    pinched, fresh, leaving = meeting.pinched, _touched_from_both_sides(encounter), meeting.leaving
    if len(pinched.particles):
        pinched.ages[:] += encounter.motion.dt
        pinched.ages[~_room(meeting, pinched, places, ROOM)] = 0.0
        within = _within(meeting, pinched, places[:, pinched.particles], places) != 0
        kept = within | (pinched.ages == 0.0)
        let_go, pinched = pinched.particles[~kept], pinched.chosen(kept)
        leaving[let_go] = np.where(meeting.surfaces.colliders, EMERGING, PINCHED)
        meeting.crossed[let_go] = OUT_AFTER
    _uncross(meeting, encounter.motion.dt)
    if len(fresh.particles):
        fresh = fresh.chosen(~_room(meeting, fresh, places, NO_ROOM))
        # What was hidden at the first frame mostly is.
        fresh = fresh.chosen(_room(meeting, fresh, meeting.surfaces.rest, NO_ROOM))
        leaving[fresh.particles] = PINCHED
        pinched = pinched.with_more(fresh)
    if len(pinched.particles):
        swallowed = _swallowed(encounter, pinched)
        leaving[swallowed.particles] = PINCHED
        pinched = pinched.with_more(swallowed)
    meeting.pinched = pinched


def _uncross(meeting: Meeting, dt: float) -> None:
    """Lets what is out touch bodies again, once folds that met in there have parted."""
    its = np.flatnonzero(meeting.crossed > 0.0)
    if len(its):
        meeting.crossed[its] -= dt
        state = np.where(meeting.crossed[its] > 0.0, PINCHED, 0)
        bodies = np.flatnonzero(~meeting.surfaces.colliders)
        hard = its[:, None], np.flatnonzero(meeting.surfaces.colliders)
        meeting.leaving[hard] = np.maximum(meeting.leaving[hard], EMERGING)
        meeting.leaving[its[:, None], bodies] = state[:, None]


def _free(meeting: Meeting, particles: Integers) -> Booleans:
    """(k,) whether particles may be pinched, and no collider has anything to do with them yet."""
    its = meeting.leaving[particles][:, meeting.surfaces.colliders]
    return np.asarray(meeting.pliable[particles] & (its == 0).all(axis=1))


def _swallowed(encounter: Encounter, pinched: Pinched) -> Pinched:
    """What is inside of colliders beside what is pinched, or is held back from that by them."""
    meeting, places = encounter.meeting, encounter.positions
    surfaces = meeting.surfaces
    number = np.full(places.shape[1], -1)
    number[pinched.particles] = np.arange(len(pinched.particles))
    edges = np.concatenate([surfaces.edges, surfaces.edges[::-1]], axis=1)
    edges = edges[:, (number[edges[0]] >= 0) & (number[edges[1]] < 0)]
    edges = edges[:, _free(meeting, edges[1])]
    rest, now = (magnitudes(x[:, edges[1]] - x[:, edges[0]]) for x in (surfaces.rest, places))
    order = np.argsort(rest - now, kind="stable")
    its, first = np.unique(edges[1, order], return_index=True)
    most = order[first]
    beside = number[edges[0, most]]
    found = Pinched(its, pinched.corners[:, beside], pinched.weights[:, beside], np.zeros(len(its)))
    touched = np.zeros(len(number), dtype=bool)
    rows = encounter.rows.particles
    touched[rows[:, (rows >= meeting.first_fixed).any(axis=0)]] = True
    drawn = (now > (1.0 + DRAWN) * rest)[most] & touched[its] & (pinched.ages[beside] == 0.0)
    return found.chosen(drawn | (_within(meeting, found, places[:, its], places) != 0))


def _gaps(meeting: Meeting, pinched: Pinched) -> Floats:
    """(k,) how far from the skins they are to be [m]."""
    owners = meeting.surfaces.owners
    found = meeting.surfaces.gaps[owners[pinched.particles], owners[pinched.corners[0]]]
    return np.asarray(found)


def _room(meeting: Meeting, pinched: Pinched, places: Floats, times: float) -> Booleans:
    """(k,) whether there is so many times their distance of room over the skins, there and here."""
    out, here = frames_of(places, pinched.corners)[:, 2], places[:, pinched.particles]
    place, far = pinched.places(places), times * _gaps(meeting, pinched)
    above = np.maximum(far - dot(out, here - place), 0.0)
    found = [_within(meeting, pinched, x, places) for x in (place + out * far, here + out * above)]
    return np.asarray((found[0] == 0) & (found[1] == 0))


def _within(meeting: Meeting, pinched: Pinched, points: Floats, places: Floats) -> Integers:
    """(k,) how many of the colliders that the pinched meet points (3, k) are within."""
    found, solids = np.zeros(points.shape[1], dtype=np.int64), meeting.clearing.solids
    owners = meeting.surfaces.owners[pinched.particles]
    for body in np.unique(owners).tolist():
        its = np.flatnonzero(owners == body)
        for other in solids.met(body):
            if other >= solids.bodies:
                found[its] += inside(points[:, its], places, solids.triangles[other]) != 0
    return found


def _touched_from_both_sides(encounter: Encounter) -> Pinched:
    """What moving colliders press on something else, with the places on their skins."""
    meeting, rows, motion = encounter.meeting, encounter.rows, encounter.motion
    fixed = slice(meeting.first_fixed, None)
    if np.array_equal(motion.start[:, fixed], motion.arrival[:, fixed], equal_nan=True):
        return NONE
    hard = (rows.particles >= fixed.start).any(axis=0)
    apart, count = rows.heights(encounter.positions), len(meeting.leaving)
    near = np.zeros(count, dtype=bool)
    near[rows.particles[:, apart < NEAR * rows.gaps]] = True
    slot, row = np.nonzero((rows.pulls != 0.0) & near[rows.particles])
    particle = rows.particles[slot, row]
    ways = rows.normals[:, row] * np.sign(rows.weights[slot, row])
    pushes = np.bincount(particle, minlength=count)
    perhaps = magnitudes(sum_rows(particle, ways, count)) < ALIKE * pushes
    perhaps &= sum_by(particle, hard[row].astype(float), count) > 0.0
    chosen = np.flatnonzero(perhaps[particle])
    chosen = chosen[_free(meeting, particle[chosen])]
    chosen = chosen[np.lexsort((apart[row[chosen]], ~hard[row[chosen]], particle[chosen]))]
    particle, row, ways = particle[chosen], row[chosen], ways[:, chosen]
    its, first, number = np.unique(particle, return_index=True, return_inverse=True)
    against = dot(ways, ways[:, first[number.reshape(-1)]]) < OPPOSED
    both = first[np.bincount(number.reshape(-1), against, len(its)) > 0]
    return _on_skin(encounter, particle[both], row[both], ways[:, both])


def _on_skin(encounter: Encounter, particles: Integers, row: Integers, ways: Floats) -> Pinched:
    """Such particles over the skins whose rows push them these ways (3, k), if from outside."""
    meeting, places, rows = encounter.meeting, encounter.positions, encounter.rows
    touched = rows.particles[:, row]
    share = np.abs(rows.weights[:, row]) * (touched >= meeting.first_fixed)
    corners = touched[share.argmax(axis=0), np.arange(len(row))]
    found = _nearest(meeting, particles, corners, places)
    return found.chosen(dot(frames_of(places, found.corners)[:, 2], ways) > 0.0)


def _nearest(meeting: Meeting, particles: Integers, corners: Integers, places: Floats) -> Pinched:
    """Particles over the nearest of the triangles around vertices of colliders (k,)."""
    surfaces, starts = meeting.surfaces, meeting.surfaces.fan_starts[corners]
    counts = surfaces.fan_starts[corners + 1] - starts
    number = np.repeat(np.arange(len(particles)), counts)
    triangles = surfaces.triangles[:, surfaces.fans[ranges(starts, counts)]]
    points = np.concatenate([particles[None, number], triangles])
    weights, _, apart = nearest_on_triangle(places[:, points])
    order = np.lexsort((apart, number))
    nearest = order[np.unique(number[order], return_index=True)[1]]
    return Pinched(particles, triangles[:, nearest], -weights[1:, nearest], np.zeros(len(nearest)))
