"""Phases of a step for shells, whose lengths and bends are one implicit system."""

from dataclasses import dataclass

from ..shell.shell_step import begin_shell_step, record_positions, solve_after_contacts, solve_shell
from ..state import ShellBatches
from .body_step import BodyStep
from .surface_bodies import SurfaceStep


@dataclass(eq=False, kw_only=True)
class ShellStep(SurfaceStep):
    """A shell in one step.

    Contacts come first, because a shell solved before them would sink into its support.
    """

    batches: ShellBatches

    def residual_strain(self) -> float:
        """0: the system is solved with its contacts."""
        return 0.0

    def project_constraints(self, sweep: int) -> None:
        """Starts the step of the system at the predicted positions."""
        if sweep == 0:
            begin_shell_step(self.batches.shell, self.state.positions, self.targets)

    def project_lengths(self, *, backwards: bool = False, single_sweep: bool = False) -> None:
        """Nothing: a shell is solved with its contacts."""

    def project_ground_contacts(self) -> None:
        """Projects contact with the ground in turn with the solution of the shell."""
        BodyStep.project_ground_contacts(self)
        while solve_after_contacts(self.batches.shell, self.state.positions):
            BodyStep.project_ground_contacts(self)

    def finish(self) -> None:
        """Solves a shell that nothing has touched, and updates velocities at the ground."""
        state, shell = self.state, self.batches.shell
        if not shell.solved:
            before = state.positions.copy()
            solve_shell(shell, state.positions)
            state.positions = self.with_momentum(
                before, state.positions, about=state.previous_positions
            )
            record_positions(shell, state.positions)
            self.project_ground_contacts()
        super().finish()
