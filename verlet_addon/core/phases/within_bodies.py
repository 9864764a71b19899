"""What acts within a body, and on it from the ground, on its way through a step."""

from ..arrays import Floats
from ..bending.sweep import project_bends
from ..contact.compiled_kernels import project_plane, rebound_plane
from ..model import SoftBodyModel
from ..momentum.compiled_kernels import conserve_momentum
from ..rigid.motion import hand_on, hand_on_contacts, join, put_again
from ..ropes.compiled_kernels import undo_implicit_damping
from ..ropes.constraints import draw_out
from ..ropes.sweep import project_ropes
from ..shell.motion import keep_shape, regain_shape, set_out as set_out_shell, settled
from ..stretch.compiled_kernels import project_levels, strain_range
from ..stretch.compiled_seams import project_seams
from ..stretch.seams import rounds_with
from ..stretch.sweep import MOST_SWEEPS, project_shear, project_stretch
from ..weave.compiled_kernels import project_weave
from .inflation import inflate, project_former_tensions
from .jelly import relax_solid
from .soft_pins import project_soft_pins
from .step_data import Mover

CONTACT_ROUNDS, ROPE_ROUNDS = 16, 8
"""How often rigid pieces and the ground, or ropes that hang on them, are solved in turn."""
LYING = 60
"""What has touched something for so many steps on end lies there. Sooner, what only swings against
things would gain speed by sweeps that always go one way: bunting flew up within four seconds."""


def relax(mover: Mover, sweep: int) -> None:
    """Sweeps once over all that acts within a body, which leaves its momentum as it was."""
    model, state, batches = mover.model, mover.state, mover.batches
    if mover.leap is not None:
        if sweep == 0:
            relax_solid(mover, mover.leap)
        return
    if sweep == 0:
        set_out_shell(batches.shell, state.positions, mover.targets)
    if batches.shell is not None or model.water is not None:
        return
    positions = state.positions
    before = positions.copy() if model.flies else positions
    # What lies on something would rock to and fro with the order.
    backwards = (state.steps + sweep) % 2 == 1 and state.touched < LYING
    if sweep == 0:
        draw_out(positions, batches.ropes)
        inflate(mover)
        project_former_tensions(state, batches)
    project_angles(mover, backwards=backwards)
    keep_lengths(mover, backwards=backwards)
    state.positions = _with_momentum(model, before, positions, about=mover.start)
    put_again(state.rigid, state.positions)


def project_angles(mover: Mover, *, backwards: bool) -> None:
    """Sweeps once over all within a body but its lengths, and then over coarse levels.

    Before them, bends would answer how levels bend cloth, and a dress would never come to rest.
    """
    model, positions, batches = mover.model, mover.state.positions, mover.batches
    project_soft_pins(mover)
    project_bends(positions, batches.bends, backwards=backwards)
    project_shear(positions, batches.lengths, backwards=backwards)
    project_levels(positions, model.lengths.levels)


def keep_lengths(mover: Mover, *, backwards: bool = False, once: bool = False) -> None:
    """Sweeps over all that keeps the lengths of a body, until they hold or just once."""
    positions, batches, rigid = mover.state.positions, mover.batches, mover.state.rigid
    lengths = mover.model.lengths
    if batches.shell is not None:
        return  # a shell keeps them as it follows each push
    project_weave(positions, batches.weave)
    for number in range(rounds_with(batches.seams)):
        if number:
            project_seams(positions, batches.seams)
        project_stretch(
            positions,
            lengths,
            batches.lengths,
            backwards=backwards,
            rigid=rigid,
            most=1 if once else MOST_SWEEPS,
        )
    for _ in range(1 if rigid is None else ROPE_ROUNDS):
        project_ropes(positions, batches.ropes)
        project_seams(positions, batches.seams)
        hand_on(rigid, positions)
    join(rigid, positions)


def is_relaxed(mover: Mover, tolerance: float) -> bool:
    """Whether no edge exceeds the length that its tension gives it by this share; never for 0."""
    strips = [*mover.batches.lengths.edges, *mover.batches.ropes.strips]
    return tolerance > 0.0 and strain_range(mover.state.positions, strips)[1] < tolerance


def project_contacts(mover: Mover) -> None:
    """Pushes a body out of what it touches, and rubs; this does change its momentum."""
    rigid, positions = mover.state.rigid, mover.state.positions
    for _ in range(1 if rigid is None else CONTACT_ROUNDS):
        _push_off_ground(mover)
        if not hand_on_contacts(rigid, positions):
            break
        join(rigid, positions)
    while regain_shape(mover.batches.shell, positions):
        _push_off_ground(mover)


def _push_off_ground(mover: Mover) -> None:
    """Pushes a body out of the ground, once."""
    for contact in mover.contacts:
        project_plane(mover.state.positions, contact, mover.model.inverse_masses)


def finish(mover: Mover) -> None:
    """Solves for a shell that nothing has touched, and sets speeds."""
    if finish_shape(mover):
        project_contacts(mover)
    regain_speed(mover)
    bounce(mover)


def finish_shape(mover: Mover) -> bool:
    """Solves for the shape of a shell that nothing has touched in this step; whether it did.

    Contacts come first: a shell that was solved before them would sink into what it lies on.
    """
    model, state, shell = mover.model, mover.state, mover.batches.shell
    if shell is None or shell.solved:
        return False
    before = state.positions.copy()
    keep_shape(shell, state.positions)
    about = state.previous_positions
    state.positions = _with_momentum(model, before, state.positions, about=about)
    settled(shell, state.positions)
    return True


def regain_speed(mover: Mover) -> None:
    """Gives ropes back the speed that the implicit solution of a step takes from them.

    Rings and nets are left out: they are not solved to the last digit, and would gain energy.
    """
    model, state = mover.model, mover.state
    ropes = [each.batch for each in mover.batches.ropes.trees.generations]
    if ropes:
        before = state.previous_positions.copy()
        undo_implicit_damping(state.previous_positions, mover.start, state.positions, ropes)
        state.previous_positions = _with_momentum(
            model, before, state.previous_positions, about=state.positions
        )


def bounce(mover: Mover) -> None:
    """Sets the speed of what has been pushed out: it stops there, or rebounds."""
    state = mover.state
    for contact in mover.contacts:
        rebound_plane(state.positions, state.previous_positions, contact)


def _with_momentum(model: SoftBodyModel, before: Floats, after: Floats, *, about: Floats) -> Floats:
    """(3, n) `after`, with the momentum that was there before, angular about these places."""
    if not model.flies:
        return after
    return conserve_momentum(
        model.free_components, model.inverse_masses, before, after, about=about
    )
