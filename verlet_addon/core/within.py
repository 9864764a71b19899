"""What acts within a body, on its way through a step: angles, shells, and the speed of ropes."""

from .arrays import Floats
from .bending.sweep import project_bends
from .goals import project_goals
from .model import SoftBodyModel
from .momentum.kernels import conserve_momentum
from .ropes.kernels import undo_implicit_damping
from .shell.motion import keep_shape, settled
from .shell.system import ShellSystem
from .state import Batches, ParticleState
from .stretch.sweep import project_levels, project_shear


def project_angles(
    model: SoftBodyModel, positions: Floats, batches: Batches, targets: Floats, *, backwards: bool
) -> None:
    """Sweeps once over all within a body but its lengths; pins draw to targets (3, n) [m]."""
    project_levels(positions, model.lengths, batches.lengths)
    project_goals(model, positions, targets, batches.h_squared)
    project_bends(positions, batches.bends, backwards=backwards)
    project_shear(positions, batches.lengths, backwards=backwards)


def finish_shape(model: SoftBodyModel, state: ParticleState, shell: ShellSystem | None) -> bool:
    """Solves for the shape of a shell that nothing has touched in this step; whether it did.

    Before, it would give way into what it lies on by all that the push from there has bent.
    """
    if shell is None or shell.solved:
        return False
    before = state.positions.copy()
    keep_shape(shell, state.positions)
    state.positions = conserve_momentum(
        model.free_components,
        model.inverse_masses,
        before,
        state.positions,
        about=state.previous_positions,
    )
    settled(shell, state.positions)
    return True


def regain_speed(
    model: SoftBodyModel, state: ParticleState, batches: Batches, start: Floats
) -> None:
    """Gives ropes back the speed that solving for the end of the step has cost them.

    Not rings and nets: they are not solved to the last digit, and would gain more than they lost.
    The step began at `start` (3, n) [m].
    """
    ropes = [each.batch for each in batches.ropes.trees.generations]
    if ropes:
        before = state.previous_positions.copy()
        undo_implicit_damping(state.previous_positions, start, state.positions, ropes)
        state.previous_positions = conserve_momentum(
            model.free_components,
            model.inverse_masses,
            before,
            state.previous_positions,
            about=state.positions,
        )
