"""What draws particles that are pinned softly."""

from .arrays import Floats
from .model import SoftBodyModel


def project_soft_pins(
    model: SoftBodyModel, positions: Floats, targets: Floats, h_squared: float
) -> None:
    """Draws softly pinned particles towards their targets: C = x − target, with compliance.

    Parameters
    ----------
    positions, targets : (3, n), of which positions are changed [m].
    h_squared : the step's factor of acceleration [s²].
    """
    goals = model.goals
    if len(goals):
        inverse_masses = model.mobilities[goals]
        softness = model.goal_compliances / h_squared
        share = inverse_masses / (inverse_masses + softness)
        positions[:, goals] += (targets[:, goals] - positions[:, goals]) * share
