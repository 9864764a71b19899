"""Islands: groups of bodies connected by contacts, each solved by itself.

Contacts and single sweeps over lengths alternate, and then contacts are solved alone. Convergence
is checked for each island, so that a body bakes to the same result whether or not other bodies, out
of contact, are in the scene.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...arrays import NONZERO, Booleans, Integers, magnitudes
from ...bodies.body_step import BodyStep
from ...bodies.surface_bodies import CONTACT_ROUNDS
from ...geometry.graph import find_components
from ...stretch.kernels import strain_range
from ...stretch.strain_limiting import find_stretched_particles
from ...stretch.sweep import limit_peak_strain
from ..manifold.contact_rows import project_rows
from .alternation import TouchingBody, alternate, touching_body
from .collision_world import gather_bodies, scatter_bodies
from .contact_step import CONVERGED_SHARE, ContactStep, project_body_contacts

MAX_ALTERNATIONS = 8
"""Maximum rounds in which contacts and lengths are solved alternately, lengths last: an error of a
contact shows less. Each round before makes one sweep over lengths, forwards and backwards in turn.
With half, cloth at 20 m/s comes 2.4 mm too near to a ball in place of 1.6 mm; with twice, 1.2
mm."""
ENTANGLED_STRAIN = 0.05
"""A body is entangled if an edge is stretched by more than this share. Entangled bodies, and bodies
with gas, keep the strip multipliers that respond to contacts for the next step's warm start: else
cloth that a fast ball has wound around itself does not come off. Other bodies discard them: taut
cloth would throw up a body that lies on it, higher than it fell from."""
SLIP_STRAIN = 0.02
"""Friction is released for particles of entangled bodies at edges that are stretched by more than
this share: with 5 % some edges are stretched three times as much."""
POST_ROUNDS = 4
"""Rounds of contact projection after the alternation with lengths. With half, cloth at 20 m/s comes
2.4 mm too near to a ball in place of 1.6 mm; with twice, it stretches by 4.7 % in place of 1 %."""
MAX_POST_STRAIN = 6e-3
"""Largest displacement in these rounds, as a share of a particle's shortest edge. With no limit a
sheet of 10,201 vertices that falls over a ball is stretched by 12 %; with half of it a ball that is
pressed between plates stays too near to them."""
DEEP_ROUNDS = 16
"""Maximum rounds of deep contacts, with strain limiting of single edges in between. With half, one
of four skirts that hands push into hips stretches by 31 % in place of 1.3 %; without strain
limiting, three of them do, by up to 67 %."""
MAX_GAP_DEFICIT = 0.4
"""Violation that contacts may keep, as a share of their owners' gap. Pairs that lie nearer at rest
mostly have short edges, which further corrections would stretch. With half, a balloon between
plates stretches by 2.5 % in place of 1.5 %; with twice, it comes 4.3 mm too near in place of 2
mm."""


def islands(contact_step: ContactStep, bodies: set[int]) -> Iterator[ContactStep]:
    """Yields each island with any of these bodies; its multipliers are written back afterwards."""
    rows = contact_step.rows
    if len(contact_step.touching_bodies) <= 1:
        if not bodies.isdisjoint(contact_step.touching_bodies):
            yield contact_step
        return
    labels, of_rows = _labels(contact_step)
    labels_of_rows = np.unique(of_rows).tolist()
    if len(labels_of_rows) == 1 and not bodies.isdisjoint(contact_step.touching_bodies):
        yield contact_step
        return
    for label in labels_of_rows:
        entries = contact_step.touching_bodies.items()
        touching_bodies = {body: own for body, own in entries if labels[body] == label}
        if bodies.isdisjoint(touching_bodies):
            continue
        members = np.flatnonzero(of_rows == label)
        island = replace(contact_step, rows=rows.chosen(members), touching_bodies=touching_bodies)
        yield island
        rows.normal_multipliers[members] = island.rows.normal_multipliers
        rows.friction_multipliers[:, members] = island.rows.friction_multipliers


def coupled_groups(contact_step: ContactStep, bodies: Sequence[int]) -> list[list[int]]:
    """Groups of these bodies, connected by contacts between them."""
    rows, count = contact_step.rows, contact_step.world.bodies
    own = np.append(np.isin(np.arange(count), bodies), False)
    first, second = rows.owners.clip(max=count)
    met = own[first] & own[second]
    labels = find_components(count, np.stack([first[met], second[met]], axis=1))
    groups: dict[int, list[int]] = {}
    for body in bodies:
        groups.setdefault(int(labels[body]), []).append(body)
    return list(groups.values())


def bodies_of_rows(contact_step: ContactStep, first: int) -> set[int]:
    """The bodies of islands with any row from number `first` on."""
    if len(contact_step.touching_bodies) <= 1:
        return set(contact_step.touching_bodies if first < len(contact_step.rows.gaps) else ())
    labels, of_rows = _labels(contact_step)
    found = set(of_rows[first:].tolist())
    return {body for body in contact_step.touching_bodies if labels[body] in found}


def _labels(contact_step: ContactStep) -> tuple[Integers, Integers]:
    """Island labels of all bodies, and of all rows."""
    count = contact_step.world.bodies
    owners = contact_step.rows.owners
    first, second = owners.min(axis=0), owners.max(axis=0)  # colliders' numbers are higher
    met = np.flatnonzero((second < count) & (first != second))
    labels = find_components(count, np.stack([first[met], second[met]], axis=1))
    return labels, labels[first]


def solve_island(body_steps: Sequence[BodyStep], island: ContactStep) -> None:
    """Solves contacts and lengths of one island alternately."""
    island.world.statistics.work.island_solutions += 1
    touching = [body_steps[body] for body in island.touching_bodies]
    rounds = project_alternately(island, body_steps, MAX_ALTERNATIONS, touching)
    # A multiplier that is taken back with its row leaves edges stretched that no row asks for.
    disturbed = not island.disturbed.isdisjoint(island.touching_bodies)
    for body_step in touching if rounds or disturbed else ():
        body_step.project_lengths(backwards=min(rounds, MAX_ALTERNATIONS - 1) % 2 == 1)
        body_step.project_ground_contacts()
    if all(body_step.state.rigid is None for body_step in touching):
        post_stabilize(island, body_steps)
    elif rounds:
        project_alternately(island, body_steps, CONTACT_ROUNDS, touching, with_lengths=False)
    for body_step in touching:
        if body_step.model.settings.body_type == "HAIR":
            # Contacts keep lengths to first order: strands that a head sweeps along would stretch
            # by half a per cent. Back at their length they are nearer by a hundredth of the gap.
            body_step.project_lengths(single_sweep=True)
        _, highest = strain_range(body_step.state.positions, body_step.batches.lengths.edges)
        body_step.entangled = bool(highest > ENTANGLED_STRAIN)


def project_alternately(
    contact_step: ContactStep,
    body_steps: Sequence[BodyStep],
    max_rounds: int,
    moving: Sequence[BodyStep] = (),
    *,
    with_lengths: bool = True,
) -> int:
    """Projects contacts until convergence; returns the number of rounds.

    Between the rounds, `moving` bodies get one sweep over their lengths, and their contacts with
    the ground are projected.
    """
    parts = contact_step.touching_bodies
    found = [touching_body(body_steps[body], own) for body, own in parts.items()]
    bodies = [each for each in found if each is not None]
    if len(bodies) == len(parts) and not contact_step.rows.on_ropes.any():
        return _alternate(contact_step, bodies, max_rounds, with_motion=bool(moving))
    for number in range(max_rounds):
        for body_step in moving if number else ():
            if with_lengths:
                body_step.project_lengths(single_sweep=True, backwards=number % 2 == 0)
            body_step.project_ground_contacts()
        if not project_body_contacts(contact_step, body_steps):
            return number
    return max_rounds


def _alternate(
    contact_step: ContactStep, bodies: Sequence[TouchingBody], most: int, *, with_motion: bool
) -> int:
    """The same in one call, for bodies whose rows are solved one by one."""
    world, parts = contact_step.world, list(contact_step.touching_bodies)
    allowed = CONVERGED_SHARE * float(world.skins[parts].max())
    given = bodies, contact_step.positions, contact_step.rows, allowed, most
    rounds = alternate(*given, with_motion=with_motion)
    world.statistics.work.contact_passes += min(rounds + 1, most)
    return rounds


def post_stabilize(contact_step: ContactStep, body_steps: Sequence[BodyStep]) -> None:
    """Projects contacts alone, within MAX_POST_STRAIN (post-stabilization).

    Only contacts violated by more than MAX_GAP_DEFICIT are corrected beyond that.
    """
    world, positions = contact_step.world, contact_step.positions
    bodies = {body: body_steps[body].state.positions for body in contact_step.touching_bodies}
    gather_bodies(contact_step.touching_bodies, bodies, positions)
    own = list(contact_step.touching_bodies.values())
    initial = [positions[:, part].copy() for part in own]
    project_alternately(contact_step, body_steps, POST_ROUNDS)
    # Depenetration takes precedence over strain.
    depenetrating = world.sides.depenetrating
    if any(depenetrating[part].any() for part in own):
        return
    for part, before in zip(own, initial, strict=True):
        moved = positions[:, part] - before
        far, allowed = magnitudes(moved), MAX_POST_STRAIN * world.shortest_edges[part]
        positions[:, part] = before + moved * np.minimum(1.0, allowed / np.maximum(far, NONZERO))
    _project_deep_contacts(contact_step, body_steps)
    scatter_bodies(contact_step.touching_bodies, bodies, positions)


def _project_deep_contacts(contact_step: ContactStep, body_steps: Sequence[BodyStep]) -> None:
    """Corrects contacts that are violated by more than MAX_GAP_DEFICIT.

    Strain limiting follows each round but the last: one particle that is moved alone would stretch
    its edges to twice their length.
    """
    world, rows = contact_step.world, contact_step.rows
    least = rows.targets - MAX_GAP_DEFICIT * world.surfaces.gaps[tuple(rows.owners)]
    for number in range(DEEP_ROUNDS):
        if number:
            _limit_strains(contact_step, body_steps)
        near = (rows.heights(contact_step.positions) < least) & ~rows.on_ropes
        if not near.any():
            break
        nearest = replace(
            rows,
            targets=np.where(near, least, -np.inf),
            normal_multipliers=np.zeros_like(rows.normal_multipliers),
            friction_multipliers=np.zeros_like(rows.friction_multipliers),
        )
        project_rows(contact_step.positions, nearest)
        world.statistics.work.contact_passes += 1
        rows.normal_multipliers[:] += nearest.normal_multipliers
        rows.friction_multipliers[:] += nearest.friction_multipliers


def _limit_strains(contact_step: ContactStep, body_steps: Sequence[BodyStep]) -> None:
    """Limits the strain of single edges of the bodies in contact."""
    slices, positions = contact_step.touching_bodies, contact_step.positions
    bodies = {body: body_steps[body].state.positions for body in slices}
    scatter_bodies(slices, bodies, positions)
    for body, places in bodies.items():
        limit_peak_strain(places, body_steps[body].batches.lengths)
        body_steps[body].project_ground_contacts()
    gather_bodies(slices, bodies, positions)


def release_friction(body_steps: Sequence[BodyStep], island: ContactStep) -> bool:
    """Sets friction to 0 at overstretched edges of entangled bodies; returns whether any was.

    An arm that moves through a cape would stretch some of its edges to ten times their length.
    """
    entangled = [body for body in island.touching_bodies if body_steps[body].entangled]
    if not entangled:  # the usual case
        return False
    rows, stretched = island.rows, stretched_particles(island, body_steps, entangled)
    slips = (stretched[rows.particles] & (rows.impulse_responses != 0.0)).any(axis=0)
    slips &= (rows.normal_multipliers > 0.0) & (rows.friction > 0.0)
    rows.friction[slips] = 0.0
    return bool(slips.any())


def stretched_particles(
    contact_step: ContactStep, body_steps: Sequence[BodyStep], bodies: Iterable[int]
) -> Booleans:
    """(N,) bool, particles of these bodies at edges that are stretched by more than SLIP_STRAIN."""
    stretched = np.zeros(contact_step.end.shape[1], dtype=bool)
    for body in bodies:
        positions, links = body_steps[body].state.positions, body_steps[body].batches.lengths.links
        own = find_stretched_particles(positions, links, SLIP_STRAIN)
        stretched[contact_step.touching_bodies[body].start + own] = True
    return stretched
