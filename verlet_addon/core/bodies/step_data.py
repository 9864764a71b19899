"""Inputs of one step, for all bodies."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..field import Field
from ..model import SoftBodyModel
from ..scene import Plane
from ..state import ParticleState

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
class RigidMotions:
    """Rigid motions of the parts of a body."""

    parts: Sequence[tuple[Integers, RigidMotion]]
    """Numbers of the points of each, and how they move."""

    def apply(self, rows: Floats) -> Floats:
        """Points (3, n) after these motions [m]."""
        moved = rows.copy()
        for points, motion in self.parts:
            moved[:, points] = motion.apply(rows[:, points])
        return moved


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
    reference_motions: Sequence[RigidMotion | RigidMotions | None] = ()
    """Per body, the share of the motion of its reference frame that its inertia leaves out; empty
    if no body leaves any out."""
    pulls: Sequence[Floats | None] = ()
    """Per body (3, n), accelerations besides gravity in the step; empty if there are none
    [m/s²]."""
    vertex_positions: Sequence[Floats] = ()
    """(3, v) of each body at the start of the step, then of each collider at its end [m]."""
    spring_targets: Sequence[Floats] = ()
    """Per body (3, g): where goal springs draw vertices to at the end of the step [m]; left empty
    where there are none."""

    def reference_motion(self, number: int) -> RigidMotion | RigidMotions | None:
        """Motion of the reference frame of a body, given its number."""
        return self.reference_motions[number] if self.reference_motions else None

    def pull(self, number: int) -> Floats | None:
        """Accelerations of a body besides gravity, given its number."""
        return self.pulls[number] if self.pulls else None
