"""Internal constraints and ground contacts of a body in a step."""

from ..arrays import Floats
from ..bending.sweep import project_bends
from ..contact.plane import project_plane, rebound_plane
from ..model import SoftBodyModel
from ..momentum.kernels import conserve_momentum
from ..rigid.piece_motion import (
    apply_constraints_to_pieces,
    apply_contacts_to_pieces,
    project_joints,
    put_particles_on_pieces,
)
from ..ropes.constraints import lengthen_ropes
from ..ropes.kernels import undo_implicit_damping
from ..ropes.sweep import project_ropes
from ..shell.shell_step import begin_shell_step, record_positions, solve_after_contacts, solve_shell
from ..state import ParticleState
from ..stretch.goal_radii import project_goal_radii
from ..stretch.kernels import project_levels, strain_range
from ..stretch.seams import project_seams, seam_rounds
from ..stretch.sweep import MAX_SWEEPS, project_shear, project_stretch
from ..weave.kernels import project_weave
from .goal_springs import put_on_targets
from .inflation import inflate, warm_start_tensions
from .soft_pins import project_soft_pins
from .solid_bodies import project_solid
from .step_data import BodyStep, RigidMotion

CONTACT_ROUNDS, ROPE_ROUNDS = 16, 8
"""Alternations between rigid pieces and the ground, and between rigid pieces and ropes."""
RESTING_STEPS = 60
"""Successive steps with contact after which a body counts as resting, and sweeps keep one order.
With fewer, bodies that swing against others gain energy from the constant order: bunting flew up
within four seconds."""


def project_constraints(body_step: BodyStep, sweep: int) -> None:
    """Projects all internal constraints of a body once; momentum is conserved.

    Parameters
    ----------
    body_step : the body.
    sweep : number of the sweep in this step; 0 includes warm starts, and solves solids and shells.
    """
    model, state, batches = body_step.model, body_step.state, body_step.batches
    if body_step.solid_step is not None:
        if sweep == 0:
            project_solid(body_step, body_step.solid_step)
        return
    if sweep == 0:
        begin_shell_step(batches.shell, state.positions, body_step.targets)
    if batches.shell is not None or model.water is not None:
        return
    positions = state.positions
    before = positions.copy() if model.has_free_components else positions
    # Alternating the order would make resting bodies rock.
    backwards = (state.steps + sweep) % 2 == 1 and state.steps_in_contact < RESTING_STEPS
    if sweep == 0:
        lengthen_ropes(positions, batches.ropes)
        inflate(body_step)
        warm_start_tensions(state, batches)
    project_angles(body_step, backwards=backwards)
    project_lengths(body_step, backwards=backwards)
    state.positions = _with_momentum(model, before, positions, about=body_step.start)
    put_on_targets(body_step)
    put_particles_on_pieces(state.rigid, state.positions)


def project_angles(body_step: BodyStep, *, backwards: bool) -> None:
    """Projects soft pins, bends and shear once, then the coarse levels of lengths.

    Levels come last, because bends would react to the bending by levels, and a dress would never
    come to rest.
    """
    model, positions, batches = body_step.model, body_step.state.positions, body_step.batches
    project_soft_pins(body_step)
    project_bends(positions, batches.bends, backwards=backwards)
    project_shear(positions, batches.lengths, backwards=backwards)
    project_levels(positions, model.lengths.levels)


def project_lengths(
    body_step: BodyStep, *, backwards: bool = False, single_sweep: bool = False
) -> None:
    """Projects weave, edges, seams, ropes and rigid joints, with several sweeps or a single one."""
    positions, batches, rigid = body_step.state.positions, body_step.batches, body_step.state.rigid
    lengths, limits = body_step.model.lengths, body_step.goal_radii
    if batches.shell is not None:
        return  # a shell is solved with its contacts
    project_weave(positions, batches.weave)
    for number in range(seam_rounds(batches.seams)):
        if number:
            project_seams(positions, batches.seams)
        project_stretch(
            positions,
            lengths,
            batches.lengths,
            backwards=backwards,
            rigid=rigid,
            max_sweeps=1 if single_sweep else MAX_SWEEPS,
            limits=limits,
        )
    for _ in range(1 if rigid is None and (limits is None or single_sweep) else ROPE_ROUNDS):
        project_goal_radii(positions, limits)
        project_ropes(positions, batches.ropes)
        project_seams(positions, batches.seams)
        apply_constraints_to_pieces(rigid, positions)
    project_joints(rigid, positions)


