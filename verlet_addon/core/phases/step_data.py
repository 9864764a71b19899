"""What a step works on: the bodies, what is around them, and each one's way through it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Floats
from ..contact.plane import PlaneContact
from ..field import Field
from ..model import SoftBodyModel
from ..scene import Plane
from ..solid.solid_step import SolidStep
from ..state import Batches, ParticleState

Body = tuple[SoftBodyModel, ParticleState]


@dataclass(frozen=True, eq=False)
class StepInputs:
    """What acts on all bodies during one step."""

    dt: float
    """[s], above 0."""
    gravity: Floats
    """(3,) [m/s²]"""
    targets: Sequence[Floats]
    """Per body (3, n): where pins are at the end of the step [m]."""
    fields: Sequence[Sequence[Field]]
    """Per body, the force fields that it feels at the beginning of the step."""
    ground: Plane | None
    """At the end of the step."""
    ground_shift: Floats
    """(3,) how far the ground moves during the step [m]."""
    collider_starts: Sequence[Floats] = ()
    """Per collider (v, 3): where its vertices are when the step begins [m]."""
    collider_ends: Sequence[Floats] = ()
    """And when it ends [m]."""
    pressures: Sequence[float] = ()
    """Per body, that of its gas at its rest volume [Pa]; left empty where none changes."""


@dataclass(eq=False)
class BodyStep:
    """One body on its way through one step."""

    model: SoftBodyModel
    state: ParticleState
    batches: Batches
    """Constraints that stay the same from step to step."""
    contacts: list[PlaneContact]
    """Constraints of this step alone."""
    targets: Floats
    """(3, n) [m]"""
    pressure: float
    """Of the gas within, at its rest volume [Pa]."""
    accelerations: Floats
    """(3, n) [m/s²]"""
    start: Floats
    """(3, n) where the step began [m]."""
    predicted: Floats
    """(3, n) where free motion led to [m]."""
    tension_before_contacts: Floats = field(default_factory=lambda: np.empty(0))
    """(k,) h² times that of its surface's links before they met anything [kg m]."""
    entangled: bool = False
    """Whether something holds it fast."""
    solid_step: SolidStep | None = None
    """Where free motion leads the nodes of a solid."""
