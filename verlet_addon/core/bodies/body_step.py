"""One body in one step: its working data, and the phases that its kind brings."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..arrays import Floats
from ..contacts.manifold.plane import PlaneContact, project_plane, rebound_plane
from ..field import Field
from ..model import SoftBodyModel
from ..settings import SceneSettings
from ..state import Batches, ParticleState
from ..stretch.distance_limits import GoalRadii, project_goal_radii
from .goal_springs import put_on_goals
from .step_data import RigidMotions, StepInputs


@dataclass(eq=False, kw_only=True)
class BodyStep(ABC):
    """Working data of one body in one step, and its phases; each kind of body has a subclass."""

    model: SoftBodyModel
    state: ParticleState
    batches: Batches
    """Internal constraints, which are the same in all steps."""
    targets: Floats
    """(3, n) targets of pins [m]."""
    fields: Sequence[Field] = ()
    """Force fields at the start of the step."""
    pressure: float = 0.0
    """Pressure of the enclosed gas at its rest volume [Pa]."""
    accelerations: Floats
    """(3, n) accelerations by external forces [m/s²]; gravity alone for water and solids."""
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
    pull: Floats | None = None
    """(3, n) accelerations besides gravity and fields [m/s²]."""
    reference_motion: RigidMotions | None = None
    """The motion of its reference frame that its inertia leaves out."""

    @cached_property
    def goal_radii(self) -> GoalRadii | None:
        """Distances from the animated mesh that its particles keep within; None without any."""
        return find_goal_radii(self.model, self.targets.take(self.model.limited, axis=1))

    @property
    def contact_inverse_masses(self) -> Floats:
        """(v,) inverse masses of the points of its surface in contact rows [1/kg]."""
        return self.model.contact_inverse_masses

    @property
    def is_solved(self) -> bool:
        """Whether its own constraints were solved before contacts are detected."""
        return True

    @abstractmethod
    def predict(self, settings: SceneSettings, inputs: StepInputs) -> None:
        """Moves the body by inertia and external forces, and sets up its contact with the ground.

        Parameters
        ----------
        settings : integrator and ground properties.
        inputs : length of the step, gravity, ground and colliders.
        """

    def residual_strain(self) -> float:
        """Largest strain that a further sweep would reduce; 0 where none would."""
        return 0.0

    @abstractmethod
    def project_constraints(self, sweep: int) -> None:
        """Projects all internal constraints once; momentum is conserved.

        Parameters
        ----------
        sweep : number of the sweep in this step; 0 includes what is done once in a step.
        """

    @abstractmethod
    def project_lengths(self, *, backwards: bool = False, single_sweep: bool = False) -> None:
        """Projects lengths after contacts, with several sweeps or a single one."""

    def project_ground_contacts(self) -> None:
        """Projects the largest distances from the animated mesh and the contact with the ground."""
        project_goal_radii(self.state.positions, self.goal_radii)
        for contact in self.contacts:
            project_plane(self.state.positions, contact, self.model.inverse_masses)

    def put_on_targets(self) -> None:
        """Puts vertices of infinite stiffness where they are held, from where tethers draw them."""
        if self.model.held is not None:
            put_on_goals(self.state.positions, self.model.held, self.spring_goals)

    def finish(self) -> None:
        """Updates velocities at the ground: particles in contact stop, or bounce."""
        self.put_on_targets()
        for contact in self.contacts:
            rebound_plane(self.state.positions, self.state.previous_positions, contact)

    def end(self) -> None:
        """Puts particles where they must be, whatever acted last, and shifts velocities.

        Velocities become relative to the motion of the reference frame that inertia leaves out.
        """
        project_goal_radii(self.state.positions, self.goal_radii)
        if self.reference_motion is not None:
            self.state.shift_previous(self.reference_motion.apply)


def find_goal_radii(model: SoftBodyModel, centres: Floats) -> GoalRadii | None:
    """The spheres about centres (3, l) [m] that a body's particles stay in; None without any."""
    if not len(model.limited):
        return None
    return GoalRadii(
        model.limited, centres.copy(), model.settings.maximum_distance * model.limit_shares
    )
