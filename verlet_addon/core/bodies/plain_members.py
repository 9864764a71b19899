"""Members of a group of plain bodies: their arrays between two samples, as C reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..bending.constraints import BendBatches
from ..field import Field, paired_fields
from ..forces.fields import FieldPath, is_algebraic
from ..forces.kernels import ExposedSurface
from ..kernel import Struct
from ..model import HeldVertices, SoftBodyModel
from ..rigid.piece_motion import poses_of
from ..rigid.pieces import PiecePoses
from ..settings import SceneSettings
from ..state import Batches, ParticleState, batches_for
from ..strands.strands import Strands
from ..stretch.distance_limits import GoalRadii
from ..target_curves import TargetCurve
from ..volume.gas import Gas
from .body_step import find_goal_radii
from .ground_contacts import ground_contact, ground_laws
from .lengths import BODY_LENGTHS
from .plastic_flow import PlasticFlow, plastic_flow
from .step_data import Body, ReferenceMotion, StepInputs, Way
from .surface_bodies import SurfaceStep, goal_shares
from .symmetry import Reflection


@dataclass(frozen=True, eq=False)
class PlainWork:
    """Arrays of a plain body that each step in C writes."""

    start: Floats
    """(3, n) positions at the start of the step [m]."""
    predicted: Floats
    """(3, n) positions after free motion, before any constraint [m]."""
    accelerations: Floats
    """(3, n) accelerations of free motion [m/s²]."""
    friction_corrections: Floats
    """(3, n) accumulated corrections by friction on the ground [m]."""
    normal_corrections: Floats
    """(n,) accumulated corrections along the normal of the ground [m]."""
    grounded: Floats
    """(3, n) positions at the start of the step, moved with the ground, where that moves [m]."""


def plain_work(batches: Batches) -> PlainWork:
    """The arrays of a plain body's batches, cached."""
    found = _works.get(batches)
    if found is None:
        n = batches.model.vertex_count
        start, predicted, accelerations, corrections, grounded = np.zeros((5, 3, n))
        found = PlainWork(start, predicted, accelerations, corrections, np.zeros(n), grounded)
        _works[batches] = found
    return found


_works: WeakKeyDictionary[Batches, PlainWork] = WeakKeyDictionary()

Struct("bends", BendBatches, reads="ropes stiff paths soft")
PLAIN_MODEL = Struct(
    "plain_model",
    Batches,
    reads="velocity_gain h_squared bends rods",
    n=(int, lambda batches: batches.model.vertex_count),
    pins=(int, lambda batches: len(batches.model.pinned)),
    pinned=(Integers, lambda batches: batches.model.pinned),
    rest=(Floats, lambda batches: batches.model.rest_positions),
    inverse_masses=(Floats, lambda batches: batches.model.inverse_masses),
    own_inverse_masses=(Floats, lambda batches: batches.model.own_inverse_masses),
    exposed_surface=(ExposedSurface, lambda batches: batches.model.exposed_surface),
    multipliers=(Batches, lambda batches: batches),
    lengths=(BODY_LENGTHS, BODY_LENGTHS.pack),
    free=(int, lambda batches: batches.model.has_free_components),
    components=(Integers, lambda batches: batches.model.free_components),
    floors=(Floats, lambda batches: batches.model.thicknesses),
    dt=(float, lambda batches: batches.steps[0]),
    former_dt=(float, lambda batches: batches.steps[1]),
    strands=(Strands, lambda batches: batches.model.strands),
    drift=(float, lambda batches: batches.start_gains[0]),
    bend=(float, lambda batches: batches.start_gains[1]),
    start=(Floats, lambda batches: plain_work(batches).start),
    predicted=(Floats, lambda batches: plain_work(batches).predicted),
    accelerations=(Floats, lambda batches: plain_work(batches).accelerations),
    friction_corrections=(Floats, lambda batches: plain_work(batches).friction_corrections),
    normal_corrections=(Floats, lambda batches: plain_work(batches).normal_corrections),
    grounded=(Floats, lambda batches: plain_work(batches).grounded),
    scratch={
        "before targets velocities": lambda batches: (3, batches.model.vertex_count),
        "blown": lambda batches: (12, batches.model.vertex_count),
        "whole": lambda batches: (int(batches.model.free_components.max(initial=-1)) + 1, 16),
    },
)


def changing_arrays(body: Body, batches: Batches) -> list[Floats | Integers | Booleans]:
    """Arrays besides positions that a step changes."""
    model, state = body
    kept: list[Floats | Integers | Booleans] = [state.sweeps]
    for system in (batches.lengths.strip_system, batches.ropes.strip_system):
        kept += [system.multipliers, system.displacement]
    kept += [batch.multipliers for batch, share in batches.restarted() if share]
    kept += [batch.displacement for batch in batches.weave]
    kept += [each for each in (*batches.followers, state.closed, state.torn) if each is not None]
    if batches.rods is not None:
        kept.append(batches.rods.rotations)
    if state.rigid is not None:
        kept += [state.rigid.rotations, state.rigid.linearizations]
    if state.gas is not None:
        tension = batches.lengths.strip_system.multipliers
        kept += [state.gas.predicted_volumes, state.gas.pressures]
        kept.append(state.gas.former_tension(tension))
    flow = plastic_flow(model, state.plastic, batches)
    return kept if flow is None else [*kept, *flow.arrays()]


