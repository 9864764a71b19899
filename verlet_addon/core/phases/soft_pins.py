"""What draws particles that are pinned softly."""

from .step_data import Mover


def project_soft_pins(mover: Mover) -> None:
    """Draws softly pinned particles towards their targets: C = x − target, with compliance."""
    model, positions, goals = mover.model, mover.state.positions, mover.model.goals
    if len(goals):
        inverse_masses = model.mobilities[goals]
        softness = model.goal_compliances / mover.batches.h_squared
        share = inverse_masses / (inverse_masses + softness)
        positions[:, goals] += (mover.targets[:, goals] - positions[:, goals]) * share
