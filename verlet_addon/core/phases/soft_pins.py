"""Constraint projection of soft pins."""

from .body_step import BodyStep


def project_soft_pins(body_step: BodyStep) -> None:
    """Projects soft pins: C = x − target, with compliance."""
    model, positions, goals = body_step.model, body_step.state.positions, body_step.model.goals
    if len(goals):
        inverse_masses = model.mobilities[goals]
        softness = model.goal_compliances / body_step.batches.h_squared
        share = inverse_masses / (inverse_masses + softness)
        positions[:, goals] += (body_step.targets[:, goals] - positions[:, goals]) * share