@dataclass(eq=False)
class PlainBody:
    """One cloth or rope between two samples."""

    model: SoftBodyModel
    state: ParticleState
    batches: Batches
    way: Way
    positions: Floats
    """(3, n) copy of the state's positions, which compiled steps change [m]."""
    previous_positions: Floats
    """(3, n) copy of the state's previous positions, likewise [m]."""
    friction: float
    restitution: float
    """Coulomb's coefficient, and that of restitution, on the ground."""
    fields: list[FieldPath]
    """Force fields that act on it, of those whose accelerations C finds."""
    in_field: bool
    """Whether Python finds its accelerations in each step, as another field acts on it."""
    limits: GoalRadii | None
    """Spheres that particles stay in; C sets their centres in each step."""

    def ends(self, chosen: Integers) -> Floats:
        """(2, 3, g) targets of some vertices at the start and at the end of the frame [m]."""
        curve = self.way.targets
        if not len(chosen):
            return np.empty((2, 3, 0))
        return np.stack([curve.start.T[:, chosen], curve.end.T[:, chosen]])

    @property
    def curve(self) -> TargetCurve | None:
        """The way of its animated mesh, if its ropes follow that."""
        return None if self.way.targets.bends is None else self.way.targets

    @property
    def former_tension(self) -> Floats:
        """(k,) multipliers of its links at the last warm start, in bodies with gas [kg m]."""
        tension, gas = self.batches.lengths.strip_system.multipliers, self.state.gas
        return tension if gas is None else gas.former_tension(tension)

    @property
    def flow(self) -> PlasticFlow | None:
        """The plastic flow of its rest lengths and angles, if it yields."""
        return plastic_flow(self.model, self.state.plastic, self.batches)

    def write_state(self) -> None:
        """Stores the positions and previous positions of this body in its state."""
        self.state.positions = self.positions
        self.state.previous_positions = self.previous_positions


Struct(
    "plain_state",
    PlainBody,
    reads="friction restitution fields in_field limits curve flow",
    shares="positions previous_positions former_tension",
    body=(PLAIN_MODEL, lambda member: PLAIN_MODEL.pack(member.batches)),
    pull=(TargetCurve, lambda member: member.way.pull),
    pin_ends=(Floats, lambda member: member.ends(member.model.pinned)),
    limit_ends=(Floats, lambda member: member.ends(member.model.limited)),
    goal_ends=(Floats, lambda member: member.ends(member.model.goals)),
    goals=(int, lambda member: len(member.model.goals)),
    soft=(Integers, lambda member: member.model.goals),
    goal_shares=(Floats, lambda member: goal_shares(member.model, member.batches.h_squared)),
    held=(HeldVertices, lambda member: member.model.held),
    spring_ends=(Floats, lambda member: np.stack(member.way.springs)),
    motion=(ReferenceMotion, lambda member: member.way.motion),
    rigid=(PiecePoses, lambda member: member.state.rigid),
    gas=(Gas, lambda member: member.state.gas),
    pressures=(Floats, lambda member: np.array(member.way.pressures)),
    reflections=(list[Reflection], lambda member: member.way.reflections),
    mirrors=(Floats, lambda member: member.way.mirrors),
    mirror_count=(int, lambda member: member.way.mirrors.shape[1]),
    heaviness=(float, lambda member: member.model.settings.gravity),
    taken=(int, lambda member: member.state.steps),
    sweeps=(Integers, lambda member: member.state.sweeps),
    scratch={
        "spring_goals": lambda member: member.way.springs[0].shape,
        "planes": lambda member: member.way.mirrors[0].shape,
    },
)


def make_member(body: Body, way: Way, settings: SceneSettings) -> PlainBody:
    """The member for one body on its way to the next sample."""
    model, state = body
    paths = field_paths(model, *way.fields)
    in_c = all(is_algebraic(path.before, path.after) for path in paths)
    if state.rigid is not None and model.pieces is not None:
        state.rigid = poses_of(state.rigid, model.pieces)
    friction, restitution = ground_laws(model, settings)
    return PlainBody(
        model=model,
        state=state,
        batches=batches_for(model, state, settings.integrator, state.previous_dt),
        way=way,
        positions=state.positions.copy(),
        previous_positions=state.previous_positions.copy(),
        friction=friction,
        restitution=restitution,
        fields=paths if in_c else [],
        in_field=not in_c,
        limits=find_goal_radii(model, way.targets.start.T[:, model.limited]),
    )


def field_paths(
    model: SoftBodyModel, before: Sequence[Field], after: Sequence[Field]
) -> list[FieldPath]:
    """The fields of the later sample that act on a body, each from where it was before."""
    pairs, shares = paired_fields(before, after), model.settings.field_shares
    paths = [FieldPath(former, each, shares[each.kind]) for former, each in pairs]
    return paths if any(path.share for path in paths) else []


def make_body_step(member: PlainBody) -> SurfaceStep:
    """Working data of a member in all steps of a frame; compiled kernels write its arrays."""
    work = plain_work(member.batches)
    body_step = SurfaceStep(
        model=member.model,
        state=member.state,
        batches=member.batches,
        contacts=[],
        targets=member.positions,
        accelerations=work.accelerations,
        start=work.start,
        predicted=work.predicted,
    )
    body_step.goal_radii = member.limits
    return body_step


def meet_ground(body_step: SurfaceStep, settings: SceneSettings, inputs: StepInputs) -> None:
    """Sets up the contact of a member with the ground in a step; it is kept while that rests."""
    former = [contact.plane for contact in body_step.contacts]
    if inputs.ground is None or former == [inputs.ground]:
        return
    work = plain_work(body_step.batches)
    corrections = work.normal_corrections, work.friction_corrections
    shift = inputs.ground_shift
    start = work.grounded if shift.any() else work.start
    contact = ground_contact(body_step, settings, inputs.ground, shift, start, corrections)
    body_step.contacts = [contact]
