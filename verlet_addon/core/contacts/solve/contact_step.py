"""Contacts of one step: detection, projection, tunnelling guard and velocity update."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Booleans, Floats, dot, magnitudes
from ...bodies.body_step import BodyStep
from ...rigid.pieces import PiecePoses
from ...rigid.responses import finish_responses, start_responses
from ...ropes.rope_contacts import RopeSlice, solve_rope_contacts
from ..manifold.contact_rows import ContactRows, move_back, project_rows, rebound_rows, with_more
from ..manifold.contacts import Contacts
from ..manifold.persistent_contacts import refresh_contacts
from ..manifold.piece_rows import project_rows_of_pieces
from ..manifold.row_setup import PredictedMotion, make_rows
from ..sides.contact_filter import contact_penetration_states
from .collision_world import CollisionWorld, gather_bodies, scatter_bodies
from .contact_statistics import record_step
from .tunnelling_guard import find_tunnelling, prevent_tunnelling

MIN_GAP_SHARE = 0.05
"""Smallest share of the gap that painted thickness leaves; with 0 bodies tremble."""
CONVERGED_SHARE = 1e-3
"""Convergence: no particle moves by more than this share of the largest skin in a round."""
PIECES_CONVERGED_SHARE = 1e-4
"""The same with rigid pieces. With 1e-3 a stack of three boxes creeps aside by 0.9 mm a second in
place of 0.3 mm; with 1e-5 by no less."""
SAFE_GAP_SHARE = 0.25
"""Pairs that keep at least this share of their gap at the end of a step have not passed. With half,
a disc that bounces on a ball lies 48 mm elsewhere; with twice, resting cloth moves by up to 0.6
mm."""
NEAR, FEW = 0.75, 8
"""A particle is crowded if it starts a step in more than FEW contacts nearer than the share NEAR of
their gap. Ropes in a tight knot have two such contacts; three ropes in one place have 10."""


@dataclass(eq=False)
class ContactStep:
    """Contacts of one step, and the positions that they are solved for."""

    world: CollisionWorld
    motion: PredictedMotion
    end: Floats
    """(3, N) positions at the end of the step without contacts [m]."""
    positions: Floats
    """(3, N) positions at the end of the step [m]; work array for bodies."""
    rows: ContactRows
    touching_bodies: dict[int, slice]
    """Bodies with contacts, and their particles as slices of the world's."""
    safe_positions: Floats | None = None
    """(3, N) positions on the way to which nothing tunnels [m], None if none are known."""
    disturbed: set[int] = field(default_factory=set)
    """Bodies whose lengths a change of the warm start has disturbed since they were solved."""


def _reduce_gaps(world: CollisionWorld, contacts: Contacts) -> Contacts:
    """Contacts with gaps reduced by the painted thickness."""
    if not world.gap_reductions.any():
        return contacts
    less = (np.abs(contacts.weights) * world.gap_reductions[contacts.particles]).sum(axis=0)
    less *= np.where((contacts.owners < world.bodies).all(axis=0), 1.0, 2.0)
    return replace(contacts, gaps=np.maximum(contacts.gaps - less, MIN_GAP_SHARE * contacts.gaps))


def _make_rows(world: CollisionWorld, contacts: Contacts, motion: PredictedMotion) -> ContactRows:
    """The rows of contacts; `on_ropes` holds where ropes' direct solver takes them.

    Rows of colliders on a rope between pins are excluded: the rope cannot yield as a whole, and a
    direct solution without room would throw it about. Crowded rows of many ropes in one place are
    excluded too: they would take hours.
    """
    rows = make_rows(contacts, world.pair_properties, motion)
    if rows.on_ropes.any():
        hard = (rows.particles >= world.first_collider_particle).any(axis=0)
        rows.on_ropes[hard & world.between_pins[rows.particles].any(axis=0)] = False
        crowded = _crowded_particles(rows, len(motion.on_ropes))
        on_ropes = crowded & motion.on_ropes
        world.statistics.without_room[world.surfaces.owners[on_ropes]] = True
        moves = rows.impulse_responses != 0.0
        rows.on_ropes[(crowded[rows.particles] | ~moves).all(axis=0)] = False
    return rows


def _crowded_particles(rows: ContactRows, count: int) -> Booleans:
    """(count,) bool, movable particles in more than FEW deep rows."""
    moves = rows.impulse_responses != 0.0
    deep = dot(rows.normals, rows.anchors) < NEAR * rows.gaps
    return np.asarray(np.bincount(rows.particles[moves & deep], minlength=count) > FEW)


