"""Rounds of contacts and lengths in turn, in one call for cloth, ropes and solids."""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from ...arrays import Floats, Integers
from ...bodies.body_step import BodyStep
from ...bodies.lengths import BODY_LENGTHS, project_lengths
from ...bodies.shell_bodies import ShellStep
from ...bodies.surface_bodies import SurfaceStep
from ...kernel import Sized, Struct, kernel
from ...state import Batches
from ...stretch.distance_limits import GoalRadii, project_goal_radii
from ..manifold.contact_rows import ContactRows, move_back, project_rows
from ..manifold.plane import PlaneContact, project_plane


@dataclass(frozen=True, eq=False)
class TouchingBody:
    """A body in contact, which has neither rigid pieces nor a shell."""

    positions: Floats
    """(3, n) [m]; changed."""
    first: int
    """Its first particle in the world."""
    last: int
    """The one after its last there."""
    batches: Batches | None
    """Those of its lengths, if it has any."""
    inverse_masses: Floats
    """(n,) [1/kg]"""
    sweeps: Integers
    """(1,) sweeps over its edges so far; changed."""
    limits: GoalRadii | None
    """Distances from the animated mesh that its particles keep within."""
    grounds: Sequence[PlaneContact]
    """Its contact with the ground, if there is one."""

    def move(self, *, backwards: bool) -> None:
        """One sweep over its lengths, and its contact with the ground."""
        if self.batches is not None:
            self.sweeps[:] += project_lengths(
                self.positions,
                self.batches,
                None,
                self.limits,
                backwards=backwards,
                single_sweep=True,
            )
        project_goal_radii(self.positions, self.limits)
        for contact in self.grounds:
            project_plane(self.positions, contact, self.inverse_masses)


Struct(
    "touching_body",
    TouchingBody,
    reads="first last inverse_masses limits grounds",
    shares="positions sweeps",
    particles=(int, lambda body: body.positions.shape[1]),
    lengths=(BODY_LENGTHS, lambda body: body.batches and BODY_LENGTHS.pack(body.batches)),
)


@kernel()
def alternate(
    bodies: Sequence[TouchingBody],
    positions: Sized,
    rows: ContactRows,
    allowed: float,
    most: int,
    *,
    with_motion: bool,
) -> int:
    """Projects contacts until no particle moves by more than allowed [m], in at most some rounds.

    Between the rounds bodies get one sweep over their lengths, and their contact with the ground,
    if `with_motion`. Positions of the world (3, N) [m] and of bodies change. Returns the number of
    rounds before the one that moved nothing.
    """
    for number in range(most):
        for body in bodies if with_motion and number else ():
            body.move(backwards=number % 2 == 0)
        for body in bodies:
            positions[:, body.first : body.last] = body.positions[:, : body.last - body.first]
        project_rows(positions, rows)
        if not max(move_back(b.positions, positions, b.first, b.last) for b in bodies) > allowed:
            return number
    return most


def touching_body(body_step: BodyStep, own: slice) -> TouchingBody | None:
    """A body whose particles are this slice of the world's; None if it answers as a whole."""
    state = body_step.state
    if state.rigid is not None or isinstance(body_step, ShellStep):
        return None
    found = _bodies.get(body_step)
    if (
        found is None
        or found.positions is not state.positions
        or found.grounds is not body_step.contacts
    ):
        has_lengths = isinstance(body_step, SurfaceStep)
        found = _bodies[body_step] = TouchingBody(
            state.positions,
            own.start,
            own.stop,
            body_step.batches if has_lengths else None,
            body_step.model.inverse_masses,
            state.sweeps,
            body_step.goal_radii,
            body_step.contacts,
        )
    return found


_bodies: WeakKeyDictionary[BodyStep, TouchingBody] = WeakKeyDictionary()
