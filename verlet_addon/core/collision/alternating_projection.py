"""Alternating projection of contacts and edge lengths: one compiled call for simple bodies."""

from collections.abc import Iterable, Mapping, Sequence

from ..arrays import Floats
from ..compiled import Packed, address, backend, declare, pack
from ..kernel import packed
from ..phases.body_step import BodyStep
from ..phases.plain_bodies import STRIP_ORDER
from ..phases.surface_bodies import CONTACT_ROUNDS
from ..rigid.piece_motion import apply_contacts_to_pieces
from ..ropes.rope_trees import TreeBatches
from ..state import ShellBatches
from .contact_step import CONVERGED_SHARE, ContactStep, project_body_contacts

_project_alternately = declare("project_alternately", "pppi", "i")


def project_alternately(
    contact_step: ContactStep,
    bodies: Sequence[Floats],
    trees: Sequence[TreeBatches],
    *,
    max_rounds: int,
    body_steps: Mapping[int, BodyStep] | None = None,
) -> int:
    """Projects contacts of bodies (3, n) until convergence; returns the number of rounds.

    Between the rounds, each of `body_steps` gets one sweep over its lengths, and its rigid pieces
    follow their contacts. For small bodies the calls would cost as much as the computation, so the
    compiled kernel does all rounds in one call, with the same bits.
    """
    body_steps = body_steps or {}
    if _is_simple(contact_step, body_steps.values()):
        structs = [
            _body_struct(bodies[body], own, body_steps.get(body))
            for body, own in contact_step.touching_bodies.items()
        ]
        tolerance = (
            CONVERGED_SHARE * contact_step.world.skins[list(contact_step.touching_bodies)].max()
        )
        world_positions = contact_step.positions
        island = pack(world_positions.shape[1], len(structs), pack(*structs), float(tolerance))
        return int(
            _project_alternately(
                world_positions, packed(contact_step.rows).address, island.address, max_rounds
            )
        )
    for number in range(max_rounds):
        if not project_body_contacts(contact_step, bodies, trees):
            return number
        for body_step in body_steps.values():
            apply_contacts_to_pieces(body_step.state.rigid, body_step.state.positions)
            if number + 1 < max_rounds:
                body_step.project_lengths(single_sweep=True, backwards=number % 2 == 1)
                body_step.project_ground_contacts()
    return max_rounds


def project_rigid_pieces(
    contact_step: ContactStep,
    bodies: Sequence[Floats],
    trees: Sequence[TreeBatches],
    body_steps: Mapping[int, BodyStep],
) -> None:
    """Projects contacts of bodies (3, n), some with rigid pieces, without solving lengths."""
    for number in range(CONTACT_ROUNDS):
        for body_step in body_steps.values() if number else ():
            body_step.project_ground_contacts()
        if not project_body_contacts(contact_step, bodies, trees):
            return
        for body_step in body_steps.values():
            apply_contacts_to_pieces(body_step.state.rigid, body_step.state.positions)


def _is_simple(contact_step: ContactStep, body_steps: Iterable[BodyStep]) -> bool:
    """Whether the compiled kernel applies: all length constraints are strips or tethers."""
    if backend().library is None or contact_step.rows.on_ropes.any():
        return False
    return not any(
        isinstance(body_step.batches, ShellBatches)
        or body_step.state.rigid is not None
        or body_step.batches.weave
        or body_step.batches.seams
        or body_step.batches.ropes.strips
        or len(body_step.model.lengths.clusters.particles)
        for body_step in body_steps
    )


def _body_struct(positions: Floats, own: slice, body_step: BodyStep | None) -> Packed:
    """The `member` struct of alternating_projection.c."""
    address(positions)  # raises unless contiguous: the kernel writes to it
    head = positions, positions.shape[1], own.start, own.stop - own.start
    if body_step is None:
        return pack(*head, None, None, None, None)
    lengths, contacts = body_step.model.lengths, body_step.contacts
    return pack(
        *head,
        STRIP_ORDER.pack(body_step.batches),
        packed(lengths.tethers),
        packed(contacts[0]) if contacts else None,
        body_step.model.inverse_masses,
    )
