"""Alternating projection of contacts and edge lengths."""

from collections.abc import Mapping, Sequence

from ..arrays import Floats
from ..phases.body_step import BodyStep
from ..phases.surface_bodies import CONTACT_ROUNDS
from ..rigid.piece_motion import apply_contacts_to_pieces
from ..ropes.rope_trees import TreeBatches
from .contact_step import ContactStep, project_body_contacts


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
    follow their contacts.
    """
    body_steps = body_steps or {}
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