def detect_contacts(world: CollisionWorld, motion: PredictedMotion, end: Floats) -> ContactStep:
    """Detects contacts along the motion to `end` (3, N), the positions without contacts [m]."""
    world.surfaces.start_step()
    known, limits = world.persistent_contacts, world.skin_limits
    world.persistent_contacts = refresh_contacts(
        known,
        world.surfaces,
        motion.start,
        end,
        limits.by_motion(known.deviations) if known else limits.largest,
        limits,
    )
    rows = _rows_of(world, motion, world.persistent_contacts.contacts)
    if world.surfaces.any_penetrating:
        vertex_rows = _make_rows(world, world.sides.vertex_rows(end), motion)
        vertex_rows.targets[:], vertex_rows.rebounds[:] = vertex_rows.gaps, 0.0
        rows = with_more(rows, vertex_rows)
        for intersections in world.sides.intersections:
            rows = with_more(rows, _make_rows(world, intersections, motion))
    return ContactStep(world, motion, end, end.copy(), rows, bodies_in(rows, world))


def detect_new_contacts(contact_step: ContactStep, bodies: Sequence[Floats]) -> bool:
    """Adds contacts along the motion to bodies' positions (3, n); returns whether to solve again.

    Another solution is needed where a new contact is violated, or a pair passes: cloth that a fast
    ball has wound around itself would not come off.
    """
    gather_bodies(contact_step.world.body_slices, bodies, contact_step.positions)
    world, motion, positions = contact_step.world, contact_step.motion, contact_step.positions
    known_pairs = world.persistent_contacts
    assert known_pairs, "contacts are detected before"
    known, passes = len(contact_step.rows.gaps), False
    displaced = _displaced_particles(contact_step)
    if displaced.any():
        np.copyto(contact_step.end, positions, where=displaced)
        found = known_pairs.find_contacts(world.surfaces, motion.start, positions, displaced)
        if len(found.gaps):
            contact_step.rows = with_more(contact_step.rows, _rows_of(world, motion, found))
    path = motion.start, positions, motion.inverse_masses
    tunnelling = find_tunnelling(world.surfaces, *path, known=known_pairs)
    passes = len(tunnelling.gaps) > 0
    if passes:
        more = _make_rows(world, _reduce_gaps(world, tunnelling), motion)
        contact_step.rows = with_more(contact_step.rows, more)
    contact_step.safe_positions = None if passes else positions.copy()
    contact_step.touching_bodies = bodies_in(contact_step.rows, world)
    deficits = (contact_step.rows.targets - contact_step.rows.heights(positions))[known:]
    return len(deficits) > 0 and bool(passes or deficits.max() > 0.0)


def bodies_in(rows: ContactRows, world: CollisionWorld) -> dict[int, slice]:
    """The bodies in rows, and their particles as slices of the world's."""
    if world.bodies == 1:
        return world.body_slices if len(rows.gaps) else {}
    bodies = np.flatnonzero(np.bincount(rows.owners.ravel())[: world.bodies]).tolist()
    return {body: world.body_slices[body] for body in bodies}


def _rows_of(world: CollisionWorld, motion: PredictedMotion, found: Contacts) -> ContactRows:
    """Rows of found contacts that count in the world's state."""
    found = world.sides.filter_contacts(_reduce_gaps(world, found), motion.start)
    return _make_rows(world, found, motion)


def project_body_contacts(contact_step: ContactStep, body_steps: Sequence[BodyStep]) -> bool:
    """Projects contacts with friction of all bodies once; returns whether it has not converged."""
    world_positions, parts = contact_step.positions, contact_step.touching_bodies
    bodies = {body: body_steps[body].state.positions for body in parts}
    gather_bodies(parts, bodies, world_positions)
    responses = contact_step.world.piece_responses
    rigid = _touching_pieces(contact_step, body_steps)
    if rigid:
        assert responses
        for first, own, poses in rigid.values():
            start_responses(poses, responses, own.start, first)
        project_rows_of_pieces(world_positions, contact_step.rows, responses)
    else:
        project_rows(world_positions, contact_step.rows)
    contact_step.world.statistics.work.contact_passes += 1
    if contact_step.rows.on_ropes.any():
        trees = [(own, body_steps[body].batches.ropes.trees) for body, own in parts.items()]
        ropes = [RopeSlice(own, lengths) for own, lengths in trees if lengths.generations]
        solve_rope_contacts(world_positions, contact_step.rows, ropes)
    share = PIECES_CONVERGED_SHARE if rigid else CONVERGED_SHARE
    allowed = share * float(contact_step.world.skins[list(parts)].max())
    farthest = [
        move_back(bodies[body], world_positions, own.start, own.stop) for body, own in parts.items()
    ]
    for body, (first, _, poses) in rigid.items():
        assert responses
        farthest.append(finish_responses(poses, responses, bodies[body], first))
    return max(farthest) > allowed


