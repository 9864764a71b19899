"""Data of one step: the inputs of all bodies, and the working data of each body."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..arrays import Floats
from ..contact.plane import PlaneContact
from ..field import Field
from ..model import SoftBodyModel
from ..scene import Plane
from ..solid.solid_step import SolidStep
from ..state import Batches, ParticleState
from ..stretch.goal_radii import GoalRadii

Body = tuple[SoftBodyModel, ParticleState]


@dataclass(frozen=True, eq=False)
class RigidMotion:
    """A rigid motion."""

    rotation: Floats
    """(3, 3)"""
    centre: Floats
    """(3,) point that it is about [m]."""
    shift: Floats
    """(3,) the way of that point [m]."""

    def apply(self, rows: Floats) -> Floats:
        """Points (3, n) after that motion [m]."""
        arms = rows - self.centre[:, None]
        arms += np.einsum("xy,yn->xn", self.rotation - np.eye(3), arms)
        return np.asarray(arms + (self.centre + self.shift)[:, None])


@dataclass(frozen=True, eq=False)
class StepInputs:
    """External inputs of one step, for all bodies."""

    dt: float
    """Length of the step [s], above 0."""
    gravity: Floats
    """(3,) acceleration [m/s²]."""
    targets: Sequence[Floats]
    """Per body (3, n): targets of pins at the end of the step [m]."""
    fields: Sequence[Sequence[Field]]
    """Per body, the force fields at the start of the step."""
    ground: Plane | None
    """The ground at the end of the step."""
    ground_shift: Floats
    """(3,) displacement of the ground during the step [m]."""
    collider_starts: Sequence[Floats] = ()
    """Per collider (v, 3): vertex positions at the start of the step [m]."""
    collider_ends: Sequence[Floats] = ()
    """Per collider (v, 3): vertex positions at the end of the step [m]."""
    pressures: Sequence[float] = ()
    """Per body, the pressure of its gas at its rest volume [Pa]; empty if it is constant."""
    reference_motions: Sequence[RigidMotion | None] = ()
    """Per body, the share of the motion of its reference frame that its inertia leaves out; empty
    if no body leaves any out."""
    spring_targets: Sequence[Floats] = ()
    """Per body (3, g): where goal springs draw vertices to at the end of the step [m]; left empty
    where there are none."""

    def reference_motion(self, number: int) -> RigidMotion | None:
        """That motion of a body, given its number."""
        return self.reference_motions[number] if self.reference_motions else None


@dataclass(eq=False)
class BodyStep:
    """Working data of one body in one step."""

    model: SoftBodyModel
    state: ParticleState
    batches: Batches
    """Internal constraints, which are the same in all steps."""
    targets: Floats
    """(3, n) targets of pins [m]."""
    pressure: float
    """Pressure of the enclosed gas at its rest volume [Pa]."""
    accelerations: Floats
    """(3, n) accelerations by external forces [m/s²]."""
    start: Floats
    """(3, n) positions at the start of the step [m]."""
    predicted: Floats
    """(3, n) positions after free motion, before any constraint [m]."""
    contacts: list[PlaneContact] = field(default_factory=list)
    """Contact with the ground in this step, if there is a ground."""
    spring_goals: Floats = field(default_factory=lambda: np.empty((3, 0)))
    """(3, g) where goal springs draw the vertices that they hold [m]."""
    tension_before_contacts: Floats = field(default_factory=lambda: np.empty(0))
    """(k,) tension × h² of the links of its surface before contacts were solved [kg m]."""
    entangled: bool = False
    """Whether contacts stretch an edge so much that the body counts as entangled."""
    reference_motion: RigidMotion | None = None
    """The motion of its reference frame that its inertia leaves out."""
    solid_step: SolidStep | None = None
    """Working data of the nodes of a solid."""

    @cached_property
    def goal_radii(self) -> GoalRadii | None:
        """Distances from the animated mesh that its particles keep within; None without any."""
        limited = self.model.limited
        if not len(limited):
            return None
        radii = self.model.settings.maximum_distance * self.model.limit_shares
        return GoalRadii(limited, self.targets.take(limited, axis=1), radii)