def is_converged(body_step: BodyStep, tolerance: float) -> bool:
    """Whether no edge is longer, by this share, than its tension implies; False for tolerance 0."""
    strips = [*body_step.batches.lengths.edges, *body_step.batches.ropes.strips]
    return tolerance > 0.0 and strain_range(body_step.state.positions, strips)[1] < tolerance


def project_ground_contacts(body_step: BodyStep) -> None:
    """Projects contact with the ground and its friction, in turn with rigid pieces or a shell."""
    rigid, positions = body_step.state.rigid, body_step.state.positions
    for _ in range(1 if rigid is None else CONTACT_ROUNDS):
        _project_ground(body_step)
        if not apply_contacts_to_pieces(rigid, positions):
            break
        project_joints(rigid, positions)
    while solve_after_contacts(body_step.batches.shell, positions):
        _project_ground(body_step)


def _project_ground(body_step: BodyStep) -> None:
    """Projects the largest distances from the animated mesh and the contact with the ground."""
    project_goal_radii(body_step.state.positions, body_step.goal_radii)
    for contact in body_step.contacts:
        project_plane(body_step.state.positions, contact, body_step.model.inverse_masses)


def finish_body_step(body_step: BodyStep) -> None:
    """Solves a shell without contacts, and updates velocities of ropes and of ground contacts."""
    if solve_untouched_shell(body_step):
        project_ground_contacts(body_step)
    put_on_targets(body_step)
    restore_rope_speed(body_step)
    rebound_from_ground(body_step)


def keep_near_goals(body_step: BodyStep) -> None:
    """Puts particles within their largest distance from the animated mesh, whatever acted last."""
    project_goal_radii(body_step.state.positions, body_step.goal_radii)


def make_velocities_relative(state: ParticleState, motion: RigidMotion | None) -> None:
    """Makes velocities relative to the motion of the reference frame that inertia leaves out."""
    if motion is None:
        return
    state.previous_positions = motion.apply(state.previous_positions)
    if state.solid is not None:
        solid = state.solid
        solid.previous_nodes = motion.apply(solid.previous_nodes)
        solid.previous_solved_points = motion.apply(solid.previous_solved_points)


def solve_untouched_shell(body_step: BodyStep) -> bool:
    """Solves a shell that was not solved with contacts in this step; returns whether it did so.

    Contacts come first, because a shell solved before them would sink into its support.
    """
    model, state, shell = body_step.model, body_step.state, body_step.batches.shell
    if shell is None or shell.solved:
        return False
    before = state.positions.copy()
    solve_shell(shell, state.positions)
    about = state.previous_positions
    state.positions = _with_momentum(model, before, state.positions, about=about)
    record_positions(shell, state.positions)
    return True


def restore_rope_speed(body_step: BodyStep) -> None:
    """Undoes the numerical damping of implicit steps in ropes.

    Closed loops and nets are excluded: they are solved only approximately, and would gain energy.
    """
    model, state = body_step.model, body_step.state
    ropes = [each.batch for each in body_step.batches.ropes.trees.generations]
    if ropes:
        before = state.previous_positions.copy()
        undo_implicit_damping(state.previous_positions, body_step.start, state.positions, ropes)
        state.previous_positions = _with_momentum(
            model, before, state.previous_positions, about=state.positions
        )


def rebound_from_ground(body_step: BodyStep) -> None:
    """Velocity update of ground contacts: particles stop, or bounce."""
    state = body_step.state
    for contact in body_step.contacts:
        rebound_plane(state.positions, state.previous_positions, contact)


def _with_momentum(model: SoftBodyModel, before: Floats, after: Floats, *, about: Floats) -> Floats:
    """(3, n) positions `after`, corrected to have the linear and angular momentum of `before`.

    Angular momentum is Σ m a × Δx with arms a at `about` (3, n). Only components without pins are
    corrected.
    """
    if not model.has_free_components:
        return after
    return conserve_momentum(
        model.free_components, model.inverse_masses, before, after, about=about
    )