def _touching_pieces(
    contact_step: ContactStep, body_steps: Sequence[BodyStep]
) -> dict[int, tuple[int, slice, PiecePoses]]:
    """First pieces, particles and poses of the touching bodies that have rigid pieces."""
    responses, found = contact_step.world.piece_responses, {}
    if responses is None:
        return {}
    for body, own in contact_step.touching_bodies.items():
        poses, first = body_steps[body].state.rigid, responses.first_pieces.get(body)
        if poses is not None and first is not None:
            found[body] = first, own, poses
    return found


def apply_tunnelling_guard(
    contact_step: ContactStep, bodies: Sequence[Floats], restore: Callable[[Sequence[int]], None]
) -> None:
    """Stops particles that would tunnel; `restore` projects the other constraints again.

    All pairs are searched. Rows do not tell which are safe: in a fold, a pair of edges has no row
    where a triangle beside one of them is nearer to the other, even if that triangle ends at the
    other edge and so has no row either.
    """
    world, motion = contact_step.world, contact_step.motion
    gather_bodies(world.body_slices, bodies, contact_step.positions)
    safe = contact_step.safe_positions
    if safe is not None and np.array_equal(contact_step.positions, safe):
        return
    path = motion.start, contact_step.positions

    def restore_all(world_positions: Floats) -> None:
        changed = [
            body
            for body, own in world.body_slices.items()
            if (bodies[body][:, : own.stop - own.start] != world_positions[:, own]).any()
        ]
        scatter_bodies(world.body_slices, bodies, world_positions)
        restore(changed)
        gather_bodies(world.body_slices, bodies, world_positions)

    known = world.persistent_contacts
    guarded = prevent_tunnelling(world.surfaces, *path, motion.inverse_masses, restore_all, known)
    world.statistics.work.guarded_steps += not np.array_equal(guarded, contact_step.positions)
    contact_step.positions[...] = guarded
    scatter_bodies(world.body_slices, bodies, contact_step.positions)


def _displaced_particles(contact_step: ContactStep) -> Booleans:
    """(N,) bool, particles displaced so far that contacts along their first way are not enough.

    Pairs without a row were farther apart than gap and skins at the end of free motion. They cannot
    touch if both particles end within their skins.
    """
    world, rows, positions = contact_step.world, contact_step.rows, contact_step.positions
    # Without colliders, or other bodies would be searched.
    own = slice(world.first_collider_particle)
    assert world.persistent_contacts
    allowed = world.persistent_contacts.skins[own]
    displaced = np.zeros(positions.shape[1], dtype=bool)
    displaced[rows.particles[:, rows.heights(positions) <= SAFE_GAP_SHARE * rows.gaps]] = True
    displaced[own] |= magnitudes(positions[:, own] - contact_step.end[:, own]) > allowed
    displaced[own.stop :] = False
    return displaced


def update_contact_velocities(
    contact_step: ContactStep, previous_positions: Sequence[Floats], bodies: Sequence[Floats]
) -> None:
    """Velocity update of contacts, through previous positions (3, n); records statistics."""
    gather_bodies(contact_step.touching_bodies, bodies, contact_step.positions)
    former = contact_step.motion.start.copy()
    gather_bodies(contact_step.touching_bodies, previous_positions, former)
    rows, world = contact_step.rows, contact_step.world
    rebound_rows(former, contact_step.positions, rows)
    depths = rows.gaps - rows.heights(contact_step.positions)
    depths[contact_penetration_states(world.surfaces, rows) > 0] = 0.0
    record_step(world.statistics, world.surfaces, rows, depths, contact_step.positions)
    scatter_bodies(contact_step.touching_bodies, previous_positions, former)
